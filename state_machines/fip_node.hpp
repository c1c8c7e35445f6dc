// An ENode on one Ethernet interface (FC-BB-5 FIP): VLAN and FCF discovery, choice of an FCF, the login of its first
// N_Port. Its owner decides which FCF is best, and that an FCF is gone after 2.5 advertisement periods.
#pragma once

#include "state_machines/fsm.hpp"

namespace machines::fip_node {

// --- events
struct LinkUp {};  // the Ethernet's carrier. Alternates with LinkDown
struct LinkDown {};
struct VlanNotified {};     // an FCF announced VLANs that were not known
struct FcfBecameUsable {};  // an advertisement: takes logins, and full frames come through
struct FcfLost {};          // the selected one: silent for 2.5 periods (FC-BB-5)
struct Timeout {};          // of the timer that the state started
struct LoginRequested {};   // the N_Port's FLOGI leaves
struct LoginAccepted {};    // LS_ACC with a MAC address
struct LoginFailed {};      // LS_RJT, or no answer, and the N_Port gave up
struct LogoutAnswered {};   // LS_ACC or LS_RJT to the N_Port's LOGO
struct LinksCleared {};     // Clear Virtual Links of the selected FCF, for all or for the first N_Port

// --- effects
class Context : public fsm::Context {
 public:
  virtual void send_vlan_request() = 0;         // to All-FCF
  virtual void send_solicitation() = 0;         // to All-FCF, on every VLAN that is known
  virtual void solicit_new_vlans() = 0;         // to All-FCF, on newly announced ones
  virtual void start_solicitation_timer() = 0;  // one timer, three durations
  virtual void start_choice_timer() = 0;
  virtual void start_retry_timer() = 0;
  virtual void stop_timer() = 0;
  virtual void select_fcf() = 0;    // the best that is usable now
  virtual void take_link_up() = 0;  // of the first N_Port: its FLOGI comes later, not from inside
  // Of all N_Ports: their logins with others stand until the next FLOGI shows whether all is unchanged, or until there
  // is none (FC-VI 7.7.5). The FCF is no longer selected.
  virtual void interrupt_links() = 0;
  // The ENode's every FKA_ADV_PERIOD unless the D bit is set, the VN_Ports' every 90 s.
  virtual void start_keep_alives() = 0;
  virtual void stop_keep_alives() = 0;
  [[nodiscard]] virtual bool wants_vlans() const = 0;
  [[nodiscard]] virtual bool fcf_usable() const = 0;
};

// --- states
struct Disabled : fsm::State {};      // no Ethernet link
struct Discovering : fsm::State {};   // solicited, and asked for VLANs where they are wanted; no FCF is usable
struct Choosing : fsm::State {};      // one is; others may answer yet
struct LoginPending : fsm::State {};  // selected; FLOGI under way, or about to leave
struct LoggedIn : fsm::State {};
struct LoggedOut : fsm::State {};  // the N_Port logged out, and may log in again

// --- actions and guards
FSM_ACTION(RequestVlans, context.send_vlan_request());
FSM_ACTION(Solicit, context.send_solicitation(); context.start_solicitation_timer());
FSM_ACTION(SolicitThere, context.solicit_new_vlans());
FSM_ACTION(AwaitBetter, context.start_choice_timer());
FSM_ACTION(StartRetry, context.start_retry_timer());
FSM_ACTION(StopTimer, context.stop_timer());
FSM_ACTION(Select, context.select_fcf(); context.take_link_up());
FSM_ACTION(InterruptLinks, context.interrupt_links());
FSM_ACTION(StartKeepAlives, context.start_keep_alives());
FSM_ACTION(StopKeepAlives, context.stop_keep_alives());
FSM_GUARD(WantsVlans, context.wants_vlans());
FSM_GUARD(FcfUsable, context.fcf_usable());
using fsm::Do, fsm::none, fsm::Not, fsm::On;
using Interrupt = Do<StopKeepAlives, InterruptLinks>;

struct Def {
  static constexpr std::string_view name = "fip_node";
  using Context = fip_node::Context;
  using initial_state = Disabled;
  // clang-format off
  using transition_table = fsm::Table<
  // clause                                                   source         event            target         action                          guard
  On<"FC-BB-5 FIP VLAN discovery; this one may do as well",   Disabled,      LinkUp,          Discovering,   Do<RequestVlans, Solicit>,      WantsVlans>,
  On<"FC-BB-5 FIP discovery: solicit at link up",             Disabled,      LinkUp,          Discovering,   Solicit,                        Not<WantsVlans>>,
  // --------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-BB-5 FIP discovery",                                 Discovering,   FcfBecameUsable, Choosing,      Do<StopTimer, AwaitBetter>,     none>,
  On<"FC-BB-5 FIP VLAN discovery; a request may be lost",     Discovering,   Timeout,         Discovering,   Do<RequestVlans, Solicit>,      WantsVlans>,
  On<"impl: a solicitation may be lost",                      Discovering,   Timeout,         Discovering,   Solicit,                        Not<WantsVlans>>,
  On<"FC-BB-5 FIP VLAN discovery",                            Discovering,   VlanNotified,    none,          SolicitThere,                   none>,
  On<"impl: no Ethernet",                                     Discovering,   LinkDown,        Disabled,      StopTimer,                      none>,
  // --------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-BB-5 FIP: choice by priority among those available", Choosing,      Timeout,         LoginPending,  Select,                         FcfUsable>,
  On<"impl: it went meanwhile",                               Choosing,      Timeout,         Discovering,   Solicit,                        Not<FcfUsable>>,
  On<"impl: awaited",                                         Choosing,      FcfBecameUsable, none,          none,                           none>,
  On<"FC-BB-5 FIP VLAN discovery",                            Choosing,      VlanNotified,    none,          SolicitThere,                   none>,
  On<"impl: no Ethernet",                                     Choosing,      LinkDown,        Disabled,      StopTimer,                      none>,
  // --------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-BB-5 FIP FLOGI",                                     LoginPending,  LoginRequested,  none,          none,                           none>,
  On<"FC-BB-5 FIP FLOGI: LS_ACC",                             LoginPending,  LoginAccepted,   LoggedIn,      StartKeepAlives,                none>,
  On<"impl: another FCF may take it, or this one later",      LoginPending,  LoginFailed,     Discovering,   Do<InterruptLinks, StartRetry>, none>,
  On<"FC-BB-5 FIP: 2.5 FKA_ADV_PERIOD, FC-VI 7.7.5",          LoginPending,  FcfLost,         Discovering,   Do<InterruptLinks, Solicit>,    none>,
  On<"impl: the FLOGI under way ends what was cleared",       LoginPending,  LinksCleared,    none,          none,                           none>,
  On<"impl: one is selected",                                 LoginPending,  FcfBecameUsable, none,          none,                           none>,
  On<"impl: told late",                                       LoginPending,  VlanNotified,    none,          none,                           none>,
  On<"impl: no Ethernet",                                     LoginPending,  LinkDown,        Disabled,      InterruptLinks,                 none>,
  // --------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-LS: FLOGI ends the login before it",                 LoggedIn,      LoginRequested,  LoginPending,  StopKeepAlives,                 none>,
  On<"impl: its accept did not reach the N_Port",             LoggedIn,      LoginFailed,     Discovering,   Do<Interrupt, StartRetry>,      none>,
  On<"FC-BB-5 FIP LOGO",                                      LoggedIn,      LogoutAnswered,  LoggedOut,     StopKeepAlives,                 none>,
  On<"FC-BB-5 FIP: 2.5 FKA_ADV_PERIOD, FC-VI 7.7.5",          LoggedIn,      FcfLost,         Discovering,   Do<Interrupt, Solicit>,         none>,
  On<"FC-BB-5 FIP Clear Virtual Links, FC-VI 7.7.5",          LoggedIn,      LinksCleared,    Discovering,   Do<Interrupt, Solicit>,         none>,
  On<"impl: a login stays where it is",                       LoggedIn,      FcfBecameUsable, none,          none,                           none>,
  On<"impl: told late",                                       LoggedIn,      VlanNotified,    none,          none,                           none>,
  On<"impl: no Ethernet",                                     LoggedIn,      LinkDown,        Disabled,      Interrupt,                      none>,
  // --------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-BB-5 FIP FLOGI",                                     LoggedOut,     LoginRequested,  LoginPending,  none,                           none>,
  On<"FC-BB-5 FIP: 2.5 FKA_ADV_PERIOD, FC-VI 7.7.5",          LoggedOut,     FcfLost,         Discovering,   Do<InterruptLinks, Solicit>,    none>,
  On<"impl: no link to clear",                                LoggedOut,     LinksCleared,    none,          none,                           none>,
  On<"impl: one is selected",                                 LoggedOut,     FcfBecameUsable, none,          none,                           none>,
  On<"impl: told late",                                       LoggedOut,     VlanNotified,    none,          none,                           none>,
  On<"impl: no Ethernet",                                     LoggedOut,     LinkDown,        Disabled,      InterruptLinks,                 none>
  >;
  // clang-format on
};

using Machine = fsm::Machine<Def>;

}  // namespace machines::fip_node
