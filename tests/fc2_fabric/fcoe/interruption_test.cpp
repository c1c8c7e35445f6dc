// A virtual link is lost and comes back: logins and exchanges survive where every address proves to be what it was, and
// end on both sides where not, or where it stays away (FC-VI 7.7.5, 7.7.1; FC-BB-5).
#include "tests/fc2_fabric/fcoe/interrupted_peers.hpp"

namespace fc2::fcoe {
namespace {
class FcoeInterruptionTest : public InterruptedPeers {};

// FC-VI 7.7.5: the carrier goes and comes, all addresses are as before: the exchange goes on, what was
// sent meanwhile arrives.
TEST_F(FcoeInterruptionTest, logged_in_carrier_loss_unchanged_resumes) {
  ask(a, b, 1);
  world.run_for(millisecond);
  a.station->ethernet.set_carrier(false);
  EXPECT_TRUE(a.port().interrupted());
  EXPECT_TRUE(a.port().remote_port(b.id).suspended());
  ask(a, b, 2);
  ask(a, b, 3);
  world.run_for(second);
  EXPECT_EQ(marks(b), (std::vector<std::uint8_t>{1}));
  a.station->ethernet.set_carrier(true);
  ASSERT_TRUE(resumed());
  world.run_for(millisecond);
  EXPECT_EQ(marks(b), (std::vector<std::uint8_t>{1, 2, 3}));
  answer(b);
  EXPECT_EQ(marks(a), (std::vector<std::uint8_t>{9, 9, 9}));
  EXPECT_EQ(a.port().n_port_id(), a.id);
  expect_nobody_logged_out();
}

// ... and no FC-VI IU goes before the other's addresses are confirmed (FC-VI 7.7.1): it may have lost its link as well.
TEST_F(FcoeInterruptionTest, suspended_adisc_goes_first) {
  a.station->ethernet.set_carrier(false);
  ask(a, b);
  a.station->ethernet.set_carrier(true);
  log.clear();
  ASSERT_TRUE(resumed());
  world.run_for(millisecond);
  std::vector<std::string> order;
  for (const auto& frame : log.frames()) {
    if (frame.is_els(Command::adisc))
      order.emplace_back("ADISC");
    else if (frame.header.s_id == b.id && frame.is_els(Command::ls_acc))
      order.emplace_back("LS_ACC");
    else if (frame.header.type == wire::Type::fc_vi)
      order.emplace_back("FC-VI");
  }
  EXPECT_EQ(order, (std::vector<std::string>{"ADISC", "LS_ACC", "FC-VI"}));
  answer(b);
  expect_nobody_logged_out();
}

// FC-BB-5, 2.5 FKA_ADV_PERIOD: the FCF is silent for both, who come back one after the other. Nothing that either was
// given to send meanwhile is lost, although the first is back long before the other can receive.
TEST_F(FcoeInterruptionTest, logged_in_fcf_silent_for_both_resumes) {
  ask(a, b, 1);
  world.run_for(millisecond);
  world.fcf_port.set_carrier(false);
  ASSERT_TRUE(world.run_until([&] { return a.port().interrupted() && b.port().interrupted(); }, 10 * second));
  ask(a, b, 2);
  ask(b, a, 3);
  a.station->ethernet.set_carrier(false);
  world.fcf_port.set_carrier(true);
  ASSERT_TRUE(online(b));
  world.run_for(3 * second);
  EXPECT_TRUE(b.port().remote_port(a.id).suspended());
  a.station->ethernet.set_carrier(true);
  ASSERT_TRUE(resumed());
  world.run_for(millisecond);
  EXPECT_EQ(a.port().n_port_id(), a.id);
  EXPECT_EQ(marks(b), (std::vector<std::uint8_t>{1, 2}));
  EXPECT_EQ(marks(a), (std::vector<std::uint8_t>{3}));
  answer(b);
  answer(a);
  EXPECT_EQ(marks(a), (std::vector<std::uint8_t>{3, 9, 9}));
  expect_nobody_logged_out();
}

// FC-BB-5 Clear Virtual Links ends the login with the fabric; after the next one all is compared, as after
// NOS (FC-VI 7.7.5).
TEST_F(FcoeInterruptionTest, logged_in_links_cleared_resumes) {
  ask(a, b, 1);
  world.run_for(millisecond);
  ASSERT_TRUE(service.interface().log_out(a.id));
  world.run_for(millisecond);
  EXPECT_TRUE(a.port().interrupted());
  ask(a, b, 2);
  ASSERT_TRUE(resumed());
  world.run_for(millisecond);
  EXPECT_EQ(marks(b), (std::vector<std::uint8_t>{1, 2}));
  answer(b);
  EXPECT_EQ(marks(a), (std::vector<std::uint8_t>{9, 9}));
  EXPECT_EQ(log.sent(Command::flogi), 1U);
  expect_nobody_logged_out();
}

// Issue 5, 5: the service is killed and comes back. It knows who was there, and gives both the addresses that they had.
TEST_F(FcoeInterruptionTest, logged_in_fcf_killed_and_restarted_resumes) {
  ask(a, b, 1);
  world.run_for(millisecond);
  const auto former = service.fcf().logins();
  service.kill();
  service.start({}, former);
  ASSERT_TRUE(world.run_until([&] { return a.port().interrupted(); }, 5 * second));
  ask(a, b, 2);
  ASSERT_TRUE(resumed());
  world.run_for(millisecond);
  EXPECT_EQ(marks(b), (std::vector<std::uint8_t>{1, 2}));
  answer(b);
  expect_nobody_logged_out();
}

// FC-VI 7.7.5: it gives other addresses: both sides hear that it is over, and may begin anew.
TEST_F(FcoeInterruptionTest, logged_in_fcf_restarted_with_another_domain_logs_out) {
  ask(a, b);
  ask(b, a);
  world.run_for(millisecond);
  const auto former = service.fcf().logins();
  service.kill();
  service.start({.domain = 2}, former);
  ASSERT_TRUE(world.run_until([&] { return a.port().interrupted(); }, 5 * second));
  ASSERT_TRUE(online(a) && online(b));
  world.run_for(millisecond);
  EXPECT_EQ(a.port().n_port_id().domain(), 2);
  expect_ended(2, 2);
  EXPECT_TRUE(world.log_in(a.port(), b.port()));
}

// FC-VI 7.7.5: the same address, of a fabric with another name, is another address.
TEST_F(FcoeInterruptionTest, logged_in_another_fabric_logs_out) {
  ask(a, b);
  world.run_for(millisecond);
  service.kill();
  service.start({.fabric_name = {0x1000'02FC'FA00'0002}});
  ASSERT_TRUE(world.run_until([&] { return a.port().interrupted() && b.port().interrupted(); }, 10 * second));
  ASSERT_TRUE(online(a) && online(b));
  world.run_for(millisecond);
  EXPECT_EQ(a.port().n_port_id(), a.id);
  expect_ended(1, 1);
}

// FC-VI 7.7.5: one of them gets another address, since a third came first. The LOGO names the former one: the other,
// whose own addresses did not change, ends the login too.
TEST_F(FcoeInterruptionTest, logged_in_own_address_taken_logs_out) {
  ask(a, b);
  world.run_for(millisecond);
  service.kill();
  a.station->ethernet.set_carrier(false);
  b.station->ethernet.set_carrier(false);
  service.start();
  EStation& stranger = world.add_e_node();
  ASSERT_TRUE(world.run_until([&] { return stranger.port.online(); }, 5 * second));
  ASSERT_EQ(stranger.port.n_port_id(), a.id);
  b.station->ethernet.set_carrier(true);
  ASSERT_TRUE(online(b));
  EXPECT_EQ(b.port().n_port_id(), b.id);
  a.station->ethernet.set_carrier(true);
  ASSERT_TRUE(online(a));
  EXPECT_NE(a.port().n_port_id(), a.id);
  world.run_for(millisecond);
  expect_ended(1, 1);
  EXPECT_EQ(log.sent(Command::logo), 1U);
}

// FC-VI 7.7.1: the other comes back elsewhere, or not at all: nobody confirms its addresses, and after the time-out of
// the ADISC (2 x R_A_TOV) the login is over here as well.
TEST_F(FcoeInterruptionTest, validating_peer_stays_away_logs_out) {
  ask(a, b);
  world.run_for(millisecond);
  const auto former = service.fcf().logins();
  service.kill();
  b.station->ethernet.set_carrier(false);
  service.start({}, former);
  ASSERT_TRUE(world.run_until([&] { return a.port().interrupted(); }, 5 * second));
  ASSERT_TRUE(online(a));
  world.run_for(19 * second);
  EXPECT_EQ(a.listener.events, "F");
  world.run_for(2 * second);
  expect_ended(1, 1);
}

// The FCF never comes back: R_A_TOV after it is gone every exchange and login is over, on both sides, not
// a nanosecond before.
TEST_F(FcoeInterruptionTest, suspended_fcf_stays_away_logs_out) {
  ask(a, b);
  ask(b, a);
  world.run_for(millisecond);
  service.kill();
  ASSERT_TRUE(world.run_until([&] { return a.port().interrupted() && b.port().interrupted(); }, 10 * second));
  ask(a, b);
  const TimeNs lost = world.scheduler.now();
  world.scheduler.run_until(lost + a.port().r_a_tov() - 1);
  EXPECT_EQ(a.listener.events + b.listener.events, "");
  EXPECT_TRUE(a.user.failures.empty());
  world.scheduler.run_until(lost + a.port().r_a_tov());
  EXPECT_FALSE(a.port().interrupted() || b.port().interrupted());
  expect_ended(3, 2);
  service.start();
  ASSERT_TRUE(online(a) && online(b));
  EXPECT_TRUE(world.log_in(a.port(), b.port()));
}

// The last moment at which the FCF may be back, and one that is too late: the ENode takes 0.2 s for the choice
// of an FCF.
TEST_F(FcoeInterruptionTest, suspended_fcf_back_in_the_last_moment_resumes) {
  ask(a, b);
  world.run_for(millisecond);
  service.kill();
  ASSERT_TRUE(world.run_until([&] { return a.port().interrupted() && b.port().interrupted(); }, 10 * second));
  world.run_for(a.port().r_a_tov() - 250 * millisecond);
  service.start();
  ASSERT_TRUE(resumed());
  answer(b);
  EXPECT_EQ(marks(a), (std::vector<std::uint8_t>{9}));
  expect_nobody_logged_out();
}

TEST_F(FcoeInterruptionTest, suspended_fcf_back_too_late_logs_out) {
  ask(a, b);
  world.run_for(millisecond);
  service.kill();
  ASSERT_TRUE(world.run_until([&] { return a.port().interrupted() && b.port().interrupted(); }, 10 * second));
  world.run_for(a.port().r_a_tov() - 150 * millisecond);
  service.start();
  ASSERT_TRUE(online(a) && online(b));
  expect_ended(1, 1);
}

// Again and again: what is suspended stays so until the link stays.
TEST_F(FcoeInterruptionTest, suspended_carrier_flaps_resumes) {
  for (std::uint8_t mark = 1; mark <= 5; ++mark) {
    a.station->ethernet.set_carrier(false);
    ask(a, b, mark);
    world.run_for(10 * millisecond);
    a.station->ethernet.set_carrier(true);
    world.run_for(mark * 50 * millisecond);  // before, amid and after the choice of an FCF
  }
  ASSERT_TRUE(resumed());
  world.run_for(millisecond);
  EXPECT_EQ(marks(b), (std::vector<std::uint8_t>{1, 2, 3, 4, 5}));
  answer(b);
  expect_nobody_logged_out();
}

// The ENode goes while it is interrupted: nobody waits for a link that cannot come.
TEST_F(FcoeInterruptionTest, suspended_e_node_taken_off_logs_out) {
  ask(a, b);
  world.run_for(millisecond);
  a.station->ethernet.set_carrier(false);
  EXPECT_EQ(a.listener.events, "");
  a.station->node = nullptr;
  EXPECT_EQ(a.listener.events, "O");
  EXPECT_EQ(a.user.failures, std::vector{ExchangeFailure::PortLoggedOut});
  EXPECT_FALSE(a.port().interrupted());
  a.station->node = std::make_unique<ENode>(world.scheduler, world.pool, a.station->ethernet, a.port());
  a.station->ethernet.set_carrier(true);
  ASSERT_TRUE(online(a));
  ASSERT_TRUE(world.log_in(a.port(), b.port()));
  EXPECT_EQ(b.listener.events, "OI");
}

}  // namespace
}  // namespace fc2::fcoe
