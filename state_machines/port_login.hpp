// The login of one N_Port with another, or with the Fabric (FC-LS FLOGI, PLOGI, LOGO; FC-VI 5.6, 7.7, 8.4.2 g).
//
// One object for the Fabric login, one per remote port. The owner itself rejects a login whose service parameters are
// not acceptable, and feeds LoginReceived only for acceptable ones.
#pragma once

#include "state_machines/fsm.hpp"

namespace machines::port_login {

enum class LoginFailure : std::uint8_t {
  Rejected,   // LS_RJT that no retry can help, or retries used up
  Timeout,    // no answer, retries used up
  LinkDown,   // the link is not up
  Withdrawn,  // a logout came meanwhile
};

// --- events
struct LoginRequested {};  // a user needs the port; several requests are one
struct LoginAccepted {};   // LS_ACC to our FLOGI or PLOGI
struct LoginRejected {
  bool retryable = false;  // LS_RJT: logical busy, unable at this time, command already in progress
};
struct LoginReceived {};    // the peer's FLOGI or PLOGI, acceptable (see above)
struct LoginPresumed {};    // an FC-4 frame of a peer that took our PLOGI for accepted; fed in LoginPending only
struct LogoutRequested {};  // a user or second-level recovery ends the login
struct LogoutAnswered {};   // LS_ACC or LS_RJT to our LOGO: either way the peer holds no login
struct LogoutReceived {};   // the peer's LOGO, or word of an implicit logout
struct Timeout {};          // the answer is overdue, or the retry delay is over
struct LinkUp {};
struct LinkDown {};          // NOS/OLS or LIP; not LR (FC-VI 7.7.1). Alternates with LinkUp
struct Validated {};         // the addresses are the same as before the link event (FC-VI 7.7.3 to 7.7.5)
struct ValidationFailed {};  // an address changed, or ADISC, FAN or FLOGI was not answered

// --- effects
class Context : public fsm::Context {
 public:
  virtual void send_login() = 0;    // FLOGI or PLOGI with SEQ_CNT and C bits set (FC-VI 5.6)
  virtual void accept_login() = 0;  // LS_ACC, and take over the peer's service parameters
  // LS_RJT, logical busy or command already in progress: the peer may try again.
  virtual void reject_login() = 0;
  virtual void send_logout() = 0;    // LOGO
  virtual void accept_logout() = 0;  // LS_ACC to LOGO, also without a login (FC-LS)
  // The answer to our outstanding FLOGI, PLOGI or LOGO is no longer awaited: abort that Exchange and never feed it.
  virtual void forget_request() = 0;
  // The same without an ABTS: the peer rejects our request, since its own PLOGI won.
  virtual void leave_request() = 0;
  virtual void start_timer() = 0;        // ELS time-out: 2 x R_A_TOV for the last try (FC-LS), less for those before
  virtual void start_retry_delay() = 0;  // E_D_TOV, the same timer; counts one retry
  virtual void stop_timer() = 0;
  virtual void count_retry() = 0;  // a repeated request is about to be sent
  // ADISC (private loop), await FAN (public loop), compare FLOGI result (fabric).
  virtual void validate_addresses() = 0;
  virtual void report_logged_in() = 0;
  virtual void report_login_failed(LoginFailure) = 0;
  // The login ended, implicitly or explicitly: all FC-VI Connections and Exchanges with that port end (FC-VI 7.7.1).
  virtual void report_logged_out() = 0;
  virtual void report_logout_complete() = 0;  // to the user of LogoutRequested
  virtual void report_suspended() = 0;        // transmit no FC-VI IU until resumed (FC-VI 7.7.3)
  // Active Exchanges continue (FC-VI 7.7.3 to 7.7.5).
  virtual void report_resumed() = 0;
  [[nodiscard]] virtual bool retries_left() const = 0;
  // The peer's Port_Name is the higher one: its login wins over ours when both cross (FC-LS).
  [[nodiscard]] virtual bool peer_login_wins() const = 0;
  // We rejected its PLOGI since ours wins, E_D_TOV ago or longer: it would not ask again if ours had reached it.
  [[nodiscard]] virtual bool peer_asks_again() const = 0;
  // The PLOGI may be one that crossed ours and lost: the accept of ours overtook it (out-of-order fabrics).
  [[nodiscard]] virtual bool overtaken_by_accept() const = 0;
  // NOS/OLS in a point-to-point topology, and any link loss for the Fabric login itself (FC-VI 7.7.2, 7.7.5).
  [[nodiscard]] virtual bool link_loss_logs_out() const = 0;
};

// --- states
struct Offline : fsm::State {};       // no link, no login
struct LoggedOut : fsm::State {};     // link, no login
struct LoginPending : fsm::State {};  // FLOGI or PLOGI sent
struct RetryPending : fsm::State {};  // rejected for now: waits before the next try
struct LoggedIn : fsm::State {};
struct Suspended : fsm::State {};      // the link went; the login stands if the addresses prove to be the same
struct Validating : fsm::State {};     // the link is back: they are being compared
struct LoginAwaited : fsm::State {};   // ... and a login was asked for meanwhile: the outcome is its answer
struct LogoutPending : fsm::State {};  // LOGO sent; the login is already over

// --- actions and guards
FSM_ACTION(SendLogin, context.send_login(); context.start_timer());
FSM_ACTION(SendLogout, context.send_logout(); context.start_timer());
FSM_ACTION(AcceptLogin, context.accept_login());
FSM_ACTION(RejectLogin, context.reject_login());
FSM_ACTION(AcceptLogout, context.accept_logout());
FSM_ACTION(ForgetRequest, context.stop_timer(); context.forget_request());
FSM_ACTION(LeaveRequest, context.stop_timer(); context.leave_request());
FSM_ACTION(StopTimer, context.stop_timer());
FSM_ACTION(StartRetryDelay, context.start_retry_delay());
FSM_ACTION(CountRetry, context.count_retry());
FSM_ACTION(ValidateAddresses, context.validate_addresses());
FSM_ACTION(ReportLoggedIn, context.report_logged_in());
FSM_ACTION(ReportRejected, context.report_login_failed(LoginFailure::Rejected));
FSM_ACTION(ReportTimeout, context.report_login_failed(LoginFailure::Timeout));
FSM_ACTION(ReportLinkDown, context.report_login_failed(LoginFailure::LinkDown));
FSM_ACTION(ReportWithdrawn, context.report_login_failed(LoginFailure::Withdrawn));
FSM_ACTION(ReportLoggedOut, context.report_logged_out());
FSM_ACTION(ReportLogoutComplete, context.report_logout_complete());
FSM_ACTION(ReportSuspended, context.report_suspended());
FSM_ACTION(ReportResumed, context.report_resumed());
FSM_GUARD(Retryable, event.retryable);
FSM_GUARD(RetriesLeft, context.retries_left());
FSM_GUARD(PeerLoginWins, context.peer_login_wins());
FSM_GUARD(PeerAsksAgain, context.peer_asks_again());
FSM_GUARD(OvertakenByAccept, context.overtaken_by_accept());
FSM_GUARD(LinkLossLogsOut, context.link_loss_logs_out());
using fsm::All, fsm::Do, fsm::none, fsm::Not, fsm::On, fsm::to_string;
using MayRetry = All<Retryable, RetriesLeft>;
using EndAwaited = Do<ReportLoggedOut, ReportWithdrawn>;

struct Def {
  static constexpr std::string_view name = "port_login";
  using Context = port_login::Context;
  using initial_state = Offline;
  // clang-format off
  using transition_table = fsm::Table<
  // clause                                                  source         event             target         action                                                           guard
  On<"FC-VI 7.7.1",                                           Offline,       LinkUp,           LoggedOut,     none,                                                            none>,
  On<"impl: no link",                                         Offline,       LoginRequested,   none,          ReportLinkDown,                                                  none>,
  On<"impl: nothing to end",                                  Offline,       LogoutRequested,  none,          ReportLogoutComplete,                                            none>,
  // ------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI 7.7.2, FC-LS FLOGI, PLOGI",                       LoggedOut,     LoginRequested,   LoginPending,  SendLogin,                                                       none>,
  On<"FC-LS: login by the peer",                              LoggedOut,     LoginReceived,    LoggedIn,      Do<AcceptLogin, ReportLoggedIn>,                                 none>,
  On<"impl: nothing to end",                                  LoggedOut,     LogoutRequested,  none,          ReportLogoutComplete,                                            none>,
  On<"FC-LS: LOGO without a login is accepted",               LoggedOut,     LogoutReceived,   none,          AcceptLogout,                                                    none>,
  On<"FC-VI 7.7.1",                                           LoggedOut,     LinkDown,         Offline,       none,                                                            none>,
  // ------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"impl: several users, one login",                        LoginPending,  LoginRequested,   none,          none,                                                            none>,
  On<"FC-LS: LS_ACC",                                         LoginPending,  LoginAccepted,    LoggedIn,      Do<StopTimer, ReportLoggedIn>,                                   none>,
  On<"FC-LS: LS_RJT busy",                                    LoginPending,  LoginRejected,    RetryPending,  StartRetryDelay,                                                 MayRetry>,
  On<"FC-LS: LS_RJT",                                         LoginPending,  LoginRejected,    LoggedOut,     Do<StopTimer, ReportRejected>,                                   Not<MayRetry>>,
  On<"FC-LS: ELS time-out, retry",                            LoginPending,  Timeout,          LoginPending,  Do<ForgetRequest, CountRetry, SendLogin>,                        RetriesLeft>,
  On<"FC-LS: ELS time-out",                                   LoginPending,  Timeout,          LoggedOut,     Do<ForgetRequest, ReportTimeout>,                                Not<RetriesLeft>>,
  On<"FC-LS: PLOGI cross, the higher name wins",              LoginPending,  LoginReceived,    LoggedIn,      Do<LeaveRequest, AcceptLogin, ReportLoggedIn>,                   PeerLoginWins>,
  On<"FC-LS: PLOGI cross, ours wins",                         LoginPending,  LoginReceived,    none,          RejectLogin,                                                     All<Not<PeerLoginWins>, Not<PeerAsksAgain>>>,
  On<"impl: PLOGI cross, ours was lost",                      LoginPending,  LoginReceived,    LoggedIn,      Do<ForgetRequest, AcceptLogin, ReportLoggedIn>,                  All<Not<PeerLoginWins>, PeerAsksAgain>>,
  On<"impl: LS_ACC was lost",                                 LoginPending,  LoginPresumed,    LoginPending,  Do<ForgetRequest, SendLogin>,                                    none>,
  On<"impl: the LOGO ends what PLOGI may have begun",         LoginPending,  LogoutRequested,  LogoutPending, Do<ForgetRequest, ReportWithdrawn, SendLogout>,                  none>,
  On<"FC-LS: LOGO without a login is accepted",               LoginPending,  LogoutReceived,   none,          AcceptLogout,                                                    none>,
  On<"FC-VI 7.7.1",                                           LoginPending,  LinkDown,         Offline,       Do<ForgetRequest, ReportLinkDown>,                               none>,
  // ------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"impl: several users, one login",                        RetryPending,  LoginRequested,   none,          none,                                                            none>,
  On<"FC-LS: retry after busy",                               RetryPending,  Timeout,          LoginPending,  Do<CountRetry, SendLogin>,                                       none>,
  On<"FC-LS: login by the peer",                              RetryPending,  LoginReceived,    LoggedIn,      Do<StopTimer, AcceptLogin, ReportLoggedIn>,                      none>,
  On<"impl: nothing was accepted yet",                        RetryPending,  LogoutRequested,  LoggedOut,     Do<StopTimer, ReportWithdrawn, ReportLogoutComplete>,            none>,
  On<"FC-LS: LOGO without a login is accepted",               RetryPending,  LogoutReceived,   none,          AcceptLogout,                                                    none>,
  On<"FC-VI 7.7.1",                                           RetryPending,  LinkDown,         Offline,       Do<StopTimer, ReportLinkDown>,                                   none>,
  // ------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"impl: there already",                                   LoggedIn,      LoginRequested,   none,          ReportLoggedIn,                                                  none>,
  On<"FC-LS: PLOGI is an implicit logout, FC-VI 8.4.2 g)",    LoggedIn,      LoginReceived,    LoggedIn,      Do<ReportLoggedOut, AcceptLogin, ReportLoggedIn>,                Not<OvertakenByAccept>>,
  On<"FC-LS: PLOGI cross, ours won",                          LoggedIn,      LoginReceived,    none,          RejectLogin,                                                     OvertakenByAccept>,
  On<"FC-VI 7.7.1 logout sent",                               LoggedIn,      LogoutRequested,  LogoutPending, Do<ReportLoggedOut, SendLogout>,                                 none>,
  On<"FC-VI 7.7.1 logout received",                           LoggedIn,      LogoutReceived,   LoggedOut,     Do<AcceptLogout, ReportLoggedOut>,                               none>,
  On<"FC-VI 7.7.2 implicit logout",                           LoggedIn,      LinkDown,         Offline,       ReportLoggedOut,                                                 LinkLossLogsOut>,
  On<"FC-VI 7.7.3 to 7.7.5",                                  LoggedIn,      LinkDown,         Suspended,     ReportSuspended,                                                 Not<LinkLossLogsOut>>,
  // ------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-VI 7.7.3 to 7.7.5 validate",                         Suspended,     LinkUp,           Validating,    ValidateAddresses,                                               none>,
  On<"FC-VI 7.7.3 no FC-VI IU may be sent",                   Suspended,     LoginRequested,   none,          ReportLinkDown,                                                  none>,
  On<"impl: no link for a LOGO",                              Suspended,     LogoutRequested,  Offline,       Do<ReportLoggedOut, ReportLogoutComplete>,                       none>,
  On<"FC-VI 7.7.1 implicit logout",                           Suspended,     LogoutReceived,   Offline,       ReportLoggedOut,                                                 none>,
  // ------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"impl: the outcome answers",                             Validating,    LoginRequested,   LoginAwaited,  none,                                                            none>,
  On<"FC-VI 7.7.3 to 7.7.5 unchanged",                        Validating,    Validated,        LoggedIn,      ReportResumed,                                                   none>,
  On<"FC-VI 7.7.3 to 7.7.5 explicit logout",                  Validating,    ValidationFailed, LogoutPending, Do<ReportLoggedOut, SendLogout>,                                 none>,
  On<"FC-LS: PLOGI is an implicit logout",                    Validating,    LoginReceived,    LoggedIn,      Do<ForgetRequest, ReportLoggedOut, AcceptLogin, ReportLoggedIn>, none>,
  On<"FC-VI 7.7.1 logout sent",                               Validating,    LogoutRequested,  LogoutPending, Do<ForgetRequest, ReportLoggedOut, SendLogout>,                  none>,
  On<"FC-VI 7.7.1 logout received",                           Validating,    LogoutReceived,   LoggedOut,     Do<ForgetRequest, AcceptLogout, ReportLoggedOut>,                none>,
  On<"impl: the link goes again meanwhile",                   Validating,    LinkDown,         Suspended,     ForgetRequest,                                                   none>,
  // ------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"impl: several users, one login",                        LoginAwaited,  LoginRequested,   none,          none,                                                            none>,
  On<"FC-VI 7.7.3 to 7.7.5 unchanged",                        LoginAwaited,  Validated,        LoggedIn,      Do<ReportResumed, ReportLoggedIn>,                               none>,
  On<"FC-VI 7.7.3 to 7.7.5 explicit logout",                  LoginAwaited,  ValidationFailed, LogoutPending, Do<EndAwaited, SendLogout>,                                      none>,
  On<"FC-LS: PLOGI is an implicit logout",                    LoginAwaited,  LoginReceived,    LoggedIn,      Do<ForgetRequest, ReportLoggedOut, AcceptLogin, ReportLoggedIn>, none>,
  On<"FC-VI 7.7.1 logout sent",                               LoginAwaited,  LogoutRequested,  LogoutPending, Do<ForgetRequest, EndAwaited, SendLogout>,                       none>,
  On<"FC-VI 7.7.1 logout received",                           LoginAwaited,  LogoutReceived,   LoggedOut,     Do<ForgetRequest, AcceptLogout, EndAwaited>,                     none>,
  On<"FC-VI 7.7.3 no FC-VI IU may be sent",                   LoginAwaited,  LinkDown,         Suspended,     Do<ForgetRequest, ReportLinkDown>,                               none>,
  // ------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  On<"FC-LS: LOGO answered",                                  LogoutPending, LogoutAnswered,   LoggedOut,     Do<StopTimer, ReportLogoutComplete>,                             none>,
  On<"FC-LS: ELS time-out, retry",                            LogoutPending, Timeout,          LogoutPending, Do<ForgetRequest, CountRetry, SendLogout>,                       RetriesLeft>,
  On<"FC-LS: ELS time-out, implicit logout",                  LogoutPending, Timeout,          LoggedOut,     Do<ForgetRequest, ReportLogoutComplete>,                         Not<RetriesLeft>>,
  On<"impl: PLOGI supersedes LOGO",                           LogoutPending, LoginRequested,   LoginPending,  Do<ForgetRequest, ReportLogoutComplete, SendLogin>,              none>,
  On<"impl: may have crossed our LOGO; the peer tries again", LogoutPending, LoginReceived,    none,          RejectLogin,                                                     none>,
  On<"impl: under way",                                       LogoutPending, LogoutRequested,  none,          none,                                                            none>,
  On<"FC-LS: LOGO of both cross",                             LogoutPending, LogoutReceived,   none,          AcceptLogout,                                                    none>,
  On<"FC-VI 7.7.1",                                           LogoutPending, LinkDown,         Offline,       Do<ForgetRequest, ReportLogoutComplete>,                         none>
  >;
  // clang-format on
};

using Machine = fsm::Machine<Def>;

}  // namespace machines::port_login
