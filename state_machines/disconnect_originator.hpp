// The originator of a Disconnect (FC-VI 5.3.5, 8.6, C.5.7.2, D.1 rules 1 and 2). One object per endpoint.
#pragma once

#include "state_machines/fsm.hpp"

namespace machines::disconnect_originator {

enum class DisconnectOutcome : std::uint8_t {
  Success,       // vi_endpoint DisconnectAnswered: VIP_SUCCESS, Idle
  NotReachable,  // vi_endpoint DisconnectUnanswered: VIP_NOT_REACHABLE, stays in Error
};

// --- events
struct DisconnectRequested {};  // vi_endpoint asks: VipDisconnect in Connected or Error
struct ResponseReceived {};     // FCVI_DISCONNECT_RESP, whatever its Reason Code (C.5.7.2)
struct ResponseTimeout {};      // FCVI_ULP_TIMEOUT
struct ExchangeError {};        // a Sequence error, or the peer aborted the Exchange (FC-VI 8.6.2 a)
struct PortLoggedOut {};        // FC-VI 7.7.1

// --- effects
class Context : public fsm::Context {
 public:
  // FCVI_DISCONNECT_RQST in a new Exchange: VI_APP_DISCON = 1, CONN_SETUP_ABORT and FCVI_CONNECTION_ID as for
  // a connection or an open setup (FC-VI 6.12.2, D.1 rules 1 a and 2 a, ruling 5).
  virtual void send_disconnect_rqst() = 0;
  virtual void start_response_timer() = 0;  // FCVI_ULP_TIMEOUT = R_A_TOV (FC-VI 8.3)
  virtual void stop_response_timer() = 0;
  // ABTS, not waited for: the retry has an Exchange of its own (D.1 rule 1 b).
  virtual void abort_exchange() = 0;
  // To vi_endpoint. Post it: without a login it comes inside the request.
  virtual void complete_disconnect(DisconnectOutcome) = 0;
  virtual void count_stale() = 0;  // late or crossing: harmless, counted
  [[nodiscard]] virtual bool port_logged_in() const = 0;
};

// --- states
struct Idle : fsm::State {};
struct AwaitResponse : fsm::State {};
struct AwaitResponseRetry : fsm::State {};
struct Unanswered : fsm::State {};  // the VI stays in Error; the application may try again

// --- actions and guards
FSM_ACTION(SendDisconnectRqst, context.send_disconnect_rqst(); context.start_response_timer());
FSM_ACTION(StopResponseTimer, context.stop_response_timer());
FSM_ACTION(AbortExchange, context.stop_response_timer(); context.abort_exchange());
FSM_ACTION(CompleteSuccess, context.complete_disconnect(DisconnectOutcome::Success));
FSM_ACTION(CompleteNotReachable, context.complete_disconnect(DisconnectOutcome::NotReachable));
FSM_ACTION(CountStale, context.count_stale());
FSM_GUARD(PortLoggedIn, context.port_logged_in());
using fsm::All, fsm::Do, fsm::none, fsm::Not, fsm::On, fsm::to_string;

struct Def {
  static constexpr std::string_view name = "disconnect_originator";
  using Context = disconnect_originator::Context;
  using initial_state = Idle;
  // clang-format off
  using transition_table = fsm::Table<
  // clause                                      source              event                target              action                                   guard
  On<"FC-VI 5.3.5, D.1 rules 1 a) 2 a)",          Idle,               DisconnectRequested, AwaitResponse,      SendDisconnectRqst,                      PortLoggedIn>,
  On<"FC-VI 7.7.1, 8.4.2 g) the logout ended it", Idle,               DisconnectRequested, none,               CompleteSuccess,                         Not<PortLoggedIn>>,
  On<"impl: no disconnect under way",             Idle,               PortLoggedOut,       none,               none,                                    none>,
  On<"impl: of an Exchange that ended",           Idle,               ResponseReceived,    none,               CountStale,                              none>,
  // ----------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI 5.3.5, D.1 rules 1 c) 2 c)",          AwaitResponse,      ResponseReceived,    Idle,               Do<StopResponseTimer, CompleteSuccess>,  none>,
  On<"FC-VI 8.6.2 b), D.1 rule 1 b) retry",       AwaitResponse,      ResponseTimeout,     AwaitResponseRetry, Do<AbortExchange, SendDisconnectRqst>,   none>,
  On<"FC-VI 8.6.2 a), D.1 rule 1 b) retry",       AwaitResponse,      ExchangeError,       AwaitResponseRetry, Do<AbortExchange, SendDisconnectRqst>,   none>,
  On<"FC-VI 7.7.1, 8.4.2 g) the logout ended it", AwaitResponse,      PortLoggedOut,       Idle,               Do<StopResponseTimer, CompleteSuccess>,  none>,
  On<"impl: under way",                           AwaitResponse,      DisconnectRequested, none,               CountStale,                              none>,
  // ----------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI C.5.7.2, D.1 rules 1 c) 2 c)",        AwaitResponseRetry, ResponseReceived,    Idle,               Do<StopResponseTimer, CompleteSuccess>,  none>,
  On<"FC-VI 8.6.3 a), D.1 rule 1 c), ruling 20",  AwaitResponseRetry, ResponseTimeout,     Unanswered,         Do<AbortExchange, CompleteNotReachable>, none>,
  On<"FC-VI 8.6.3 a), D.1 rule 1 c), ruling 20",  AwaitResponseRetry, ExchangeError,       Unanswered,         Do<AbortExchange, CompleteNotReachable>, none>,
  On<"FC-VI 7.7.1, 8.4.2 g) the logout ended it", AwaitResponseRetry, PortLoggedOut,       Idle,               Do<StopResponseTimer, CompleteSuccess>,  none>,
  On<"impl: under way",                           AwaitResponseRetry, DisconnectRequested, none,               CountStale,                              none>,
  // ----------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI 8.2 e) the application tries again",  Unanswered,         DisconnectRequested, AwaitResponse,      SendDisconnectRqst,                      PortLoggedIn>,
  On<"FC-VI 7.7.1, 8.4.2 g) the logout ended it", Unanswered,         DisconnectRequested, Idle,               CompleteSuccess,                         Not<PortLoggedIn>>,
  On<"FC-VI 8.6.3 a) the Exchange was aborted",   Unanswered,         ResponseReceived,    none,               CountStale,                              none>,
  On<"FC-VI 8.6.3 a) the Exchange was aborted",   Unanswered,         ExchangeError,       none,               CountStale,                              none>,
  On<"FC-VI 8.4.2 g) Error until VipDisconnect",  Unanswered,         PortLoggedOut,       Idle,               none,                                    none>
  >;
  // clang-format on
};

using Machine = fsm::Machine<Def>;

}  // namespace machines::disconnect_originator
