// MPA's Startup Phase at the Responder (RFC 5044 7.1, RFC 6581): MPA Request Frame, the ULP's decision, MPA Reply
// Frame, and the first FPDU, before which none is sent.
//
// One object per TCP connection. A request of revision 1, or 0 (ruling M-3), is answered in its own revision: it has no
// Control Flags, so peer_to_peer() is false. From enter_full_operation() on the stream is ddp_stream's; this machine
// then hears FpduReceived, of the first one, Withdrawn and ConnectionEnded only.
#pragma once

#include "state_machines/iwarp_startup.hpp"

namespace machines::mpa_responder {

using iwarp::Failure;

// --- events
// TCP connection accepted on a port that is agreed to be MPA's; or of the ULP, on one that it has used for streaming
// mode, behind its last streaming mode data (RFC 5044 7.1.3).
struct MpaEnabled {};
struct RequestReceived {};  // MPA Request Frame, valid, of a revision that this end has
// Any other octets: another key, that of an MPA Reply Frame above all; a revision that this end does not have;
// PD_Length above 512 or below what S needs; an end within the frame.
struct RequestInvalid {};
struct StreamClosed {};  // TCP connection closed before the first octet of a frame, or it broke
struct TimeExpired {};   // start_timer()'s time is over
struct PlaceNeeded {};   // too many start-ups are half open, and this one is to go
// Fed in AwaitDecision and Rejecting: octets behind the MPA Request Frame, before this end has replied.
struct OctetsReceived {};
struct AcceptRequested {};  // of the ULP, with private data and a DDP endpoint; IRD and ORD are within RFC 6581 9.1
struct RejectRequested {};  // of the ULP, with private data; or the ULP drops the request
struct ReplySent {};        // fed in Rejecting: the stream has taken all of the MPA Reply Frame
// The first valid FPDU (ruling M-14); if it is the zero-length RTR indication, the ULP hears nothing of it (RFC 6581
// 4.4.2). Not if it carries a Terminate Message: rdmap_stream ends the connection.
struct FpduReceived {};
struct Withdrawn {};        // the ULP gives the connection up before it is told that it is there
struct ConnectionEnded {};  // rdmap_stream closed()

// --- effects
class Context : public fsm::Context {
 public:
  // For the next thing that the other end owes (RFC 5044 7.1.2 rules 8, 10). Expires as TimeExpired.
  virtual void start_timer() = 0;
  virtual void stop_timer() = 0;
  // The ULP gets the request: private data, IRD, ORD, revision (RFC 5044 7.1.2 rule 6, RFC 6581 9.1). It answers by
  // AcceptRequested or RejectRequested, not from within.
  virtual void offer() = 0;
  // The request is gone: the ULP finds it no more.
  virtual void withdraw_offer() = 0;
  // MPA Reply Frame, R clear, in the request's format (RFC 6581 10): M and C, private data; if enhanced IRD, ORD, and
  // Control Flag A as in the request, with the RTR indications that this end takes.
  virtual void send_accept() = 0;
  virtual void send_reject() = 0;  // the same with R set. ReplySent follows; post it
  // Destroy the stream: the other end is owed nothing. Not after enter_full_operation().
  virtual void drop_stream() = 0;
  // Exit MPA with a stream that is in order: back to the ULP if it brought it; else it is destroyed.
  virtual void exit_mpa() = 0;
  // Markers, CRC, IRD and ORD as agreed hold; StreamEnabled to ddp_stream, which has the stream now, and rdmap_stream.
  // What arrives are FPDUs; none is sent until permit_sending().
  virtual void enter_full_operation() = 0;
  virtual void permit_sending() = 0;
  // rdmap_stream AbortRequested. Post it: ConnectionEnded comes back.
  virtual void abort_stream() = 0;
  virtual void connected() = 0;  // the ULP may use the RDMAP stream
  // The ULP gets no RDMAP stream for the request that it accepted, or there was none: counted by reason.
  virtual void fail_accept(Failure) = 0;
  [[nodiscard]] virtual bool has_room() const = 0;      // for one more request that the ULP is to decide
  [[nodiscard]] virtual bool peer_to_peer() const = 0;  // the request has S and Control Flag A (RFC 6581 9.2)
};

// --- states
struct Idle : fsm::State {};
struct AwaitRequest : fsm::State {};
struct AwaitDecision : fsm::State {};   // the ULP looks at the private data
struct Rejecting : fsm::State {};       // the rejecting reply is being written
struct AwaitRtr : fsm::State {};        // accepted, peer-to-peer: the ULP is told after the RTR indication
struct AwaitFirstFpdu : fsm::State {};  // accepted, client-server: the ULP may submit, nothing is sent yet
struct FullOperation : fsm::State {};
struct Ending : fsm::State {};  // failed after enter_full_operation(): rdmap_stream ends it
struct Closed : fsm::State {};

// --- actions and guards
FSM_ACTION(StartTimer, context.start_timer());
FSM_ACTION(StopTimer, context.stop_timer());
FSM_ACTION(Offer, context.offer());
FSM_ACTION(WithdrawOffer, context.withdraw_offer());
FSM_ACTION(SendAccept, context.send_accept());
FSM_ACTION(SendReject, context.send_reject());
FSM_ACTION(DropStream, context.drop_stream());
FSM_ACTION(ExitMpa, context.exit_mpa());
FSM_ACTION(EnterFullOperation, context.enter_full_operation());
FSM_ACTION(PermitSending, context.permit_sending());
FSM_ACTION(AbortStream, context.abort_stream());
FSM_ACTION(TellConnected, context.connected());
FSM_ACTION(FailTimedOut, context.fail_accept(Failure::TimedOut));
FSM_ACTION(FailPeerClosed, context.fail_accept(Failure::PeerClosed));
FSM_ACTION(FailInvalid, context.fail_accept(Failure::Invalid));
FSM_ACTION(FailNotAdmitted, context.fail_accept(Failure::NotAdmitted));
FSM_ACTION(FailWithdrawn, context.fail_accept(Failure::Withdrawn));
FSM_GUARD(HasRoom, context.has_room());
FSM_GUARD(PeerToPeer, context.peer_to_peer());
using fsm::Do, fsm::none, fsm::Not, fsm::On, fsm::to_string;
using End = Do<StopTimer, DropStream>;
using Reply = Do<SendAccept, EnterFullOperation>;

struct Def {
  static constexpr std::string_view name = "mpa_responder";
  using Context = mpa_responder::Context;
  using initial_state = Idle;
  // clang-format off
  using transition_table = fsm::Table<
  // clause                                                source          event            target          action                                         guard
  On<"RFC 5044 7.1.2 rules 2, 8, 10",                      Idle,           MpaEnabled,      AwaitRequest,   StartTimer,                                    none>,
  // -----------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"RFC 5044 7.1.2 rules 2, 6",                          AwaitRequest,   RequestReceived, AwaitDecision,  Do<StopTimer, Offer>,                          HasRoom>,
  On<"RFC 5044 7.1.2 rule 10 memory is bounded",           AwaitRequest,   RequestReceived, Closed,         Do<End, FailNotAdmitted>,                      Not<HasRoom>>,
  On<"RFC 5044 7.1.2 rules 2, 5, 8, 9, 8 code 4",          AwaitRequest,   RequestInvalid,  Closed,         Do<End, FailInvalid>,                          none>,
  On<"RFC 5044 8 code 1",                                  AwaitRequest,   StreamClosed,    Closed,         Do<End, FailPeerClosed>,                       none>,
  On<"RFC 5044 7.1.2 rule 8 Responder/Responder, rule 10", AwaitRequest,   TimeExpired,     Closed,         Do<DropStream, FailTimedOut>,                  none>,
  On<"RFC 5044 7.1.2 rule 10 denial of service",           AwaitRequest,   PlaceNeeded,     Closed,         Do<End, FailNotAdmitted>,                      none>,
  // -----------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"RFC 5044 7.1.2 rule 2",                              AwaitDecision,  AcceptRequested, AwaitFirstFpdu, Do<Reply, TellConnected>,                      Not<PeerToPeer>>,
  On<"RFC 6581 9.2 Control Flag A, 9.3",                   AwaitDecision,  AcceptRequested, AwaitRtr,       Do<StartTimer, Reply>,                         PeerToPeer>,
  On<"RFC 5044 7.1.2 rules 2, 6 Rejected Connection",      AwaitDecision,  RejectRequested, Rejecting,      Do<StartTimer, SendReject>,                    none>,
  On<"RFC 5044 7.1.2 rule 2 no FPDU before the reply",     AwaitDecision,  OctetsReceived,  Closed,         Do<WithdrawOffer, DropStream, FailInvalid>,    none>,
  On<"RFC 5044 8 code 1",                                  AwaitDecision,  StreamClosed,    Closed,         Do<WithdrawOffer, DropStream, FailPeerClosed>, none>,
  // -----------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"RFC 5044 7.1.2 rule 2 exit MPA",                     Rejecting,      ReplySent,       Closed,         Do<StopTimer, ExitMpa>,                        none>,
  On<"RFC 5044 8 code 1",                                  Rejecting,      StreamClosed,    Closed,         End,                                           none>,
  On<"RFC 5044 7.1.2 rule 10 the other end reads nothing", Rejecting,      TimeExpired,     Closed,         DropStream,                                    none>,
  On<"RFC 5044 7.1.2 rule 2 no FPDU before the reply",     Rejecting,      OctetsReceived,  Closed,         End,                                           none>,
  // -----------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"RFC 5044 7.1.2 rule 4, RFC 6581 9.2",                AwaitRtr,       FpduReceived,    FullOperation,  Do<StopTimer, PermitSending, TellConnected>,   none>,
  On<"RFC 5044 7.1.2 rule 10",                             AwaitRtr,       TimeExpired,     Ending,         Do<AbortStream, FailTimedOut>,                 none>,
  On<"RFC 5044 7.1.2 rule 6",                              AwaitRtr,       Withdrawn,       Ending,         Do<StopTimer, AbortStream, FailWithdrawn>,     none>,
  On<"RFC 5044 8 code 1, RFC 6581 9.1, 9.2 Terminate",     AwaitRtr,       ConnectionEnded, Closed,         Do<StopTimer, FailPeerClosed>,                 none>,
  // -----------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"RFC 5044 7.1.2 rule 4",                              AwaitFirstFpdu, FpduReceived,    FullOperation,  PermitSending,                                 none>,
  On<"RFC 5044 7.2",                                       AwaitFirstFpdu, ConnectionEnded, Closed,         none,                                          none>,
  // -----------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"RFC 5044 7.2",                                       FullOperation,  ConnectionEnded, Closed,         none,                                          none>,
  // -----------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"RFC 5044 7.2",                                       Ending,         ConnectionEnded, Closed,         none,                                          none>,
  // -----------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"impl: was posted before the stream broke",           Closed,         ReplySent,       none,           none,                                          none>
  >;
  // clang-format on
};

using Machine = fsm::Machine<Def>;

// An FPDU has been received and validated: FPDUs and markers may be sent (RFC 5044 7.1.2 rule 4).
[[nodiscard]] inline bool may_send(const Machine& machine) { return machine.is<FullOperation>(); }

}  // namespace machines::mpa_responder
