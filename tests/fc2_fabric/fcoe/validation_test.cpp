// After a virtual link came back: the others are asked by ADISC, patiently, for who was away as well may come back
// later (FC-VI 7.7.1, 7.7.5; FC-LS).
#include "farp/resolver.hpp"
#include "tests/fc2_fabric/fcoe/interrupted_peers.hpp"

namespace fc2::fcoe {
namespace {

/// Loses ADISC requests.
struct LosesAdisc final : FrameFault {
  void carry(Channel& channel, FramePtr frame) override {
    const bool adisc = frame->bytes[frame_header_bytes] == static_cast<std::uint8_t>(Command::adisc);
    if (adisc && frame->bytes[0] == static_cast<std::uint8_t>(wire::RCtl::els_request) && left > 0)
      --left;
    else
      channel.deliver(std::move(frame));
  }
  int left = 0;
};

/// Rejects ADISC.
struct Reluctant final : ElsUser {
  bool els_received(Exchange& exchange, const wire::FcHeader&, std::span<const std::uint8_t> payload) override {
    if (payload[0] != static_cast<std::uint8_t>(Command::adisc) || left == 0) return false;
    --left;
    port->reject_els(exchange, reason, explanation);
    return true;
  }
  NPort* port = nullptr;
  int left = 0;
  wire::els::RejectReason reason = wire::els::RejectReason::logical_busy;
  wire::els::RejectExplanation explanation = wire::els::RejectExplanation::none;
};

class FcoeValidationTest : public InterruptedPeers {
 protected:
  FcoeValidationTest() {
    reluctant.port = &b.port();
    b.port().add_els_user(reluctant);
    a.station->node->set_faults(a.port(), &loses, nullptr);
  }
  ~FcoeValidationTest() override {
    b.port().remove_els_user(reluctant);
    a.station->node->set_faults(a.port(), nullptr, nullptr);
  }
  /// Of a alone: b notices nothing, and asks nothing.
  void interrupt_a() {
    ask(a, b, 1);
    ask(b, a, 2);
    world.run_for(millisecond);
    a.station->ethernet.set_carrier(false);
    a.station->ethernet.set_carrier(true);
    ASSERT_TRUE(online(a));
    returned = world.scheduler.now();
  }
  void expect_going_on() {
    ASSERT_TRUE(resumed());
    answer(b);
    answer(a);
    EXPECT_EQ(marks(a), (std::vector<std::uint8_t>{2, 9}));
    EXPECT_EQ(marks(b), (std::vector<std::uint8_t>{1, 9}));
    expect_nobody_logged_out();
  }
  TimeNs returned = 0;
  LosesAdisc loses;
  Reluctant reluctant;
};

// FC-VI 7.7.5: the ADISC is lost, and nobody says so in class 3: it is asked again after E_D_TOV.
TEST_F(FcoeValidationTest, validating_adisc_lost_asks_again) {
  loses.left = 1;
  interrupt_a();
  world.scheduler.run_until(returned + a.port().e_d_tov() - 1);
  EXPECT_EQ(log.sent(Command::adisc), 1U);
  world.run_for(millisecond);
  EXPECT_EQ(log.sent(Command::adisc), 2U);
  EXPECT_LT(world.scheduler.now() - returned, 2 * a.port().e_d_tov());
  expect_going_on();
}

// The last ADISC goes 14 s after the login, and is answered.
TEST_F(FcoeValidationTest, validating_last_adisc_answered_resumes) {
  loses.left = 3;
  interrupt_a();
  expect_going_on();
  EXPECT_EQ(log.sent(Command::adisc), 4U);
}

// None was: 2 x R_A_TOV after the login (FC-LS: the time-out of an ELS) both are logged out, not a nanosecond before.
TEST_F(FcoeValidationTest, validating_every_adisc_lost_logs_out) {
  loses.left = 4;
  interrupt_a();
  world.scheduler.run_until(returned + 2 * a.port().r_a_tov() - 1);
  EXPECT_EQ(a.listener.events + b.listener.events, "F");
  EXPECT_EQ(log.sent(Command::adisc), 4U);
  world.run_for(millisecond);
  expect_ended(2, 2);
  EXPECT_EQ(log.sent(Command::logo), 1U);
}

// FC-LS: LS_RJT "logical busy" says nothing of the addresses.
TEST_F(FcoeValidationTest, validating_busy_peer_is_asked_again) {
  reluctant.left = 2;
  interrupt_a();
  expect_going_on();
  EXPECT_EQ(log.sent(Command::adisc), 3U);
}

// Busy to the end: a mapping is not used unproved (FC-VI 7.7.1).
TEST_F(FcoeValidationTest, validating_peer_busy_for_too_long_logs_out) {
  reluctant.left = 100;
  interrupt_a();
  world.scheduler.run_until(returned + 2 * a.port().r_a_tov() - 1);
  EXPECT_EQ(a.listener.events + b.listener.events, "F");
  world.run_for(millisecond);
  expect_ended(2, 2);
}

// "N_Port login required" is the verdict: the peer's login is gone.
TEST_F(FcoeValidationTest, validating_login_required_logs_out) {
  reluctant.left = 1;
  reluctant.reason = wire::els::RejectReason::unable_to_perform;
  reluctant.explanation = wire::els::RejectExplanation::n_port_login_required;
  interrupt_a();
  world.run_for(millisecond);
  expect_ended(2, 2);
  EXPECT_EQ(log.sent(Command::adisc), 1U);
}

// --- with a Name Server and state change notifications ------------------------------------------------------------

struct LogoutsOf final : PortListener {
  void fabric_logged_in() override {}
  void fabric_login_failed() override {}
  void remote_port_logged_in(RemotePort&) override {}
  void remote_port_login_failed(RemotePort&) override {}
  void remote_port_logged_out(RemotePort& port) override { count += port.peer() == id; }
  wire::FcId id{};
  int count = 0;
};

/// b goes, then a for a moment; the FCF misses b's keep-alives while a validates it, and says that it is gone.
class NotifiedValidationTest : public InterruptedPeers {
 protected:
  NotifiedValidationTest() {
    for (Peer* peer : {&a, &b}) {
      farp::ResolverConfig config;
      config.own_addresses = {wire::IpAddress::v4(10, 0, 0, peer == &a ? 1 : 2)};
      resolvers.push_back(std::make_unique<farp::Resolver>(peer->port(), config));
    }
    for (Peer* peer : {&a, &b}) {  // a resolver begins with the next login
      peer->station->ethernet.set_carrier(false);
      peer->station->ethernet.set_carrier(true);
    }
    EXPECT_TRUE(world.run_until([&] { return resolvers[0]->ready() && resolvers[1]->ready(); }, 20 * second));
    EXPECT_TRUE(resumed());
    by_a.id = b.id;
    by_b.id = a.id;
    a.port().add_listener(by_a);
    b.port().add_listener(by_b);
    ask(a, b, 1);
    world.run_for(millisecond);
    b.station->ethernet.set_carrier(false);
    b_lost = world.scheduler.now();
    world.run_for(2 * second);
    a.station->ethernet.set_carrier(false);
    a.station->ethernet.set_carrier(true);
    EXPECT_TRUE(online(a));
    a_returned = world.scheduler.now();
    log.clear();
    EXPECT_TRUE(world.run_until([&] { return log.received(Command::rscn) != 0; }, 8 * second));
    world.run_for(100 * millisecond);  // what the Name Server says of b
    EXPECT_LT(world.scheduler.now(), b_lost + b.port().r_a_tov() - second);
    EXPECT_TRUE(a.port().remote_port(b.id).validating());
  }
  ~NotifiedValidationTest() override {
    a.port().remove_listener(by_a);
    b.port().remove_listener(by_b);
  }
  std::vector<std::unique_ptr<farp::Resolver>> resolvers;
  LogoutsOf by_a, by_b;
  TimeNs b_lost = 0, a_returned = 0;
};

// FC-VI 7.7.5: it is not gone, but comes back after us, with the addresses that it had.
TEST_F(NotifiedValidationTest, validating_peer_gone_and_back_resumes) {
  b.station->ethernet.set_carrier(true);
  ASSERT_TRUE(resumed());
  EXPECT_EQ(b.port().n_port_id(), b.id);
  answer(b);
  EXPECT_EQ(marks(a), (std::vector<std::uint8_t>{9}));
  EXPECT_EQ(by_a.count + by_b.count, 0);
}

// It stays away: the login ends on its side R_A_TOV after the loss, on ours 2 x R_A_TOV after the login
// with the fabric.
TEST_F(NotifiedValidationTest, validating_peer_gone_for_good_logs_out) {
  world.scheduler.run_until(b_lost + b.port().r_a_tov() - 1);
  EXPECT_EQ(by_b.count, 0);
  world.scheduler.run_until(b_lost + b.port().r_a_tov());
  EXPECT_EQ(by_b.count, 1);
  world.scheduler.run_until(a_returned + 2 * a.port().r_a_tov() - 1);
  EXPECT_EQ(by_a.count, 0);
  world.scheduler.run_until(a_returned + 2 * a.port().r_a_tov());
  EXPECT_EQ(by_a.count, 1);
  EXPECT_EQ(a.user.failures, std::vector{ExchangeFailure::PortLoggedOut});
}

// Another one has its address: that is a verdict, and nobody waits.
TEST_F(NotifiedValidationTest, validating_address_taken_by_another_logs_out) {
  EStation& stranger = world.add_e_node();
  ASSERT_TRUE(world.run_until([&] { return stranger.port.online(); }, 5 * second));
  ASSERT_EQ(stranger.port.n_port_id(), b.id);
  world.run_for(second);
  EXPECT_EQ(by_a.count, 1);
  EXPECT_LT(world.scheduler.now(), a_returned + 2 * a.port().r_a_tov() - second);
}

}  // namespace
}  // namespace fc2::fcoe
