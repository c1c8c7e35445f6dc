// Logins of two ports without a fabric that are ended, or asked for, at another time than usual: without a link, while
// a LIP is under way, while mappings are validated, behind a LOGO (FC-VI 7.7.1 to 7.7.5, FC-LS).
#include <gtest/gtest.h>

#include "tests/support/login_listener.hpp"
#include "tests/support/made_frame.hpp"
#include "tests/support/port_pair.hpp"
#include "tests/support/test_fabric.hpp"
#include "wire/els/logo.hpp"
#include "wire/els/ls_rjt.hpp"

namespace fc2 {
namespace {

using support::LoggedFrame;
using wire::els::Command;

class LoginEndTest : public testing::Test {
 protected:
  static constexpr wire::FcId a_id{0x000001}, b_id{0x000002};
  LoginEndTest() {
    a.add_listener(a_listener);
    b.add_listener(b_listener);
    from_a.tap_sender(&log);
    from_b.tap_receiver(&log);
    a_up(), b_up();
    to_b().log_in();
    run_for(millisecond);
    EXPECT_TRUE(to_b().logged_in());
    restart();
  }
  ~LoginEndTest() override { EXPECT_EQ(a.counters().unexpected_events + b.counters().unexpected_events, 0U); }
  void run_for(TimeNs duration) { scheduler.run_until(scheduler.now() + duration); }
  void a_up() { a.link_up_without_fabric(from_a, a_id); }
  void b_up() { b.link_up_without_fabric(from_b, b_id); }
  void lip() {
    a.link_interrupted();
    b.link_interrupted();
  }
  void restart() {
    log.clear();
    a_listener.events.clear();
    b_listener.events.clear();
  }
  RemotePort& to_b() { return a.remote_port(b_id); }
  RemotePort& to_a() { return b.remote_port(a_id); }
  [[nodiscard]] bool both_logged_in() { return to_b().logged_in() && to_a().logged_in(); }

  Scheduler scheduler;
  FramePool pool;
  support::LoginListener a_listener, b_listener;
  support::FrameLog log;  // of a
  NPort a{scheduler, pool, support::port_config(0)}, b{scheduler, pool, support::port_config(1)};
  Channel from_a{scheduler, {.latency_ns = 1000}, b}, from_b{scheduler, {.latency_ns = 1000}, a};
};

// There is no link and no login: nothing is to be ended.
TEST_F(LoginEndTest, offline_log_out_does_nothing) {
  a.link_down();
  EXPECT_EQ(a_listener.events, "O");
  to_b().log_out();
  run_for(100 * second);
  EXPECT_EQ(a_listener.events, "O");
  EXPECT_EQ(log.size(), 0U);
}

// FC-VI 7.7.3: between the LIP and its end no login can be had: who asks hears so at once, and the login that
// stands goes on.
TEST_F(LoginEndTest, suspended_log_in_fails_login_resumes) {
  lip();
  to_b().log_in();
  EXPECT_EQ(a_listener.events, "x");
  a_up(), b_up();
  run_for(millisecond);
  EXPECT_EQ(a_listener.events, "xF");
  EXPECT_TRUE(both_logged_in());
  EXPECT_EQ(log.sent(Command::plogi) + log.received(Command::plogi), 0U);
}

// FC-VI 7.7.3: ... a login can be ended: there is no link for a LOGO. The peer hears of it when it validates.
TEST_F(LoginEndTest, suspended_log_out_ends_it_without_logo) {
  lip();
  to_b().log_out();
  EXPECT_EQ(a_listener.events, "O");
  EXPECT_FALSE(to_b().logged_in());
  a_up(), b_up();
  run_for(millisecond);
  EXPECT_EQ(log.sent(Command::logo) + log.sent(Command::adisc), 0U);
  EXPECT_EQ(b_listener.events, "FO");
}

// FC-LS: the peer began anew and logs in while we ask whether it is the one of before: its PLOGI is an implicit logout,
// and the login.
TEST_F(LoginEndTest, validating_plogi_of_the_peer_is_the_login) {
  lip();
  b.link_down();
  b_listener.events.clear();
  b_up();
  to_a().log_in();
  a_up();
  run_for(1500);  // its PLOGI is here, the answer to our ADISC is not
  EXPECT_EQ(a_listener.events, "FOI");
  run_for(100 * second);
  EXPECT_EQ(a_listener.events, "FOI");
  EXPECT_EQ(b_listener.events, "FI");
  EXPECT_TRUE(both_logged_in());
  EXPECT_EQ(log.sent(Command::adisc), 1U);
}

// FC-VI 7.7.1: a logout while the peer is asked: LOGO, and what the peer answers to the ADISC is of no
// interest any more.
TEST_F(LoginEndTest, validating_log_out_sends_logo) {
  lip();
  a_up();
  to_b().log_out();
  EXPECT_EQ(a_listener.events, "FO");
  b_up();
  run_for(millisecond);
  EXPECT_EQ(log.sent(Command::logo), 1U);
  EXPECT_FALSE(to_b().logged_in() || to_a().logged_in());
  EXPECT_EQ(a_listener.events, "FO");
}

// FC-VI 7.7.3, FC-LS: a login that is asked for, by one or by several, while the login that stands is validated: the
// peer's PLOGI answers it.
TEST_F(LoginEndTest, login_awaited_plogi_of_the_peer_answers) {
  lip();
  b.link_down();
  b_up();
  to_a().log_in();
  a_up();
  to_b().log_in();
  to_b().log_in();
  run_for(1500);  // its PLOGI is here, the answer to our ADISC is not
  EXPECT_EQ(a_listener.events, "FOI");
  run_for(100 * second);
  EXPECT_EQ(a_listener.events, "FOI");
  EXPECT_TRUE(both_logged_in());
}

// ... a logout leaves no login, ours as well as the peer's: who asked hears so.
TEST_F(LoginEndTest, login_awaited_log_out_fails) {
  lip();
  a_up();
  to_b().log_in();
  to_b().log_out();
  EXPECT_EQ(a_listener.events, "FOx");
  b_up();
  run_for(millisecond);
  EXPECT_EQ(a_listener.events, "FOx");
  EXPECT_EQ(log.sent(Command::logo), 1U);
}
TEST_F(LoginEndTest, login_awaited_implicit_logout_fails) {
  lip();
  a_up();
  to_b().log_in();
  to_b().implicit_logout();
  EXPECT_EQ(a_listener.events, "FOx");
  EXPECT_FALSE(to_b().logged_in());
}

// ... and so it is where the link goes again; the login that stands goes on when it comes back.
TEST_F(LoginEndTest, login_awaited_link_goes_fails_login_resumes) {
  lip();
  a_up();
  to_b().log_in();
  lip();
  EXPECT_EQ(a_listener.events, "Fx");
  a_up(), b_up();
  run_for(millisecond);
  EXPECT_EQ(a_listener.events, "FxF");
  EXPECT_TRUE(both_logged_in());
  EXPECT_EQ(log.sent(Command::plogi) + log.received(Command::plogi), 0U);
}

// FC-LS: a PLOGI that crosses our LOGO is put off by LS_RJT (command in progress); the peer tries again, and that
// is the login.
TEST_F(LoginEndTest, logout_pending_plogi_crosses_is_put_off) {
  b.link_down();
  b_up();
  b_listener.events.clear();
  to_a().log_in();
  to_b().log_out();
  run_for(millisecond);
  EXPECT_EQ(log.sent(Command::ls_rjt), 1U);
  EXPECT_EQ(a_listener.events, "O");
  run_for(10 * second);
  EXPECT_EQ(a_listener.events, "OI");
  EXPECT_EQ(b_listener.events, "I");
  EXPECT_TRUE(both_logged_in());
}

// Two users log out: one LOGO.
TEST_F(LoginEndTest, logout_pending_log_out_again_sends_one_logo) {
  to_b().log_out();
  to_b().log_out();
  run_for(100 * second);
  EXPECT_EQ(log.sent(Command::logo), 1U);
  EXPECT_EQ(a_listener.events + b_listener.events, "OO");
}

// FC-LS: the peer, which is busy, sends a LOGO before we ask again: it is accepted, and we ask again nevertheless.
TEST(LoginEnd, retry_pending_logo_is_accepted_login_goes_on) {
  support::PortPair pair;
  support::RecordingUser user;
  bool busy = true;
  pair.to_b.on_frame = [&](const LoggedFrame& f) {
    if (!f.is_els(Command::plogi) || !std::exchange(busy, false)) return support::Interposer::Action::Pass;
    const auto header = support::els_reply_header(f.header.s_id, f.header.d_id, f.header.ox_id);
    const auto reject =
        support::bytes_of(wire::els::LsRjt{.reason = wire::els::RejectReason::logical_busy, .explanation = {}});
    pair.a.receive(support::made_frame(pair.pool, header, reject));
    return support::Interposer::Action::Drop;
  };
  pair.a.remote_port(support::PortPair::b_id).log_in();
  pair.run_for(millisecond);
  const auto logo =
      support::bytes_of(wire::els::Logo{.n_port_id = support::PortPair::b_id, .port_name = pair.b.config().port_name});
  pair.b.request(support::PortPair::a_id, wire::RCtl::els_request, wire::Type::els, logo, user, second);
  pair.run_for(millisecond);
  ASSERT_EQ(user.ius.size(), 1U);
  EXPECT_EQ(user.ius[0].bytes[0], 0x02);  // LS_ACC
  EXPECT_FALSE(pair.a.remote_port(support::PortPair::b_id).logged_in());
  pair.run_for(10 * second);
  EXPECT_TRUE(pair.a.remote_port(support::PortPair::b_id).logged_in());
  EXPECT_EQ(pair.unexpected_events(), 0U);
}

}  // namespace
}  // namespace fc2
