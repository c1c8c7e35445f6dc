// MPA's Startup Phase at the Initiator (RFC 5044 7.1, RFC 6581): MPA Request Frame, MPA Reply Frame, RTR indication;
// and the fallback from revision 2 to revision 1.
//
// One object per connection that is asked for. From enter_full_operation() on the TCP stream is ddp_stream's; this
// machine then hears RtrSent and ConnectionEnded only. While it awaits the reply the owner reads no more than one
// frame; what stands behind an accepting MPA Reply Frame are FPDUs.
#pragma once

#include "state_machines/iwarp_startup.hpp"

namespace machines::mpa_initiator {

using iwarp::Failure, iwarp::StartupError;

// What an accepting MPA Reply Frame leads to; of several the first that holds, in this order.
enum class Agreement : std::uint8_t {
  LocalCatastrophic,  // an error at this end that has no code of its own
  InsufficientIrd,    // the Responder's ORD is more than this end can have as IRD
  NoMatchingRtr,  // Control Flag A is set, and this end can generate none of the RTR indications that B, C and D name
  PeerToPeer,     // Control Flag A is set: an RTR indication is due
  ClientServer,   // no RTR indication: Control Flag A is clear, or there are no such flags (S clear, revision 1 or 0)
};

// --- events
struct ConnectRequested {};   // of the ULP: MPA at once on a new TCP connection (RFC 5044 7.1.4.2)
struct MpaEnabled {};         // of the ULP: on a TCP connection that it has used for streaming mode (RFC 5044 7.1.3)
struct StreamEstablished {};  // TCP connection established
struct StreamFailed {};       // no TCP connection
struct AcceptReceived {       // MPA Reply Frame, valid, R clear, enhanced if the request was
  Agreement agreement = Agreement::ClientServer;
};
struct RejectReceived {};  // MPA Reply Frame, valid, R set
// The key of an MPA Request Frame: the other end is an Initiator, too.
struct RequestReceived {};
// An MPA Reply Frame of a revision below the request's, or without S to a request with S: the other end has revision 1
// (or 0). To a request of revision 1 a reply of revision 0 is none (ruling M-3: valid).
struct LowerRevisionReceived {};
// Any other octets: another key, a revision that this end does not have, PD_Length above 512 or below what S needs, an
// end within the frame. Not an IRD that is below our ORD, which is lowered to it (RFC 6581 9.1).
struct ReplyInvalid {};
struct StreamClosed {};     // TCP connection closed before the first octet of the reply, or it broke
struct RtrSent {};          // the stream has taken the FPDU that is the RTR indication
struct TimeExpired {};      // start_timer()'s time is over
struct Withdrawn {};        // the ULP gives the connection up before it is told that it is there
struct ConnectionEnded {};  // rdmap_stream closed()

// --- effects
class Context : public fsm::Context {
 public:
  // For the whole of it, the TCP connection's set-up included (RFC 5044 7.1.2 rule 10). Expires as TimeExpired.
  virtual void start_timer() = 0;
  virtual void stop_timer() = 0;
  // Streams::connect. StreamEstablished or StreamFailed follows, not from within.
  virtual void open_stream() = 0;
  // MPA Request Frame: revision 2 with S, Control Flags, IRD and ORD, or after fall_back() revision 1; M and C as
  // configured; the ULP's private data.
  virtual void send_request() = 0;
  // Revision 1 from now on: no IRD, ORD or RTR, which become the ULP's. may_fall_back() no longer holds.
  virtual void fall_back() = 0;
  // Destroy the stream: the other end is owed nothing. Not after enter_full_operation().
  virtual void drop_stream() = 0;
  // Exit MPA with a stream that is in order: back to the ULP if it brought it; else it is destroyed.
  virtual void exit_mpa() = 0;
  // Markers, CRC, IRD and ORD as agreed hold; StreamEnabled to ddp_stream, which has the stream now, and rdmap_stream.
  virtual void enter_full_operation() = 0;
  // The zero-length Send, RDMA Write or RDMA Read that both ends have; no FPDU before it. RtrSent follows; post it.
  virtual void send_rtr() = 0;
  // rdmap_stream ErrorFound, captured as layer 2, type 0 and this code. Post it: ConnectionEnded comes back.
  virtual void terminate(StartupError) = 0;
  // rdmap_stream AbortRequested. Post it: ConnectionEnded comes back.
  virtual void abort_stream() = 0;
  // The ULP may use the RDMAP stream. It is told IRD and ORD of the other end, and its private data (RFC 6581 9.1).
  virtual void connected() = 0;
  // The ULP gets no RDMAP stream. With Rejected, or NotAgreed, IRD, ORD and private data as with connected().
  virtual void fail_connect(Failure) = 0;
  // The last request was of revision 2, the ULP can do without what it adds, and the stream is not the ULP's own.
  [[nodiscard]] virtual bool may_fall_back() const = 0;
};

// --- states
struct Idle : fsm::State {};
struct Connecting : fsm::State {};     // TCP is being set up
struct AwaitReply : fsm::State {};     // MPA Request Frame sent
struct SendingRtr : fsm::State {};     // accepted; the other end may not send before the RTR indication
struct FullOperation : fsm::State {};  // Full Operation Phase
struct Ending : fsm::State {};         // failed after enter_full_operation(): rdmap_stream ends it
struct Closed : fsm::State {};

// --- actions and guards
FSM_ACTION(StartTimer, context.start_timer());
FSM_ACTION(StopTimer, context.stop_timer());
FSM_ACTION(OpenStream, context.open_stream());
FSM_ACTION(SendRequest, context.send_request());
FSM_ACTION(FallBack, context.fall_back());
FSM_ACTION(DropStream, context.drop_stream());
FSM_ACTION(ExitMpa, context.exit_mpa());
FSM_ACTION(EnterFullOperation, context.enter_full_operation());
FSM_ACTION(SendRtr, context.send_rtr());
FSM_ACTION(TerminateCatastrophic, context.terminate(StartupError::LocalCatastrophic));
FSM_ACTION(TerminateIrd, context.terminate(StartupError::InsufficientIrd));
FSM_ACTION(TerminateRtr, context.terminate(StartupError::NoMatchingRtr));
FSM_ACTION(AbortStream, context.abort_stream());
FSM_ACTION(TellConnected, context.connected());
FSM_ACTION(FailNotReachable, context.fail_connect(Failure::NotReachable));
FSM_ACTION(FailTimedOut, context.fail_connect(Failure::TimedOut));
FSM_ACTION(FailPeerClosed, context.fail_connect(Failure::PeerClosed));
FSM_ACTION(FailRejected, context.fail_connect(Failure::Rejected));
FSM_ACTION(FailInvalid, context.fail_connect(Failure::Invalid));
FSM_ACTION(FailCrossing, context.fail_connect(Failure::Crossing));
FSM_ACTION(FailNotAgreed, context.fail_connect(Failure::NotAgreed));
FSM_ACTION(FailWithdrawn, context.fail_connect(Failure::Withdrawn));
FSM_GUARD(IsClientServer, event.agreement == Agreement::ClientServer);
FSM_GUARD(IsPeerToPeer, event.agreement == Agreement::PeerToPeer);
FSM_GUARD(HasNoMatchingRtr, event.agreement == Agreement::NoMatchingRtr);
FSM_GUARD(HasInsufficientIrd, event.agreement == Agreement::InsufficientIrd);
FSM_GUARD(HasLocalError, event.agreement == Agreement::LocalCatastrophic);
FSM_GUARD(MayFallBack, context.may_fall_back());
using fsm::Do, fsm::none, fsm::Not, fsm::On, fsm::to_string;
using End = Do<StopTimer, DropStream>;
using Again = Do<DropStream, FallBack, OpenStream>;
using Operate = Do<StopTimer, EnterFullOperation>;

struct Def {
  static constexpr std::string_view name = "mpa_initiator";
  using Context = mpa_initiator::Context;
  using initial_state = Idle;
  // clang-format off
  using transition_table = fsm::Table<
  // clause                                                     source         event                  target         action                                             guard
  On<"RFC 5044 7.1, 7.1.4.2 immediate start-up",                Idle,          ConnectRequested,      Connecting,    Do<StartTimer, OpenStream>,                        none>,
  On<"RFC 5044 7.1.2 rule 1, 7.1.3 delayed start-up",           Idle,          MpaEnabled,            AwaitReply,    Do<StartTimer, SendRequest>,                       none>,
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"RFC 5044 7.1.2 rule 1, RFC 6581 9.3",                     Connecting,    StreamEstablished,     AwaitReply,    SendRequest,                                       none>,
  On<"RFC 5044 8 code 1",                                       Connecting,    StreamFailed,          Closed,        Do<End, FailNotReachable>,                         none>,
  On<"RFC 5044 7.1.2 rule 10",                                  Connecting,    TimeExpired,           Closed,        Do<DropStream, FailTimedOut>,                      none>,
  On<"RFC 5044 7.1.2 rule 6 the ULP may close",                 Connecting,    Withdrawn,             Closed,        Do<End, FailWithdrawn>,                            none>,
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"RFC 5044 7.1.2 rule 3",                                   AwaitReply,    AcceptReceived,        FullOperation, Do<Operate, TellConnected>,                        IsClientServer>,
  On<"RFC 6581 9.2 one of the negotiated RTR indications, 9.3", AwaitReply,    AcceptReceived,        SendingRtr,    Do<EnterFullOperation, SendRtr>,                   IsPeerToPeer>,
  On<"RFC 6581 9.2 no matching RTR option, 8 code 7",           AwaitReply,    AcceptReceived,        Ending,        Do<Operate, TerminateRtr, FailNotAgreed>,          HasNoMatchingRtr>,
  On<"RFC 6581 9.1 insufficient IRD resources, 8 code 6",       AwaitReply,    AcceptReceived,        Ending,        Do<Operate, TerminateIrd, FailNotAgreed>,          HasInsufficientIrd>,
  On<"RFC 6581 9.3 any other local error, 8 code 5",            AwaitReply,    AcceptReceived,        Ending,        Do<Operate, TerminateCatastrophic, FailNotAgreed>, HasLocalError>,
  On<"RFC 5044 7.1.2 rule 3 Rejected Connection, 7.1.4.2",      AwaitReply,    RejectReceived,        Closed,        Do<StopTimer, ExitMpa, FailRejected>,              none>,
  On<"RFC 5044 7.1.2 rule 8 Initiator/Initiator",               AwaitReply,    RequestReceived,       Closed,        Do<End, FailCrossing>,                             none>,
  On<"RFC 6581 10 MAY attempt the unenhanced, ruling M-3",      AwaitReply,    LowerRevisionReceived, Connecting,    Again,                                             MayFallBack>,
  On<"RFC 5044 7.1.1 Rev, RFC 6581 10",                         AwaitReply,    LowerRevisionReceived, Closed,        Do<End, FailInvalid>,                              Not<MayFallBack>>,
  On<"RFC 5044 7.1.2 rules 3, 5, 9, 8 code 4",                  AwaitReply,    ReplyInvalid,          Closed,        Do<End, FailInvalid>,                              none>,
  On<"RFC 6581 10 MAY attempt the unenhanced, ruling M-3",      AwaitReply,    StreamClosed,          Connecting,    Again,                                             MayFallBack>,
  On<"RFC 5044 8 code 1, RFC 6581 10",                          AwaitReply,    StreamClosed,          Closed,        Do<End, FailPeerClosed>,                           Not<MayFallBack>>,
  On<"RFC 5044 7.1.2 rule 10",                                  AwaitReply,    TimeExpired,           Closed,        Do<DropStream, FailTimedOut>,                      none>,
  On<"RFC 5044 7.1.2 rule 6 the ULP may close",                 AwaitReply,    Withdrawn,             Closed,        Do<End, FailWithdrawn>,                            none>,
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"RFC 6581 5 the ULP is told after the RTR indication",     SendingRtr,    RtrSent,               FullOperation, Do<StopTimer, TellConnected>,                      none>,
  On<"RFC 5044 7.1.2 rule 10",                                  SendingRtr,    TimeExpired,           Ending,        Do<AbortStream, FailTimedOut>,                     none>,
  On<"RFC 5044 7.1.2 rule 6 the ULP may close",                 SendingRtr,    Withdrawn,             Ending,        Do<StopTimer, AbortStream, FailWithdrawn>,         none>,
  On<"RFC 5044 8 code 1",                                       SendingRtr,    ConnectionEnded,       Closed,        Do<StopTimer, FailPeerClosed>,                     none>,
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"RFC 5044 7.2",                                            FullOperation, ConnectionEnded,       Closed,        none,                                              none>,
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"RFC 5044 7.2",                                            Ending,        ConnectionEnded,       Closed,        none,                                              none>,
  On<"impl: was posted before the stream was given up",         Ending,        RtrSent,               none,          none,                                              none>,
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"impl: was posted before the stream broke",                Closed,        RtrSent,               none,          none,                                              none>
  >;
  // clang-format on
};

using Machine = fsm::Machine<Def>;

// FPDUs of the ULP may be sent (RFC 6581 5: none before the RTR indication).
[[nodiscard]] inline bool may_send(const Machine& machine) { return machine.is<FullOperation>(); }

}  // namespace machines::mpa_initiator
