// One frame is lost while a port comes up: it can be found all the same within the time that VipOpenNic waits (10 s).
// FC-FS: class 3 tells nobody; ruling 221.
#include <gtest/gtest.h>

#include <set>

#include "farp/resolver.hpp"
#include "tests/fc2_fabric/fcoe/ethernet_world.hpp"

namespace fc2::fcoe {
namespace {
using support::EthernetWorld;

constexpr TimeNs time_of_an_open = 10 * second;

// What VipOpenNic waits for: logged in, registered.
farp::ResolverConfig as_the_library() {
  farp::ResolverConfig config;
  config.own_addresses = {wire::IpAddress::v4(10, 0, 0, 1)};
  config.symbolic_node_name = "node";
  config.symbolic_port_name = "port";
  config.retries = 1;
  return config;
}

// Of all frames on the Ethernet from `counting` on, the one of this number is lost; 0: none.
struct LoseOne final : EthernetFault {
  explicit LoseOne(std::size_t number) : lost(number) {}
  void befall(EthernetSegment& segment, SegmentPort& from, EthernetFrame frame) override {
    if (++seen != lost) segment.carry(from, std::move(frame));
  }
  const std::size_t lost;
  std::size_t seen = 0;
};

struct Outcome {
  bool ready = false;
  TimeNs took = 0;
  std::size_t frames = 0;
};

struct EthernetSetting {
  FcfConfig fcf;
  ENodeConfig node;
};

Outcome open_through_fcf(const EthernetSetting& setting, std::size_t lost) {
  EthernetWorld world(setting.fcf);
  world.start_fcf();
  world.run_for(300 * millisecond);  // between two advertisements
  LoseOne fault(lost);
  world.segment.set_fault(&fault);
  const TimeNs begin = world.scheduler.now();
  auto& station = world.add_e_node(setting.node);
  farp::Resolver resolver(station.port, as_the_library());
  const bool ready = world.run_until([&] { return resolver.ready(); }, time_of_an_open);
  world.segment.set_fault(nullptr);
  EXPECT_EQ(station.port.counters().unexpected_events + station.node->counters().unexpected_events, 0U) << lost;
  return {ready, world.scheduler.now() - begin, fault.seen};
}

// Which step it is: the frames of a sound open are counted, and each is lost in turn.
template <class Open>
void lose_each(const Open& open, std::size_t at_least) {
  const Outcome sound = open(0);
  ASSERT_TRUE(sound.ready);
  EXPECT_LT(sound.took, second);
  ASSERT_GE(sound.frames, at_least);
  for (std::size_t lost = 1; lost <= sound.frames; ++lost) {
    const Outcome outcome = open(lost);
    EXPECT_TRUE(outcome.ready) << "frame " << lost << " of " << sound.frames;
  }
}

// VLAN Request, solicitation, advertisement, FLOGI, PLOGI, five registrations, and their answers.
TEST(LostFrame, open_through_fcf_succeeds) {
  lose_each([](std::size_t lost) { return open_through_fcf({.fcf = {}, .node = {.discover_vlans = true}}, lost); }, 16);
}

TEST(LostFrame, open_through_fcf_on_a_vlan_succeeds) {
  lose_each(
      [](std::size_t lost) { return open_through_fcf({.fcf = {.vlan = 100}, .node = {.discover_vlans = true}}, lost); },
      18);
}

// The F_Port has accepted, and hears no keep-alive of who does not know it: it clears the link long before the
// FLOGI comes again.
TEST(LostFrame, open_through_fcf_with_short_periods_succeeds) {
  lose_each(
      [](std::size_t lost) {
        return open_through_fcf({.fcf = {.period = 500 * millisecond}, .node = {.discover_vlans = true}}, lost);
      },
      16);
}

// A further N_Port, by FDISC; the last that its ENode may have, too: a repeated FDISC is of the same
// login (ruling 229).
void lose_each_of_a_virtual_port(const FcfConfig& config_of_fcf) {
  const auto open = [&](std::size_t lost) {
    EthernetWorld world(config_of_fcf);
    world.start_fcf();
    auto& station = world.add_e_node();
    EXPECT_TRUE(world.run_until([&] { return station.port.online(); }));
    NPortConfig config = support::port_config(70);
    config.virtual_n_port = true;
    NPort further(world.scheduler, world.pool, config);
    farp::Resolver resolver(further, as_the_library());
    LoseOne fault(lost);
    world.segment.set_fault(&fault);
    const TimeNs begin = world.scheduler.now();
    station.node->add_virtual_port(further);
    const bool ready = world.run_until([&] { return resolver.ready(); }, time_of_an_open);
    world.segment.set_fault(nullptr);
    station.node->remove_virtual_port(further);
    return Outcome{ready, world.scheduler.now() - begin, fault.seen};
  };
  lose_each(open, 12);
}
TEST(LostFrame, virtual_port_succeeds) { lose_each_of_a_virtual_port({}); }
TEST(LostFrame, virtual_port_at_the_limit_succeeds) {
  FcfConfig config;
  config.limits.logins_per_enode = 2;
  lose_each_of_a_virtual_port(config);
}

// VN2VN with a neighbour that is there: an address of one's own, and the login with the other.
TEST(LostFrame, vn2vn_login_succeeds) {
  const auto open = [](std::size_t lost) {
    EthernetWorld world;
    auto& other = world.add_vn2vn();
    EXPECT_TRUE(world.run_until([&] { return other.port.online(); }));
    LoseOne fault(lost);
    world.segment.set_fault(&fault);
    const TimeNs begin = world.scheduler.now();
    auto& station = world.add_vn2vn();
    farp::Resolver resolver(station.port, as_the_library());
    bool ready = world.run_until([&] { return resolver.ready(); }, time_of_an_open);
    ready = ready && world.log_in(station.port, other.port);
    world.segment.set_fault(nullptr);
    return Outcome{ready && world.scheduler.now() - begin <= time_of_an_open, world.scheduler.now() - begin,
                   fault.seen};
  };
  const Outcome sound = open(0);
  ASSERT_TRUE(sound.ready);
  ASSERT_GE(sound.frames, 6U);  // probes, claim, beacon, PLOGI and its answer
  for (std::size_t lost = 1; lost <= sound.frames; ++lost)
    EXPECT_TRUE(open(lost).ready) << lost << " of " << sound.frames;
}

// The emulated fabric, as in simulations and on the local fabric: FLOGI, PLOGI, registrations.
TEST(LostFrame, open_on_emulated_fabric_succeeds) {
  struct LoseOneFrame final : FrameFault {
    void carry(Channel& channel, FramePtr frame) override {
      if (++seen != lost) channel.deliver(std::move(frame));
    }
    std::size_t lost = 0, seen = 0;
  };
  const auto open = [](std::size_t lost) {
    support::TestFabric fabric(1);
    LoseOneFrame fault;
    fault.lost = lost;
    const TimeNs begin = fabric.scheduler.now();
    farp::Resolver resolver(fabric.port(0), as_the_library());
    fabric.attach(0);
    fabric.fabric.set_fault(fabric.port(0), &fault);
    const bool ready = fabric.run_until([&] { return resolver.ready(); }, time_of_an_open);
    fabric.fabric.set_fault(fabric.port(0), nullptr);
    return Outcome{ready, fabric.scheduler.now() - begin, fault.seen};
  };
  lose_each(open, 12);
}

// FC-LS: an answer may take 2 x R_A_TOV. Who is slow is heard all the same: each wait is twice as long as the one
// before, the last as long as FC-LS says; each try is an Exchange of its own, and the one before is aborted (FC-FS).
TEST(LostFrame, silent_fabric_is_asked_more_and_more_patiently) {
  support::TestFabric fabric(1);
  support::FrameLog log;
  fabric.attach(0);
  fabric.fabric.tap(fabric.port(0), &log);
  fabric.silence(0);
  fabric.run_for(48 * second);
  std::vector<TimeNs> waits;
  std::vector<wire::OxId> ids;
  const TimeNs* before = nullptr;
  for (const auto& frame : log.frames()) {
    if (!frame.outbound || !frame.is_els(wire::els::Command::flogi)) continue;
    if (before != nullptr) waits.push_back(frame.at - *before);
    before = &frame.at;
    ids.push_back(frame.header.ox_id);
  }
  EXPECT_EQ(waits, (std::vector<TimeNs>{4 * second, 8 * second, 16 * second}));
  EXPECT_EQ(std::set(ids.begin(), ids.end()).size(), 4U);
  EXPECT_EQ(fabric.port(0).answer_time(0, 3), 4 * second);
  EXPECT_EQ(fabric.port(0).answer_time(9, 3), 20 * second);
  EXPECT_EQ(fabric.port(0).answer_time(0, 0), 20 * second);
  fabric.fabric.tap(fabric.port(0), nullptr);
  fabric.fabric.set_fault(fabric.port(0), nullptr);
}

}  // namespace
}  // namespace fc2::fcoe
