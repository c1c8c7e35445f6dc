// The carrier of a VN2VN node goes and comes: with the same N_Port_ID, and others who prove to be who they were, logins
// and exchanges go on; else they end, on both sides (FC-VI 7.7.1, 7.7.5).
#include <gtest/gtest.h>

#include "tests/fc2_fabric/fcoe/ethernet_world.hpp"
#include "tests/support/fc4.hpp"
#include "tests/support/login_listener.hpp"
#include "tests/support/port_pair.hpp"

namespace fc2::fcoe {
namespace {
using support::EthernetWorld;
using support::VnStation;
using Marks = std::vector<std::uint8_t>;

class Vn2vnInterruptionTest : public testing::Test {
 protected:
  static constexpr TimeNs claiming = 900 * millisecond;  // two probes and a claim, each waited for

  struct Peer {
    support::LoginListener listener;
    support::RecordingUser user;
    VnStation* station = nullptr;
    wire::FcId id{};
    NPort& port() { return station->port; }
  };

  Vn2vnInterruptionTest() {
    for (Peer* peer : {&a, &b}) {
      peer->station = &world.add_vn2vn({.beacon_fuzz = 0});
      EXPECT_TRUE(up(*peer));
      peer->id = peer->port().n_port_id();
    }
    EXPECT_TRUE(world.log_in(a.port(), b.port()));
    for (Peer* peer : {&a, &b}) {
      peer->port().add_listener(peer->listener);
      peer->port().set_user(support::fc4, peer->user);
    }
    ask(a, b, 1);
    ask(b, a, 2);
    world.run_for(millisecond);
  }
  ~Vn2vnInterruptionTest() override {
    world.run_for(300 * second);
    for (Peer* peer : {&a, &b}) {
      EXPECT_EQ(peer->port().counters().unexpected_events, 0U);
      EXPECT_EQ(peer->port().open_exchanges(), 0U);
    }
  }
  bool up(Peer& peer) {
    return world.run_until([&] { return peer.station->node->up(); }, 200 * second);
  }
  static void set_carrier(Peer& peer, bool is_up) { peer.station->ethernet.set_carrier(is_up); }
  void ask(Peer& from, Peer& to, std::uint8_t mark) {
    from.port().request(to.id, wire::RCtl::unsolicited_control, wire::Type::fc_vi, Marks(8, mark), from.user, 0);
  }
  void answer(Peer& at) {
    for (const auto& received : at.user.ius)
      if (!received.header.has(wire::f_ctl::exchange_responder))
        at.port().send(*received.exchange, wire::RCtl::solicited_control, {}, Marks(8, 9), {.last_of_exchange = true});
    world.run_for(millisecond);
  }
  static Marks marks(const Peer& at) {
    Marks marks;
    for (const auto& received : at.user.ius) marks.push_back(received.bytes.at(0));
    return marks;
  }
  bool resumed() {
    const auto stands = [](Peer& at, Peer& with) {
      const RemotePort& remote = at.port().remote_port(with.id);
      return at.port().online() && remote.logged_in() && !remote.suspended();
    };
    return world.run_until([&] { return stands(a, b) && stands(b, a); }, 20 * second);
  }
  void expect_going_on(const Marks& at_a, const Marks& at_b) {
    world.run_for(millisecond);
    EXPECT_EQ(marks(a), at_a);
    EXPECT_EQ(marks(b), at_b);
    answer(a);
    answer(b);
    EXPECT_EQ(marks(a).size() + marks(b).size(), 2 * (at_a.size() + at_b.size()));
    for (Peer* peer : {&a, &b}) {
      EXPECT_EQ(peer->listener.events.find_first_of("xO"), std::string::npos) << peer->listener.events;
      EXPECT_TRUE(peer->user.failures.empty());
      EXPECT_EQ(peer->port().n_port_id(), peer->id);
    }
  }
  void expect_ended() {
    for (Peer* peer : {&a, &b}) {
      EXPECT_EQ(std::count(peer->listener.events.begin(), peer->listener.events.end(), 'O'), 1)
          << peer->listener.events;
      EXPECT_EQ(peer->user.failures, std::vector(2, ExchangeFailure::PortLoggedOut));
    }
  }

  Peer a, b;  // they hear of their ports until the end
  EthernetWorld world;
};

// All is as before: the exchanges go on, and what was sent meanwhile arrives.
TEST_F(Vn2vnInterruptionTest, claimed_carrier_loss_unchanged_resumes) {
  set_carrier(a, false);
  EXPECT_TRUE(a.port().interrupted());
  EXPECT_FALSE(a.port().online());
  ask(a, b, 3);
  world.run_for(second);
  set_carrier(a, true);
  ASSERT_TRUE(resumed());
  expect_going_on({2}, {1, 3});
}

// The switch between them goes: both lose the carrier, and come back one long after the other. Nothing is lost that
// they were given to send meanwhile.
TEST_F(Vn2vnInterruptionTest, claimed_both_carriers_lost_resumes) {
  set_carrier(a, false);
  set_carrier(b, false);
  ask(a, b, 3);
  ask(b, a, 4);
  set_carrier(a, true);
  ASSERT_TRUE(up(a));
  world.run_for(5 * second);
  EXPECT_TRUE(a.port().remote_port(b.id).validating());
  set_carrier(b, true);
  ASSERT_TRUE(resumed());
  expect_going_on({2, 4}, {1, 3});
}

// Again and again, before and after the address is claimed.
TEST_F(Vn2vnInterruptionTest, claimed_carrier_flaps_resumes) {
  Marks expected{1};
  for (std::uint8_t mark = 3; mark < 8; ++mark) {
    set_carrier(a, false);
    ask(a, b, mark);
    expected.push_back(mark);
    world.run_for(100 * millisecond);
    set_carrier(a, true);
    world.run_for(mark * 200 * millisecond);
  }
  ASSERT_TRUE(resumed());
  expect_going_on({2}, expected);
}

// R_A_TOV after the loss all is over, not a nanosecond before. The last moment for the carrier, and one that
// is too late.
TEST_F(Vn2vnInterruptionTest, offline_carrier_back_in_the_last_moment_resumes) {
  set_carrier(a, false);
  world.run_for(a.port().r_a_tov() - claiming - millisecond);
  set_carrier(a, true);
  ASSERT_TRUE(resumed());
  expect_going_on({2}, {1});
}

// The other, who noticed nothing, is told by LOGO.
TEST_F(Vn2vnInterruptionTest, offline_carrier_back_too_late_logs_out) {
  set_carrier(a, false);
  const TimeNs lost = world.scheduler.now();
  world.run_for(a.port().r_a_tov() - claiming + millisecond);
  set_carrier(a, true);
  world.scheduler.run_until(lost + a.port().r_a_tov() - 1);
  EXPECT_TRUE(a.port().interrupted());
  EXPECT_EQ(a.listener.events, "");
  world.scheduler.run_until(lost + a.port().r_a_tov());
  EXPECT_FALSE(a.port().interrupted());
  EXPECT_EQ(a.listener.events, "O");
  EXPECT_EQ(b.listener.events, "");
  ASSERT_TRUE(up(a));
  world.run_for(millisecond);
  expect_ended();
  EXPECT_EQ(a.port().n_port_id(), a.id);
  EXPECT_TRUE(world.log_in(b.port(), a.port()));
}

// Its address was taken meanwhile: another N_Port_ID, and all logins end.
TEST_F(Vn2vnInterruptionTest, offline_address_taken_logs_out) {
  set_carrier(a, false);
  VnStation& stranger = world.add_vn2vn({.first_id = a.id});
  ASSERT_TRUE(world.run_until([&] { return stranger.node->up(); }, 5 * second));
  ASSERT_EQ(stranger.port.n_port_id(), a.id);
  set_carrier(a, true);
  ASSERT_TRUE(up(a));
  EXPECT_NE(a.port().n_port_id(), a.id);
  world.run_for(millisecond);
  expect_ended();
  EXPECT_TRUE(world.log_in(a.port(), b.port()));
}

// Another one is at the address of the other: the names of its ADISC say so (FC-VI 7.7.3), if it has a login at all.
TEST_F(Vn2vnInterruptionTest, validating_other_replaced_logs_out) {
  set_carrier(a, false);
  set_carrier(b, false);
  VnStation& stranger = world.add_vn2vn({.first_id = b.id});
  ASSERT_TRUE(world.run_until([&] { return stranger.node->up(); }, 5 * second));
  set_carrier(a, true);
  ASSERT_TRUE(up(a));
  world.run_for(10 * millisecond);
  EXPECT_EQ(a.listener.events.back(), 'O');
  set_carrier(b, true);
  ASSERT_TRUE(up(b));
  world.run_for(millisecond);
  EXPECT_NE(b.port().n_port_id(), b.id);
  expect_ended();
}

// The node goes meanwhile: nobody waits for a link that cannot come.
TEST_F(Vn2vnInterruptionTest, offline_node_taken_off_logs_out) {
  set_carrier(a, false);
  EXPECT_EQ(a.listener.events, "");
  a.station->node = nullptr;
  EXPECT_EQ(a.listener.events, "O");
  EXPECT_FALSE(a.port().interrupted());
  a.station->node = std::make_unique<Vn2vnNode>(world.scheduler, world.pool, a.station->ethernet, a.port());
  set_carrier(a, true);
  ASSERT_TRUE(up(a));
  EXPECT_TRUE(world.log_in(a.port(), b.port()));
}

}  // namespace
}  // namespace fc2::fcoe
