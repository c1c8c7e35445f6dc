// The originator of a Connection Setup (FC-VI 5.3.2, 5.3.3, 8.5, C.3, C.5): CONNECT_RQST, RESP1, RESP2, RESP3.
//
// One object per Connection Setup, with its one retry. A setup may outlive the application's call (T1 < T3): in the
// states of the lower half it no longer belongs to an endpoint and only ends its Exchange in order.
#pragma once

#include "state_machines/fsm.hpp"

namespace machines::connect_originator {

// The result in a FCVI_CONNECT_RESP1 or RESP3: CONN_STS and Reason Code (Table 12), grouped by their consequences.
enum class Verdict : std::uint8_t {
  Accept,           // CONN_STS = 0
  NoMatch,          // 01h No Discriminator Match, 03h No Waiting Remote Connectionpoint
  Reject,           // 02h, 04h, and reserved non-error codes up to 1Fh
  ConcurrentPeers,  // 05h Connect Reject - Concurrent Matching Peer Requests
  TransportError,   // 22h Connect Reject - Transport Error
  OtherError,       // 20h, 21h, and every other code
};
// The result in our FCVI_CONNECT_RESP2.
enum class Resp2 : std::uint8_t {
  Accept,              // CONN_STS = 0: we are connected
  AcknowledgeRefusal,  // CONN_STS = 0, FCVI_HANDLE FFFFFFFFh (FC-VI 5.3.3)
  ConnectTimeout,      // CONN_STS = 1, 02h: the application waits no longer (FC-VI C.5.2)
};
// The result of the application's connect call.
enum class ConnectOutcome : std::uint8_t {
  Success,       // VIP_SUCCESS
  NoMatch,       // VIP_NO_MATCH
  Reject,        // VIP_REJECT
  Timeout,       // VIP_TIMEOUT (T1)
  NotReachable,  // VIP_NOT_REACHABLE: the retry failed too, an error Reason Code, or no login
  Withdrawn,     // VipDisconnect came first
};

// --- events
struct SetupRequested {};  // address resolved, port logged in, peer's SEQ_CNT and C bits set (FC-VI 5.6)
struct Resp1Received {
  Verdict verdict = Verdict::Accept;
};
struct Resp3Received {
  Verdict verdict = Verdict::Accept;
};
struct T1Expired {};  // the application's timeout
// FC-VI 8.5.2 a) b): T3, no RESP3 within FCVI_ULP_TIMEOUT of the CONNECT_RQST; or a Sequence error, or the peer aborted
// the Exchange. 8.5.3 and 8.5.4 treat them alike.
struct SetupErrorDetected {};
// The aborted Exchange reported its end: BA_ACC, BA_RJT, or none in time (C.3 rule 3 b).
struct AbortFinished {};
struct SupersededByPeer {};     // peer to peer: the peer's own request makes the connection (FC-VI 5.3.4)
struct DisconnectReceived {};   // DISCONNECT_RQST with CONN_SETUP_ABORT (disconnect_responder answers it)
struct DisconnectRequested {};  // VipDisconnect on the endpoint of this setup
struct EndpointErrored {};      // the endpoint left Connected for another reason while RESP3 is awaited
struct PortLoggedOut {};        // FC-VI 7.7.1; the Exchange is gone with the login

// --- effects
class Context : public fsm::Context {
 public:
  // FCVI_CONNECT_RQST in a new Exchange with a new FCVI_CONNECTION_ID and the same FCVI_HANDLE; RETRY bit if
  // `retry`, which then stands in all IUs of this FCVI_CONNECTION_ID (FC-VI 8.5.4 a).
  virtual void send_connect_rqst(bool retry) = 0;
  virtual void send_resp2(Resp2) = 0;
  // The application's Timeout, milliseconds, may be VIP_INFINITE; expires as T1Expired.
  virtual void start_t1() = 0;
  virtual void stop_t1() = 0;
  // FCVI_ULP_TIMEOUT = R_A_TOV (FC-VI 8.3); expires as SetupErrorDetected.
  virtual void start_t3() = 0;
  virtual void stop_t3() = 0;
  // ABTS (FC-VI 8.5.3 a). AbortFinished follows in any case: posted at once if the Exchange is over already.
  virtual void abort_exchange() = 0;
  // CSerr (FC-VI 8.5.3 a b, C.2): discard all frames with this FCVI_CONNECTION_ID for R_A_TOV, do not reuse it.
  virtual void quarantine_connection_id() = 0;
  // RESP3 came (FC-VI C.5.1, C.5.10.1, Annex F): Descriptors may complete, Message Responses may be sent.
  virtual void allow_send_completions() = 0;
  virtual void complete_request(ConnectOutcome) = 0;  // the application's call returns
  // Peer to peer: the peer has no request yet. The endpoint stays Pending Connect and T1 goes on, now for the wait for
  // the peer's own request (FC-VI 5.3.3).
  virtual void leave_waiting_for_peer() = 0;
  // vi_endpoint SetupSucceeded: the endpoint receives before RESP2 goes (C.5.5).
  virtual void endpoint_connected() = 0;
  virtual void endpoint_refused() = 0;    // vi_endpoint SetupRefused
  virtual void endpoint_timed_out() = 0;  // vi_endpoint ConnectTimedOut
  virtual void endpoint_retrying() = 0;   // Pending Connect Retry (FC-VI 8.2 c)
  virtual void endpoint_failed() = 0;     // vi_endpoint SetupFailed
  virtual void endpoint_lost() = 0;       // vi_endpoint ConnectionLost
  // The login was an old one of the peer (it restarted, and answered with LOGO): log in again, then feed
  // SetupRequested. A request or retry that was sent under the old login is sent once more; a retry remains the
  // one retry (8.5.4).
  virtual void renew_login() = 0;
  virtual void release() = 0;      // the setup is over; do not destroy the machine inside this call
  virtual void count_stale() = 0;  // late, duplicate or crossing: harmless, counted
  // We are online, and this setup has not renewed the login before.
  [[nodiscard]] virtual bool login_renewable() const = 0;
  [[nodiscard]] virtual bool peer_to_peer() const = 0;  // Connection Mode 010b (Table 8)
};

// --- states
struct Idle : fsm::State {};
struct AwaitResp1 : fsm::State {};           // CONNECT_RQST sent; endpoint Pending Connect
struct AwaitRetryAbort : fsm::State {};      // the first try is being aborted; endpoint Pending Connect Retry
struct AwaitRetryLogin : fsm::State {};      // a logout ended that, or the retry; endpoint Pending Connect Retry
struct AwaitResp1Retry : fsm::State {};      // CONNECT_RQST sent again; endpoint Pending Connect Retry
struct AwaitResp3Connected : fsm::State {};  // RESP2 accepted; endpoint Connected, send completions held back
struct AwaitResp1Withdrawn : fsm::State {};  // no endpoint: RESP1 is still to come
struct AwaitResp3Closing : fsm::State {};    // no endpoint: RESP2 said no, or the endpoint went away
struct Aborting : fsm::State {};             // no endpoint: ABTS sent

// --- actions and guards
FSM_ACTION(SendConnectRqst, context.send_connect_rqst(false); context.start_t3());
FSM_ACTION(RetryConnectRqst, context.send_connect_rqst(true); context.start_t3());
FSM_ACTION(SendAccept, context.send_resp2(Resp2::Accept));
FSM_ACTION(SendAcknowledge, context.send_resp2(Resp2::AcknowledgeRefusal));
FSM_ACTION(SendConnectTimeout, context.send_resp2(Resp2::ConnectTimeout));
FSM_ACTION(StartT1, context.start_t1());
FSM_ACTION(StopT1, context.stop_t1());
FSM_ACTION(StopT3, context.stop_t3());
FSM_ACTION(AbortExchange, context.stop_t3(); context.abort_exchange());
FSM_ACTION(QuarantineConnectionId, context.quarantine_connection_id());
FSM_ACTION(AllowSendCompletions, context.allow_send_completions());
FSM_ACTION(CompleteSuccess, context.complete_request(ConnectOutcome::Success));
FSM_ACTION(CompleteRefused, context.complete_request(event.verdict == Verdict::NoMatch ? ConnectOutcome::NoMatch
                                                                                       : ConnectOutcome::Reject));
FSM_ACTION(CompleteTimeout, context.complete_request(ConnectOutcome::Timeout));
FSM_ACTION(CompleteNotReachable, context.complete_request(ConnectOutcome::NotReachable));
FSM_ACTION(CompleteWithdrawn, context.complete_request(ConnectOutcome::Withdrawn));
FSM_ACTION(LeaveWaitingForPeer, context.leave_waiting_for_peer());
FSM_ACTION(EndpointConnected, context.endpoint_connected());
FSM_ACTION(EndpointRefused, context.endpoint_refused());
FSM_ACTION(EndpointTimedOut, context.endpoint_timed_out());
FSM_ACTION(EndpointRetrying, context.endpoint_retrying());
FSM_ACTION(EndpointFailed, context.endpoint_failed());
FSM_ACTION(EndpointLost, context.endpoint_lost());
FSM_ACTION(RenewLogin, context.renew_login());
FSM_ACTION(Release, context.release());
FSM_ACTION(CountStale, context.count_stale());
// Exactly one of Accepted, Refused, PeerWaits, TransportFailed, OtherwiseFailed holds.
constexpr bool non_error(Verdict verdict) {
  return verdict == Verdict::NoMatch || verdict == Verdict::Reject || verdict == Verdict::ConcurrentPeers;
}
FSM_GUARD(Accepted, event.verdict == Verdict::Accept);
FSM_GUARD(NonError, non_error(event.verdict));
FSM_GUARD(PeerMayCome, event.verdict != Verdict::Reject && context.peer_to_peer());
FSM_GUARD(LoginRenewable, context.login_renewable());
FSM_GUARD(TransportFailed, event.verdict == Verdict::TransportError);
FSM_GUARD(OtherwiseFailed, event.verdict == Verdict::OtherError);
using fsm::All, fsm::Do, fsm::none, fsm::Not, fsm::On, fsm::to_string;
using Refused = All<NonError, Not<PeerMayCome>>;
using PeerWaits = All<NonError, PeerMayCome>;
using Failed = All<Not<Accepted>, Not<NonError>>;

struct Def {
  static constexpr std::string_view name = "connect_originator";
  using Context = connect_originator::Context;
  using initial_state = Idle;
  // clang-format off
  using transition_table = fsm::Table<
  // clause                                       source               event                target               action                                                                                     guard
  On<"FC-VI 5.3.2, C.5.2",                         Idle,                SetupRequested,      AwaitResp1,          Do<StartT1, SendConnectRqst>,                                                              none>,
  On<"impl: released while its abort went on",     Idle,                AbortFinished,       none,                CountStale,                                                                                none>,
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI 5.3.2, 8.2 b), C.5.3, C.5.5",          AwaitResp1,          Resp1Received,       AwaitResp3Connected, Do<StopT1, EndpointConnected, SendAccept, CompleteSuccess>,                                Accepted>,
  On<"FC-VI 8.2 b) non-error Reason Code",         AwaitResp1,          Resp1Received,       AwaitResp3Closing,   Do<StopT1, SendAcknowledge, EndpointRefused, CompleteRefused>,                             Refused>,
  On<"FC-VI 5.3.3 no waiting peer yet",            AwaitResp1,          Resp1Received,       AwaitResp3Closing,   Do<SendAcknowledge, LeaveWaitingForPeer>,                                                  PeerWaits>,
  On<"FC-VI 8.2 b) transport error, 8.5.4",        AwaitResp1,          Resp1Received,       AwaitRetryAbort,     Do<AbortExchange, QuarantineConnectionId, EndpointRetrying>,                               TransportFailed>,
  On<"FC-VI 8.2 b) otherwise, C.1",                AwaitResp1,          Resp1Received,       AwaitResp3Closing,   Do<StopT1, SendAcknowledge, QuarantineConnectionId, EndpointFailed, CompleteNotReachable>, OtherwiseFailed>,
  On<"impl: no RESP2 was sent, T3 covers it",      AwaitResp1,          Resp3Received,       none,                CountStale,                                                                                none>,
  On<"FC-VI 8.2 b), C.5.2, C.5.6",                 AwaitResp1,          T1Expired,           AwaitResp1Withdrawn, Do<EndpointTimedOut, CompleteTimeout>,                                                     none>,
  On<"FC-VI 8.5.3 a) 2), 8.5.4, C.3 rule 3",       AwaitResp1,          SetupErrorDetected,  AwaitRetryAbort,     Do<AbortExchange, QuarantineConnectionId, EndpointRetrying>,                               none>,
  On<"FC-VI 5.3.4, C.4",                           AwaitResp1,          SupersededByPeer,    AwaitResp1Withdrawn, StopT1,                                                                                    none>,
  On<"FC-VI 5.9.4.6 CONN_SETUP_ABORT",             AwaitResp1,          DisconnectReceived,  Aborting,            Do<StopT1, AbortExchange, QuarantineConnectionId, EndpointFailed, CompleteNotReachable>,   none>,
  On<"VI-ARCH 5.2, VI-DG 3.3.5",                   AwaitResp1,          DisconnectRequested, AwaitResp1Withdrawn, Do<StopT1, CompleteWithdrawn>,                                                             none>,
  On<"FC-VI 7.7.1 an old login, no partition",        AwaitResp1,          PortLoggedOut,       Idle,                Do<StopT3, RenewLogin>,                                                                    LoginRenewable>,
  On<"FC-VI 7.7.1, 8.5.3 c), VI-DG 3.3.4",         AwaitResp1,          PortLoggedOut,       Idle,                Do<StopT1, StopT3, EndpointFailed, CompleteNotReachable, Release>,                         Not<LoginRenewable>>,
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI 8.5.4 a), C.3 rule 3 b) c)",           AwaitRetryAbort,     AbortFinished,       AwaitResp1Retry,     RetryConnectRqst,                                                                          none>,
  On<"FC-VI 8.2 c), C.3 rule 2",                   AwaitRetryAbort,     T1Expired,           Aborting,            Do<EndpointTimedOut, CompleteTimeout>,                                                     none>,
  On<"FC-VI 8.5.3 a) discard",                     AwaitRetryAbort,     Resp1Received,       none,                CountStale,                                                                                none>,
  On<"FC-VI 8.5.3 a) discard",                     AwaitRetryAbort,     Resp3Received,       none,                CountStale,                                                                                none>,
  On<"impl: detected twice, aborted once",         AwaitRetryAbort,     SetupErrorDetected,  none,                CountStale,                                                                                none>,
  On<"FC-VI 5.3.4, C.4 rule 6 a)",                 AwaitRetryAbort,     SupersededByPeer,    Aborting,            StopT1,                                                                                    none>,
  On<"FC-VI 5.9.4.6 CONN_SETUP_ABORT",             AwaitRetryAbort,     DisconnectReceived,  Aborting,            Do<StopT1, EndpointFailed, CompleteNotReachable>,                                          none>,
  On<"VI-ARCH 5.2, VI-DG 3.3.5",                   AwaitRetryAbort,     DisconnectRequested, Aborting,            Do<StopT1, CompleteWithdrawn>,                                                             none>,
  On<"FC-VI 7.7.1 an old login, no partition",     AwaitRetryAbort,     PortLoggedOut,       AwaitRetryLogin,     RenewLogin,                                                                                LoginRenewable>,
  On<"FC-VI 7.7.1, 8.5.3 c), VI-DG 3.3.4",         AwaitRetryAbort,     PortLoggedOut,       Idle,                Do<StopT1, EndpointFailed, CompleteNotReachable, Release>,                                 Not<LoginRenewable>>,
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI 8.5.4 a), C.3 rule 3 c)",              AwaitRetryLogin,     SetupRequested,      AwaitResp1Retry,     RetryConnectRqst,                                                                          none>,
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI 8.2 c), 8.5.4, C.5.3, C.5.5",          AwaitResp1Retry,     Resp1Received,       AwaitResp3Connected, Do<StopT1, EndpointConnected, SendAccept, CompleteSuccess>,                                Accepted>,
  On<"FC-VI 8.2 c) and its note",                  AwaitResp1Retry,     Resp1Received,       AwaitResp3Closing,   Do<StopT1, SendAcknowledge, EndpointRefused, CompleteRefused>,                             Refused>,
  On<"FC-VI 5.3.3 no waiting peer yet",            AwaitResp1Retry,     Resp1Received,       AwaitResp3Closing,   Do<SendAcknowledge, LeaveWaitingForPeer>,                                                  PeerWaits>,
  On<"FC-VI 8.2 c) otherwise, 8.5.4, C.1",         AwaitResp1Retry,     Resp1Received,       AwaitResp3Closing,   Do<StopT1, SendAcknowledge, QuarantineConnectionId, EndpointFailed, CompleteNotReachable>, Failed>,
  On<"impl: no RESP2 was sent, T3 covers it",      AwaitResp1Retry,     Resp3Received,       none,                CountStale,                                                                                none>,
  On<"FC-VI 8.2 c), C.5.2",                        AwaitResp1Retry,     T1Expired,           AwaitResp1Withdrawn, Do<EndpointTimedOut, CompleteTimeout>,                                                     none>,
  On<"FC-VI 8.5.3 a) 1), C.3 rule 4, C.5.7.2",     AwaitResp1Retry,     SetupErrorDetected,  Aborting,            Do<StopT1, AbortExchange, QuarantineConnectionId, EndpointFailed, CompleteNotReachable>,   none>,
  On<"FC-VI 5.3.4, C.4 rule 6 a)",                 AwaitResp1Retry,     SupersededByPeer,    AwaitResp1Withdrawn, StopT1,                                                                                    none>,
  On<"FC-VI 5.9.4.6 CONN_SETUP_ABORT",             AwaitResp1Retry,     DisconnectReceived,  Aborting,            Do<StopT1, AbortExchange, QuarantineConnectionId, EndpointFailed, CompleteNotReachable>,   none>,
  On<"VI-ARCH 5.2, VI-DG 3.3.5",                   AwaitResp1Retry,     DisconnectRequested, AwaitResp1Withdrawn, Do<StopT1, CompleteWithdrawn>,                                                             none>,
  On<"FC-VI 7.7.1 an old login, no partition",     AwaitResp1Retry,     PortLoggedOut,       AwaitRetryLogin,     Do<StopT3, RenewLogin>,                                                                    LoginRenewable>,
  On<"FC-VI 7.7.1, 8.5.3 c), VI-DG 3.3.4",         AwaitResp1Retry,     PortLoggedOut,       Idle,                Do<StopT1, StopT3, EndpointFailed, CompleteNotReachable, Release>,                         Not<LoginRenewable>>,
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI 5.3.2, C.5.1",                         AwaitResp3Connected, Resp3Received,       Idle,                Do<StopT3, AllowSendCompletions, Release>,                                                 Accepted>,
  On<"FC-VI 5.9.4.5, 8.5.3 a) 3)",                 AwaitResp3Connected, Resp3Received,       Idle,                Do<StopT3, QuarantineConnectionId, EndpointLost, Release>,                                 Not<Accepted>>,
  On<"impl: a duplicate, RESP2 was sent",          AwaitResp3Connected, Resp1Received,       none,                CountStale,                                                                                none>,
  On<"FC-VI 8.5.3 a) 3), C.3 rule 5, ruling 13",   AwaitResp3Connected, SetupErrorDetected,  Aborting,            Do<AbortExchange, QuarantineConnectionId, EndpointLost>,                                   none>,
  On<"impl: the Exchange ends in order behind it", AwaitResp3Connected, DisconnectRequested, AwaitResp3Closing,   none,                                                                                      none>,
  On<"impl: the Exchange ends in order behind it", AwaitResp3Connected, EndpointErrored,     AwaitResp3Closing,   none,                                                                                      none>,
  On<"FC-VI 7.7.1, 8.5.3 c)",                      AwaitResp3Connected, PortLoggedOut,       Idle,                Do<StopT3, EndpointLost, Release>,                                                         none>,
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI C.5.2, C.5.6 Connect Timeout",         AwaitResp1Withdrawn, Resp1Received,       AwaitResp3Closing,   SendConnectTimeout,                                                                        Accepted>,
  On<"FC-VI 5.3.3",                                AwaitResp1Withdrawn, Resp1Received,       AwaitResp3Closing,   SendAcknowledge,                                                                           NonError>,
  On<"FC-VI C.1",                                  AwaitResp1Withdrawn, Resp1Received,       AwaitResp3Closing,   Do<SendAcknowledge, QuarantineConnectionId>,                                               Failed>,
  On<"impl: no RESP2 was sent, T3 covers it",      AwaitResp1Withdrawn, Resp3Received,       none,                CountStale,                                                                                none>,
  On<"FC-VI 8.5.3 a) b), C.3 rule 2, C.5.7.1",     AwaitResp1Withdrawn, SetupErrorDetected,  Aborting,            Do<AbortExchange, QuarantineConnectionId>,                                                 none>,
  On<"FC-VI 7.7.1, 8.5.3 c)",                      AwaitResp1Withdrawn, PortLoggedOut,       Idle,                Do<StopT3, Release>,                                                                       none>,
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI 5.3.1, 5.3.3",                         AwaitResp3Closing,   Resp3Received,       Idle,                Do<StopT3, Release>,                                                                       none>,
  On<"impl: a duplicate, RESP2 was sent",          AwaitResp3Closing,   Resp1Received,       none,                CountStale,                                                                                none>,
  On<"FC-VI 8.5.3 a) b), C.3 rule 2",              AwaitResp3Closing,   SetupErrorDetected,  Aborting,            Do<AbortExchange, QuarantineConnectionId>,                                                 none>,
  On<"FC-VI 7.7.1, 8.5.3 c)",                      AwaitResp3Closing,   PortLoggedOut,       Idle,                Do<StopT3, Release>,                                                                       none>,
  // ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI C.3 rule 2 b)",                        Aborting,            AbortFinished,       Idle,                Release,                                                                                   none>,
  On<"FC-VI 8.5.3 a) discard",                     Aborting,            Resp1Received,       none,                CountStale,                                                                                none>,
  On<"FC-VI 8.5.3 a) discard",                     Aborting,            Resp3Received,       none,                CountStale,                                                                                none>,
  On<"impl: detected twice, aborted once",         Aborting,            SetupErrorDetected,  none,                CountStale,                                                                                none>,
  On<"FC-VI 7.7.1, 8.5.3 c)",                      Aborting,            PortLoggedOut,       Idle,                Release,                                                                                   none>
  >;
  // clang-format on
};

using Machine = fsm::Machine<Def>;

// The setup still acts for its endpoint: DisconnectRequested, EndpointErrored and SupersededByPeer concern
// it only then.
[[nodiscard]] inline bool owns_endpoint(const Machine& machine) {
  return machine.is_any_of<AwaitResp1, AwaitRetryAbort, AwaitResp1Retry, AwaitResp3Connected>();
}

}  // namespace machines::connect_originator
