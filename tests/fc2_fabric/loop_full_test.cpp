// More ports on a loop than it has addresses: who is left over takes no part, and keeps none of the others
// from it (FC-AL).
#include <gtest/gtest.h>

#include "fc2_fabric/node/loop_n_port.hpp"
#include "tests/support/test_fabric.hpp"

namespace fc2 {
namespace {

class FullLoopTest : public testing::Test {
 protected:
  ~FullLoopTest() override {
    for (const auto& port : ports) EXPECT_EQ(loop.station_of(*port)->unexpected_events(), 0U);
  }
  /// With the `name`-th lowest name.
  NPort& add(std::size_t name) {
    NPort& port = *ports.emplace_back(std::make_unique<NPort>(scheduler, pool, support::port_config(name)));
    attach(loop, port);
    scheduler.run_until(scheduler.now() + millisecond);
    return port;
  }
  void fill() {
    for (std::size_t i = 0; i < Loop::max_stations; ++i) add(100 + i);
  }
  void expect_others_online() {
    for (std::size_t i = 0; i < Loop::max_stations; ++i) EXPECT_TRUE(ports[i]->online()) << i;
  }
  Scheduler scheduler;
  FramePool pool;
  std::vector<std::unique_ptr<NPort>> ports;
  Loop loop{scheduler, pool, {}};
};

// CLS goes on behind a port that found no AL_PA: the loop master, and a port between them, hear it.
TEST_F(FullLoopTest, two_are_left_over_others_are_online) {
  fill();
  NPort &first = add(1000), &second = add(1001);
  expect_others_online();
  for (NPort* port : {&first, &second}) {
    EXPECT_FALSE(port->online());
    EXPECT_FALSE(loop.station_of(*port)->initializing());
  }
}

// The port with the lowest name is loop master, also where every AL_PA is kept by those that had it: it takes
// no part itself.
TEST_F(FullLoopTest, master_is_left_over_others_are_online) {
  fill();
  NPort& lowest = add(1);
  EXPECT_TRUE(loop.station_of(lowest)->is_master());
  EXPECT_FALSE(lowest.online());
  EXPECT_FALSE(loop.station_of(lowest)->initializing());
  expect_others_online();
  loop.detach(*ports.front());
  ports.erase(ports.begin());
  scheduler.run_until(scheduler.now() + millisecond);
  EXPECT_TRUE(lowest.online());  // at the LIP of who leaves it finds the address that is free now
}

}  // namespace
}  // namespace fc2
