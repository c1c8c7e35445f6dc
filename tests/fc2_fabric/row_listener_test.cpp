// Who hears of the rows that fire: of each machine the listener of the port or switch that it belongs to.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "fc2_fabric/node/loop_n_port.hpp"
#include "fc2_fabric/node/n_port.hpp"
#include "fc2_fabric/node/remote_port.hpp"
#include "fc2_fabric/switch/switch.hpp"
#include "state_machines/fsm.hpp"
#include "tests/support/test_fabric.hpp"

namespace fc2 {
namespace {

using Machines = std::set<std::string, std::less<>>;

class Ear final : public fsm::RowListener {
 public:
  void row_fired(const fsm::Row& row) override { machines.emplace(row.machine); }
  Machines machines;
};

class RowListenerTest : public testing::Test {
 protected:
  NPortConfig config_with(fsm::RowListener& rows, std::size_t index) {
    NPortConfig config = support::port_config(index);
    config.rows = &rows;
    return config;
  }
  void run() { scheduler.run_until(scheduler.now() + second); }
  Scheduler scheduler;
  FramePool pool;
  Ear port_ear, switch_ear;
};

// A port logs in to a switch: its link, its login and the Exchanges of both are heard at either end.
TEST_F(RowListenerTest, port_and_switch) {
  SwitchConfig config;
  config.rows = &switch_ear;
  Switch fabric(scheduler, pool, config);
  NPort port(scheduler, pool, config_with(port_ear, 0));
  ASSERT_TRUE(fabric.attach(port));
  run();
  port.remote_port(wire::well_known::name_server).log_in();
  run();
  EXPECT_EQ(port_ear.machines, (Machines{"exchange", "link_port", "port_attachment", "port_login", "sequence"}));
  for (const char* machine : {"exchange", "link_port", "port_login"})
    EXPECT_TRUE(switch_ear.machines.contains(machine)) << machine;
  fabric.detach(port);
}

// On a loop each NL_Port hears of its own place; the FL_Port's is the switch's.
TEST_F(RowListenerTest, public_loop) {
  SwitchConfig config;
  config.rows = &switch_ear;
  Loop loop(scheduler, pool, {.hop_latency_ns = 100});
  Switch fabric(scheduler, pool, config);
  NPort port(scheduler, pool, config_with(port_ear, 0)), silent(scheduler, pool, support::port_config(1));
  ASSERT_NE(fabric.attach(loop), nullptr);
  attach(loop, port);
  attach(loop, silent);
  run();
  EXPECT_TRUE(port_ear.machines.contains("loop_port"));
  EXPECT_FALSE(port_ear.machines.contains("link_port"));
  EXPECT_TRUE(switch_ear.machines.contains("loop_port"));
  loop.detach(port);
  loop.detach(silent);
}

}  // namespace
}  // namespace fc2
