// Logins that are put off, asked for twice, or end what an abort still waits for (FC-LS, FC-VI 7.7.1, 8.4.2 g).
#include <gtest/gtest.h>

#include "tests/support/made_frame.hpp"
#include "tests/support/port_pair.hpp"
#include "wire/els/ls_rjt.hpp"

namespace fc2 {
namespace {
using support::Interposer;
using support::LoggedFrame;
using support::PortPair;
using wire::els::Command;
using wire::els::RejectReason;
constexpr wire::FcId b_id = PortPair::b_id;

class LoginRetryTest : public testing::Test, public PortListener {
 protected:
  LoginRetryTest() { pair.a.add_listener(*this); }
  ~LoginRetryTest() override { EXPECT_EQ(pair.unexpected_events(), 0U); }
  void fabric_logged_in() override {}
  void fabric_login_failed() override {}
  void remote_port_logged_in(RemotePort&) override { events += "I"; }
  void remote_port_login_failed(RemotePort&) override { events += "x"; }
  void remote_port_logged_out(RemotePort&) override { events += "O"; }
  [[nodiscard]] std::size_t logins() const {
    return pair.to_b.log.count([](const LoggedFrame& frame) { return frame.is_els(Command::plogi); });
  }
  /// The next PLOGIs do not come to b, which says instead that it cannot take them now.
  void reject(int times, RejectReason reason) {
    pair.to_b.on_frame = [this, times, reason](const LoggedFrame& frame) mutable {
      if (!frame.is_els(Command::plogi) || times-- <= 0) return Interposer::Action::Pass;
      answer(frame.header.ox_id, reason);
      return Interposer::Action::Drop;
    };
  }
  PortPair pair;
  std::string events;

 private:
  void answer(wire::OxId ox_id, RejectReason reason) {
    pair.a.receive(support::made_frame(pair.pool, support::els_reply_header(PortPair::a_id, b_id, ox_id),
                                       support::bytes_of(wire::els::LsRjt{.reason = reason})));
  }
};

// FC-LS: "busy", "unable to perform" and "command already in progress" mean: later. PLOGI again after E_D_TOV,
// and not before.
TEST_F(LoginRetryTest, login_pending_busy_tries_again) {
  for (const RejectReason reason :
       {RejectReason::logical_busy, RejectReason::unable_to_perform, RejectReason::command_in_progress}) {
    events.clear(), pair.to_b.log.clear();
    reject(1, reason);
    pair.a.remote_port(b_id).log_in();
    pair.run_for(pair.a.e_d_tov());
    EXPECT_EQ(logins(), 1U);
    EXPECT_EQ(events, "");
    pair.run_for(millisecond);
    EXPECT_EQ(logins(), 2U);
    EXPECT_EQ(events, "I");
    pair.a.remote_port(b_id).log_out();
    pair.run_for(millisecond);
  }
}

// ... as often as configured: then the login failed.
TEST_F(LoginRetryTest, login_pending_always_busy_fails) {
  reject(100, RejectReason::logical_busy);
  pair.a.remote_port(b_id).log_in();
  pair.run_for(100 * second);
  EXPECT_EQ(logins(), 1U + pair.a.config().login_retries);
  EXPECT_EQ(events, "x");
  EXPECT_EQ(pair.a.open_exchanges(), 0U);
}

// Another reason means: never.
TEST_F(LoginRetryTest, login_pending_rejected_fails) {
  reject(1, RejectReason::logical_error);
  pair.a.remote_port(b_id).log_in();
  pair.run_for(100 * second);
  EXPECT_EQ(logins(), 1U);
  EXPECT_EQ(events, "x");
}

// While a try is put off: another user asks too, or all think better of it.
TEST_F(LoginRetryTest, retry_pending_asked_again_is_one_login) {
  reject(1, RejectReason::logical_busy);
  pair.a.remote_port(b_id).log_in();
  pair.run_for(second);
  pair.a.remote_port(b_id).log_in();
  EXPECT_EQ(logins(), 1U);
  pair.run_for(100 * second);
  EXPECT_EQ(logins(), 2U);
  EXPECT_EQ(events, "I");
}
TEST_F(LoginRetryTest, retry_pending_log_out_ends_it) {
  reject(1, RejectReason::logical_busy);
  pair.a.remote_port(b_id).log_in();
  pair.run_for(second);
  pair.a.remote_port(b_id).log_out();
  pair.run_for(100 * second);
  EXPECT_EQ(logins(), 1U);
  EXPECT_EQ(events, "x");
}

// FC-LS: ... and the peer logs in itself: that is the login.
TEST_F(LoginRetryTest, retry_pending_plogi_of_the_peer_logs_in) {
  reject(1, RejectReason::logical_busy);
  pair.a.remote_port(b_id).log_in();
  pair.run_for(second);
  pair.b.remote_port(PortPair::a_id).log_in();
  pair.run_for(100 * second);
  EXPECT_EQ(logins(), 1U);
  EXPECT_EQ(events, "I");
  EXPECT_TRUE(pair.b.remote_port(PortPair::a_id).logged_in());
}

// PLOGI of both cross, b's wins, and is lost: a's, which b rejected, comes again after E_D_TOV, and is the login; not
// one that comes sooner, since b's may still be on its way.
TEST_F(LoginRetryTest, login_pending_crossing_plogi_lost) {
  pair.to_a.on_frame = [](const LoggedFrame& frame) {
    return frame.is_els(Command::plogi) ? Interposer::Action::Drop : Interposer::Action::Pass;
  };
  pair.b.remote_port(PortPair::a_id).log_in();
  for (int i = 0; i < 2; ++i) {
    pair.a.remote_port(b_id).log_in();
    pair.run_for(millisecond);
    EXPECT_EQ(events, i == 0 ? "" : "x");
    if (i == 0) pair.a.remote_port(b_id).log_out();
  }
  EXPECT_EQ(logins(), 2U);
  EXPECT_EQ(pair.to_a.log.count([](const LoggedFrame& frame) { return frame.is_els(Command::ls_rjt); }), 2U);
  pair.run_for(pair.a.e_d_tov());
  EXPECT_EQ(logins(), 3U);
  EXPECT_EQ(events, "xI");
  EXPECT_TRUE(pair.b.remote_port(PortPair::a_id).logged_in());
  pair.run_for(100 * second);
  EXPECT_EQ(events, "xI");
  EXPECT_EQ(pair.a.open_exchanges() + pair.b.open_exchanges(), 0U);
}

// a's LS_ACC is lost, and a sends as one that is logged in: b, whose PLOGI is out, sends it again, and no LOGO.
TEST_F(LoginRetryTest, login_pending_accept_lost_is_asked_again) {
  int accepts = 1;
  pair.to_b.on_frame = [&accepts](const LoggedFrame& frame) {
    return frame.is_els(Command::ls_acc) && accepts-- > 0 ? Interposer::Action::Drop : Interposer::Action::Pass;
  };
  pair.b.remote_port(PortPair::a_id).log_in();
  pair.run_for(millisecond);
  EXPECT_EQ(events, "I");
  EXPECT_FALSE(pair.b.remote_port(PortPair::a_id).logged_in());
  pair.b.deny(PortPair::a_id);
  pair.run_for(millisecond);
  EXPECT_EQ(events, "IOI");
  EXPECT_TRUE(pair.b.remote_port(PortPair::a_id).logged_in());
  EXPECT_EQ(pair.to_a.log.count([](const LoggedFrame& frame) { return frame.is_els(Command::plogi); }), 2U);
  EXPECT_EQ(pair.to_a.log.count([](const LoggedFrame& frame) { return frame.is_els(Command::logo); }), 0U);
  pair.run_for(100 * second);
  EXPECT_EQ(pair.a.open_exchanges() + pair.b.open_exchanges(), 0U);
}

// impl: who asks for a login that stands is told so at once; nothing is sent.
TEST_F(LoginRetryTest, logged_in_asked_again_says_so) {
  ASSERT_TRUE(pair.log_in());
  pair.a.remote_port(b_id).log_in();
  EXPECT_EQ(events, "II");
  EXPECT_EQ(logins(), 1U);
}

/// Hears when an abort is over.
struct Aborting final : ExchangeUser {
  void sequence_received(Exchange&, const wire::FcHeader&, std::span<const std::uint8_t>) override {}
  void exchange_failed(Exchange&, ExchangeFailure) override {}
  void abort_finished() override { ++finished; }
  int finished = 0;
};

// FC-VI 7.7.1, 8.4.2 g): a logout ends an abort whose first ABTS was not answered, and the id is free.
TEST_F(LoginRetryTest, recovering_logout_ends_the_abort) {
  ASSERT_TRUE(pair.log_in());
  pair.to_b.on_frame = [](const LoggedFrame&) { return Interposer::Action::Drop; };
  Aborting user;
  Exchange* exchange = pair.a.originate(b_id, wire::Type::ct, user);
  const std::array<std::uint8_t, 8> iu{};
  pair.a.send(*exchange, wire::RCtl::unsolicited_control, {}, iu, {.transfer_initiative = true});
  pair.a.abort_and_report(*exchange, user);
  pair.run_for(pair.a.r_a_tov() + millisecond);
  EXPECT_EQ(pair.to_b.log.count(wire::RCtl::abts), 2U);
  EXPECT_EQ(user.finished, 0);
  EXPECT_EQ(pair.a.open_exchanges(), 1U);
  pair.a.remote_port(b_id).implicit_logout();
  EXPECT_EQ(user.finished, 0) << "nothing was recovered; the logout says so itself";
  EXPECT_EQ(pair.a.open_exchanges(), 0U);
  pair.run_for(100 * second);
  EXPECT_EQ(user.finished, 0);
  EXPECT_EQ(pair.to_b.log.count(wire::RCtl::abts), 2U);
}

}  // namespace
}  // namespace fc2
