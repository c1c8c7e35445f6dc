// One ENode at an FCF (FC-BB-5 FIP): its login at an F_Port, and whether it is alive. The owner takes an F_Port for a
// FLOGI before it feeds FlogiReceived, and feeds the answers to requests that it passed to that F_Port.
#pragma once

#include "state_machines/fsm.hpp"

namespace machines::fip_forwarder {

// --- events
struct FlogiReceived {};
struct VirtualRequestReceived {};  // FDISC, or LOGO of an N_Port that logged in by FDISC
struct LogoReceived {};            // of the N_Port that logged in by FLOGI
struct LoginAccepted {};           // the F_Port's LS_ACC to the latest FLOGI
struct LoginRejected {};           // its LS_RJT
struct LogoutAnswered {};          // its answer to LogoReceived
struct Timeout {};                 // no answer
struct KeepAliveReceived {};       // of the ENode. Not fed in Idle: whether it believes in a login the owner knows
struct SilenceDetected {};         // no keep-alive for 2.5 periods
struct ClearRequested {};          // the FCF stops, or the fabric ends the login

// --- effects
class Context : public fsm::Context {
 public:
  virtual void pass_request() = 0;       // the FLOGI, FDISC or LOGO that was received, to the F_Port
  virtual void reject_request() = 0;     // LS_RJT to it
  virtual void start_login_timer() = 0;  // 2 x R_A_TOV: for the F_Port's answer
  virtual void stop_login_timer() = 0;
  virtual void start_supervision() = 0;  // 2.5 periods from now; restarts
  virtual void stop_supervision() = 0;
  virtual void send_clear_virtual_links() = 0;  // for all of its VN_Ports
  virtual void report_departure() = 0;          // for the log: the ENode left without LOGO, and is not notified
  virtual void forget_vn_ports() = 0;           // frames of their addresses are forged from here on
  virtual void detach_f_port() = 0;             // implicit logout of all of them, which RSCNs tell
  [[nodiscard]] virtual bool has_f_port() const = 0;
  // Its latest solicitation came after its latest keep-alive: it has forgotten its login (its carrier was lost),
  // and FLOGI follows.
  [[nodiscard]] virtual bool looks_for_fcf() const = 0;
};

// --- states
struct Idle : fsm::State {};          // no login
struct LoginPending : fsm::State {};  // FLOGI passed to the F_Port
struct LoggedIn : fsm::State {};
struct LogoutPending : fsm::State {};  // LOGO passed to the F_Port

// --- actions and guards
FSM_ACTION(Pass, context.pass_request());
FSM_ACTION(Reject, context.reject_request());
FSM_ACTION(AwaitAnswer, context.start_login_timer());
FSM_ACTION(StopAwaiting, context.stop_login_timer());
FSM_ACTION(Supervise, context.start_supervision());
FSM_ACTION(StopSupervision, context.stop_supervision());
FSM_ACTION(ClearLinks, context.send_clear_virtual_links());
FSM_ACTION(ReportDeparture, context.report_departure());
FSM_ACTION(ForgetVnPorts, context.forget_vn_ports());
FSM_ACTION(Detach, context.detach_f_port());
FSM_GUARD(HasFPort, context.has_f_port());
FSM_GUARD(LooksForFcf, context.looks_for_fcf());
using fsm::Do, fsm::none, fsm::Not, fsm::On;
using PassAndWait = Do<Pass, AwaitAnswer>;
using End = Do<ForgetVnPorts, Detach>;

struct Def {
  static constexpr std::string_view name = "fip_forwarder";
  using Context = fip_forwarder::Context;
  using initial_state = Idle;
  // clang-format off
  using transition_table = fsm::Table<
  // clause                                                  source         event                   target         action                                             guard
  On<"FC-BB-5 FIP FLOGI",                                     Idle,          FlogiReceived,          LoginPending,  PassAndWait,                                       HasFPort>,
  On<"FC-LS LS_RJT: insufficient resources",                  Idle,          FlogiReceived,          none,          Reject,                                            Not<HasFPort>>,
  On<"FC-LS: FDISC needs a FLOGI",                            Idle,          VirtualRequestReceived, none,          Reject,                                            none>,
  On<"impl: nothing to end",                                  Idle,          LogoReceived,           none,          Reject,                                            none>,
  On<"impl: nothing to clear",                                Idle,          ClearRequested,         none,          none,                                              none>,
  // -----------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-BB-5 FIP FLOGI again",                               LoginPending,  FlogiReceived,          none,          PassAndWait,                                       none>,
  On<"FC-LS: FDISC needs a FLOGI",                            LoginPending,  VirtualRequestReceived, none,          Reject,                                            none>,
  On<"FC-BB-5 FIP LOGO",                                      LoginPending,  LogoReceived,           LogoutPending, PassAndWait,                                       none>,
  On<"FC-BB-5 FIP FLOGI: LS_ACC",                             LoginPending,  LoginAccepted,          LoggedIn,      Do<StopAwaiting, Supervise>,                       none>,
  On<"FC-BB-5 FIP FLOGI: LS_RJT",                             LoginPending,  LoginRejected,          Idle,          Do<StopAwaiting, Detach>,                          none>,
  On<"impl: the F_Port is silent",                            LoginPending,  Timeout,                Idle,          Detach,                                            none>,
  On<"impl: of the login before",                             LoginPending,  KeepAliveReceived,      none,          none,                                              none>,
  On<"impl: the ENode has no link yet",                       LoginPending,  ClearRequested,         Idle,          Do<StopAwaiting, Detach>,                          none>,
  // -----------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-LS: FLOGI ends the login before it",                 LoggedIn,      FlogiReceived,          LoginPending,  Do<StopSupervision, ForgetVnPorts, PassAndWait>,   none>,
  On<"FC-BB-5 FIP FDISC, LOGO",                               LoggedIn,      VirtualRequestReceived, none,          Pass,                                              none>,
  On<"FC-BB-5 FIP LOGO",                                      LoggedIn,      LogoReceived,           LogoutPending, Do<StopSupervision, PassAndWait>,                  none>,
  On<"FC-BB-5 FIP keep-alive",                                LoggedIn,      KeepAliveReceived,      none,          Supervise,                                         none>,
  On<"FC-BB-5 FIP: 2.5 periods without a keep-alive",         LoggedIn,      SilenceDetected,        Idle,          Do<ClearLinks, End>,                               Not<LooksForFcf>>,
  On<"impl: Clear Virtual Links would make it begin anew",    LoggedIn,      SilenceDetected,        Idle,          Do<ReportDeparture, End>,                          LooksForFcf>,
  On<"FC-BB-5 FIP Clear Virtual Links",                       LoggedIn,      ClearRequested,         Idle,          Do<StopSupervision, ClearLinks, End>,              none>,
  // -----------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-LS: login after logout",                             LogoutPending, FlogiReceived,          LoginPending,  Do<ForgetVnPorts, PassAndWait>,                    none>,
  On<"FC-LS: FDISC needs a FLOGI",                            LogoutPending, VirtualRequestReceived, none,          Reject,                                            none>,
  On<"FC-BB-5 FIP LOGO again",                                LogoutPending, LogoReceived,           none,          PassAndWait,                                       none>,
  On<"FC-BB-5 FIP LOGO",                                      LogoutPending, LogoutAnswered,         Idle,          Do<StopAwaiting, End>,                             none>,
  On<"impl: the F_Port is silent",                            LogoutPending, Timeout,                Idle,          End,                                               none>,
  On<"impl: of the login that ends",                          LogoutPending, KeepAliveReceived,      none,          none,                                              none>,
  On<"impl: it ends anyway",                                  LogoutPending, ClearRequested,         Idle,          Do<StopAwaiting, End>,                             none>
  >;
  // clang-format on
};

using Machine = fsm::Machine<Def>;

}  // namespace machines::fip_forwarder
