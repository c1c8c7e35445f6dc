// The answer to a received DISCONNECT_RQST (FC-VI 5.3.5, 8.6.3 b, C.5.9.2, D.1 rules 3 and 6, D.2).
//
// One object per local FCVI_HANDLE, from the moment a setup uses it until it may be used again. A request for an
// undefined handle is fed to an object in NoConnection.
#pragma once

#include "state_machines/fsm.hpp"

namespace machines::disconnect_responder {

// Reason Code of the FCVI_DISCONNECT_RESP (Table 12).
enum class ResponseReason : std::uint8_t {
  ProtocolError,           // 48h
  ConnectionDoesNotExist,  // 4Ah
  DisconnectAccept,        // 4Bh
};

// --- events
struct SetupOpened {};            // the handle takes part in a Connection Setup
struct ConnectionEstablished {};  // endpoint Connected
struct EndpointErrored {};        // endpoint in Error, or VipDisconnect waits for its answer
// Our own Disconnect was answered, or the logout made it needless: endpoint Idle.
struct EndpointDisconnected {};
struct RqstReceived {
  bool setup_abort = false;          // CONN_SETUP_ABORT
  bool connection_id_known = false;  // FCVI_CONNECTION_ID is the one of this handle's setup
};
struct HandleReleased {};  // message_responder released the handle: R_A_TOV is over (FC-VI 8.4.2 f)
struct PortLoggedOut {};

// --- effects
class Context : public fsm::Context {
 public:
  // FCVI_DISCONNECT_RESP in the Exchange of the request; CONN_SETUP_ABORT and VI_APP_DISCON as received (5.9.4.6).
  virtual void send_disconnect_resp(ResponseReason) = 0;
  // connect_originator or connect_responder DisconnectReceived: T2 cleared, Error.
  virtual void abort_setup() = 0;
  // vi_endpoint ConnectionLost: Error, asynchronous VIP_ERROR_CONN_LOST (D.2).
  virtual void endpoint_lost() = 0;
};

// --- states
struct NoConnection : fsm::State {};
struct SetupOpen : fsm::State {};
struct Established : fsm::State {};
struct Errored : fsm::State {};
struct Quarantined : fsm::State {};  // endpoint Idle; the handle rests for R_A_TOV (FC-VI 8.4.2 f)

// --- actions and guards
FSM_ACTION(Accept, context.send_disconnect_resp(ResponseReason::DisconnectAccept));
FSM_ACTION(DoesNotExist, context.send_disconnect_resp(ResponseReason::ConnectionDoesNotExist));
FSM_ACTION(ProtocolError, context.send_disconnect_resp(ResponseReason::ProtocolError));
FSM_ACTION(AbortSetup, context.abort_setup());
FSM_ACTION(EndpointLost, context.endpoint_lost());
FSM_GUARD(AbortsSetup, event.setup_abort);
FSM_GUARD(ConnectionIdKnown, event.connection_id_known);
using fsm::All, fsm::Do, fsm::none, fsm::Not, fsm::On, fsm::to_string;
using OfUnknownSetup = All<AbortsSetup, Not<ConnectionIdKnown>>;

struct Def {
  static constexpr std::string_view name = "disconnect_responder";
  using Context = disconnect_responder::Context;
  using initial_state = NoConnection;
  // clang-format off
  using transition_table = fsm::Table<
  // clause                                       source        event                  target        action                    guard
  On<"FC-VI D.1 rule 3",                           NoConnection, RqstReceived,          none,         DoesNotExist,             none>,
  On<"FC-VI 5.3.1",                                NoConnection, SetupOpened,           SetupOpen,    none,                     none>,
  On<"VI-DG 3.3.5 in Idle",                        NoConnection, EndpointDisconnected,  none,         none,                     none>,
  On<"FC-VI 8.4.2 g) nothing left",                NoConnection, PortLoggedOut,         none,         none,                     none>,
  // ------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI 5.9.4.6, C.5.9.2",                     SetupOpen,    RqstReceived,          Errored,      Do<AbortSetup, Accept>,   Not<OfUnknownSetup>>,
  On<"FC-VI D.1 rule 6",                           SetupOpen,    RqstReceived,          none,         ProtocolError,            OfUnknownSetup>,
  On<"FC-VI 5.3.2",                                SetupOpen,    ConnectionEstablished, Established,  none,                     none>,
  On<"FC-VI 8.5.3 a) d)",                          SetupOpen,    EndpointErrored,       Errored,      none,                     none>,
  On<"VI-ARCH 5.2",                                SetupOpen,    EndpointDisconnected,  NoConnection, none,                     none>,
  On<"FC-VI 8.5.3 c)",                             SetupOpen,    PortLoggedOut,         Errored,      none,                     none>,
  // ------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI 5.3.5, D.2",                           Established,  RqstReceived,          Errored,      Do<EndpointLost, Accept>, Not<OfUnknownSetup>>,
  On<"FC-VI D.1 rule 6",                           Established,  RqstReceived,          none,         ProtocolError,            OfUnknownSetup>,
  On<"FC-VI 8.2 d)",                               Established,  EndpointErrored,       Errored,      none,                     none>,
  On<"FC-VI 7.7.1",                                Established,  PortLoggedOut,         Errored,      EndpointLost,             none>,
  // ------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI D.2 no callback",                      Errored,      RqstReceived,          none,         Accept,                   Not<OfUnknownSetup>>,
  On<"FC-VI D.1 rule 6",                           Errored,      RqstReceived,          none,         ProtocolError,            OfUnknownSetup>,
  On<"FC-VI 8.2 e), 8.4.2 f)",                     Errored,      EndpointDisconnected,  Quarantined,  none,                     none>,
  On<"VI-ARCH 5.4 several errors, one transition", Errored,      EndpointErrored,       none,         none,                     none>,
  On<"FC-VI 8.4.2 g) Error until VipDisconnect",   Errored,      PortLoggedOut,         none,         none,                     none>,
  On<"FC-VI B.2.4 rule 1 c), Idle comes later",    Errored,      HandleReleased,        NoConnection, none,                     none>,
  // ------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI D.2 already Idle: no callback",        Quarantined,  RqstReceived,          none,         Accept,                   Not<OfUnknownSetup>>,
  On<"FC-VI D.1 rule 6",                           Quarantined,  RqstReceived,          none,         ProtocolError,            OfUnknownSetup>,
  On<"FC-VI 8.4.2 f)",                             Quarantined,  HandleReleased,        NoConnection, none,                     none>,
  On<"VI-DG 3.3.5 in Idle",                        Quarantined,  EndpointDisconnected,  none,         none,                     none>,
  On<"FC-VI 8.4.2 g)",                             Quarantined,  PortLoggedOut,         NoConnection, none,                     none>
  >;
  // clang-format on
};

using Machine = fsm::Machine<Def>;

}  // namespace machines::disconnect_responder
