// The state of a VI (VI-ARCH 5; VI-DG 3.3.5): what may flow, and what happens to posted Descriptors.
//
// The four states of VI-ARCH 5, whatever the transport, and a fifth that the application sees as Error. The transport
// decides when the state changes: in FC-VI by its machines (connect_originator, connect_responder,
// disconnect_originator). This one decides what that means to the application.
#pragma once

#include "state_machines/fsm.hpp"

namespace machines::vi_endpoint {

enum class DisconnectOutcome : std::uint8_t {
  Success,       // VIP_SUCCESS: the VI is Idle
  NotReachable,  // VIP_NOT_REACHABLE: the peer did not answer; the VI stays in Error
};

// --- events
struct ConnectRequested {};  // VipConnectRequest, VipConnectPeerRequest
struct AcceptRequested {};   // VipConnectAccept
struct SetupSucceeded {};    // both ends agree: there is a connection
struct SetupRefused {};      // no partner, or it said no
struct ConnectTimedOut {};   // the application's time is over
struct SetupFailed {};       // a transport error; the call itself tells the application
struct ConnectionLost {};    // the peer disconnected or is gone, or a transport error
struct LocalError {};        // an error that a Descriptor reports: format, length, protection, no Descriptor
// A descriptor that cannot be posted, overrun, or memory that is gone at completion (VI-DG 6.3.1): the caller reports
// it. Before there is a connection only the state shows it: an attempt to connect is refused (VI-ARCH 5.1).
struct CatastrophicError {};
struct DisconnectRequested {};   // VipDisconnect
struct DisconnectAnswered {};    // the peer has answered, or no answer is needed
struct DisconnectUnanswered {};  // the transport asked in vain

// --- effects
class Context : public fsm::Context {
 public:
  virtual void enable_traffic() = 0;   // Connected: what is posted to either queue is processed (VI-ARCH 5.3)
  virtual void disable_traffic() = 0;  // Error: nothing goes out or comes in (VI-ARCH 5.4)
  // Complete all posted Descriptors of both queues with Descriptor Flushed, in order (VI-DG 3.3.5, VI-ARCH 5.4).
  virtual void flush_descriptors() = 0;
  // Asynchronous VIP_ERROR_CONN_LOST (VI-DG 3.8; ruling 13). Not for whoever called VipDisconnect.
  virtual void report_connection_lost() = 0;
  // Have the transport tell the peer. DisconnectAnswered or -Unanswered follows.
  virtual void request_disconnect() = 0;
  virtual void complete_disconnect(DisconnectOutcome) = 0;  // the waiting VipDisconnect returns
  virtual void refuse_request() = 0;                        // VIP_INVALID_STATE
  virtual void count_stale() = 0;                           // late or crossing: harmless, counted
  [[nodiscard]] virtual bool reliable() const = 0;          // Reliable Delivery or Reliable Reception
};

// --- states
struct Idle : fsm::State {};
struct PendingConnect : fsm::State {};
struct Connected : fsm::State {};
struct Error : fsm::State {};
struct Disconnecting : fsm::State {};  // VI-ARCH's Error, while a VipDisconnect waits for its answer (ruling 27)

// --- actions and guards
FSM_ACTION(EnableTraffic, context.enable_traffic());
FSM_ACTION(DisableTraffic, context.disable_traffic());
FSM_ACTION(FlushDescriptors, context.flush_descriptors());
FSM_ACTION(ReportConnectionLost, context.report_connection_lost());
FSM_ACTION(RequestDisconnect, context.request_disconnect());
FSM_ACTION(CompleteDisconnect, context.complete_disconnect(DisconnectOutcome::Success));
FSM_ACTION(CompleteNotReachable, context.complete_disconnect(DisconnectOutcome::NotReachable));
FSM_ACTION(RefuseRequest, context.refuse_request());
FSM_ACTION(CountStale, context.count_stale());
FSM_GUARD(Reliable, context.reliable());
using fsm::All, fsm::Do, fsm::none, fsm::Not, fsm::On, fsm::to_string;
using Stop = Do<DisableTraffic, FlushDescriptors>;

struct Def {
  static constexpr std::string_view name = "vi_endpoint";
  using Context = vi_endpoint::Context;
  using initial_state = Idle;
  // clang-format off
  using transition_table = fsm::Table<
  // clause                                                 source          event                 target          action                                    guard
  On<"VI-ARCH 5.1, FC-VI 8.2 a)",                           Idle,           ConnectRequested,     PendingConnect, none,                                     none>,
  On<"VI-ARCH 5.1",                                         Idle,           AcceptRequested,      PendingConnect, none,                                     none>,
  On<"VI-DG 3.3.5 flush, stay Idle",                        Idle,           DisconnectRequested,  none,           Do<FlushDescriptors, CompleteDisconnect>, none>,
  On<"VI-ARCH 5.1, FC-VI D.2 no callback",                  Idle,           ConnectionLost,       none,           CountStale,                               none>,
  On<"VI-ARCH 5.1 the Descriptor reports it",               Idle,           LocalError,           none,           CountStale,                               none>,
  On<"VI-ARCH 5.1, VI-DG 6.3.1, ruling 56",                 Idle,           CatastrophicError,    Error,          Stop,                                     none>,
  // ----------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"VI-ARCH 5 not valid here",                            PendingConnect, ConnectRequested,     none,           RefuseRequest,                            none>,
  On<"VI-ARCH 5 not valid here",                            PendingConnect, AcceptRequested,      none,           RefuseRequest,                            none>,
  On<"VI-ARCH 5.2, FC-VI 8.2 b)",                           PendingConnect, SetupSucceeded,       Connected,      EnableTraffic,                            none>,
  On<"VI-ARCH 5.2 Descriptors stay, FC-VI 8.2 b)",          PendingConnect, SetupRefused,         Idle,           none,                                     none>,
  On<"VI-ARCH 5.2, FC-VI 8.2 b), C.5.5",                    PendingConnect, ConnectTimedOut,      Idle,           FlushDescriptors,                         none>,
  On<"VI-ARCH 5.2, FC-VI 8.2 b) otherwise",                 PendingConnect, SetupFailed,          Error,          Stop,                                     none>,
  On<"VI-ARCH 5.2, FC-VI 8.5.3 d), C.5.2 T2",               PendingConnect, ConnectionLost,       Error,          Do<Stop, ReportConnectionLost>,           none>,
  On<"VI-ARCH 5.2 the Descriptor reports it",               PendingConnect, LocalError,           none,           CountStale,                               none>,
  On<"VI-ARCH 5.2, VI-DG 6.3.1",                            PendingConnect, CatastrophicError,    Error,          Stop,                                     none>,
  On<"VI-ARCH 5.2, VI-DG 3.3.5",                            PendingConnect, DisconnectRequested,  Idle,           Do<FlushDescriptors, CompleteDisconnect>, none>,
  // ----------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"VI-ARCH 5 not valid here",                            Connected,      ConnectRequested,     none,           RefuseRequest,                            none>,
  On<"VI-ARCH 5 not valid here",                            Connected,      AcceptRequested,      none,           RefuseRequest,                            none>,
  On<"VI-ARCH 5.3, FC-VI 8.2 d), 8.5.3 a) 3), D.2, 7.7.1",  Connected,      ConnectionLost,       Error,          Do<Stop, ReportConnectionLost>,           none>,
  On<"VI-ARCH 5.3, 7.2, 7.3, FC-VI 8.2 d), 8.4.2 e)",       Connected,      LocalError,           Error,          Do<Stop, ReportConnectionLost>,           Reliable>,
  On<"VI-ARCH 2.5.1 the connection persists",               Connected,      LocalError,           none,           none,                                     Not<Reliable>>,
  On<"VI-ARCH 5.3, VI-DG 6.3.1 at every level, 6.2, 6.3.3", Connected,      CatastrophicError,    Error,          Do<Stop, ReportConnectionLost>,           none>,
  On<"VI-ARCH 5.3, FC-VI 8.2 d), 8.6.3 a) until answered",  Connected,      DisconnectRequested,  Disconnecting,  Do<Stop, RequestDisconnect>,              none>,
  // ----------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"VI-ARCH 5 not valid here",                            Error,          ConnectRequested,     none,           RefuseRequest,                            none>,
  On<"VI-ARCH 5 not valid here",                            Error,          AcceptRequested,      none,           RefuseRequest,                            none>,
  On<"VI-ARCH 5.4, FC-VI D.2 no callback",                  Error,          ConnectionLost,       none,           CountStale,                               none>,
  On<"impl: the logout told both machines",                 Error,          SetupFailed,          none,           CountStale,                               none>,
  On<"VI-ARCH 5.4 several errors, one transition",          Error,          LocalError,           none,           CountStale,                               none>,
  On<"VI-ARCH 5.4 several errors, one transition",          Error,          CatastrophicError,    none,           CountStale,                               none>,
  On<"VI-ARCH 5.4, VI-DG 3.3.5, FC-VI 8.2 e)",              Error,          DisconnectRequested,  Disconnecting,  Do<FlushDescriptors, RequestDisconnect>,  none>,
  // ----------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"VI-ARCH 5 not valid here",                            Disconnecting,  ConnectRequested,     none,           RefuseRequest,                            none>,
  On<"VI-ARCH 5 not valid here",                            Disconnecting,  AcceptRequested,      none,           RefuseRequest,                            none>,
  On<"FC-VI D.2 both at about the same time: no callback",  Disconnecting,  ConnectionLost,       none,           CountStale,                               none>,
  On<"impl: the logout told both machines",                 Disconnecting,  SetupFailed,          none,           CountStale,                               none>,
  On<"VI-ARCH 5.4 several errors, one transition",          Disconnecting,  LocalError,           none,           CountStale,                               none>,
  On<"VI-ARCH 5.4 several errors, one transition",          Disconnecting,  CatastrophicError,    none,           CountStale,                               none>,
  On<"impl: shares the outcome of the first",               Disconnecting,  DisconnectRequested,  none,           none,                                     none>,
  On<"VI-ARCH 5.4, FC-VI 8.2 e), D.1 rule 1 c)",            Disconnecting,  DisconnectAnswered,   Idle,           Do<FlushDescriptors, CompleteDisconnect>, none>,
  On<"FC-VI 8.6.3 a), D.1 rule 1 c), ruling 20",            Disconnecting,  DisconnectUnanswered, Error,          CompleteNotReachable,                     none>
  >;
  // clang-format on
};

using Machine = fsm::Machine<Def>;

}  // namespace machines::vi_endpoint
