// How other ports can find this one: what it registers after each fabric login (FC-VI 7.4, 7.6, 7.7.5; FC-GS).
//
// One object per N_Port. With the Name Server: the own addresses, names, and last the FC-4 TYPEs, so that a list of
// their ports shows it complete. Then the port is ready, and registers for state changes (SCR). Which of the requests
// comes next is the owner's list; one at a time. A port that the Name Server does not know is found by FARP.
#pragma once

#include "state_machines/fsm.hpp"

namespace machines::port_registration {

// --- events
struct FabricLoggedIn {};
struct NameServerLoggedIn {};     // also where it was logged in: anew
struct NameServerUnavailable {};  // the login with it failed
struct LoggedOut {};              // by the fabric or the Name Server
struct Answered {};               // the request. A reject is final: the server does not keep what we register
struct AnswerMissing {};          // in time; or its Exchange failed
struct RequestEnded {};           // its Exchange, with the login
struct NoExchange {};             // none was free for the request

// --- effects
class Context : public fsm::Context {
 public:
  virtual void abort_request() = 0;  // if one is under way
  virtual void log_in_to_name_server() = 0;
  virtual void begin_with_first() = 0;     // the first request to the Name Server is next, with all its tries
  virtual void go_to_next() = 0;           // ... the one after it
  virtual void go_to_state_changes() = 0;  // ... SCR
  virtual void ask() = 0;
  virtual void ask_again() = 0;     // counts one try
  virtual void report_ready() = 0;  // others can find the port, as far as this fabric allows
  // Logins that stand, and those only: who went, or moved, before the registration for state changes went untold.
  virtual void validate_logins() = 0;
  [[nodiscard]] virtual bool uses_name_server() const = 0;
  [[nodiscard]] virtual bool wants_state_changes() const = 0;
  [[nodiscard]] virtual bool more_to_register() const = 0;  // with the Name Server
  [[nodiscard]] virtual bool retries_left() const = 0;      // of the request that is under way
};

// --- states
struct Unregistered : fsm::State {};  // no fabric login, or none with the Name Server yet
struct Registering : fsm::State {};   // with the Name Server
// Ready, while the port is online:
struct RegisteringForStateChanges : fsm::State {};
struct Registered : fsm::State {};

// --- actions and guards
FSM_ACTION(AbortRequest, context.abort_request());
FSM_ACTION(LogInToNameServer, context.log_in_to_name_server());
FSM_ACTION(BeginWithFirst, context.begin_with_first());
FSM_ACTION(GoToNext, context.go_to_next());
FSM_ACTION(GoToStateChanges, context.go_to_state_changes());
FSM_ACTION(Ask, context.ask());
FSM_ACTION(AskAgain, context.ask_again());
FSM_ACTION(ReportReady, context.report_ready());
FSM_ACTION(ValidateLogins, context.validate_logins());
FSM_GUARD(UsesNameServer, context.uses_name_server());
FSM_GUARD(WantsStateChanges, context.wants_state_changes());
FSM_GUARD(MoreToRegister, context.more_to_register());
FSM_GUARD(RetriesLeft, context.retries_left());
using fsm::All, fsm::Do, fsm::none, fsm::Not, fsm::On, fsm::to_string;

struct Def {
  static constexpr std::string_view name = "port_registration";
  using Context = port_registration::Context;
  using initial_state = Unregistered;
  // clang-format off
  using transition_table = fsm::Table<
  // clause                                                   source                      event                  target                      action                                                 guard
  On<"FC-VI 7.4, 7.6",                                         Unregistered,               FabricLoggedIn,        none,                       LogInToNameServer,                                     UsesNameServer>,
  On<"FC-VI 7.4: every port supports FARP; 7.7.5 SCR",         Unregistered,               FabricLoggedIn,        RegisteringForStateChanges, Do<ReportReady, GoToStateChanges, Ask>,                All<Not<UsesNameServer>, WantsStateChanges>>,
  On<"FC-VI 7.4: every port supports FARP",                    Unregistered,               FabricLoggedIn,        Registered,                 ReportReady,                                           All<Not<UsesNameServer>, Not<WantsStateChanges>>>,
  On<"FC-VI 7.6",                                              Unregistered,               NameServerLoggedIn,    Registering,                Do<BeginWithFirst, Ask>,                               none>,
  On<"FC-VI 7.4: every port supports FARP; 7.7.5 SCR",         Unregistered,               NameServerUnavailable, RegisteringForStateChanges, Do<ReportReady, GoToStateChanges, Ask>,                WantsStateChanges>,
  On<"FC-VI 7.4: every port supports FARP",                    Unregistered,               NameServerUnavailable, Registered,                 ReportReady,                                           Not<WantsStateChanges>>,
  On<"impl: nothing is registered",                            Unregistered,               LoggedOut,             none,                       none,                                                  none>,
  // -------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-GS: one request at a time",                           Registering,                Answered,              Registering,                Do<GoToNext, Ask>,                                     MoreToRegister>,
  On<"FC-VI 7.6; 7.7.5 SCR",                                   Registering,                Answered,              RegisteringForStateChanges, Do<ReportReady, GoToStateChanges, Ask>,                All<Not<MoreToRegister>, WantsStateChanges>>,
  On<"FC-VI 7.6",                                              Registering,                Answered,              Registered,                 ReportReady,                                           All<Not<MoreToRegister>, Not<WantsStateChanges>>>,
  On<"FC-GS: CT time-out, retry",                              Registering,                AnswerMissing,         Registering,                AskAgain,                                              RetriesLeft>,
  On<"impl: the others may be answered",                       Registering,                AnswerMissing,         Registering,                Do<GoToNext, Ask>,                                     All<Not<RetriesLeft>, MoreToRegister>>,
  On<"FC-VI 7.4: every port supports FARP; 7.7.5 SCR",         Registering,                AnswerMissing,         RegisteringForStateChanges, Do<ReportReady, GoToStateChanges, Ask>,                All<Not<RetriesLeft>, Not<MoreToRegister>, WantsStateChanges>>,
  On<"FC-VI 7.4: every port supports FARP",                    Registering,                AnswerMissing,         Registered,                 ReportReady,                                           All<Not<RetriesLeft>, Not<MoreToRegister>, Not<WantsStateChanges>>>,
  On<"impl: for the others one may be free",                   Registering,                NoExchange,            Registering,                Do<GoToNext, Ask>,                                     MoreToRegister>,
  On<"FC-VI 7.4: every port supports FARP; 7.7.5 SCR",         Registering,                NoExchange,            RegisteringForStateChanges, Do<ReportReady, GoToStateChanges, Ask>,                All<Not<MoreToRegister>, WantsStateChanges>>,
  On<"FC-VI 7.4: every port supports FARP",                    Registering,                NoExchange,            Registered,                 ReportReady,                                           All<Not<MoreToRegister>, Not<WantsStateChanges>>>,
  On<"impl: begins anew with the next login",                  Registering,                RequestEnded,          Unregistered,               none,                                                  none>,
  On<"FC-VI 7.6: all of it is gone",                           Registering,                FabricLoggedIn,        Unregistered,               Do<AbortRequest, LogInToNameServer>,                   UsesNameServer>,
  On<"FC-VI 7.4: every port supports FARP; 7.7.5 SCR",         Registering,                FabricLoggedIn,        RegisteringForStateChanges, Do<AbortRequest, ReportReady, GoToStateChanges, Ask>,  All<Not<UsesNameServer>, WantsStateChanges>>,
  On<"FC-VI 7.4: every port supports FARP",                    Registering,                FabricLoggedIn,        Registered,                 Do<AbortRequest, ReportReady>,                         All<Not<UsesNameServer>, Not<WantsStateChanges>>>,
  On<"FC-VI 7.6: anew",                                        Registering,                NameServerLoggedIn,    Registering,                Do<AbortRequest, BeginWithFirst, Ask>,                 none>,
  On<"FC-VI 7.4: every port supports FARP; 7.7.5 SCR",         Registering,                NameServerUnavailable, RegisteringForStateChanges, Do<AbortRequest, ReportReady, GoToStateChanges, Ask>,  WantsStateChanges>,
  On<"FC-VI 7.4: every port supports FARP",                    Registering,                NameServerUnavailable, Registered,                 Do<AbortRequest, ReportReady>,                         Not<WantsStateChanges>>,
  On<"FC-VI 7.6: all of it is gone",                           Registering,                LoggedOut,             Unregistered,               AbortRequest,                                          none>,
  // -------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI 7.7.5 SCR, 7.7.1: of what was before nobody told", RegisteringForStateChanges, Answered,              Registered,                 ValidateLogins,                                        none>,
  On<"FC-LS: retry",                                           RegisteringForStateChanges, AnswerMissing,         RegisteringForStateChanges, AskAgain,                                              RetriesLeft>,
  On<"FC-VI 7.7.1: without it nobody tells of changes",        RegisteringForStateChanges, AnswerMissing,         Registered,                 ValidateLogins,                                        Not<RetriesLeft>>,
  On<"FC-VI 7.7.1: without it nobody tells of changes",        RegisteringForStateChanges, NoExchange,            Registered,                 ValidateLogins,                                        none>,
  On<"impl: begins anew with the next login",                  RegisteringForStateChanges, RequestEnded,          Registered,                 none,                                                  none>,
  On<"FC-VI 7.6: all of it is gone",                           RegisteringForStateChanges, FabricLoggedIn,        Unregistered,               Do<AbortRequest, LogInToNameServer>,                   UsesNameServer>,
  On<"FC-VI 7.7.5: the fabric has forgotten SCR",              RegisteringForStateChanges, FabricLoggedIn,        RegisteringForStateChanges, Do<AbortRequest, ReportReady, GoToStateChanges, Ask>,  All<Not<UsesNameServer>, WantsStateChanges>>,
  On<"FC-VI 7.4: every port supports FARP",                    RegisteringForStateChanges, FabricLoggedIn,        Registered,                 Do<AbortRequest, ReportReady>,                         All<Not<UsesNameServer>, Not<WantsStateChanges>>>,
  On<"FC-VI 7.6",                                              RegisteringForStateChanges, NameServerLoggedIn,    Registering,                Do<AbortRequest, BeginWithFirst, Ask>,                 none>,
  On<"impl: SCR is under way",                                 RegisteringForStateChanges, NameServerUnavailable, none,                       ReportReady,                                           none>,
  On<"FC-VI 7.6: all of it is gone",                           RegisteringForStateChanges, LoggedOut,             Unregistered,               AbortRequest,                                          none>,
  // -------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI 7.6: all of it is gone",                           Registered,                 FabricLoggedIn,        Unregistered,               LogInToNameServer,                                     UsesNameServer>,
  On<"FC-VI 7.7.5: the fabric has forgotten SCR",              Registered,                 FabricLoggedIn,        RegisteringForStateChanges, Do<ReportReady, GoToStateChanges, Ask>,                All<Not<UsesNameServer>, WantsStateChanges>>,
  On<"FC-VI 7.4: every port supports FARP",                    Registered,                 FabricLoggedIn,        none,                       ReportReady,                                           All<Not<UsesNameServer>, Not<WantsStateChanges>>>,
  On<"FC-VI 7.6",                                              Registered,                 NameServerLoggedIn,    Registering,                Do<BeginWithFirst, Ask>,                               none>,
  On<"FC-VI 7.7.5: the fabric may have forgotten SCR",         Registered,                 NameServerUnavailable, RegisteringForStateChanges, Do<ReportReady, GoToStateChanges, Ask>,                WantsStateChanges>,
  On<"FC-VI 7.4: every port supports FARP",                    Registered,                 NameServerUnavailable, none,                       ReportReady,                                           Not<WantsStateChanges>>,
  On<"FC-VI 7.6: all of it is gone",                           Registered,                 LoggedOut,             Unregistered,               none,                                                  none>
  >;
  // clang-format on
};

using Machine = fsm::Machine<Def>;

}  // namespace machines::port_registration
