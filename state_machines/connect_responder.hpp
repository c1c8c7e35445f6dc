// The responder of a Connection Setup (FC-VI 5.3.2, 8.5.3 d, C.4, C.5): it received the CONNECT_RQST.
//
// One object per received Connection Setup; a retried request (RETRY bit) of the same FCVI_RQST_HANDLE goes to the same
// object. It lives as long as the connection, to answer a late retry (C.4 rules 9 and 10).
#pragma once

#include "state_machines/fsm.hpp"

namespace machines::connect_responder {

// Our answer in RESP1, or in RESP3 when a setup that we accepted must still be refused (Table 12).
enum class Answer : std::uint8_t {
  Accept,                    // CONN_STS = 0
  NoDiscriminatorMatch,      // 01h
  NoWaitingConnectionpoint,  // 03h
  ConnectReject,             // 04h
  ConcurrentPeers,           // 05h
  InvalidServiceParm,        // 20h
  ProtocolError,             // 21h
  TransportError,            // 22h
};
// The result in our FCVI_CONNECT_RESP3.
enum class Resp3 : std::uint8_t {
  Confirm,        // CONN_STS = 0, the requestor's FCVI_HANDLE: there is a connection
  Acknowledge,    // CONN_STS = 0, FCVI_HANDLE FFFFFFFFh: there is none (FC-VI 5.3.3)
  ConnectReject,  // CONN_STS = 1, 04h: we accepted, and went away meanwhile
};
// The result of the application's VipConnectAccept.
enum class AcceptOutcome : std::uint8_t {
  Success,       // VIP_SUCCESS
  Timeout,       // VIP_TIMEOUT: the client stopped waiting, or T2
  NotReachable,  // VIP_NOT_REACHABLE: the port logged out
  Withdrawn,     // VipDisconnect came first
};

// --- events
// A Connectionpoint waits and matches; a peer-to-peer setup continues with AcceptRequested at once.
struct RqstMatched {};
struct RqstRefused {
  Answer answer = Answer::NoWaitingConnectionpoint;
};
// CONNECT_RQST with RETRY for our FCVI_RQST_HANDLE; the owner holds its ids for adopt_retry().
struct RqstRetried {};
struct AcceptRequested {};  // VipConnectAccept
struct RejectRequested {    // VipConnectReject, or the outcome of peer_arbitration
  Answer answer = Answer::ConnectReject;
};
struct Resp2Received {
  bool accepted = true;  // CONN_STS = 0 with our FCVI_HANDLE
};
struct T2Expired {};      // twice FCVI_ULP_TIMEOUT without RESP2
struct ExchangeError {};  // a Sequence error in the setup's Exchange (FC-VI 8.5.2 a)
struct AbortedByPeer {};  // ABTS: the originator will retry, or has given up
// DISCONNECT_RQST for this setup or connection (disconnect_responder answers it).
struct DisconnectReceived {};
struct DisconnectRequested {};  // VipDisconnect on the accepting endpoint
struct EndpointErrored {
};  // the accepting endpoint went to Error for another reason (C.5.10.1: messages may be faster)
struct ConnectionEnded {};  // the connection that this setup made is over
struct PortLoggedOut {};

// --- effects
class Context : public fsm::Context {
 public:
  virtual void offer_request() = 0;     // to VipConnectWait, or to the peer pool
  virtual void withdraw_request() = 0;  // the offer is void: a later VipConnectAccept returns VIP_TIMEOUT
  virtual void send_resp1(Answer) = 0;
  // As the previous RESP1, with RETRY set and the adopted ids (C.4 rules 8 a, 9 a).
  virtual void repeat_resp1() = 0;
  // Ends the Exchange; RETRY as in its CONNECT_RQST.
  virtual void send_resp3(Resp3) = 0;
  // C.4 rules 8 a, 9 a: take Exchange and FCVI_CONNECTION_ID of the retried request. The Retry Flag is its RETRY bit.
  virtual void adopt_retry() = 0;
  virtual void start_t2() = 0;  // 2 x FCVI_ULP_TIMEOUT = 2 x R_A_TOV (FC-VI 8.3, C.5.2)
  virtual void stop_t2() = 0;
  // ABTS: no answer to it is awaited, and the connection stands (C.4 rule 6 a).
  virtual void abort_exchange() = 0;
  // Discard all frames with this FCVI_CONNECTION_ID for R_A_TOV (FC-VI C.2, C.5.9.2).
  virtual void set_cserr() = 0;
  virtual void complete_accept(AcceptOutcome) = 0;  // VipConnectAccept returns
  // vi_endpoint AcceptRequested, and it receives from before RESP1 on (C.5.5).
  virtual void endpoint_accepting() = 0;
  virtual void endpoint_connected() = 0;  // vi_endpoint SetupSucceeded
  virtual void endpoint_refused() = 0;    // vi_endpoint SetupRefused
  // vi_endpoint ConnectionLost: Error, asynchronous VIP_ERROR_CONN_LOST (C.5.2).
  virtual void endpoint_lost() = 0;
  virtual void release() = 0;      // the setup is over; do not destroy the machine inside this call
  virtual void count_stale() = 0;  // late, duplicate or crossing: harmless, counted
  // Peer to peer: the endpoint, still Pending Connect, goes back to the pool, and receives no longer.
  virtual void leave_waiting_for_peer() = 0;
  [[nodiscard]] virtual bool peer_to_peer() const = 0;  // Connection Mode 010b (Table 8)
  [[nodiscard]] virtual bool answered() const = 0;      // a RESP1 was sent, before the abort too
};

// --- states
struct Idle : fsm::State {};
struct AwaitDecision : fsm::State {};        // the application has the offer, or peer_arbitration
struct AwaitRetry : fsm::State {};           // ... and the originator aborted: it may retry (client to server)
struct AwaitResp2Accepted : fsm::State {};   // RESP1 accepted
struct AcceptedAwaitRetry : fsm::State {};   // accepted, and the originator aborted: it may retry
struct AwaitResp2Refused : fsm::State {};    // RESP1 refused; no endpoint
struct AwaitResp2Withdrawn : fsm::State {};  // RESP1 accepted, then VipDisconnect; no endpoint
struct Connected : fsm::State {};            // RESP3 sent
struct ConnectedRetry : fsm::State {};       // ... and RESP1 again, to a retry (Retry Flag): its RESP2 is due

// --- actions and guards
FSM_ACTION(OfferRequest, context.offer_request());
FSM_ACTION(WithdrawRequest, context.withdraw_request());
FSM_ACTION(SendAnswer, context.send_resp1(event.answer); context.start_t2());
FSM_ACTION(SendAccept, context.send_resp1(Answer::Accept); context.start_t2());
FSM_ACTION(SendReject, context.send_resp1(Answer::ConnectReject); context.start_t2());
FSM_ACTION(RepeatResp1, context.repeat_resp1());
FSM_ACTION(ConfirmInResp3, context.send_resp3(Resp3::Confirm));
FSM_ACTION(SendResp3, context.send_resp3(Resp3::Acknowledge));
FSM_ACTION(RefuseInResp3, context.send_resp3(Resp3::ConnectReject));
FSM_ACTION(AdoptRetry, context.adopt_retry());
FSM_ACTION(StartT2, context.start_t2());
FSM_ACTION(StopT2, context.stop_t2());
FSM_ACTION(AbortExchange, context.abort_exchange());
FSM_ACTION(SetCserr, context.set_cserr());
FSM_ACTION(CompleteSuccess, context.complete_accept(AcceptOutcome::Success));
FSM_ACTION(CompleteTimeout, context.complete_accept(AcceptOutcome::Timeout));
FSM_ACTION(CompleteNotReachable, context.complete_accept(AcceptOutcome::NotReachable));
FSM_ACTION(CompleteWithdrawn, context.complete_accept(AcceptOutcome::Withdrawn));
FSM_ACTION(EndpointAccepting, context.endpoint_accepting());
FSM_ACTION(EndpointConnected, context.endpoint_connected());
FSM_ACTION(EndpointRefused, context.endpoint_refused());
FSM_ACTION(EndpointLost, context.endpoint_lost());
FSM_ACTION(LeaveWaitingForPeer, context.leave_waiting_for_peer());
FSM_ACTION(Release, context.release());
FSM_ACTION(CountStale, context.count_stale());
FSM_GUARD(Accepted, event.accepted);
FSM_GUARD(PeerToPeer, context.peer_to_peer());
FSM_GUARD(Answered, context.answered());
using fsm::All, fsm::Do, fsm::none, fsm::Not, fsm::On, fsm::to_string;
using End = Do<StopT2, Release>;
using GiveUp = Do<SetCserr, WithdrawRequest, Release>;
using TakeRetry = Do<SetCserr, AdoptRetry>;  // CSerr for the FCVI_CONNECTION_ID so far: C.4 rule 8 a) 5)

struct Def {
  static constexpr std::string_view name = "connect_responder";
  using Context = connect_responder::Context;
  using initial_state = Idle;
  // clang-format off
  using transition_table = fsm::Table<
  // clause                                          source               event                target               action                                                            guard
  On<"FC-VI 5.3.2, C.5.1",                            Idle,                RqstMatched,         AwaitDecision,       OfferRequest,                                                     none>,
  On<"FC-VI 5.3.3, 5.6, 5.9.7.2, C.5.2",              Idle,                RqstRefused,         AwaitResp2Refused,   SendAnswer,                                                       none>,
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI 5.3.2, C.5.5",                            AwaitDecision,       AcceptRequested,     AwaitResp2Accepted,  Do<EndpointAccepting, SendAccept>,                                none>,
  On<"FC-VI 5.9.7.2.1 Connect Reject, Table 2",       AwaitDecision,       RejectRequested,     AwaitResp2Refused,   SendAnswer,                                                       none>,
  On<"FC-VI C.4 rule 8",                              AwaitDecision,       RqstRetried,         none,                TakeRetry,                                                        none>,
  On<"impl: the originator may retry, T2 bounds it",  AwaitDecision,       AbortedByPeer,       AwaitRetry,          StartT2,                                                          Not<PeerToPeer>>,
  On<"impl: a retry is then a new request, C.4 r11",  AwaitDecision,       AbortedByPeer,       Idle,                GiveUp,                                                           PeerToPeer>,
  On<"FC-VI 8.5.3 d) no endpoint yet",                AwaitDecision,       ExchangeError,       AwaitRetry,          StartT2,                                                          Not<PeerToPeer>>,
  On<"impl: a retry is then a new request, C.4 r11",  AwaitDecision,       ExchangeError,       Idle,                GiveUp,                                                           PeerToPeer>,
  On<"FC-VI 5.9.4.6 CONN_SETUP_ABORT",                AwaitDecision,       DisconnectReceived,  Idle,                Do<WithdrawRequest, Release>,                                     none>,
  On<"impl: no RESP1 was sent",                       AwaitDecision,       Resp2Received,       none,                CountStale,                                                       none>,
  On<"FC-VI 7.7.1, 8.5.3 c)",                         AwaitDecision,       PortLoggedOut,       Idle,                Do<WithdrawRequest, Release>,                                     none>,
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI C.4 rule 8",                              AwaitRetry,          RqstRetried,         AwaitDecision,       Do<StopT2, TakeRetry>,                                            none>,
  On<"impl: accepted before the retry came",          AwaitRetry,          AcceptRequested,     AcceptedAwaitRetry,  EndpointAccepting,                                                none>,
  On<"impl: a retry is then a new request, C.4 r11",  AwaitRetry,          RejectRequested,     Idle,                End,                                                              none>,
  On<"FC-VI C.4 rule 6, the originator gave up",      AwaitRetry,          T2Expired,           Idle,                Do<WithdrawRequest, Release>,                                     none>,
  On<"impl: of the aborted Exchange",                 AwaitRetry,          ExchangeError,       none,                CountStale,                                                       none>,
  On<"impl: ABTS repeated",                           AwaitRetry,          AbortedByPeer,       none,                CountStale,                                                       none>,
  On<"FC-VI 5.9.4.6 CONN_SETUP_ABORT",                AwaitRetry,          DisconnectReceived,  Idle,                Do<WithdrawRequest, End>,                                         none>,
  On<"FC-VI 7.7.1, 8.5.3 c)",                         AwaitRetry,          PortLoggedOut,       Idle,                Do<WithdrawRequest, End>,                                         none>,
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI 5.3.2, C.5.4",                            AwaitResp2Accepted,  Resp2Received,       Connected,           Do<StopT2, ConfirmInResp3, EndpointConnected, CompleteSuccess>,   Accepted>,
  On<"FC-VI C.5.2, C.5.6 Connect Timeout",            AwaitResp2Accepted,  Resp2Received,       Idle,                Do<StopT2, SendResp3, EndpointRefused, CompleteTimeout, Release>, All<Not<Accepted>, Not<PeerToPeer>>>,
  On<"FC-VI C.5.2, 5.3.3 the wait goes on",           AwaitResp2Accepted,  Resp2Received,       Idle,                Do<StopT2, SendResp3, LeaveWaitingForPeer, Release>,              All<Not<Accepted>, PeerToPeer>>,
  On<"FC-VI C.4 rule 8",                              AwaitResp2Accepted,  RqstRetried,         none,                Do<TakeRetry, RepeatResp1, StartT2>,                              none>,
  On<"FC-VI 8.5.3 d), C.4 rule 6 b), C.5.2",          AwaitResp2Accepted,  T2Expired,           Idle,                Do<SetCserr, CompleteTimeout, EndpointLost, Release>,             none>,
  On<"FC-VI 8.5.3 d)",                                AwaitResp2Accepted,  ExchangeError,       Idle,                Do<StopT2, SetCserr, CompleteTimeout, EndpointLost, Release>,     none>,
  On<"impl: the originator may retry, T2 runs on",    AwaitResp2Accepted,  AbortedByPeer,       AcceptedAwaitRetry,  none,                                                             none>,
  On<"FC-VI C.5.9.2",                                 AwaitResp2Accepted,  DisconnectReceived,  Idle,                Do<StopT2, CompleteTimeout, EndpointLost, Release>,               none>,
  On<"VI-ARCH 5.2, VI-DG 3.3.5",                      AwaitResp2Accepted,  DisconnectRequested, AwaitResp2Withdrawn, CompleteWithdrawn,                                                none>,
  On<"FC-VI 8.4.2 e), C.5.2",                         AwaitResp2Accepted,  EndpointErrored,     AwaitResp2Withdrawn, CompleteTimeout,                                                  none>,
  On<"FC-VI 7.7.1, 8.5.3 c)",                         AwaitResp2Accepted,  PortLoggedOut,       Idle,                Do<StopT2, CompleteNotReachable, EndpointLost, Release>,          none>,
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI C.4 rule 8",                              AcceptedAwaitRetry,  RqstRetried,         AwaitResp2Accepted,  Do<TakeRetry, SendAccept>,                                        none>,
  On<"FC-VI 8.5.3 d), C.4 rule 6 b), C.5.2",          AcceptedAwaitRetry,  T2Expired,           Idle,                Do<SetCserr, CompleteTimeout, EndpointLost, Release>,             Answered>,
  On<"FC-VI 8.5.2 c), VI-DG 6.7 the client gave up",  AcceptedAwaitRetry,  T2Expired,           Idle,                Do<EndpointRefused, CompleteTimeout, Release>,                    Not<Answered>>,
  On<"impl: of the aborted Exchange",                 AcceptedAwaitRetry,  Resp2Received,       none,                CountStale,                                                       none>,
  On<"impl: of the aborted Exchange",                 AcceptedAwaitRetry,  ExchangeError,       none,                CountStale,                                                       none>,
  On<"impl: ABTS repeated",                           AcceptedAwaitRetry,  AbortedByPeer,       none,                CountStale,                                                       none>,
  On<"FC-VI C.5.9.2",                                 AcceptedAwaitRetry,  DisconnectReceived,  Idle,                Do<StopT2, CompleteTimeout, EndpointLost, Release>,               none>,
  On<"VI-ARCH 5.2, VI-DG 3.3.5",                      AcceptedAwaitRetry,  DisconnectRequested, Idle,                Do<StopT2, CompleteWithdrawn, Release>,                           none>,
  On<"FC-VI 8.4.2 e), C.5.2",                         AcceptedAwaitRetry,  EndpointErrored,     Idle,                Do<StopT2, CompleteTimeout, Release>,                             none>,
  On<"FC-VI 7.7.1, 8.5.3 c)",                         AcceptedAwaitRetry,  PortLoggedOut,       Idle,                Do<StopT2, CompleteNotReachable, EndpointLost, Release>,          none>,
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI 5.3.1, 5.3.3",                            AwaitResp2Refused,   Resp2Received,       Idle,                Do<StopT2, SendResp3, Release>,                                   none>,
  On<"FC-VI C.4 rule 8",                              AwaitResp2Refused,   RqstRetried,         none,                Do<TakeRetry, RepeatResp1, StartT2>,                              none>,
  On<"FC-VI C.4 rule 6 b) 2), no endpoint",           AwaitResp2Refused,   T2Expired,           Idle,                Do<SetCserr, Release>,                                            none>,
  On<"FC-VI 8.5.3 d), no endpoint",                   AwaitResp2Refused,   ExchangeError,       Idle,                End,                                                              none>,
  On<"impl: a retry is then a new request, C.4 r11",  AwaitResp2Refused,   AbortedByPeer,       Idle,                End,                                                              none>,
  On<"FC-VI 5.9.4.6 CONN_SETUP_ABORT",                AwaitResp2Refused,   DisconnectReceived,  Idle,                End,                                                              none>,
  On<"FC-VI 7.7.1, 8.5.3 c)",                         AwaitResp2Refused,   PortLoggedOut,       Idle,                End,                                                              none>,
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI 5.9.4.5 CONN_STS in RESP3",               AwaitResp2Withdrawn, Resp2Received,       Idle,                Do<StopT2, RefuseInResp3, Release>,                               Accepted>,
  On<"FC-VI C.5.6 both gave up",                      AwaitResp2Withdrawn, Resp2Received,       Idle,                Do<StopT2, SendResp3, Release>,                                   Not<Accepted>>,
  On<"FC-VI C.4 rule 8, now refused",                 AwaitResp2Withdrawn, RqstRetried,         AwaitResp2Refused,   Do<TakeRetry, SendReject>,                                        none>,
  On<"FC-VI C.4 rule 6 b) 2), no endpoint",           AwaitResp2Withdrawn, T2Expired,           Idle,                Do<SetCserr, Release>,                                            none>,
  On<"FC-VI 8.5.3 d), no endpoint",                   AwaitResp2Withdrawn, ExchangeError,       Idle,                End,                                                              none>,
  On<"impl: a retry is then a new request, C.4 r11",  AwaitResp2Withdrawn, AbortedByPeer,       Idle,                End,                                                              none>,
  On<"FC-VI 5.3.5",                                   AwaitResp2Withdrawn, DisconnectReceived,  Idle,                End,                                                              none>,
  On<"FC-VI 7.7.1, 8.5.3 c)",                         AwaitResp2Withdrawn, PortLoggedOut,       Idle,                End,                                                              none>,
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI C.4 rule 9, 8.5.2 c)",                    Connected,           RqstRetried,         ConnectedRetry,      Do<AdoptRetry, RepeatResp1, StartT2>,                             none>,
  On<"impl: a duplicate, RESP3 was sent",             Connected,           Resp2Received,       none,                CountStale,                                                       none>,
  On<"FC-VI C.5.10.1 Connected until the disconnect", Connected,           AbortedByPeer,       none,                CountStale,                                                       none>,
  On<"FC-VI C.5.10.1 Connected until the disconnect", Connected,           ExchangeError,       none,                CountStale,                                                       none>,
  On<"FC-VI D.2",                                     Connected,           ConnectionEnded,     Idle,                Release,                                                          none>,
  On<"FC-VI 7.7.1, 8.5.3 c)",                         Connected,           PortLoggedOut,       Idle,                Release,                                                          none>,
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI C.4 rule 9",                              ConnectedRetry,      RqstRetried,         none,                Do<AdoptRetry, RepeatResp1, StartT2>,                             none>,
  On<"FC-VI C.4 rules 10, 12",                        ConnectedRetry,      Resp2Received,       Connected,           Do<StopT2, ConfirmInResp3>,                                       Accepted>,
  On<"FC-VI 8.2 d), C.5.2 no connection at its end",  ConnectedRetry,      Resp2Received,       Idle,                Do<StopT2, SendResp3, EndpointLost, Release>,                     Not<Accepted>>,
  On<"FC-VI C.4 rule 6 a)",                           ConnectedRetry,      T2Expired,           Connected,           AbortExchange,                                                    PeerToPeer>,
  On<"FC-VI 8.5.3 d), C.4 rule 6 b)",                 ConnectedRetry,      T2Expired,           Idle,                Do<SetCserr, EndpointLost, Release>,                              Not<PeerToPeer>>,
  On<"impl: as T2, C.4 rule 6 a)",                    ConnectedRetry,      ExchangeError,       Connected,           StopT2,                                                           PeerToPeer>,
  On<"FC-VI 8.5.3 d)",                                ConnectedRetry,      ExchangeError,       Idle,                Do<StopT2, SetCserr, EndpointLost, Release>,                      Not<PeerToPeer>>,
  On<"impl: the originator gave up, T2 runs on",      ConnectedRetry,      AbortedByPeer,       none,                CountStale,                                                       none>,
  On<"FC-VI 8.2 d), what is left of it refuses",      ConnectedRetry,      EndpointErrored,     AwaitResp2Withdrawn, none,                                                             none>,
  On<"FC-VI D.2",                                     ConnectedRetry,      ConnectionEnded,     Idle,                End,                                                              none>,
  On<"FC-VI 7.7.1, 8.5.3 c)",                         ConnectedRetry,      PortLoggedOut,       Idle,                End,                                                              none>
  >;
  // clang-format on
};

using Machine = fsm::Machine<Def>;

}  // namespace machines::connect_responder
