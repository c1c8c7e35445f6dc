// A FCF that takes the place of one that died gives everybody the address that it had, so that exchanges go
// on (FC-VI 7.7.5).
#include "tests/fc2_fabric/fcoe/interrupted_peers.hpp"

namespace fc2::fcoe {
namespace {

class FormerLoginTest : public InterruptedPeers {
 protected:
  FormerLoginTest() {
    ask(a, b, 1);
    world.run_for(millisecond);
    former = service.fcf().logins();
    service.kill();
  }
  void set_carriers(bool up) {
    for (Peer* peer : {&a, &b}) peer->station->ethernet.set_carrier(up);
  }
  wire::FcId address_of_stranger() {
    EStation& stranger = world.add_e_node();
    EXPECT_TRUE(world.run_until([&] { return stranger.port.online(); }, 5 * second));
    return stranger.port.n_port_id();
  }
  std::vector<FormerLogin> former;
};

// Whoever comes first: b has its own address, not that of a, which was the first at the FCF before.
TEST_F(FormerLoginTest, suspended_others_come_first_resumes) {
  ASSERT_EQ(former,
            (std::vector<FormerLogin>{{"fcf", support::station_mac(1), 0}, {"fcf", support::station_mac(2), 1}}));
  set_carriers(false);
  service.start({}, former);
  const wire::FcId stranger = address_of_stranger();
  EXPECT_TRUE(stranger != a.id && stranger != b.id) << to_string(stranger);
  b.station->ethernet.set_carrier(true);
  ASSERT_TRUE(online(b));
  EXPECT_EQ(b.port().n_port_id(), b.id);
  a.station->ethernet.set_carrier(true);
  ASSERT_TRUE(resumed());
  EXPECT_EQ(a.port().n_port_id(), a.id);
  answer(b);
  EXPECT_EQ(marks(a), (std::vector<std::uint8_t>{9}));
  expect_nobody_logged_out();
}

// It dies again before a is back: who may still come is handed on.
TEST_F(FormerLoginTest, suspended_fcf_dies_twice_resumes) {
  set_carriers(false);
  service.start({}, former);
  b.station->ethernet.set_carrier(true);
  ASSERT_TRUE(online(b));
  const auto kept = service.fcf().logins();
  EXPECT_EQ(kept.size(), 2U);
  service.kill();
  service.start({}, kept);
  a.station->ethernet.set_carrier(true);
  ASSERT_TRUE(resumed());
  EXPECT_EQ(a.port().n_port_id(), a.id);
  EXPECT_EQ(service.fcf().logins().size(), 2U);
  answer(b);
  expect_nobody_logged_out();
}

// An address rests as long as exchanges may go on with it: 2.5 FKA_ADV_PERIOD and R_A_TOV. Then a newcomer gets it.
TEST_F(FormerLoginTest, remembered_for_as_long_as_exchanges_may_go_on) {
  set_carriers(false);
  service.start({}, former);
  const TimeNs end = world.scheduler.now() + service.fcf().config().period / 2 * 5 + a.port().r_a_tov();
  world.scheduler.run_until(end - 1);
  EXPECT_EQ(service.fcf().logins(), former);
  world.scheduler.run_until(end);
  EXPECT_TRUE(service.fcf().logins().empty());
  EXPECT_EQ(address_of_stranger(), a.id);
}

// Where no other F_Port is left, a newcomer gets one that is kept.
TEST_F(FormerLoginTest, remembered_f_port_is_given_when_no_other_is_left) {
  set_carriers(false);
  service.start({.max_ports = 2}, former);
  EXPECT_EQ(address_of_stranger(), a.id);
}

// Of interfaces and F_Ports that there are not, and of one ENode twice: nothing is made of it.
TEST_F(FormerLoginTest, remembered_nonsense_is_passed_over) {
  set_carriers(false);
  const wire::MacAddress mac = support::station_mac(1);
  service.start(
      {.max_ports = 8},
      {{"other", mac, 3}, {"fcf", support::station_mac(9), ~std::size_t{0}}, {"fcf", mac, 0}, {"fcf", mac, 5}});
  EXPECT_EQ(service.fcf().logins().size(), 2U);
  set_carriers(true);
  ASSERT_TRUE(resumed());
  EXPECT_EQ(a.port().n_port_id(), a.id);
  answer(b);
}

// Who logs out has no address that it could come back to, when that of the login before is forgotten, too.
TEST_F(FormerLoginTest, logged_out_is_forgotten) {
  service.start({}, former);
  ASSERT_TRUE(world.run_until([&] { return a.port().interrupted(); }, 5 * second));
  ASSERT_TRUE(resumed());
  EXPECT_EQ(service.fcf().logins().size(), 2U);
  answer(b);
  world.run_for(20 * second);
  a.port().log_out_of_fabric();
  world.run_for(second);
  EXPECT_EQ(service.fcf().logins(), std::vector{former[1]});
}

}  // namespace
}  // namespace fc2::fcoe
