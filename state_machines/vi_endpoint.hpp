// The state of a VI (FC-VI 8.2 a-e; VI-ARCH 5; VI-DG 3.3.5): what may flow, and what happens to posted Descriptors.
//
// The four states of VI-ARCH 5 and FC-VI's Pending Connect Retry. The transport's machines
// (connect_originator, connect_responder, disconnect_originator) decide when the state changes; this one
// decides what that means to the application.
#pragma once

#include "state_machines/fsm.hpp"

namespace machines::vi_endpoint {

enum class DisconnectOutcome : std::uint8_t {
  Success,       // VIP_SUCCESS: the VI is Idle
  NotReachable,  // VIP_NOT_REACHABLE: no DISCONNECT_RESP came; the VI stays in Error
};

// --- events
struct ConnectRequested {};  // VipConnectRequest, VipConnectPeerRequest
struct AcceptRequested {};   // VipConnectAccept
struct PeerMatched {};       // peer to peer: the peer's own request makes the connection
struct PeerWithdrew {};      // ... and was withdrawn: the wait goes on (FC-VI 5.3.3)
struct SetupSucceeded {};    // originator: RESP1 accepts; responder: RESP2 accepts
struct SetupRefused {};      // a non-error Reason Code (FC-VI 5.9.7.2.1)
struct ConnectTimedOut {};   // the application's time (T1) is over
struct SetupRetried {};      // transport error in Pending Connect: the one retry begins
struct SetupFailed {};       // error Reason Code, or the retry failed; the call itself tells the application
// DISCONNECT_RQST of the peer, port logout, transport error, T2 or T3 of a connected VI.
struct ConnectionLost {};
struct LocalError {};  // an error that a Descriptor reports: format, length, protection, no Descriptor
// A descriptor that cannot be posted, overrun, or memory that is gone at completion (VI-DG 6.3.1): the caller reports
// it. Before there is a connection only the state shows it: an attempt to connect is refused (VI-ARCH 5.1).
struct CatastrophicError {};
struct DisconnectRequested {};   // VipDisconnect
struct DisconnectAnswered {};    // DISCONNECT_RESP came, or no answer is needed (the port is logged out)
struct DisconnectUnanswered {};  // neither the request nor its retry was answered

// --- effects
class Context : public fsm::Context {
 public:
  virtual void enable_reception() = 0;     // FC-VI C.5.5; if it is enabled already, do nothing
  virtual void enable_transmission() = 0;  // FC-VI C.5.5: Sends are processed from now on
  // Back to Idle without a connection: reception may have been enabled.
  virtual void withdraw_reception() = 0;
  virtual void disable_traffic() = 0;  // Error: both directions (FC-VI 8.1, VI-ARCH 5.4), Herr (8.4.2 f)
  // Complete all posted Descriptors of both queues with Descriptor Flushed, in order (VI-DG 3.3.5, VI-ARCH 5.4).
  virtual void flush_descriptors() = 0;
  // Asynchronous VIP_ERROR_CONN_LOST (VI-DG 3.8; ruling 13). Not for whoever called VipDisconnect.
  virtual void report_connection_lost() = 0;
  // Have the transport send the DISCONNECT_RQST (disconnect_originator). DisconnectAnswered or -Unanswered follows.
  virtual void request_disconnect() = 0;
  virtual void complete_disconnect(DisconnectOutcome) = 0;  // the waiting VipDisconnect returns
  virtual void refuse_request() = 0;                        // VIP_INVALID_STATE
  virtual void count_stale() = 0;                           // late or crossing: harmless, counted
  [[nodiscard]] virtual bool reliable() const = 0;          // Reliable Delivery or Reliable Reception
  // A VipDisconnect waits already: a second one shares its outcome.
  [[nodiscard]] virtual bool disconnect_outstanding() const = 0;
};

// --- states
struct Idle : fsm::State {};
struct PendingConnect : fsm::State {};
struct PendingConnectRetry : fsm::State {};
struct Connected : fsm::State {};
struct Error : fsm::State {};  // also while a VipDisconnect waits for its answer (FC-VI D.2)

// --- actions and guards
FSM_ACTION(EnableReception, context.enable_reception());
FSM_ACTION(EnableTransmission, context.enable_transmission());
FSM_ACTION(WithdrawReception, context.withdraw_reception());
FSM_ACTION(DisableTraffic, context.disable_traffic());
FSM_ACTION(FlushDescriptors, context.flush_descriptors());
FSM_ACTION(ReportConnectionLost, context.report_connection_lost());
FSM_ACTION(RequestDisconnect, context.request_disconnect());
FSM_ACTION(CompleteDisconnect, context.complete_disconnect(DisconnectOutcome::Success));
FSM_ACTION(CompleteNotReachable, context.complete_disconnect(DisconnectOutcome::NotReachable));
FSM_ACTION(RefuseRequest, context.refuse_request());
FSM_ACTION(CountStale, context.count_stale());
FSM_GUARD(Reliable, context.reliable());
FSM_GUARD(DisconnectOutstanding, context.disconnect_outstanding());
using fsm::All, fsm::Do, fsm::none, fsm::Not, fsm::On, fsm::to_string;
using Stop = Do<DisableTraffic, FlushDescriptors>;
using Withdraw = Do<WithdrawReception, FlushDescriptors>;

struct Def {
  static constexpr std::string_view name = "vi_endpoint";
  using Context = vi_endpoint::Context;
  using initial_state = Idle;
  // clang-format off
  using transition_table = fsm::Table<
  // clause                                        source               event                 target               action                                    guard
  On<"FC-VI 8.2 a), VI-ARCH 5.1",                   Idle,                ConnectRequested,     PendingConnect,      none,                                     none>,
  On<"VI-ARCH 5.1, FC-VI C.5.5 before RESP1",       Idle,                AcceptRequested,      PendingConnect,      EnableReception,                          none>,
  On<"VI-DG 3.3.5 flush, stay Idle",                Idle,                DisconnectRequested,  none,                Do<FlushDescriptors, CompleteDisconnect>, none>,
  On<"FC-VI D.2 already Idle: no callback",         Idle,                ConnectionLost,       none,                CountStale,                               none>,
  On<"VI-ARCH 5.1 the Descriptor reports it",       Idle,                LocalError,           none,                CountStale,                               none>,
  On<"VI-DG 6.3.1, VI-ARCH 5.1, ruling 56",         Idle,                CatastrophicError,    Error,               Stop,                                     none>,
  // -------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"VI-ARCH 5 not valid here",                    PendingConnect,      ConnectRequested,     none,                RefuseRequest,                            none>,
  On<"VI-ARCH 5 not valid here",                    PendingConnect,      AcceptRequested,      none,                RefuseRequest,                            none>,
  On<"FC-VI 5.3.4 a), C.5.5 before RESP1",          PendingConnect,      PeerMatched,          none,                EnableReception,                          none>,
  On<"FC-VI 5.3.3 the wait goes on",                PendingConnect,      PeerWithdrew,         none,                WithdrawReception,                        none>,
  On<"FC-VI 8.2 b), C.5.5",                         PendingConnect,      SetupSucceeded,       Connected,           Do<EnableReception, EnableTransmission>,  none>,
  On<"FC-VI 8.2 b), VI-ARCH 5.2 Descriptors stay",  PendingConnect,      SetupRefused,         Idle,                WithdrawReception,                        none>,
  On<"FC-VI 8.2 b), C.5.5",                         PendingConnect,      ConnectTimedOut,      Idle,                Withdraw,                                 none>,
  On<"FC-VI 8.2 b), 8.5.3 a) 2)",                   PendingConnect,      SetupRetried,         PendingConnectRetry, none,                                     none>,
  On<"FC-VI 8.2 b) otherwise",                      PendingConnect,      SetupFailed,          Error,               Stop,                                     none>,
  On<"FC-VI 8.5.3 d), C.5.2 T2",                    PendingConnect,      ConnectionLost,       Error,               Do<Stop, ReportConnectionLost>,           none>,
  On<"VI-ARCH 5.2 the Descriptor reports it",       PendingConnect,      LocalError,           none,                CountStale,                               none>,
  On<"VI-DG 6.3.1, VI-ARCH 5.2",                    PendingConnect,      CatastrophicError,    Error,               Stop,                                     none>,
  On<"VI-ARCH 5.2, VI-DG 3.3.5",                    PendingConnect,      DisconnectRequested,  Idle,                Do<Withdraw, CompleteDisconnect>,         none>,
  // -------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"VI-ARCH 5 not valid here",                    PendingConnectRetry, ConnectRequested,     none,                RefuseRequest,                            none>,
  On<"VI-ARCH 5 not valid here",                    PendingConnectRetry, AcceptRequested,      none,                RefuseRequest,                            none>,
  On<"FC-VI 5.3.4 a), C.5.5 before RESP1",          PendingConnectRetry, PeerMatched,          none,                EnableReception,                          none>,
  On<"FC-VI 5.3.3 the wait goes on",                PendingConnectRetry, PeerWithdrew,         none,                WithdrawReception,                        none>,
  On<"FC-VI 8.2 c), C.5.5",                         PendingConnectRetry, SetupSucceeded,       Connected,           Do<EnableReception, EnableTransmission>,  none>,
  On<"FC-VI 8.2 c) and its note",                   PendingConnectRetry, SetupRefused,         Idle,                WithdrawReception,                        none>,
  On<"FC-VI 8.2 c), C.5.5",                         PendingConnectRetry, ConnectTimedOut,      Idle,                Withdraw,                                 none>,
  On<"FC-VI 8.2 c), 8.5.3 a) 1), C.3 rule 4",       PendingConnectRetry, SetupFailed,          Error,               Stop,                                     none>,
  On<"FC-VI 8.5.3 d), 7.7.1",                       PendingConnectRetry, ConnectionLost,       Error,               Do<Stop, ReportConnectionLost>,           none>,
  On<"VI-ARCH 5.2 the Descriptor reports it",       PendingConnectRetry, LocalError,           none,                CountStale,                               none>,
  On<"VI-DG 6.3.1, VI-ARCH 5.2",                    PendingConnectRetry, CatastrophicError,    Error,               Stop,                                     none>,
  On<"VI-ARCH 5.2, VI-DG 3.3.5",                    PendingConnectRetry, DisconnectRequested,  Idle,                Do<Withdraw, CompleteDisconnect>,         none>,
  // -------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"VI-ARCH 5 not valid here",                    Connected,           ConnectRequested,     none,                RefuseRequest,                            none>,
  On<"VI-ARCH 5 not valid here",                    Connected,           AcceptRequested,      none,                RefuseRequest,                            none>,
  On<"FC-VI 8.2 d), 8.5.3 a) 3), D.2, 7.7.1",       Connected,           ConnectionLost,       Error,               Do<Stop, ReportConnectionLost>,           none>,
  On<"FC-VI 8.2 d), 8.4.2 e), VI-ARCH 7.2, 7.3",    Connected,           LocalError,           Error,               Do<Stop, ReportConnectionLost>,           Reliable>,
  On<"VI-ARCH 2.5.1 the connection persists",       Connected,           LocalError,           none,                none,                                     Not<Reliable>>,
  On<"VI-DG 6.3.1 at every level, 6.2, 6.3.3",      Connected,           CatastrophicError,    Error,               Do<Stop, ReportConnectionLost>,           none>,
  On<"FC-VI 8.2 d), 8.6.3 a) Error until answered", Connected,           DisconnectRequested,  Error,               Do<Stop, RequestDisconnect>,              none>,
  // -------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"VI-ARCH 5 not valid here",                    Error,               ConnectRequested,     none,                RefuseRequest,                            none>,
  On<"VI-ARCH 5 not valid here",                    Error,               AcceptRequested,      none,                RefuseRequest,                            none>,
  On<"FC-VI D.2 already in Error: no callback",     Error,               ConnectionLost,       none,                CountStale,                               none>,
  On<"impl: the logout told both machines",         Error,               SetupFailed,          none,                CountStale,                               none>,
  On<"VI-ARCH 5.4 several errors, one transition",  Error,               LocalError,           none,                CountStale,                               none>,
  On<"VI-ARCH 5.4 several errors, one transition",  Error,               CatastrophicError,    none,                CountStale,                               none>,
  On<"FC-VI 8.2 e), VI-DG 3.3.5",                   Error,               DisconnectRequested,  none,                Do<FlushDescriptors, RequestDisconnect>,  Not<DisconnectOutstanding>>,
  On<"impl: shares the outcome of the first",       Error,               DisconnectRequested,  none,                none,                                     DisconnectOutstanding>,
  On<"FC-VI 8.2 e), D.1 rule 1 c)",                 Error,               DisconnectAnswered,   Idle,                Do<FlushDescriptors, CompleteDisconnect>, none>,
  On<"FC-VI 8.6.3 a), D.1 rule 1 c), ruling 20",    Error,               DisconnectUnanswered, none,                CompleteNotReachable,                     none>
  >;
  // clang-format on
};

using Machine = fsm::Machine<Def>;

}  // namespace machines::vi_endpoint
