// Whole runs on an out-of-order fabric, where one frame in thirty is overtaken by the two behind it (FC-VI 8.1).
#include <gtest/gtest.h>

#include "tools/fcvi_sim/run/expectations.hpp"
#include "tools/fcvi_sim/scenario/loader.hpp"
#include "tools/fcvi_sim/run/simulation.hpp"

namespace sim {
namespace {

// Two set-ups at once, so that the ports' PLOGIs cross; then messages of several frames each way.
constexpr const char* crossing = R"(name: crossing peers, frames overtaken
time_limit: 600s
topology: {in_order: false}
ports:
  - {name: a, line_rate: 8GFC, latency: 2us}
  - {name: b, line_rate: 8GFC, latency: 2us}
workloads:
  - name: client and server
    client: a
    server: b
    connect_timeout: 60s
    transfers:
      - {operation: send, data: {random: 20KiB}}
      - {operation: rdma_write, data: {random: 20KiB}}
  - name: peers
    client: a
    server: b
    model: peer_to_peer
    connect_timeout: 60s
    transfers:
      - {operation: send, data: {random: 20KiB}, direction: server_to_client}
      - {operation: rdma_read, data: {random: 20KiB}}
faults:
  - {action: reorder, frames: 2, probability: 0.03}
expectations:
  discards: {max: 100000}
)";

// Nothing is lost: every transfer is done, and every end is Idle. In seeds 122 and 123 a PLOGI that crossed the peer's
// is overtaken by the accept of that and by a CONNECT_RQST.
TEST(Overtaken, crossing_peers_lose_nothing) {
  auto scenario = read_scenario(crossing, "crossing.yaml", "", {});
  ASSERT_TRUE(scenario) << scenario.error().message;
  for (scenario->seed = 100; scenario->seed < 150; ++scenario->seed) {
    ContentStore contents(scenario->seed);
    Simulation simulation(*scenario, contents, {});
    const Verdicts verdicts = check_expectations(*scenario, simulation.run());
    EXPECT_EQ(verdicts.failures, std::vector<std::string>{}) << "seed " << scenario->seed;
  }
}

}  // namespace
}  // namespace sim
