// One DDP Stream Session over a pair of SCTP streams with the same identifier (RFC 5043 6, RFC 6581 7), at either end.
//
// One object per session. The owner considers chunks in the order of their DDP-SSN, which begins at 0 (RFC 5043 6.1); a
// chunk of a later session does not stand among those of this one. DDP Segments of a session that takes them
// (takes_segments()) go to ddp_stream and are no events here. From enter_session() on ddp_stream has the session as its
// LLP Stream. The association is the owner's: its adaptation layer indication was DDP's (RFC 5043 11.1), it outlives
// its sessions, and its end is AssociationLost.
#pragma once

#include "state_machines/iwarp_startup.hpp"

namespace machines::sctp_session {

using iwarp::Failure, iwarp::StartupError;

// What an Accept leads to; of several the first that holds, in this order. No RTR indication: SCTP needs none (RFC 6581
// 7).
enum class Agreement : std::uint8_t {
  LocalCatastrophic,  // an error at this end that has no code of its own
  InsufficientIrd,    // the passive side's ORD is more than this end can have as IRD
  Agreed,             // or not enhanced
};

// --- events
struct ConnectRequested {};  // of the ULP: the active side
struct InitiateReceived {};  // fed in Idle and AwaitAnswer: Initiate, or Enhanced Initiate, well formed
struct AcceptReceived {      // fed in AwaitAnswer: Accept to an Initiate, Enhanced Accept to an enhanced one
  Agreement agreement = Agreement::Agreed;
};
// Fed in AwaitAnswer: Reject to an Initiate, Enhanced Reject to an enhanced one, or Reject to that.
struct RejectReceived {};
struct TerminateReceived {};  // without private data
// Any other chunk in its turn: badly formed, an unknown function code, a control message where it is none of the above,
// a DDP Segment while takes_segments() is false.
struct ChunkIllegal {};
struct AcceptRequested {};     // of the ULP of the passive side; IRD and ORD are within RFC 6581 9.1
struct RejectRequested {};     // of the ULP of the passive side; or it drops the request
struct CloseRequested {};      // ddp_stream shut_down_llp(): all that it submitted was given to SCTP
struct DropRequested {};       // ddp_stream drop_llp(), reset_llp()
struct OutputAcknowledged {};  // await_acknowledgement(): SCTP has acknowledged all chunks of this end
struct TimeExpired {};         // start_timer()'s time is over
struct Withdrawn {};           // the ULP of the active side gives the session up
struct AssociationLost {};     // the association is gone

// --- effects
class Context : public fsm::Context {
 public:
  // For the answer; bounds the end, too. Expires as TimeExpired.
  virtual void start_timer() = 0;
  virtual void stop_timer() = 0;
  // Initiate, or Enhanced Initiate with IRD and ORD, and the ULP's private data: DDP-SSN 0.
  virtual void send_initiate() = 0;
  virtual void send_accept() = 0;     // enhanced if the Initiate was; DDP-SSN 0
  virtual void send_reject() = 0;     // likewise (RFC 6581 7)
  virtual void send_terminate() = 0;  // DDP Stream Session Terminate, the last chunk of this end
  // OutputAcknowledged follows; post it, if all are acknowledged already.
  virtual void await_acknowledgement() = 0;
  // The ULP gets the request: private data, IRD, ORD. It answers by AcceptRequested or RejectRequested, not from
  // within.
  virtual void offer() = 0;
  virtual void withdraw_offer() = 0;  // the request is gone: the ULP finds it no more
  virtual void enter_session() = 0;   // StreamEnabled to ddp_stream and rdmap_stream
  // rdmap_stream ErrorFound, captured as layer 2, type 0 and this code. Post it.
  virtual void terminate(StartupError) = 0;
  virtual void connected() = 0;            // the ULP may use the RDMAP stream; as mpa_initiator connected()
  virtual void fail_connect(Failure) = 0;  // the ULP gets no stream; at the passive side counted
  // Post it, while ddp_stream has the session: LlpCloseReceived, or LlpLost if a message is open.
  virtual void end_received() = 0;
  virtual void lost() = 0;        // post it, while ddp_stream has the session: LlpLost
  virtual void drop_chunk() = 0;  // late or illegal: dropped, counted
  // No chunk of this session is outstanding: another session may use the stream identifier. The object may go.
  virtual void release_identifier() = 0;
  // Chunks may be outstanding: no other session of this association uses the stream identifier. The object may go.
  virtual void retire_identifier() = 0;
  [[nodiscard]] virtual bool has_room() const = 0;  // for one more request that the ULP is to decide (RFC 5043 6.4)
};

// --- states
struct Idle : fsm::State {};
struct AwaitAnswer : fsm::State {};    // the active side: Initiate sent
struct AwaitDecision : fsm::State {};  // the passive side: the ULP decides
struct Established : fsm::State {};
struct PeerEnded : fsm::State {};      // the other end's Terminate has come; this end may still send
struct Ending : fsm::State {};         // Terminate is due once what this end sent before is acknowledged
struct Terminating : fsm::State {};    // Terminate sent
struct Lingering : fsm::State {};      // and acknowledged; the other end's is to come
struct Concluding : fsm::State {};     // as Ending, and the other end's last chunk has come
struct Acknowledging : fsm::State {};  // the last chunks of both are under way: ours is not acknowledged
struct Closed : fsm::State {};

// --- actions and guards
FSM_ACTION(StartTimer, context.start_timer());
FSM_ACTION(StopTimer, context.stop_timer());
FSM_ACTION(SendInitiate, context.send_initiate());
FSM_ACTION(SendAccept, context.send_accept());
FSM_ACTION(SendReject, context.send_reject());
FSM_ACTION(SendTerminate, context.send_terminate());
FSM_ACTION(AwaitAcknowledgement, context.await_acknowledgement());
FSM_ACTION(Offer, context.offer());
FSM_ACTION(WithdrawOffer, context.withdraw_offer());
FSM_ACTION(EnterSession, context.enter_session());
FSM_ACTION(TerminateCatastrophic, context.terminate(StartupError::LocalCatastrophic));
FSM_ACTION(TerminateIrd, context.terminate(StartupError::InsufficientIrd));
FSM_ACTION(TellConnected, context.connected());
FSM_ACTION(FailTimedOut, context.fail_connect(Failure::TimedOut));
FSM_ACTION(FailPeerClosed, context.fail_connect(Failure::PeerClosed));
FSM_ACTION(FailRejected, context.fail_connect(Failure::Rejected));
FSM_ACTION(FailNotAdmitted, context.fail_connect(Failure::NotAdmitted));
FSM_ACTION(FailInvalid, context.fail_connect(Failure::Invalid));
FSM_ACTION(FailCrossing, context.fail_connect(Failure::Crossing));
FSM_ACTION(FailNotAgreed, context.fail_connect(Failure::NotAgreed));
FSM_ACTION(FailWithdrawn, context.fail_connect(Failure::Withdrawn));
FSM_ACTION(TellEnd, context.end_received());
FSM_ACTION(TellLost, context.lost());
FSM_ACTION(DropChunk, context.drop_chunk());
FSM_ACTION(ReleaseIdentifier, context.release_identifier());
FSM_ACTION(RetireIdentifier, context.retire_identifier());
FSM_GUARD(IsAgreed, event.agreement == Agreement::Agreed);
FSM_GUARD(HasInsufficientIrd, event.agreement == Agreement::InsufficientIrd);
FSM_GUARD(HasLocalError, event.agreement == Agreement::LocalCatastrophic);
FSM_GUARD(HasRoom, context.has_room());
using fsm::Do, fsm::none, fsm::Not, fsm::On, fsm::to_string;
using Await = Do<StartTimer, AwaitAcknowledgement>;
using Conclude = Do<SendTerminate, Await>;
using Enter = Do<StopTimer, EnterSession>;
using Over = Do<StopTimer, ReleaseIdentifier>;

struct Def {
  static constexpr std::string_view name = "sctp_session";
  using Context = sctp_session::Context;
  using initial_state = Idle;
  // clang-format off
  using transition_table = fsm::Table<
  // clause                                                  source         event               target         action                                                guard
  On<"RFC 5043 6.2 active side",                             Idle,          ConnectRequested,   AwaitAnswer,   Do<StartTimer, SendInitiate>,                         none>,
  On<"RFC 5043 6.2 passive side, 5.2.3 reported to the ULP", Idle,          InitiateReceived,   AwaitDecision, Offer,                                                HasRoom>,
  On<"RFC 5043 6.4 a finite limit, 5.2.3",                   Idle,          InitiateReceived,   Acknowledging, Do<Conclude, FailNotAdmitted>,                        Not<HasRoom>>,
  On<"RFC 5043 6.1 none of the legal patterns",              Idle,          ChunkIllegal,       Terminating,   Do<Conclude, FailInvalid>,                            none>,
  On<"RFC 5043 6.1 the session is over before it began",     Idle,          TerminateReceived,  Closed,        Do<DropChunk, ReleaseIdentifier>,                     none>,
  On<"RFC 5043 11.3",                                        Idle,          AssociationLost,    Closed,        ReleaseIdentifier,                                    none>,
  // ------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"RFC 5043 6.2",                                         AwaitAnswer,   AcceptReceived,     Established,   Do<Enter, TellConnected>,                             IsAgreed>,
  On<"RFC 6581 9.1 insufficient IRD resources, 8 code 6",    AwaitAnswer,   AcceptReceived,     Established,   Do<Enter, TerminateIrd, FailNotAgreed>,               HasInsufficientIrd>,
  On<"RFC 6581 9.3 any other local error, 8 code 5",         AwaitAnswer,   AcceptReceived,     Established,   Do<Enter, TerminateCatastrophic, FailNotAgreed>,      HasLocalError>,
  On<"RFC 5043 6.3, RFC 6581 7",                             AwaitAnswer,   RejectReceived,     Closed,        Do<Over, FailRejected>,                               none>,
  On<"RFC 5043 6.4",                                         AwaitAnswer,   TerminateReceived,  Closed,        Do<Over, FailNotAdmitted>,                            none>,
  On<"RFC 5043 6.1 two active sides: no legal pattern, 6.6", AwaitAnswer,   InitiateReceived,   Ending,        Do<Await, FailCrossing>,                              none>,
  On<"RFC 5043 6.1 none of the legal patterns, 6.6",         AwaitAnswer,   ChunkIllegal,       Ending,        Do<Await, FailInvalid>,                               none>,
  On<"impl: a half-open start-up is timed",                  AwaitAnswer,   TimeExpired,        Ending,        Do<Await, FailTimedOut>,                              none>,
  On<"RFC 5043 6.6",                                         AwaitAnswer,   Withdrawn,          Ending,        Do<Await, FailWithdrawn>,                             none>,
  On<"RFC 5043 11.3 notify all consumers",                   AwaitAnswer,   AssociationLost,    Closed,        Do<Over, FailPeerClosed>,                             none>,
  // ------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"RFC 5043 6.2",                                         AwaitDecision, AcceptRequested,    Established,   Do<SendAccept, EnterSession, TellConnected>,          none>,
  On<"RFC 5043 6.3 at the direction of the ULP",             AwaitDecision, RejectRequested,    Acknowledging, Do<SendReject, Await>,                                none>,
  On<"RFC 5043 6.1, 6.2 the active side gave up",            AwaitDecision, TerminateReceived,  Acknowledging, Do<WithdrawOffer, Conclude, FailPeerClosed>,          none>,
  On<"RFC 5043 6.1 none of the legal patterns",              AwaitDecision, ChunkIllegal,       Terminating,   Do<WithdrawOffer, Conclude, FailInvalid>,             none>,
  On<"RFC 5043 11.3 notify all consumers",                   AwaitDecision, AssociationLost,    Closed,        Do<WithdrawOffer, FailPeerClosed, ReleaseIdentifier>, none>,
  // ------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"RFC 5043 6.2 at least one side MUST, 6.6",             Established,   CloseRequested,     Ending,        Await,                                                none>,
  On<"RFC 5041 6.2, RFC 5043 6.2 at least one side MUST",    Established,   DropRequested,      Ending,        Await,                                                none>,
  On<"RFC 5043 6.2 the final chunk MAY be a Terminate",      Established,   TerminateReceived,  PeerEnded,     TellEnd,                                              none>,
  On<"RFC 5043 6.1 the session MUST be terminated",          Established,   ChunkIllegal,       Ending,        Do<TellLost, Await>,                                  none>,
  On<"RFC 5043 11.3 notify all consumers",                   Established,   AssociationLost,    Closed,        Do<TellLost, ReleaseIdentifier>,                      none>,
  // ------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"RFC 5043 6.2 the final chunk for each side, 6.6",      PeerEnded,     CloseRequested,     Concluding,    Await,                                                none>,
  On<"RFC 5043 6.2 the final chunk for each side, 6.6",      PeerEnded,     DropRequested,      Concluding,    Await,                                                none>,
  On<"RFC 5043 6.1 behind the final chunk",                  PeerEnded,     ChunkIllegal,       Concluding,    Do<TellLost, Await>,                                  none>,
  On<"RFC 5043 11.3 notify all consumers",                   PeerEnded,     AssociationLost,    Closed,        Do<TellLost, ReleaseIdentifier>,                      none>,
  // ------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"RFC 5043 6.6 not before a prior control message",      Ending,        OutputAcknowledged, Terminating,   Conclude,                                             none>,
  On<"RFC 5043 6.2",                                         Ending,        TerminateReceived,  Concluding,    TellEnd,                                              none>,
  On<"RFC 5043 6 never carried over: dropped",               Ending,        ChunkIllegal,       none,          DropChunk,                                            none>,
  On<"impl: nothing else is to do",                          Ending,        DropRequested,      none,          none,                                                 none>,
  On<"RFC 5043 6.6 MUST NOT be reused",                      Ending,        TimeExpired,        Closed,        Do<TellLost, RetireIdentifier>,                       none>,
  On<"RFC 5043 11.3",                                        Ending,        AssociationLost,    Closed,        Do<TellLost, Over>,                                   none>,
  // ------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"RFC 5043 6.2, RFC 5041 6.2.1",                         Terminating,   OutputAcknowledged, Lingering,     TellEnd,                                              none>,
  On<"RFC 5043 6.2",                                         Terminating,   TerminateReceived,  Acknowledging, TellEnd,                                              none>,
  On<"RFC 5043 6 never carried over: dropped",               Terminating,   ChunkIllegal,       none,          DropChunk,                                            none>,
  On<"impl: nothing else is to do",                          Terminating,   DropRequested,      none,          none,                                                 none>,
  On<"RFC 5043 6.6 MUST NOT be reused",                      Terminating,   TimeExpired,        Closed,        Do<TellLost, RetireIdentifier>,                       none>,
  On<"RFC 5043 11.3",                                        Terminating,   AssociationLost,    Closed,        Do<TellLost, Over>,                                   none>,
  // ------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"RFC 5043 6.2, 6.6",                                    Lingering,     TerminateReceived,  Closed,        Over,                                                 none>,
  On<"RFC 5043 6 never carried over: dropped",               Lingering,     ChunkIllegal,       none,          DropChunk,                                            none>,
  On<"impl: nothing else is to do",                          Lingering,     DropRequested,      none,          none,                                                 none>,
  On<"RFC 5043 6.6 chunks may be outstanding for ever",      Lingering,     TimeExpired,        Closed,        RetireIdentifier,                                     none>,
  On<"RFC 5043 11.3",                                        Lingering,     AssociationLost,    Closed,        Over,                                                 none>,
  // ------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"RFC 5043 6.2, 6.6 not before a prior control message", Concluding,    OutputAcknowledged, Acknowledging, Conclude,                                             none>,
  On<"RFC 5043 6.1 behind the final chunk",                  Concluding,    ChunkIllegal,       none,          DropChunk,                                            none>,
  On<"impl: nothing else is to do",                          Concluding,    DropRequested,      none,          none,                                                 none>,
  On<"RFC 5043 6.6 MUST NOT be reused",                      Concluding,    TimeExpired,        Closed,        RetireIdentifier,                                     none>,
  On<"RFC 5043 11.3",                                        Concluding,    AssociationLost,    Closed,        Over,                                                 none>,
  // ------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"RFC 5043 6.6 none is outstanding",                     Acknowledging, OutputAcknowledged, Closed,        Over,                                                 none>,
  On<"RFC 5043 6.1 behind the final chunk",                  Acknowledging, ChunkIllegal,       none,          DropChunk,                                            none>,
  On<"RFC 5043 6.1, 6.4 both ends gave up",                  Acknowledging, TerminateReceived,  none,          DropChunk,                                            none>,
  On<"impl: nothing else is to do",                          Acknowledging, DropRequested,      none,          none,                                                 none>,
  On<"RFC 5043 6.6 MUST NOT be reused",                      Acknowledging, TimeExpired,        Closed,        RetireIdentifier,                                     none>,
  On<"RFC 5043 11.3",                                        Acknowledging, AssociationLost,    Closed,        Over,                                                 none>,
  // ------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"impl: ddp_stream hears of the loss",                   Closed,        DropRequested,      none,          none,                                                 none>,
  On<"impl: was posted before the association was lost",     Closed,        OutputAcknowledged, none,          none,                                                 none>
  >;
  // clang-format on
};

using Machine = fsm::Machine<Def>;

// DDP Segments may arrive, and may be sent until ddp_stream closes.
[[nodiscard]] inline bool takes_segments(const Machine& machine) { return machine.is<Established>(); }
// An answer to Initiate is to come.
[[nodiscard]] inline bool awaits_answer(const Machine& machine) { return machine.is<AwaitAnswer>(); }

}  // namespace machines::sctp_session
