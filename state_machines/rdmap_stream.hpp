// One RDMAP Stream: start, run, and its end: graceful, by a Terminate Message of either end or of both, or with the LLP
// Stream (RFC 5040 5.4, 6, 7).
//
// One object per RDMAP Stream, above a ddp_stream. Whoever finds an error captures it (layer, type, code, headers: RFC
// 5040 4.8, 7.1) if none is captured yet, and feeds ErrorFound. Messages are no events here: may_submit() and
// delivers() say what may happen to them.
#pragma once

#include "state_machines/fsm.hpp"

namespace machines::rdmap_stream {

// --- events
struct StreamEnabled {};  // the LLP Stream is in RDMA mode (RFC 5040 6.1), and ddp_stream is Open
// At this end, and captured: ddp_stream report_error() (DDP, LLP); rdmap_read_responder fail_stream(); RDMAP's checks
// of a message that was delivered (RFC 5040 7.2); a message of this end that cannot be made (7.1 rule 1);
// mpa_initiator, sctp_session terminate().
struct ErrorFound {};
struct TerminateReceived {
  bool well_formed = true;  // its header can be parsed, and it is the first one (MSN 1 of QN 2) in one segment
};
struct CloseRequested {};  // ULP Graceful Termination (RFC 5040 6.2), or the ULP's object goes away
struct AbortRequested {};  // the start-up failed: mpa_initiator, mpa_responder abort_stream(); or the ULP asks for it
struct PeerClosed {};      // ddp_stream report_half_closed(): the other end's ULP terminated gracefully
struct LlpLost {};         // ddp_stream report_lost()
struct StreamGone {};      // ddp_stream stream_gone()

// --- effects
class Context : public fsm::Context {
 public:
  // ULP operations may be submitted; those that arrive are processed. IRD and ORD hold (RFC 5040 6.1).
  virtual void begin() = 0;
  // The captured error in a Terminate Message, as the next segment and the last one: of messages that the LLP does not
  // have yet no more is sent (RFC 5040 5.4, 7.1 at the earliest possible opportunity, ruling M-16).
  virtual void send_terminate() = 0;
  // All ULP operations that are not complete complete in error, receives and RDMA Reads among them (RFC 5040 5.4,
  // 6.2.1); StreamEnded to rdmap_read_responder.
  virtual void flush() = 0;
  // No more operations are taken; those that DDP has go out and complete (RFC 5041 6.2.1). StreamEnded to
  // rdmap_read_responder.
  virtual void refuse_operations() = 0;
  virtual void stop_receiving() = 0;  // ddp_stream ReceptionStopped
  virtual void close_stream() = 0;    // ddp_stream CloseRequested. Post it: StreamGone comes back
  virtual void abort_stream() = 0;    // ddp_stream AbortRequested. Post it: StreamGone comes back
  virtual void report_error() = 0;    // the captured error, to the ULP (RFC 5040 7.1)
  // The Terminate Message that came, to the ULP, with its octets if they make no sense (RFC 5040 5.4, ruling M-6).
  virtual void report_terminate() = 0;
  virtual void count_malformed() = 0;      // a Terminate Message that is badly formed
  virtual void report_disconnected() = 0;  // to the ULP: the other end terminated gracefully
  virtual void report_lost() = 0;          // to the ULP: LLP Abortive Termination
  // No stream any more: ConnectionEnded to the start-up's machine, and the ULP's disconnect returns, if one waits.
  // Comes once. The object may go.
  virtual void closed() = 0;
  virtual void answer_close() = 0;  // the ULP's disconnect returns: there is no stream
  virtual void count_stale() = 0;   // late or crossing: harmless, counted
  // The LLP takes one more message: mpa_responder may_send(), nothing is cut short in the stream.
  [[nodiscard]] virtual bool terminate_possible() const = 0;
};

// --- states
struct Idle : fsm::State {};
struct Operational : fsm::State {};
struct HalfClosed : fsm::State {};   // the other end's ULP has terminated the stream; ours has not
struct Closing : fsm::State {};      // ULP Graceful Termination, or one without a Terminate Message: DDP is closing
struct Terminating : fsm::State {};  // we sent a Terminate Message: DDP is closing
struct Terminated : fsm::State {};   // one came, perhaps both ways: DDP is closing
struct Closed : fsm::State {};

// --- actions and guards
FSM_ACTION(Begin, context.begin());
FSM_ACTION(SendTerminate, context.send_terminate());
FSM_ACTION(Flush, context.flush());
FSM_ACTION(RefuseOperations, context.refuse_operations());
FSM_ACTION(StopReceiving, context.stop_receiving());
FSM_ACTION(CloseStream, context.close_stream());
FSM_ACTION(AbortStream, context.abort_stream());
FSM_ACTION(ReportError, context.report_error());
FSM_ACTION(ReportTerminate, context.report_terminate());
FSM_ACTION(CountMalformed, context.count_malformed());
FSM_ACTION(ReportDisconnected, context.report_disconnected());
FSM_ACTION(ReportLost, context.report_lost());
FSM_ACTION(TellClosed, context.closed());
FSM_ACTION(AnswerClose, context.answer_close());
FSM_ACTION(CountStale, context.count_stale());
FSM_GUARD(TerminatePossible, context.terminate_possible());
FSM_GUARD(WellFormed, event.well_formed);
using fsm::Do, fsm::none, fsm::Not, fsm::On, fsm::to_string;
using Terminate = Do<StopReceiving, SendTerminate, Flush, ReportError, CloseStream>;
using GiveUp = Do<StopReceiving, Flush, ReportError, AbortStream>;
using Take = Do<ReportTerminate, Flush, CloseStream>;
using Lose = Do<Flush, ReportLost, TellClosed>;
using End = Do<Flush, TellClosed>;

struct Def {
  static constexpr std::string_view name = "rdmap_stream";
  using Context = rdmap_stream::Context;
  using initial_state = Idle;
  // clang-format off
  using transition_table = fsm::Table<
  // clause                                                      source       event              target       action                                      guard
  On<"RFC 5040 6.1",                                             Idle,        StreamEnabled,     Operational, Begin,                                      none>,
  On<"impl: there never was a stream",                           Idle,        CloseRequested,    Closed,      AnswerClose,                                none>,
  // -----------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"RFC 5040 6.2.1, 7.1 rules 1 to 4, 5.4",                    Operational, ErrorFound,        Terminating, Terminate,                                  TerminatePossible>,
  On<"RFC 5040 6.2.1 not always possible, 7.1",                  Operational, ErrorFound,        Closing,     GiveUp,                                     Not<TerminatePossible>>,
  On<"RFC 5040 5.4, 6.2.1",                                      Operational, TerminateReceived, Terminated,  Take,                                       WellFormed>,
  On<"RFC 5040 5.4, 7.1 only the fact decides, ruling M-6",      Operational, TerminateReceived, Terminated,  Do<CountMalformed, Take>,                   Not<WellFormed>>,
  On<"RFC 5040 6.2 ULP Graceful Termination",                    Operational, CloseRequested,    Closing,     Do<RefuseOperations, CloseStream>,          none>,
  On<"RFC 5040 6.2 LLP Abortive Termination",                    Operational, AbortRequested,    Closing,     Do<Flush, AbortStream>,                     none>,
  On<"RFC 5040 6.2, RFC 5041 6.2.1 half-closed",                 Operational, PeerClosed,        HalfClosed,  ReportDisconnected,                         none>,
  On<"RFC 5040 6.2 LLP Abortive Termination, 6.2.1",             Operational, LlpLost,           Closed,      Lose,                                       none>,
  // -----------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"RFC 5040 7.1 rule 1, 6.2.1",                               HalfClosed,  ErrorFound,        Terminating, Terminate,                                  TerminatePossible>,
  On<"RFC 5040 6.2.1 not always possible, 7.1",                  HalfClosed,  ErrorFound,        Closing,     GiveUp,                                     Not<TerminatePossible>>,
  On<"RFC 5040 6.2 ULP Graceful Termination",                    HalfClosed,  CloseRequested,    Closing,     Do<RefuseOperations, CloseStream>,          none>,
  On<"RFC 5040 6.2 LLP Abortive Termination",                    HalfClosed,  AbortRequested,    Closing,     Do<Flush, AbortStream>,                     none>,
  On<"RFC 5040 6.2 LLP Abortive Termination, 6.2.1",             HalfClosed,  LlpLost,           Closed,      Lose,                                       none>,
  // -----------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"RFC 5040 5.4, 6.2.1",                                      Closing,     TerminateReceived, Terminated,  Do<ReportTerminate, Flush>,                 WellFormed>,
  On<"RFC 5040 5.4, 7.1 only the fact decides, ruling M-6",      Closing,     TerminateReceived, Terminated,  Do<CountMalformed, ReportTerminate, Flush>, Not<WellFormed>>,
  On<"RFC 5041 6.2.1 input is dropped while it closes",          Closing,     ErrorFound,        none,        CountStale,                                 none>,
  On<"impl: closed() answers",                                   Closing,     CloseRequested,    none,        none,                                       none>,
  On<"RFC 5040 6.2.1 MAY immediately tear down the LLP Stream",  Closing,     AbortRequested,    none,        AbortStream,                                none>,
  On<"RFC 5040 6.2, RFC 5041 6.2.1",                             Closing,     StreamGone,        Closed,      End,                                        none>,
  On<"impl: the other end closed, too, which was posted",        Closing,     PeerClosed,        none,        CountStale,                                 none>,
  On<"RFC 5040 6.2 LLP Abortive Termination",                    Closing,     LlpLost,           Closed,      Lose,                                       none>,
  // -----------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"RFC 5040 5.4, 6.2.1 Terminate Messages cross",             Terminating, TerminateReceived, Terminated,  ReportTerminate,                            WellFormed>,
  On<"RFC 5040 5.4, 6.2.1 Terminate Messages cross, ruling M-6", Terminating, TerminateReceived, Terminated,  Do<CountMalformed, ReportTerminate>,        Not<WellFormed>>,
  On<"RFC 5040 7.1 rule 4 the first error is captured",          Terminating, ErrorFound,        none,        CountStale,                                 none>,
  On<"impl: closed() answers",                                   Terminating, CloseRequested,    none,        none,                                       none>,
  On<"RFC 5040 6.2.1 MAY immediately tear down the LLP Stream",  Terminating, AbortRequested,    none,        AbortStream,                                none>,
  On<"RFC 5040 6.2.1 graceful LLP teardown",                     Terminating, StreamGone,        Closed,      TellClosed,                                 none>,
  On<"impl: the other end closed, too, which was posted",        Terminating, PeerClosed,        none,        CountStale,                                 none>,
  On<"RFC 5040 6.2.1 posted, not transmitted",                   Terminating, LlpLost,           Closed,      TellClosed,                                 none>,
  // -----------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"RFC 5040 5.4 a single Terminate Message",                  Terminated,  TerminateReceived, none,        CountStale,                                 none>,
  On<"RFC 5040 5.4 MAY stop sending: no Terminate Message",      Terminated,  ErrorFound,        none,        CountStale,                                 none>,
  On<"impl: closed() answers",                                   Terminated,  CloseRequested,    none,        none,                                       none>,
  On<"RFC 5040 6.2.1 MAY immediately tear down the LLP Stream",  Terminated,  AbortRequested,    none,        AbortStream,                                none>,
  On<"RFC 5040 6.2.1 graceful LLP teardown",                     Terminated,  StreamGone,        Closed,      TellClosed,                                 none>,
  On<"impl: the other end closed, too, which was posted",        Terminated,  PeerClosed,        none,        CountStale,                                 none>,
  On<"RFC 5040 6.2.1 MAY immediately tear down the LLP Stream",  Terminated,  LlpLost,           Closed,      TellClosed,                                 none>,
  // -----------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"impl: nobody is left to be told",                          Closed,      CloseRequested,    none,        AnswerClose,                                none>,
  On<"impl: was posted before the stream was lost",              Closed,      ErrorFound,        none,        CountStale,                                 none>,
  On<"impl: was posted before the stream was lost",              Closed,      AbortRequested,    none,        CountStale,                                 none>
  >;
  // clang-format on
};

using Machine = fsm::Machine<Def>;

// The ULP's operations are taken: others return an error (RFC 5041 6.2.1, RFC 5040 5.4).
[[nodiscard]] inline bool may_submit(const Machine& machine) { return machine.is_any_of<Operational, HalfClosed>(); }
// What DDP delivers is processed; else only a Terminate Message is.
[[nodiscard]] inline bool delivers(const Machine& machine) { return machine.is<Operational>(); }

}  // namespace machines::rdmap_stream
