// One end of a link: which primitive sequence it transmits, and whether frames may pass (FC-FS, FC_Port states AC, LR1
// to LR3, LF1, LF2, OL1 to OL3; FC-VI 7.7).
//
// A primitive sequence is transmitted until another one replaces it: the owner reports each change to the far end, and
// feeds the far end's changes. NOS is repeated, since the far end may take long to see it. Link Reset keeps every login
// (FC-VI 7.7.1); NOS and OLS are reported.
#pragma once

#include "state_machines/fsm.hpp"

namespace machines::link_port {

// --- events
struct LrReceived {};   // Link Reset
struct LrrReceived {};  // Link Reset Response
struct IdleReceived {};
struct OlsReceived {};  // Offline
struct NosReceived {};  // Not Operational
struct SignalLost {};   // light, or word synchronization for longer than R_T_TOV
struct SignalFound {};  // again, after SignalLost
struct Timeout {};      // R_T_TOV without the answer that the state waits for
// Only in Active:
struct LinkTimeout {};       // no credit for E_D_TOV (LR_TOV), or a reset was requested
struct OfflineRequested {};  // the port leaves the link, and comes back
// Only at the start:
struct InitializationSkipped {};  // both ends were through with it before they were joined

// --- effects
class Context : public fsm::Context {
 public:
  virtual void send_idle() = 0;  // from now on, until another one
  virtual void send_lr() = 0;
  virtual void send_lrr() = 0;
  virtual void send_ols() = 0;
  virtual void send_nos() = 0;
  // Frames wait; buffer-to-buffer credit in both directions is as after login: outstanding R_RDYs are forgotten.
  virtual void reset_link() = 0;
  virtual void start_timer() = 0;  // R_T_TOV
  virtual void stop_timer() = 0;
  // No login survives without validation (FC-VI 7.7.2 to 7.7.5); may be repeated while the link is not active.
  virtual void report_offline() = 0;
  virtual void report_active() = 0;  // frames may pass; after a mere reset too
};

// --- states
struct OlsTransmit : fsm::State {};  // OL1: begins, or goes offline
struct OlsReceive : fsm::State {};   // OL2: transmits LR
struct WaitForOls : fsm::State {};   // OL3: transmits NOS
struct Active : fsm::State {};       // AC
struct LrTransmit : fsm::State {};   // LR1
struct LrReceive : fsm::State {};    // LR2: transmits LRR
struct LrrReceive : fsm::State {};   // LR3: transmits Idle
struct NosReceive : fsm::State {};   // LF1: transmits OLS
struct NosTransmit : fsm::State {};  // LF2

// --- actions
FSM_ACTION(Activate, context.stop_timer(); context.send_idle(); context.report_active());
FSM_ACTION(SendLr, context.reset_link(); context.send_lr(); context.start_timer());
FSM_ACTION(SendLrr, context.reset_link(); context.send_lrr(); context.start_timer());
FSM_ACTION(SendIdle, context.reset_link(); context.send_idle(); context.start_timer());
FSM_ACTION(SendOls, context.report_offline(); context.send_ols(); context.start_timer());
FSM_ACTION(AnswerOls, context.reset_link(); context.report_offline(); context.send_lr(); context.start_timer());
FSM_ACTION(SendNos, context.report_offline(); context.send_nos(); context.start_timer());
using fsm::none, fsm::On;

struct Def {
  static constexpr std::string_view name = "link_port";
  using Context = link_port::Context;
  using initial_state = OlsTransmit;
  // clang-format off
  using transition_table = fsm::Table<
  // clause                                         source       event                  target       action     guard
  On<"impl: the far end did the same",              OlsTransmit, InitializationSkipped, Active,      Activate,  none>,
  On<"FC-FS OL1: LR ends it",                       OlsTransmit, LrReceived,            LrReceive,   SendLrr,   none>,
  On<"FC-FS OL1: waits for OLS or LR",              OlsTransmit, LrrReceived,           none,        none,      none>,
  On<"FC-FS OL1: waits for OLS or LR",              OlsTransmit, IdleReceived,          none,        none,      none>,
  On<"FC-FS link initialization: both begin",       OlsTransmit, OlsReceived,           OlsReceive,  AnswerOls, none>,
  On<"FC-FS LF1: NOS is answered by OLS",           OlsTransmit, NosReceived,           NosReceive,  SendOls,   none>,
  On<"FC-FS OL3: nothing is received",              OlsTransmit, SignalLost,            WaitForOls,  SendNos,   none>,
  On<"FC-FS R_T_TOV",                               OlsTransmit, Timeout,               WaitForOls,  SendNos,   none>,
  // -----------------------------------------------------------------------------------------------------------------------
  On<"FC-FS LR2: LR is answered by LRR",            OlsReceive,  LrReceived,            LrReceive,   SendLrr,   none>,
  On<"FC-FS LR3: LRR is answered by Idle",          OlsReceive,  LrrReceived,           LrrReceive,  SendIdle,  none>,
  On<"FC-FS OL2: the far end has not seen LR yet",  OlsReceive,  IdleReceived,          none,        none,      none>,
  On<"FC-FS OL2: the same again",                   OlsReceive,  OlsReceived,           none,        none,      none>,
  On<"FC-FS LF1: NOS is answered by OLS",           OlsReceive,  NosReceived,           NosReceive,  SendOls,   none>,
  On<"FC-FS OL3: nothing is received",              OlsReceive,  SignalLost,            WaitForOls,  SendNos,   none>,
  On<"FC-FS R_T_TOV",                               OlsReceive,  Timeout,               WaitForOls,  SendNos,   none>,
  // -----------------------------------------------------------------------------------------------------------------------
  On<"FC-FS OL3: LR does not end it",               WaitForOls,  LrReceived,            none,        none,      none>,
  On<"FC-FS OL3: waits for OLS or NOS",             WaitForOls,  LrrReceived,           none,        none,      none>,
  On<"FC-FS OL3: waits for OLS or NOS",             WaitForOls,  IdleReceived,          none,        none,      none>,
  On<"FC-FS OL2: OLS is answered by LR",            WaitForOls,  OlsReceived,           OlsReceive,  AnswerOls, none>,
  On<"FC-FS LF1: NOS is answered by OLS",           WaitForOls,  NosReceived,           NosReceive,  SendOls,   none>,
  On<"impl: known",                                 WaitForOls,  SignalLost,            none,        none,      none>,
  On<"FC-FS OL3: the far end can see it now",       WaitForOls,  SignalFound,           none,        SendNos,   none>,
  On<"FC-FS OL3: NOS until it is answered",         WaitForOls,  Timeout,               none,        SendNos,   none>,
  // -----------------------------------------------------------------------------------------------------------------------
  On<"FC-FS link reset: LR is answered by LRR",     Active,      LrReceived,            LrReceive,   SendLrr,   none>,
  On<"FC-FS LR3: an LRR that nobody asked for",     Active,      LrrReceived,           LrrReceive,  SendIdle,  none>,
  On<"FC-FS AC",                                    Active,      IdleReceived,          none,        none,      none>,
  On<"FC-FS online to offline, FC-VI 7.7.1",        Active,      OlsReceived,           OlsReceive,  AnswerOls, none>,
  On<"FC-FS link failure, FC-VI 7.7.1",             Active,      NosReceived,           NosReceive,  SendOls,   none>,
  On<"FC-FS link failure, FC-VI 7.7.1",             Active,      SignalLost,            NosTransmit, SendNos,   none>,
  On<"FC-FS link time-out, FC-VI 7.7.1 no logout",  Active,      LinkTimeout,           LrTransmit,  SendLr,    none>,
  On<"FC-FS online to offline, FC-VI 7.7.1",        Active,      OfflineRequested,      OlsTransmit, SendOls,   none>,
  // -----------------------------------------------------------------------------------------------------------------------
  On<"FC-FS link reset by both",                    LrTransmit,  LrReceived,            LrReceive,   SendLrr,   none>,
  On<"FC-FS LR3: LRR is answered by Idle",          LrTransmit,  LrrReceived,           LrrReceive,  SendIdle,  none>,
  On<"FC-FS LR1: the far end has not seen LR yet",  LrTransmit,  IdleReceived,          none,        none,      none>,
  On<"FC-FS OL2: OLS is answered by LR",            LrTransmit,  OlsReceived,           OlsReceive,  AnswerOls, none>,
  On<"FC-FS LF1: NOS is answered by OLS",           LrTransmit,  NosReceived,           NosReceive,  SendOls,   none>,
  On<"FC-FS link failure",                          LrTransmit,  SignalLost,            NosTransmit, SendNos,   none>,
  On<"FC-FS link reset time-out is a link failure", LrTransmit,  Timeout,               NosTransmit, SendNos,   none>,
  // -----------------------------------------------------------------------------------------------------------------------
  On<"FC-FS LR2: the same again",                   LrReceive,   LrReceived,            none,        none,      none>,
  On<"FC-FS LR3: LRR is answered by Idle",          LrReceive,   LrrReceived,           LrrReceive,  SendIdle,  none>,
  On<"FC-FS AC: Idle ends the reset",               LrReceive,   IdleReceived,          Active,      Activate,  none>,
  On<"FC-FS OL2: OLS is answered by LR",            LrReceive,   OlsReceived,           OlsReceive,  AnswerOls, none>,
  On<"FC-FS LF1: NOS is answered by OLS",           LrReceive,   NosReceived,           NosReceive,  SendOls,   none>,
  On<"FC-FS link failure",                          LrReceive,   SignalLost,            NosTransmit, SendNos,   none>,
  On<"FC-FS link reset time-out is a link failure", LrReceive,   Timeout,               NosTransmit, SendNos,   none>,
  // -----------------------------------------------------------------------------------------------------------------------
  On<"FC-FS LR2: LR is answered by LRR",            LrrReceive,  LrReceived,            LrReceive,   SendLrr,   none>,
  On<"FC-FS LR3: the same again",                   LrrReceive,  LrrReceived,           none,        none,      none>,
  On<"FC-FS AC: Idle ends the reset",               LrrReceive,  IdleReceived,          Active,      Activate,  none>,
  On<"FC-FS OL2: OLS is answered by LR",            LrrReceive,  OlsReceived,           OlsReceive,  AnswerOls, none>,
  On<"FC-FS LF1: NOS is answered by OLS",           LrrReceive,  NosReceived,           NosReceive,  SendOls,   none>,
  On<"FC-FS link failure",                          LrrReceive,  SignalLost,            NosTransmit, SendNos,   none>,
  On<"FC-FS link reset time-out is a link failure", LrrReceive,  Timeout,               NosTransmit, SendNos,   none>,
  // -----------------------------------------------------------------------------------------------------------------------
  On<"FC-FS LR2: LR is answered by LRR",            NosReceive,  LrReceived,            LrReceive,   SendLrr,   none>,
  On<"FC-FS LF1: waits for LR or OLS",              NosReceive,  LrrReceived,           none,        none,      none>,
  On<"FC-FS LF1: waits for LR or OLS",              NosReceive,  IdleReceived,          none,        none,      none>,
  On<"FC-FS OL2: OLS is answered by LR",            NosReceive,  OlsReceived,           OlsReceive,  AnswerOls, none>,
  On<"FC-FS LF1: the same again",                   NosReceive,  NosReceived,           none,        none,      none>,
  On<"FC-FS link failure",                          NosReceive,  SignalLost,            NosTransmit, SendNos,   none>,
  On<"FC-FS R_T_TOV",                               NosReceive,  Timeout,               NosTransmit, SendNos,   none>,
  // -----------------------------------------------------------------------------------------------------------------------
  On<"FC-FS LF2: LR does not end it",               NosTransmit, LrReceived,            none,        none,      none>,
  On<"FC-FS LF2: waits for OLS or NOS",             NosTransmit, LrrReceived,           none,        none,      none>,
  On<"FC-FS LF2: waits for OLS or NOS",             NosTransmit, IdleReceived,          none,        none,      none>,
  On<"FC-FS OL2: OLS is answered by LR",            NosTransmit, OlsReceived,           OlsReceive,  AnswerOls, none>,
  On<"FC-FS LF1: NOS of both is answered by OLS",   NosTransmit, NosReceived,           NosReceive,  SendOls,   none>,
  On<"impl: known",                                 NosTransmit, SignalLost,            none,        none,      none>,
  On<"FC-FS LF2: the far end can see it now",       NosTransmit, SignalFound,           none,        SendNos,   none>,
  On<"FC-FS LF2: NOS until it is answered",         NosTransmit, Timeout,               none,        SendNos,   none>
  >;
  // clang-format on
};

using Machine = fsm::Machine<Def>;

}  // namespace machines::link_port
