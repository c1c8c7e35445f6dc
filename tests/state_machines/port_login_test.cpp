#include "state_machines/port_login.hpp"

#include "fsm_test.hpp"

namespace machines::port_login {
namespace {

class Recorded final : public fsm::testing::Recorder<Context> {
 public:
  enum Knob : unsigned {
    RetriesLeftKnob,
    PeerLoginWinsKnob,
    PeerAsksAgainKnob,
    OvertakenByAcceptKnob,
    LinkLossLogsOutKnob
  };
  void send_login() override { note("send_login"); }
  void accept_login() override { note("accept_login"); }
  void reject_login() override { note("reject_login"); }
  void send_logout() override { note("send_logout"); }
  void accept_logout() override { note("accept_logout"); }
  void forget_request() override { note("forget_request"); }
  void leave_request() override { note("leave_request"); }
  void start_timer() override { note("start_timer"); }
  void start_retry_delay() override { note("start_retry_delay"); }
  void stop_timer() override { note("stop_timer"); }
  void count_retry() override { note("count_retry"); }
  void validate_addresses() override { note("validate_addresses"); }
  void report_logged_in() override { note("report_logged_in"); }
  void report_login_failed(LoginFailure value) override { note("report_login_failed", value); }
  void report_logged_out() override { note("report_logged_out"); }
  void report_logout_complete() override { note("report_logout_complete"); }
  void report_suspended() override { note("report_suspended"); }
  void report_resumed() override { note("report_resumed"); }
  [[nodiscard]] bool retries_left() const override { return knob(RetriesLeftKnob); }
  [[nodiscard]] bool peer_login_wins() const override { return knob(PeerLoginWinsKnob); }
  [[nodiscard]] bool peer_asks_again() const override { return knob(PeerAsksAgainKnob); }
  [[nodiscard]] bool overtaken_by_accept() const override { return knob(OvertakenByAcceptKnob); }
  [[nodiscard]] bool link_loss_logs_out() const override { return knob(LinkLossLogsOutKnob); }
};

struct Input {
  using Def = port_login::Def;
  using Recorded = port_login::Recorded;
  static constexpr unsigned knob_count = 5;

  template <class Event>
  static fsm::testing::Samples<Event> samples(std::type_identity<Event>) {
    return {{"", Event{}}};
  }
  static fsm::testing::Samples<LoginRejected> samples(std::type_identity<LoginRejected>) {
    return {{"final", LoginRejected{false}}, {"retryable", LoginRejected{true}}};
  }
};

using Rig = fsm::testing::Rig<Def, Recorded>;

FSM_TABLE_TESTS(PortLogin, Input);

TEST(PortLogin, LoggedOut_login_and_logout) {
  Rig rig;
  EXPECT_EQ(rig.after(LinkUp{}), "LoggedOut:");
  EXPECT_EQ(rig.after(LoginRequested{}), "LoginPending: send_login, start_timer");
  EXPECT_EQ(rig.after(LoginRequested{}), "LoginPending:");
  EXPECT_EQ(rig.after(LoginAccepted{}), "LoggedIn: stop_timer, report_logged_in");
  // FC-VI 7.7.1: connections end when the LOGO goes, not when it is answered.
  EXPECT_EQ(rig.after(LogoutRequested{}), "LogoutPending: report_logged_out, send_logout, start_timer");
  EXPECT_EQ(rig.after(LogoutAnswered{}), "LoggedOut: stop_timer, report_logout_complete");
}

TEST(PortLogin, LoggedOut_login_received) {
  Rig rig;
  rig.given(LinkUp{});
  EXPECT_EQ(rig.after(LoginReceived{}), "LoggedIn: accept_login, report_logged_in");
  EXPECT_EQ(rig.after(LogoutReceived{}), "LoggedOut: accept_logout, report_logged_out");
}

// FC-LS: a second PLOGI is an implicit logout; FC-VI 8.4.2 g).
TEST(PortLogin, LoggedIn_login_received) {
  Rig rig;
  rig.given(LinkUp{}, LoginReceived{});
  EXPECT_EQ(rig.after(LoginReceived{}), "LoggedIn: report_logged_out, accept_login, report_logged_in");
}

// FC-LS: the peer's PLOGI crossed ours and lost, and the accept of ours overtook it.
TEST(PortLogin, LoggedIn_login_received_overtaken) {
  Rig rig;
  rig.given(LinkUp{}, LoginRequested{}, LoginAccepted{});
  rig.set(Recorded::OvertakenByAcceptKnob);
  EXPECT_EQ(rig.after(LoginReceived{}), "LoggedIn: reject_login");
}

TEST(PortLogin, LoginPending_login_received_peer_wins) {
  Rig rig;
  rig.given(LinkUp{}, LoginRequested{});
  rig.set(Recorded::PeerLoginWinsKnob);
  EXPECT_EQ(rig.after(LoginReceived{}), "LoggedIn: stop_timer, leave_request, accept_login, report_logged_in");
}

TEST(PortLogin, LoginPending_login_received_ours_wins) {
  Rig rig;
  rig.given(LinkUp{}, LoginRequested{});
  EXPECT_EQ(rig.after(LoginReceived{}), "LoginPending: reject_login");
  EXPECT_EQ(rig.after(LoginAccepted{}), "LoggedIn: stop_timer, report_logged_in");
}

// ... unless ours was lost: the peer, whose own was rejected, asks once more.
TEST(PortLogin, LoginPending_login_received_ours_was_lost) {
  Rig rig;
  rig.given(LinkUp{}, LoginRequested{}, LoginReceived{});
  rig.set(Recorded::PeerAsksAgainKnob);
  EXPECT_EQ(rig.after(LoginReceived{}), "LoggedIn: stop_timer, forget_request, accept_login, report_logged_in");
}

// The peer accepted, and LS_ACC was lost: it sends as one that is logged in.
TEST(PortLogin, LoginPending_accept_lost) {
  Rig rig;
  rig.given(LinkUp{}, LoginRequested{});
  EXPECT_EQ(rig.after(LoginPresumed{}), "LoginPending: stop_timer, forget_request, send_login, start_timer");
}

TEST(PortLogin, LoginPending_timeout_with_and_without_retries) {
  Rig rig;
  rig.given(LinkUp{}, LoginRequested{});
  rig.set(Recorded::RetriesLeftKnob);
  EXPECT_EQ(rig.after(Timeout{}), "LoginPending: stop_timer, forget_request, count_retry, send_login, start_timer");
  rig.set(Recorded::RetriesLeftKnob, false);
  EXPECT_EQ(rig.after(Timeout{}), "LoggedOut: stop_timer, forget_request, report_login_failed(Timeout)");
}

TEST(PortLogin, LoginPending_rejected_busy) {
  Rig rig;
  rig.given(LinkUp{}, LoginRequested{});
  rig.set(Recorded::RetriesLeftKnob);
  EXPECT_EQ(rig.after(LoginRejected{true}), "RetryPending: start_retry_delay");
  EXPECT_EQ(rig.after(Timeout{}), "LoginPending: count_retry, send_login, start_timer");
  EXPECT_EQ(rig.after(LoginRejected{false}), "LoggedOut: stop_timer, report_login_failed(Rejected)");
}

TEST(PortLogin, LogoutPending_timeout) {
  Rig rig;
  rig.given(LinkUp{}, LoginReceived{}, LogoutRequested{});
  rig.set(Recorded::RetriesLeftKnob);
  EXPECT_EQ(rig.after(Timeout{}), "LogoutPending: stop_timer, forget_request, count_retry, send_logout, start_timer");
  rig.set(Recorded::RetriesLeftKnob, false);
  EXPECT_EQ(rig.after(Timeout{}), "LoggedOut: stop_timer, forget_request, report_logout_complete");
}

// FC-VI 7.7.2: NOS/OLS in point-to-point is an implicit logout.
TEST(PortLogin, LoggedIn_link_down_point_to_point) {
  Rig rig;
  rig.given(LinkUp{}, LoginReceived{});
  rig.set(Recorded::LinkLossLogsOutKnob);
  EXPECT_EQ(rig.after(LinkDown{}), "Offline: report_logged_out");
  EXPECT_EQ(rig.after(LoginRequested{}), "Offline: report_login_failed(LinkDown)");
}

// FC-VI 7.7.3, 7.7.5: unchanged addresses keep the login and its Exchanges.
TEST(PortLogin, Validating_unchanged) {
  Rig rig;
  rig.given(LinkUp{}, LoginReceived{});
  EXPECT_EQ(rig.after(LinkDown{}), "Suspended: report_suspended");
  EXPECT_EQ(rig.after(LinkUp{}), "Validating: validate_addresses");
  EXPECT_EQ(rig.after(Validated{}), "LoggedIn: report_resumed");
}

// FC-VI 7.7.3: the link is still down: nothing may be sent; a logout cannot be sent, and the link may come back later.
TEST(PortLogin, Suspended_logout_requested) {
  Rig rig;
  rig.given(LinkUp{}, LoginReceived{}, LinkDown{});
  EXPECT_EQ(rig.after(LoginRequested{}), "Suspended: report_login_failed(LinkDown)");
  EXPECT_EQ(rig.after(LogoutRequested{}), "Offline: report_logged_out, report_logout_complete");
  EXPECT_EQ(rig.after(LinkUp{}), "LoggedOut:");
}

TEST(PortLogin, Validating_link_down) {
  Rig rig;
  rig.given(LinkUp{}, LoginReceived{}, LinkDown{}, LinkUp{});
  EXPECT_EQ(rig.after(LinkDown{}), "Suspended: stop_timer, forget_request");
  EXPECT_EQ(rig.after(LinkUp{}), "Validating: validate_addresses");
}

// FC-VI 7.7.3: a changed address means an explicit logout.
TEST(PortLogin, Validating_failed) {
  Rig rig;
  rig.given(LinkUp{}, LoginReceived{}, LinkDown{}, LinkUp{});
  EXPECT_EQ(rig.after(ValidationFailed{}), "LogoutPending: report_logged_out, send_logout, start_timer");
}

// Logins that went as far as the state that their name says.
template <class... Events>
Rig on_link(const Events&... events) {
  Rig rig;
  rig.given(LinkUp{}, events...);
  return rig;
}
Rig login_pending() { return on_link(LoginRequested{}); }
Rig retry_pending() {
  Rig rig = login_pending();
  rig.set(Recorded::RetriesLeftKnob);
  rig.given(LoginRejected{true});
  return rig;
}
Rig logged_in() { return on_link(LoginReceived{}); }
Rig validating() { return on_link(LoginReceived{}, LinkDown{}, LinkUp{}); }
Rig logout_pending() { return on_link(LoginReceived{}, LogoutRequested{}); }

// One login for all who need it; who comes when it stands is told at once.
TEST(PortLogin, login_requested_again) {
  EXPECT_EQ(retry_pending().after(LoginRequested{}), "RetryPending:");
  EXPECT_EQ(logged_in().after(LoginRequested{}), "LoggedIn: report_logged_in");
  EXPECT_EQ(validating().after(LoginRequested{}), "LoginAwaited:");
}

Rig login_awaited() {
  Rig rig = validating();
  rig.given(LoginRequested{});
  return rig;
}

// A login that was asked for while the addresses were compared: the outcome answers it, once for all who asked.
TEST(PortLogin, LoginAwaited_outcome_answers) {
  EXPECT_EQ(login_awaited().after(LoginRequested{}), "LoginAwaited:");
  EXPECT_EQ(login_awaited().after(Validated{}), "LoggedIn: report_resumed, report_logged_in");
  EXPECT_EQ(login_awaited().after(ValidationFailed{}),
            "LogoutPending: report_logged_out, report_login_failed(Withdrawn), send_logout, start_timer");
}

// ... so does what ends the login before the outcome is known. The peer's PLOGI ends it, and is the next one.
TEST(PortLogin, LoginAwaited_login_ends) {
  EXPECT_EQ(login_awaited().after(LoginReceived{}),
            "LoggedIn: stop_timer, forget_request, report_logged_out, accept_login, report_logged_in");
  EXPECT_EQ(login_awaited().after(LogoutRequested{}),
            "LogoutPending: stop_timer, forget_request, report_logged_out, report_login_failed(Withdrawn), "
            "send_logout, start_timer");
  EXPECT_EQ(login_awaited().after(LogoutReceived{}),
            "LoggedOut: stop_timer, forget_request, accept_logout, report_logged_out, report_login_failed(Withdrawn)");
}

// FC-VI 7.7.3: without a link there is no login to be had; the one that stands may still prove the same.
TEST(PortLogin, LoginAwaited_link_down) {
  EXPECT_EQ(login_awaited().after(LinkDown{}), "Suspended: stop_timer, forget_request, report_login_failed(LinkDown)");
}

// There is no login to end: who asked for its end is told so at once.
TEST(PortLogin, logout_requested_without_login) {
  EXPECT_EQ(Rig{}.after(LogoutRequested{}), "Offline: report_logout_complete");
  EXPECT_EQ(on_link().after(LogoutRequested{}), "LoggedOut: report_logout_complete");
  EXPECT_EQ(retry_pending().after(LogoutRequested{}),
            "LoggedOut: stop_timer, report_login_failed(Withdrawn), report_logout_complete");
}

// Our PLOGI may have been accepted: the LOGO ends that, too.
TEST(PortLogin, LoginPending_logout_requested) {
  Rig rig = login_pending();
  EXPECT_EQ(rig.after(LogoutRequested{}),
            "LogoutPending: stop_timer, forget_request, report_login_failed(Withdrawn), send_logout, start_timer");
  EXPECT_EQ(rig.after(LogoutRequested{}), "LogoutPending:");
}

// FC-LS: LOGO is accepted also where there is no login, or none any more.
TEST(PortLogin, logout_received_without_login) {
  EXPECT_EQ(on_link().after(LogoutReceived{}), "LoggedOut: accept_logout");
  EXPECT_EQ(login_pending().after(LogoutReceived{}), "LoginPending: accept_logout");
  EXPECT_EQ(retry_pending().after(LogoutReceived{}), "RetryPending: accept_logout");
  EXPECT_EQ(logout_pending().after(LogoutReceived{}), "LogoutPending: accept_logout");
}

// FC-LS: the peer logs in while ours waits for its next try.
TEST(PortLogin, RetryPending_login_received) {
  EXPECT_EQ(retry_pending().after(LoginReceived{}), "LoggedIn: stop_timer, accept_login, report_logged_in");
}

// FC-VI 7.7.1: the link goes: whoever waits is told, no timer stays behind.
TEST(PortLogin, link_down_without_login) {
  EXPECT_EQ(on_link().after(LinkDown{}), "Offline:");
  EXPECT_EQ(login_pending().after(LinkDown{}), "Offline: stop_timer, forget_request, report_login_failed(LinkDown)");
  EXPECT_EQ(retry_pending().after(LinkDown{}), "Offline: stop_timer, report_login_failed(LinkDown)");
  EXPECT_EQ(logout_pending().after(LinkDown{}), "Offline: stop_timer, forget_request, report_logout_complete");
}

// FC-VI 7.7.1: word of an implicit logout while the link is down.
TEST(PortLogin, Suspended_logout_received) {
  Rig rig = on_link(LoginReceived{}, LinkDown{});
  EXPECT_EQ(rig.after(LogoutReceived{}), "Offline: report_logged_out");
}

// FC-VI 7.7.1, FC-LS: the login ends while the addresses are compared: by either side's LOGO, or a new PLOGI.
TEST(PortLogin, Validating_login_ends) {
  EXPECT_EQ(validating().after(LoginReceived{}),
            "LoggedIn: stop_timer, forget_request, report_logged_out, accept_login, report_logged_in");
  EXPECT_EQ(validating().after(LogoutRequested{}),
            "LogoutPending: stop_timer, forget_request, report_logged_out, send_logout, start_timer");
  EXPECT_EQ(validating().after(LogoutReceived{}),
            "LoggedOut: stop_timer, forget_request, accept_logout, report_logged_out");
}

// A new login supersedes the LOGO that is out; the peer's, which may have crossed it, is put off.
TEST(PortLogin, LogoutPending_login) {
  EXPECT_EQ(logout_pending().after(LoginRequested{}),
            "LoginPending: stop_timer, forget_request, report_logout_complete, send_login, start_timer");
  EXPECT_EQ(logout_pending().after(LoginReceived{}), "LogoutPending: reject_login");
}

}  // namespace
}  // namespace machines::port_login
