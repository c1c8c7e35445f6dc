// Two ENodes at a FCF that may die, FC-VI requests between them, and what became of their logins.
#pragma once
#include <gtest/gtest.h>

#include "tests/fc2_fabric/fcoe/ethernet_world.hpp"
#include "tests/support/fc4.hpp"
#include "tests/support/login_listener.hpp"
#include "tests/support/port_pair.hpp"

namespace fc2::fcoe {
using support::EStation;
using support::EthernetWorld;
using wire::els::Command;

inline std::vector<std::uint8_t> iu(std::uint8_t mark) { return std::vector<std::uint8_t>(8, mark); }

/// fcvi-fabricd, in short: a switch and its FCF, which may die without a word.
class Service {
 public:
  explicit Service(EthernetWorld& world) : world_(world) {}
  /// `former`: who was logged in at the one before.
  void start(const SwitchConfig& config = {}, const std::vector<FormerLogin>& former = {}) {
    fabric_.emplace(world_.scheduler, world_.pool, config);
    fcf_.emplace(world_.scheduler, world_.pool, *fabric_);
    fcf_->add_interface(world_.fcf_port);
    fcf_->remember(former);
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
  Fcf& fcf() { return *fcf_; }
  FcfInterface& interface() { return *fcf_->interfaces().front(); }

 private:
  EthernetWorld& world_;
  std::optional<Switch> fabric_;
  std::optional<Fcf> fcf_;
};

class InterruptedPeers : public testing::Test {
 protected:
  /// An N_Port that speaks FC-VI, for tests.
  struct Peer {
    support::LoginListener listener;
    support::RecordingUser user;
    EStation* station = nullptr;
    wire::FcId id{};
    NPort& port() { return station->port; }
  };

  InterruptedPeers() {
    service.start();
    for (Peer* peer : {&a, &b}) {
      peer->station = &world.add_e_node();
      EXPECT_TRUE(online(*peer));
      peer->id = peer->port().n_port_id();
    }
    EXPECT_TRUE(world.log_in(a.port(), b.port()));
    for (Peer* peer : {&a, &b}) {
      peer->port().add_listener(peer->listener);
      peer->port().set_user(support::fc4, peer->user);
    }
    world.run_for(3 * second);  // both heard the same advertisement last
    a.station->node->tap(a.port(), &log);
  }
  ~InterruptedPeers() override {
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
    for (Peer* peer : {&a, &b})
      EXPECT_EQ(std::count(peer->listener.events.begin(), peer->listener.events.end(), 'O'), 1);
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

}  // namespace fc2::fcoe
