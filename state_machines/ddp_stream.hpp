// The stream of one DDP Stream: enabled, torn down gracefully or abortively, lost (RFC 5041 6, 7; RFC 5044 7.2, 8),
// over MPA, IFT or SCTP.
//
// One object per DDP Stream. It owns the LLP Stream from StreamEnabled on. Its ULP is rdmap_stream, or in IFT's DDP
// mode (ruling I-16) the program. It is not asked per segment: receives() says whether segments are placed and
// delivered.
#pragma once

#include "state_machines/fsm.hpp"

namespace machines::ddp_stream {

// --- events
// The start-up is over: mpa_initiator, mpa_responder enter_full_operation(), ift_adaption enter_rddp_mode(),
// sctp_session enter_session().
struct StreamEnabled {};
// A check of RFC 5041 7.1 refuses an incoming segment; its error and header are captured.
struct SegmentInvalid {};
// The LLP found a fatal error in what arrives, and the stream is intact for what is sent: MPA's errors 2 and 3, the
// same of IFT (ruling I-10); captured. The LLP delivers nothing more (RFC 5044 8).
struct LlpErrorFound {};
// rdmap_stream found an error (stop_receiving()), or sends no more and wants to receive no more.
struct ReceptionStopped {};
struct CloseRequested {};  // graceful teardown by the ULP: rdmap_stream close_stream()
struct AbortRequested {};  // abortive teardown by the ULP: rdmap_stream abort_stream()
// Graceful teardown by the LLP, between two DDP Messages: the end of what the other end sends was read, or sctp_session
// end_received().
struct LlpCloseReceived {};
// The LLP Stream is lost: reset, timed out, its end read within a message; MPA's error 1.
struct LlpLost {};
struct OutputFinished {};  // the LLP has taken all that finish_output() owes
struct LingerExpired {};   // start_linger_timer()'s time is over

// --- effects
class Context : public fsm::Context {
 public:
  // Segments are placed and delivered; messages may be submitted.
  virtual void enable() = 0;
  // What still arrives is read and dropped silently, so that LlpCloseReceived comes. As long as the framing is intact a
  // Terminate Message (QN 2) in it is still delivered.
  virtual void discard_input() = 0;
  // Post it: rdmap_stream ErrorFound.
  virtual void report_error() = 0;
  // The other end sends no more; this end may. Post it: rdmap_stream PeerClosed.
  virtual void report_half_closed() = 0;
  // Post it: rdmap_stream LlpLost. stream_gone() does not come.
  virtual void report_lost() = 0;
  // Messages that were submitted go out, or the Terminate Message alone; later ones are refused. OutputFinished
  // follows; post it.
  virtual void finish_output() = 0;
  virtual void start_linger_timer() = 0;  // bounds the teardown; expires as LingerExpired
  virtual void stop_linger_timer() = 0;
  virtual void shut_down_llp() = 0;  // Stream::shut_down(), or sctp_session CloseRequested
  virtual void drop_llp() = 0;       // destroy the stream
  virtual void reset_llp() = 0;      // Stream::reset(), and destroy it
  virtual void stream_gone() = 0;    // post it: rdmap_stream StreamGone
  virtual void count_stale() = 0;    // late: harmless, counted
};

// --- states
struct Disabled : fsm::State {};
struct Open : fsm::State {};
struct Failed : fsm::State {};      // nothing is received; the ULP may send one message more
struct PeerClosed : fsm::State {};  // half-closed: the other end sends no more
struct Finishing : fsm::State {};   // the ULP closes: what was submitted is being sent
struct Draining : fsm::State {};    // our half is closed: the end of the other one is awaited
struct Answering : fsm::State {};   // the other half is closed: what was submitted is being sent
struct Closed : fsm::State {};

// --- actions and guards
FSM_ACTION(Enable, context.enable());
FSM_ACTION(DiscardInput, context.discard_input());
FSM_ACTION(ReportError, context.report_error());
FSM_ACTION(ReportHalfClosed, context.report_half_closed());
FSM_ACTION(ReportLost, context.report_lost());
FSM_ACTION(FinishOutput, context.finish_output());
FSM_ACTION(StartLingerTimer, context.start_linger_timer());
FSM_ACTION(StopLingerTimer, context.stop_linger_timer());
FSM_ACTION(ShutDownLlp, context.shut_down_llp());
FSM_ACTION(DropLlp, context.drop_llp());
FSM_ACTION(ResetLlp, context.reset_llp());
FSM_ACTION(TellGone, context.stream_gone());
FSM_ACTION(CountStale, context.count_stale());
using fsm::Do, fsm::none, fsm::On, fsm::to_string;
using Begin = Do<StartLingerTimer, FinishOutput>;
using Close = Do<StopLingerTimer, DropLlp, TellGone>;
using Abort = Do<ResetLlp, TellGone>;
using Lose = Do<DropLlp, ReportLost>;
using Fail = Do<DiscardInput, ReportError>;

struct Def {
  static constexpr std::string_view name = "ddp_stream";
  using Context = ddp_stream::Context;
  using initial_state = Disabled;
  // clang-format off
  using transition_table = fsm::Table<
  // clause                                                   source      event             target      action                      guard
  On<"RFC 5041 6.1",                                          Disabled,   StreamEnabled,    Open,       Enable,                     none>,
  // -------------------------------------------------------------------------------------------------------------------------------------
  On<"RFC 5041 7.1 cease placing, 6.2.2",                     Open,       SegmentInvalid,   Failed,     Fail,                       none>,
  On<"RFC 5041 6.2.2, 7, RFC 5044 8 codes 2, 3",              Open,       LlpErrorFound,    Failed,     Fail,                       none>,
  On<"RFC 5040 6.2.1, 7.1",                                   Open,       ReceptionStopped, Failed,     DiscardInput,               none>,
  On<"RFC 5041 6.2.1 graceful teardown by the ULP",           Open,       CloseRequested,   Finishing,  Do<DiscardInput, Begin>,    none>,
  On<"RFC 5041 6.2 abortive teardown by the ULP",             Open,       AbortRequested,   Closed,     Abort,                      none>,
  On<"RFC 5041 6.2.1 half-closed, RFC 5044 7.2",              Open,       LlpCloseReceived, PeerClosed, ReportHalfClosed,           none>,
  On<"RFC 5041 6.2.2 LLP Stream is lost, RFC 5044 8 code 1",  Open,       LlpLost,          Closed,     Lose,                       none>,
  // -------------------------------------------------------------------------------------------------------------------------------------
  On<"RFC 5041 7.1 silently drop any subsequent segments",    Failed,     SegmentInvalid,   none,       CountStale,                 none>,
  On<"RFC 5044 8 delivers nothing more",                      Failed,     LlpErrorFound,    none,       CountStale,                 none>,
  On<"RFC 5040 7.1 rule 4 the first error is captured",       Failed,     ReceptionStopped, none,       none,                       none>,
  On<"RFC 5041 7.1 one additional DDP Message, 6.2.2",        Failed,     CloseRequested,   Finishing,  Begin,                      none>,
  On<"RFC 5041 6.2.2 until the ULP tears it down abortively", Failed,     AbortRequested,   Closed,     Abort,                      none>,
  On<"RFC 5041 6.2.1 half-closed",                            Failed,     LlpCloseReceived, PeerClosed, none,                       none>,
  On<"RFC 5041 6.2.2 LLP Stream is lost",                     Failed,     LlpLost,          Closed,     Lose,                       none>,
  // -------------------------------------------------------------------------------------------------------------------------------------
  On<"RFC 5040 7.1 rule 1 nothing arrives any more",          PeerClosed, ReceptionStopped, none,       none,                       none>,
  On<"RFC 5041 6.2.1 graceful close of the other half",       PeerClosed, CloseRequested,   Answering,  Begin,                      none>,
  On<"RFC 5041 6.2 abortive teardown by the ULP",             PeerClosed, AbortRequested,   Closed,     Abort,                      none>,
  On<"RFC 5041 6.2.2 LLP Stream is lost",                     PeerClosed, LlpLost,          Closed,     Lose,                       none>,
  // -------------------------------------------------------------------------------------------------------------------------------------
  On<"RFC 5041 6.2.1 all ULP data is transferred before",     Finishing,  OutputFinished,   Draining,   ShutDownLlp,                none>,
  On<"RFC 5041 6.2.1, RFC 5044 7.2 both at about one time",   Finishing,  LlpCloseReceived, Answering,  none,                       none>,
  On<"RFC 5041 6.2.2 LLP Stream is lost",                     Finishing,  LlpLost,          Closed,     Close,                      none>,
  On<"RFC 5041 6.2 abortive teardown by the ULP",             Finishing,  AbortRequested,   Closed,     Do<StopLingerTimer, Abort>, none>,
  On<"impl: bounded: the other end reads nothing",            Finishing,  LingerExpired,    Closed,     Abort,                      none>,
  On<"RFC 5041 7.1 silently drop any subsequent segments",    Finishing,  LlpErrorFound,    none,       CountStale,                 none>,
  // -------------------------------------------------------------------------------------------------------------------------------------
  On<"RFC 5041 6.2.1, RFC 5044 7.2 both halves are closed",   Draining,   LlpCloseReceived, Closed,     Close,                      none>,
  On<"RFC 5041 6.2.2 LLP Stream is lost",                     Draining,   LlpLost,          Closed,     Close,                      none>,
  On<"RFC 5041 6.2 abortive teardown by the ULP",             Draining,   AbortRequested,   Closed,     Do<StopLingerTimer, Abort>, none>,
  On<"impl: bounded: the other end never closes its half",    Draining,   LingerExpired,    Closed,     Do<DropLlp, TellGone>,      none>,
  On<"RFC 5041 7.1 silently drop any subsequent segments",    Draining,   LlpErrorFound,    none,       CountStale,                 none>,
  // -------------------------------------------------------------------------------------------------------------------------------------
  On<"RFC 5041 6.2.1, RFC 5044 7.2 both halves are closed",   Answering,  OutputFinished,   Closed,     Close,                      none>,
  On<"RFC 5041 6.2.2 LLP Stream is lost",                     Answering,  LlpLost,          Closed,     Close,                      none>,
  On<"RFC 5041 6.2 abortive teardown by the ULP",             Answering,  AbortRequested,   Closed,     Do<StopLingerTimer, Abort>, none>,
  On<"impl: bounded: the other end reads nothing",            Answering,  LingerExpired,    Closed,     Abort,                      none>,
  // -------------------------------------------------------------------------------------------------------------------------------------
  On<"impl: was posted before the stream broke",              Closed,     OutputFinished,   none,       CountStale,                 none>,
  On<"impl: was posted before the loss was told",             Closed,     ReceptionStopped, none,       CountStale,                 none>,
  On<"impl: was posted before the loss was told",             Closed,     CloseRequested,   none,       CountStale,                 none>,
  On<"impl: was posted before the loss was told",             Closed,     AbortRequested,   none,       CountStale,                 none>
  >;
  // clang-format on
};

using Machine = fsm::Machine<Def>;

// Incoming segments are validated, placed and delivered; else they are dropped, but for a Terminate Message.
[[nodiscard]] inline bool receives(const Machine& machine) { return machine.is<Open>(); }
// The ULP may submit messages (RFC 5041 6.2.1: after graceful teardown of the other half as well). In Failed: one.
[[nodiscard]] inline bool may_submit(const Machine& machine) { return machine.is_any_of<Open, PeerClosed, Failed>(); }

}  // namespace machines::ddp_stream
