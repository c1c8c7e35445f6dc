// A virtual link is lost and comes back: logins and exchanges survive where every address proves to be what it was, and end
// on both sides where not, or where it stays away (FC-VI 7.7.5, 7.7.1; FC-BB-5).
#include <gtest/gtest.h>

#include "tests/fc2_fabric/fcoe/ethernet_world.hpp"
#include "tests/support/login_listener.hpp"
#include "tests/support/port_pair.hpp"

namespace fc2::fcoe {
namespace {
using support::EStation;
using support::EthernetWorld;
using wire::els::Command;

std::vector<std::uint8_t> iu(std::uint8_t mark) { return std::vector<std::uint8_t>(8, mark); }

/// fcvi-fabricd, in short: a switch and its FCF, which may die without a word.
class Service {
 public:
  explicit Service(EthernetWorld& world) : world_(world) {}
  void start(const SwitchConfig& config = {}) {
    fabric_.emplace(world_.scheduler, world_.pool, config);
    fcf_.emplace(world_.scheduler, world_.pool, *fabric_);
    fcf_->add_interface(world_.fcf_port);
  }
  void kill() {
    struct Cut final : EthernetFault {
      void befall(EthernetSegment&, SegmentPort&, EthernetFrame) override {}
    } cut;
    world_.segment.set_fault(&cut);
    fcf_.reset();
    fabric_.reset();
    world_.segment.set_fault(nullptr);
  }
  FcfInterface& interface() { return *fcf_->interfaces().front(); }

 private:
  EthernetWorld& world_;
  std::optional<Switch> fabric_;
  std::optional<Fcf> fcf_;
};

class FcoeInterruptionTest : public testing::Test {
 protected:
  /// An N_Port that speaks FC-VI, for tests.
  struct Peer {
    support::LoginListener listener;
    support::RecordingUser user;
    EStation* station = nullptr;
    wire::FcId id{};
    NPort& port() { return station->port; }
  };

  FcoeInterruptionTest() {
    service.start();
    for (Peer* peer : {&a, &b}) {
      peer->station = &world.add_e_node();
      EXPECT_TRUE(online(*peer));
      peer->id = peer->port().n_port_id();
    }
    EXPECT_TRUE(world.log_in(a.port(), b.port()));
    for (Peer* peer : {&a, &b}) {
      peer->port().add_listener(peer->listener);
      peer->port().set_user(wire::Type::fc_vi, peer->user);
    }
    world.run_for(3 * second);  // both heard the same advertisement last
    a.station->node->tap(a.port(), &log);
  }
  ~FcoeInterruptionTest() override {
    world.run_for(300 * second);  // what was answered late, or never, is over: a LOGO is tried four times
    for (Peer* peer : {&a, &b}) {
      EXPECT_EQ(peer->port().counters().unexpected_events + peer->station->node->counters().unexpected_events, 0U);
      EXPECT_EQ(peer->port().open_exchanges(), 0U);
    }
  }
  bool online(Peer& peer) {
    return world.run_until([&] { return peer.port().online(); }, 20 * second);
  }
  bool resumed() {
    const auto stands = [](Peer& at, Peer& with) {
      const RemotePort* remote = at.port().find_remote_port(with.id);
      return at.port().online() && remote != nullptr && remote->logged_in() && !remote->suspended();
    };
    return world.run_until([&] { return stands(a, b) && stands(b, a); }, 20 * second);
  }
  void ask(Peer& from, Peer& to, std::uint8_t mark = 1) {
    from.port().request(to.id, wire::RCtl::unsolicited_control, wire::Type::fc_vi, iu(mark), from.user, 0);
  }
  /// Every request that came and is open.
  void answer(Peer& at) {
    for (const auto& received : at.user.ius)
      if (!received.header.has(wire::f_ctl::exchange_responder))
        at.port().send(*received.exchange, wire::RCtl::solicited_control, {}, iu(9), {.last_of_exchange = true});
    world.run_for(millisecond);
  }
  static std::vector<std::uint8_t> marks(const Peer& at) {
    std::vector<std::uint8_t> marks;
    for (const auto& received : at.user.ius) marks.push_back(received.bytes.at(0));
    return marks;
  }
  /// The connections to that port are over, and both sides know.
  void expect_ended(std::size_t exchanges_of_a, std::size_t exchanges_of_b) {
    for (Peer* peer : {&a, &b}) EXPECT_EQ(std::count(peer->listener.events.begin(), peer->listener.events.end(), 'O'), 1);
    EXPECT_EQ(a.user.failures, std::vector(exchanges_of_a, ExchangeFailure::PortLoggedOut));
    EXPECT_EQ(b.user.failures, std::vector(exchanges_of_b, ExchangeFailure::PortLoggedOut));
  }
  void expect_nobody_logged_out() {
    for (Peer* peer : {&a, &b}) {
      EXPECT_EQ(peer->listener.events.find_first_of("xOf"), std::string::npos) << peer->listener.events;
      EXPECT_TRUE(peer->user.failures.empty());
    }
    EXPECT_EQ(log.sent(Command::logo) + log.received(Command::logo) + log.sent(Command::plogi), 0U);
  }

  support::FrameLog log;
  Peer a, b;
  EthernetWorld world;
  Service service{world};
};

// FC-VI 7.7.5: the carrier goes and comes, all addresses are as before: the exchange goes on, what was sent meanwhile arrives.
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
    if (frame.is_els(Command::adisc)) order.emplace_back("ADISC");
    else if (frame.header.s_id == b.id && frame.is_els(Command::ls_acc)) order.emplace_back("LS_ACC");
    else if (frame.header.type == wire::Type::fc_vi) order.emplace_back("FC-VI");
  }
  EXPECT_EQ(order, (std::vector<std::string>{"ADISC", "LS_ACC", "FC-VI"}));
  answer(b);
  expect_nobody_logged_out();
}

// FC-BB-5, 2.5 FKA_ADV_PERIOD: the FCF is silent for both, who come back one after the other. Nothing that either was given
// to send meanwhile is lost, although the first is back long before the other can receive.
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

// FC-BB-5 Clear Virtual Links ends the login with the fabric; after the next one all is compared, as after NOS (FC-VI 7.7.5).
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

// Issue 5, 5: the service is killed and comes back. It knows nobody, and gives both the addresses that they had.
TEST_F(FcoeInterruptionTest, logged_in_fcf_killed_and_restarted_resumes) {
  ask(a, b, 1);
  world.run_for(millisecond);
  service.kill();
  service.start();
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
  service.kill();
  service.start({.domain = 2});
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

// FC-VI 7.7.5: one of them gets another address, since a third came first. The LOGO names the former one: the other, whose
// own addresses did not change, ends the login too.
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

// FC-VI 7.7.1: the other comes back elsewhere, or not at all: nobody confirms its addresses, and after the time-out of the
// ADISC (2 x R_A_TOV) the login is over here as well.
TEST_F(FcoeInterruptionTest, validating_peer_stays_away_logs_out) {
  ask(a, b);
  world.run_for(millisecond);
  service.kill();
  b.station->ethernet.set_carrier(false);
  service.start();
  ASSERT_TRUE(world.run_until([&] { return a.port().interrupted(); }, 5 * second));
  ASSERT_TRUE(online(a));
  world.run_for(19 * second);
  EXPECT_EQ(a.listener.events, "F");
  world.run_for(2 * second);
  expect_ended(1, 1);
}

// The FCF never comes back: R_A_TOV after it is gone every exchange and login is over, on both sides, not a nanosecond before.
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

// The last moment at which the FCF may be back, and one that is too late: the ENode takes 0.2 s for the choice of an FCF.
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
