// Switches that know of one another no sooner than FabricConfig::directory_delay, and ISLs, tell them.
#include <gtest/gtest.h>

#include "fc2_fabric/switch/directory_feed.hpp"
#include "fc2_fabric/switch/fabric_directory.hpp"
#include "fc2_fabric/switch/name_server.hpp"
#include "tests/support/switched_fabric.hpp"

namespace fc2 {
namespace {

constexpr TimeNs delay = 5 * millisecond;
constexpr LinkConfig isl{.latency_ns = 10 * microsecond, .bb_credit = 8};

class IndependentSwitches : public testing::Test {
 protected:
  IndependentSwitches() : f(2, {.directory_delay = delay}) {
    f.join(0, 1, isl);
    f.run_for(second);
  }
  [[nodiscard]] bool knows(std::size_t at_switch, wire::FcId id) {
    return f.at(at_switch).name_server().database().find(id) != nullptr;
  }
  support::SwitchedFabric f;
};

// A login is known to all switches the same time later; its own switch has it from the beginning.
TEST_F(IndependentSwitches, login_is_in_the_common_directory_when_the_delay_is_over) {
  f.add_port(0);
  f.run_for(millisecond);
  ASSERT_TRUE(f.port(0).online());
  EXPECT_FALSE(knows(0, f.id(0)));
  EXPECT_FALSE(knows(1, f.id(0)));
  EXPECT_TRUE(f.at(0).is_consistent());
  f.run_for(delay);
  EXPECT_TRUE(knows(0, f.id(0)));
  EXPECT_TRUE(knows(1, f.id(0)));
}

// A port that goes is in answers until the delay is over.
TEST_F(IndependentSwitches, logout_is_in_the_common_directory_when_the_delay_is_over) {
  f.add_port(0);
  f.run_for(second);
  const wire::FcId id = f.id(0);
  f.detach(0);
  f.run_for(delay - millisecond);
  EXPECT_TRUE(knows(1, id));
  f.run_for(2 * millisecond);
  EXPECT_FALSE(knows(1, id));
}

// Two ports with one name, before the common directory has either: at the same switch the second is refused.
TEST_F(IndependentSwitches, second_login_with_a_name_is_refused_at_its_own_switch_at_once) {
  const auto same_name = [](NPortConfig& config, std::size_t) { config.port_name = {0x2000'0000'0000'0001}; };
  f.add_port(0, same_name);
  f.run_for(microsecond * 100);
  ASSERT_TRUE(f.port(0).online());
  f.add_port(0, same_name);
  f.run_for(millisecond);
  EXPECT_FALSE(f.port(1).online());
}

// Frames between ports of both switches.
TEST_F(IndependentSwitches, ports_log_in_with_each_other_over_the_isl) {
  f.add_port(0);
  f.add_port(1);
  f.run_for(second);
  EXPECT_TRUE(f.log_in(0, 1));
  EXPECT_EQ(f.discarded(Discard::Unroutable), 0U);
}

// --- the feed ----------------------------------------------------------------------------------------------------

struct Export final : DirectoryExport {
  void exported(TimeNs due, std::size_t origin, const DirectoryChange& change) override {
    seen.emplace_back(due, origin, change.id.value);
  }
  std::vector<std::tuple<TimeNs, std::size_t, std::uint32_t>> seen;
};

// Changes of one time come in the order of their switches, and those of one switch in that of its learning, wherever
// they come from; all of them before anything else of that time.
TEST(DirectoryFeed, changes_of_one_time_are_applied_by_switch) {
  Scheduler scheduler;
  std::vector<std::uint32_t> applied;
  DirectoryFeed feed(scheduler, delay,
                     [&](std::size_t, const DirectoryChange& change) { applied.push_back(change.id.value); });
  Export elsewhere;
  feed.set_export(&elsewhere);
  const TimeNs due = scheduler.now() + delay;
  feed.add(2, {.id = {21}});
  feed.add(0, {.id = {1}});
  feed.add(2, {.id = {22}});
  feed.import(due, 1, {.id = {11}});
  feed.import(due + 1, 0, {.id = {2}});
  scheduler.run_until(due - 1);
  EXPECT_TRUE(applied.empty());
  scheduler.run_until(due);
  EXPECT_EQ(applied, (std::vector<std::uint32_t>{1, 11, 21, 22}));
  scheduler.run_until(due + 1);
  EXPECT_EQ(applied.back(), 2U);
  EXPECT_EQ(elsewhere.seen.size(), 3U) << "imported changes are not exported";
  EXPECT_EQ(elsewhere.seen.front(), std::tuple(due, std::size_t{2}, 21U));
}

}  // namespace
}  // namespace fc2
