// One request in the peer pool: decides which Connection Setup makes its connection, ours or the peer's (FC-VI 5.3.3,
// 5.3.4, Table 2, Annex A, C.4; VI-DG 3.3.6, 6.7).
//
// One object per VipConnectPeerRequest. It stands above connect_originator (our CONNECT_RQST) and connect_responder
// (the peer's), which keep the rules of their Exchanges. Several N_Ports may have the peer's address, so that a request
// may come from another port than the one that we ask.
#pragma once

#include "state_machines/fsm.hpp"

namespace machines::peer_arbitration {

// Our Port_Name against the peer's (FC-VI 5.3.4); within one N_Port the FCVI_HANDLEs instead (5.3.4, loopback).
enum class PortNames : std::uint8_t { OursHigher, OursLower, Equal };
// The rows of Table 2: the peer's RESP1 to our request.
enum class Resp1 : std::uint8_t {
  Accept,                    // CONN_STS = 0
  NoDiscriminatorMatch,      // 01h
  NoWaitingConnectionpoint,  // 03h
  ConcurrentPeers,           // 05h
  TransportError,            // 22h
  ProtocolError,             // 21h
  Other,
};
// Our RESP1 to the peer's request, other than Accept.
enum class Answer : std::uint8_t {
  NoDiscriminatorMatch,  // 01h: the peer waits on
  ConnectReject,         // 04h, with our attributes
  ConcurrentPeers,       // 05h
  ProtocolError,         // 21h
};
// What VipConnectPeerDone and VipConnectPeerWait return.
enum class PeerOutcome : std::uint8_t {
  Success,
  Timeout,             // VIP_TIMEOUT
  NotReachable,        // VIP_NOT_REACHABLE: the set-up and its retry failed, or the link is down
  AttributesConflict,  // VIP_INVALID_RELIABILITY_LEVEL, VIP_INVALID_MTU (VI-DG 6.7)
  Refused,             // VIP_REJECT: Connect Reject although the attributes match
  Withdrawn,           // VipDisconnect came first, or the VI goes away
};

// --- events
struct RqstSent {};   // our CONNECT_RQST goes out, or goes out again
struct RqstMatched {  // the peer's CONNECT_RQST means us: both addresses, and the Discriminator of RemoteAddr
  PortNames port_names = PortNames::OursHigher;
};
struct Resp1Received {  // to our request, withdrawn or not; feed it before connect_originator hears of it
  Resp1 resp1 = Resp1::Accept;
  bool same_port = true;  // it comes from the port whose request is held
};
struct NobodyWaits {  // connect_originator leave_waiting_for_peer() or renew_login(): ours is not out any more
  bool same_port = true;
};
struct SearchEnded {};     // all ports of the address were asked, or there is none
struct SearchDue {};       // time to ask them again
struct SetupSucceeded {};  // our set-up connected the endpoint
struct SetupFailed {       // ... or ended it
  PeerOutcome outcome = PeerOutcome::NotReachable;
};
struct RqstWithdrawn {};    // the peer's held request is gone: aborted and not retried, or its port logged out
struct AcceptSucceeded {};  // RESP2 accepts: the peer's set-up connected the endpoint
struct AcceptRefused {};    // RESP2 says that the peer waits no longer (FC-VI C.5.2)
struct AcceptFailed {};     // T2, a lost Exchange, or a logout: the endpoint is in Error (C.4 rule 6 b)
struct TimeExpired {};      // the Timeout of VipConnectPeerRequest
struct DisconnectRequested {};
struct LinkLost {};  // our own link is down

// --- effects
class Context : public fsm::Context {
 public:
  // Our own set-up, if there is one, continues without the endpoint and ends its Exchange in order: connect_originator
  // SupersededByPeer, or nothing more if no CONNECT_RQST was sent. No SearchDue comes any more.
  virtual void withdraw_setup() = 0;
  virtual void accept_request() = 0;  // RESP1 "Accept": connect_responder AcceptRequested
  virtual void answer_request(Answer) = 0;
  virtual void withdraw_acceptance() = 0;  // connect_responder DisconnectRequested
  // Resolve the peer's address and ask its ports, one after the other. Post it: RqstSent may come at once.
  virtual void search() = 0;
  virtual void schedule_search() = 0;     // SearchDue after FCVI_ULP_TIMEOUT
  virtual void endpoint_timed_out() = 0;  // vi_endpoint ConnectTimedOut
  virtual void endpoint_refused() = 0;    // vi_endpoint SetupRefused
  virtual void endpoint_failed() = 0;     // vi_endpoint SetupFailed, at an unreliable level SetupRefused (VI-DG 3.3.7)
  virtual void endpoint_erred() = 0;      // vi_endpoint SetupFailed at every level (FC-VI 8.2 b)
  virtual void complete_request(PeerOutcome) = 0;  // the request leaves the pool
  // ReliabilityLevel, MaxTransferSize and QoS of the peer's request equal those of our VI (VI-DG 6.7).
  [[nodiscard]] virtual bool attributes_match() const = 0;
};

// --- states
struct Waiting : fsm::State {};     // no CONNECT_RQST of ours is out
struct Requesting : fsm::State {};  // ours is out
struct Holding : fsm::State {};     // ours is out, and the peer's waits for the RESP1 to it (5.3.4 b)
struct Accepting : fsm::State {};   // the peer's is accepted, RESP2 is to come
struct Over : fsm::State {};        // out of the pool

// --- actions and guards
FSM_ACTION(WithdrawSetup, context.withdraw_setup());
FSM_ACTION(AcceptRequest, context.accept_request());
FSM_ACTION(AnswerNoMatch, context.answer_request(Answer::NoDiscriminatorMatch));
FSM_ACTION(AnswerReject, context.answer_request(Answer::ConnectReject));
FSM_ACTION(AnswerConcurrentPeers, context.answer_request(Answer::ConcurrentPeers));
FSM_ACTION(AnswerProtocolError, context.answer_request(Answer::ProtocolError));
FSM_ACTION(WithdrawAcceptance, context.withdraw_acceptance());
FSM_ACTION(Search, context.search());
FSM_ACTION(ScheduleSearch, context.schedule_search());
FSM_ACTION(EndpointTimedOut, context.endpoint_timed_out());
FSM_ACTION(EndpointRefused, context.endpoint_refused());
FSM_ACTION(EndpointFailed, context.endpoint_failed());
FSM_ACTION(EndpointErred, context.endpoint_erred());
FSM_ACTION(CompleteSuccess, context.complete_request(PeerOutcome::Success));
FSM_ACTION(CompleteTimeout, context.complete_request(PeerOutcome::Timeout));
FSM_ACTION(CompleteNotReachable, context.complete_request(PeerOutcome::NotReachable));
FSM_ACTION(CompleteConflict, context.complete_request(PeerOutcome::AttributesConflict));
FSM_ACTION(CompleteWithdrawn, context.complete_request(PeerOutcome::Withdrawn));
FSM_ACTION(CompleteFailure, context.complete_request(event.outcome));
FSM_GUARD(OursHigher, event.port_names == PortNames::OursHigher);
FSM_GUARD(OursLower, event.port_names == PortNames::OursLower);
FSM_GUARD(NamesEqual, event.port_names == PortNames::Equal);
FSM_GUARD(AttributesMatch, context.attributes_match());
FSM_GUARD(SamePort, event.same_port);
FSM_GUARD(SaysAccept, event.resp1 == Resp1::Accept);
FSM_GUARD(SaysNoDiscriminatorMatch, event.resp1 == Resp1::NoDiscriminatorMatch);
FSM_GUARD(SaysNoWaitingPoint, event.resp1 == Resp1::NoWaitingConnectionpoint);
FSM_GUARD(SaysConcurrentPeers, event.resp1 == Resp1::ConcurrentPeers);
FSM_GUARD(SaysTransportError, event.resp1 == Resp1::TransportError);
FSM_GUARD(SaysProtocolError, event.resp1 == Resp1::ProtocolError);
FSM_GUARD(SaysOther, event.resp1 == Resp1::Other);
using fsm::All, fsm::Do, fsm::none, fsm::Not, fsm::On, fsm::to_string;
using Accept = Do<WithdrawSetup, AcceptRequest>;
using RejectConflict = Do<WithdrawSetup, AnswerReject, EndpointRefused, CompleteConflict>;
using TimeOut = Do<WithdrawSetup, EndpointTimedOut, CompleteTimeout>;
using Withdraw = Do<WithdrawSetup, CompleteWithdrawn>;
using LoseLink = Do<WithdrawSetup, EndpointFailed, CompleteNotReachable>;
template <class Row>
using Table2 = All<SamePort, Row>;
template <class Row>
using Table2Matching = All<SamePort, Row, AttributesMatch>;
template <class Row>
using Table2Conflicting = All<SamePort, Row, Not<AttributesMatch>>;

struct Def {
  static constexpr std::string_view name = "peer_arbitration";
  using Context = peer_arbitration::Context;
  using initial_state = Waiting;
  // clang-format off
  using transition_table = fsm::Table<
  // clause                                              source      event                target      action                                                          guard
  On<"impl: the request is posted, or asks again",       Waiting,    SearchDue,           none,       Search,                                                         none>,
  On<"FC-VI 5.3.1, 5.3.3",                               Waiting,    RqstSent,            Requesting, none,                                                           none>,
  On<"VI-DG 6.7 in the pool until it has timed out",     Waiting,    SearchEnded,         none,       ScheduleSearch,                                                 none>,
  On<"FC-VI 5.3.3 exchange 2, VI-DG 6.7",                Waiting,    RqstMatched,         Accepting,  Accept,                                                         AttributesMatch>,
  On<"VI-DG 6.7 attributes, FC-VI 5.9.7.2.1",            Waiting,    RqstMatched,         Over,       RejectConflict,                                                 Not<AttributesMatch>>,
  On<"VI-DG 3.3.6, 6.7 VIP_TIMEOUT",                     Waiting,    TimeExpired,         Over,       TimeOut,                                                        none>,
  On<"VI-ARCH 5.2, VI-DG 3.3.5",                         Waiting,    DisconnectRequested, Over,       Withdraw,                                                       none>,
  On<"VI-DG 3.3.7 network partition",                    Waiting,    LinkLost,            Over,       LoseLink,                                                       none>,
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI 8.5.4 the retry",                            Requesting, RqstSent,            none,       none,                                                           none>,
  On<"impl: connect_originator knows what to do",        Requesting, Resp1Received,       none,       none,                                                           none>,
  On<"FC-VI 5.3.3 no waiting peer yet",                  Requesting, NobodyWaits,         Waiting,    none,                                                           none>,
  On<"FC-VI 5.3.4 a)",                                   Requesting, RqstMatched,         Accepting,  Accept,                                                         All<OursHigher, AttributesMatch>>,
  On<"VI-DG 6.7 attributes, FC-VI 5.9.7.2.1",            Requesting, RqstMatched,         Over,       RejectConflict,                                                 All<OursHigher, Not<AttributesMatch>>>,
  On<"FC-VI 5.3.4 b)",                                   Requesting, RqstMatched,         Holding,    none,                                                           OursLower>,
  On<"FC-VI 5.3.4 c)",                                   Requesting, RqstMatched,         none,       AnswerProtocolError,                                            NamesEqual>,
  On<"FC-VI 5.3.3, 5.3.4, C.5.3",                        Requesting, SetupSucceeded,      Over,       CompleteSuccess,                                                none>,
  On<"FC-VI 8.2 b) c), C.3 rule 4",                      Requesting, SetupFailed,         Over,       CompleteFailure,                                                none>,
  On<"VI-DG 3.3.6 VIP_TIMEOUT",                          Requesting, TimeExpired,         Over,       TimeOut,                                                        none>,
  On<"VI-ARCH 5.2, VI-DG 3.3.5",                         Requesting, DisconnectRequested, Over,       Withdraw,                                                       none>,
  On<"VI-DG 3.3.7 network partition",                    Requesting, LinkLost,            Over,       LoseLink,                                                       none>,
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI 8.5.4 the retry",                            Holding,    RqstSent,            none,       none,                                                           none>,
  On<"FC-VI Table 2 row 1, 5.3.4 b) 2), A.2",            Holding,    Resp1Received,       Requesting, AnswerConcurrentPeers,                                          Table2<SaysAccept>>,
  On<"FC-VI Table 2 row 2, 5.3.4 b) 1), A.3",            Holding,    Resp1Received,       Accepting,  Accept,                                                         Table2Matching<SaysNoDiscriminatorMatch>>,
  On<"VI-DG 6.7 attributes, FC-VI 5.9.7.2.1",            Holding,    Resp1Received,       Over,       RejectConflict,                                                 Table2Conflicting<SaysNoDiscriminatorMatch>>,
  On<"FC-VI Table 2 row 3, 5.3.4 b) 1), A.4",            Holding,    Resp1Received,       Accepting,  Accept,                                                         Table2Matching<SaysNoWaitingPoint>>,
  On<"VI-DG 6.7 attributes, FC-VI 5.9.7.2.1",            Holding,    Resp1Received,       Over,       RejectConflict,                                                 Table2Conflicting<SaysNoWaitingPoint>>,
  On<"FC-VI Table 2 row 4, 5.3.4 b) 3), ruling 8",       Holding,    Resp1Received,       Requesting, AnswerProtocolError,                                            Table2<SaysConcurrentPeers>>,
  On<"FC-VI Table 2 row 5, 5.3.4 b) 4), A.6",            Holding,    Resp1Received,       Requesting, AnswerReject,                                                   Table2<SaysTransportError>>,
  On<"FC-VI Table 2 row 6, 5.3.4 b) 4), A.7",            Holding,    Resp1Received,       Requesting, AnswerReject,                                                   Table2<SaysProtocolError>>,
  On<"FC-VI Table 2 row 7, 5.3.4 b) 4), ruling 8",       Holding,    Resp1Received,       Requesting, AnswerReject,                                                   Table2<SaysOther>>,
  On<"impl: another port was faster, this one waits",   Holding,    Resp1Received,       Requesting, AnswerNoMatch,                                                  All<Not<SamePort>, SaysAccept>>,
  On<"impl: another port refuses, this peer is here",    Holding,    Resp1Received,       Accepting,  Accept,                                                         All<Not<SamePort>, Not<SaysAccept>, AttributesMatch>>,
  On<"VI-DG 6.7 attributes, FC-VI 5.9.7.2.1",            Holding,    Resp1Received,       Over,       RejectConflict,                                                 All<Not<SamePort>, Not<SaysAccept>, Not<AttributesMatch>>>,
  On<"FC-VI 7.7.1 the held one is gone with the login",  Holding,    NobodyWaits,         Waiting,    AnswerNoMatch,                                                  SamePort>,
  On<"impl: another port logged out, this peer is here", Holding,    NobodyWaits,         Accepting,  Accept,                                                         All<Not<SamePort>, AttributesMatch>>,
  On<"VI-DG 6.7 attributes, FC-VI 5.9.7.2.1",            Holding,    NobodyWaits,         Over,       RejectConflict,                                                 All<Not<SamePort>, Not<AttributesMatch>>>,
  On<"FC-VI C.4 rule 6, the peer gave up",               Holding,    RqstWithdrawn,       Requesting, none,                                                           none>,
  On<"FC-VI C.3 rule 4, the peer waits on",              Holding,    SetupFailed,         Over,       Do<AnswerNoMatch, CompleteFailure>,                             none>,
  On<"VI-DG 3.3.6, the peer waits on",                   Holding,    TimeExpired,         Over,       Do<AnswerNoMatch, TimeOut>,                                     none>,
  On<"VI-ARCH 5.2, the peer waits on",                   Holding,    DisconnectRequested, Over,       Do<AnswerNoMatch, Withdraw>,                                    none>,
  On<"VI-DG 3.3.7 network partition",                    Holding,    LinkLost,            Over,       Do<AnswerNoMatch, LoseLink>,                                    none>,
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI 5.3.3, C.5.4",                               Accepting,  AcceptSucceeded,     Over,       CompleteSuccess,                                                none>,
  On<"FC-VI 5.3.4 ours is out of the arbitration",       Accepting,  Resp1Received,       none,       none,                                                           Not<All<SamePort, SaysProtocolError>>>,
  On<"FC-VI 8.2 b), A.5 the peer denies our acceptance", Accepting,  Resp1Received,       Over,       Do<WithdrawAcceptance, EndpointErred, CompleteNotReachable>,    All<SamePort, SaysProtocolError>>,
  On<"FC-VI C.5.2, VI-DG 6.7 back in the pool",          Accepting,  AcceptRefused,       Waiting,    Search,                                                         none>,
  On<"FC-VI 8.5.3 d), C.4 rule 6 b)",                    Accepting,  AcceptFailed,        Over,       CompleteNotReachable,                                           none>,
  On<"VI-DG 3.3.6 VIP_TIMEOUT",                          Accepting,  TimeExpired,         Over,       Do<WithdrawAcceptance, EndpointTimedOut, CompleteTimeout>,      none>,
  On<"VI-ARCH 5.2, VI-DG 3.3.5",                         Accepting,  DisconnectRequested, Over,       Do<WithdrawAcceptance, CompleteWithdrawn>,                      none>,
  On<"VI-DG 3.3.7 network partition",                    Accepting,  LinkLost,            Over,       Do<WithdrawAcceptance, EndpointFailed, CompleteNotReachable>,   none>
  >;
  // clang-format on
};

using Machine = fsm::Machine<Def>;

// An incoming request may be for this one; else it is for the next in the pool.
[[nodiscard]] inline bool is_free(const Machine& machine) { return machine.is_any_of<Waiting, Requesting>(); }

}  // namespace machines::peer_arbitration
