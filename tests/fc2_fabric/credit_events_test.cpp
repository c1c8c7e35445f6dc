// Buffer-to-buffer credit in a fabric to which things happen: none is lost for good (FC-FS).
#include <gtest/gtest.h>

#include <random>

#include "fc2_fabric/switch/fabric.hpp"
#include "fc2_fabric/link/link.hpp"
#include "tests/support/port_pair.hpp"
#include "tests/support/switched_fabric.hpp"
#include "wire/line_rate.hpp"

namespace fc2 {
namespace {

class FabricCreditLeakTest : public testing::TestWithParam<unsigned> {
 protected:
  FabricCreditLeakTest() {
    f.link = {.latency_ns = microsecond, .bytes_per_second = wire::line_rate_bytes_per_second("1GFC"), .bb_credit = 3};
    const LinkConfig isl{
        .latency_ns = 20 * microsecond, .bytes_per_second = wire::line_rate_bytes_per_second("1GFC"), .bb_credit = 2};
    for (std::size_t i = 0; i < switches; ++i) f.add_switch();
    for (std::size_t a = 0; a < switches; ++a)
      for (std::size_t b = 0; b < a; ++b) f.join(a, b, isl);
    for (std::size_t i = 0; i < 2 * switches; ++i) f.port(f.add_port(i % switches)).set_user(type, user);
    f.run_for(second);
  }
  unsigned below(std::size_t count) { return static_cast<unsigned>(random() % count); }
  Link& port_link(std::size_t port) { return *f.switch_of(port).link_of(f.port(port)); }
  void traffic() {
    for (int i = 0; i < 60; ++i) {
      const std::size_t from = below(f.size()), to = below(f.size());
      if (f.port(from).online() && f.port(to).online()) send(from, f.id(to));
    }
  }
  void something_happens() {
    InterSwitchLink& isl = *f.fabric.links()[below(f.fabric.links().size())];
    Link& link = port_link(below(f.size()));
    switch (below(9)) {
      case 0: return f.fabric.crash(f.at(below(switches)));
      case 1: return f.fabric.restart(f.at(below(switches)));
      case 2: return f.fabric.unplug(isl);
      case 3: return f.fabric.plug(isl);
      case 4: return link.cut();
      case 5: return link.mend();
      case 6: return isl.link().a.reset();
      case 7: return link.b.reset();
      case 8: return link.a.fail();
    }
  }
  void heal() {
    for (std::size_t i = 0; i < f.size(); ++i) port_link(i).mend();
    for (std::size_t i = 0; i < switches; ++i) f.fabric.restart(f.at(i));
    for (const auto& isl : f.fabric.links()) f.fabric.plug(*isl);
    f.run_for(100 * second);
  }
  static void expect_idle(Link& link) {
    for (LinkEnd* end : {&link.a, &link.b}) {
      EXPECT_TRUE(end->active());
      EXPECT_EQ(end->credit().outstanding(), 0U);
      EXPECT_EQ(end->buffers_taken(), 0U);
      EXPECT_FALSE(end->output().paused());
      EXPECT_EQ(end->unexpected_events(), 0U);
    }
  }
  void send(std::size_t from, wire::FcId to) {
    Exchange* exchange = f.port(from).originate(to, type, user);
    f.port(from).send(*exchange, wire::RCtl::unsolicited_control, {}, std::vector<std::uint8_t>(64),
                      {.last_of_exchange = true});
  }
  bool reaches(std::size_t from, std::size_t to) {
    const std::size_t before = user.ius.size();
    send(from, f.id(to));
    f.run_for(millisecond);
    return user.ius.size() == before + 1;
  }
  static constexpr auto type = wire::Type::ip;
  static constexpr std::size_t switches = 4;
  support::RecordingUser user;
  support::SwitchedFabric f;
  std::mt19937 random{GetParam()};
};

// Whatever happens to switches, ISLs and links with frames everywhere: no buffer stays taken, no credit is missing.
TEST_P(FabricCreditLeakTest, any_events_leave_no_credit_behind) {
  for (int round = 0; round < 100; ++round) {
    traffic();
    f.run_for(static_cast<TimeNs>(below(400)) * microsecond);
    something_happens();
    if (below(3) == 0) f.run_for(static_cast<TimeNs>(below(400)) * millisecond);
  }
  heal();
  for (std::size_t i = 0; i < f.size(); ++i) {
    EXPECT_TRUE(f.port(i).online()) << i;
    expect_idle(port_link(i));
  }
  for (const auto& isl : f.fabric.links()) expect_idle(isl->link());
  EXPECT_EQ(f.pool.outstanding(), 0U);
  EXPECT_GT(user.ius.size(), 200U);  // there was traffic
  for (std::size_t from = 0; from < f.size(); ++from)
    for (std::size_t to = 0; to < f.size(); ++to) EXPECT_TRUE(reaches(from, to)) << from << to;
}
INSTANTIATE_TEST_SUITE_P(Seeds, FabricCreditLeakTest, testing::Range(1U, 21U));

}  // namespace
}  // namespace fc2
