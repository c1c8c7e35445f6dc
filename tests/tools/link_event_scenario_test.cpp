// Topologies, credit and link events in scenarios: what is read, what is refused, and that it happens.
#include <gtest/gtest.h>

#include "tools/fcvi_sim/run/expectations.hpp"
#include "tools/fcvi_sim/scenario/loader.hpp"
#include "tools/fcvi_sim/run/simulation.hpp"
#include "wire/line_rate.hpp"

namespace sim {
namespace {

settings::Result<Scenario> read(const std::string& text) { return read_scenario("name: t\n" + text, "s.yaml", "", {}); }
std::string error_of(const std::string& text) {
  const auto scenario = read(text);
  return scenario ? "no error" : scenario.error().message;
}
constexpr const char* two_ports = "ports: [{name: a}, {name: b}]\n";

RunResult run(const std::string& text) {
  const auto scenario = read(text);
  EXPECT_TRUE(scenario) << scenario.error().message;
  if (!scenario) return {};
  ContentStore contents(scenario->seed);
  Simulation simulation(*scenario, contents, {nullptr, nullptr});
  const RunResult& result = simulation.run();
  EXPECT_TRUE(check_expectations(*scenario, result).failures.empty());
  return result;
}

TEST(TopologyLoader, every_key_is_read) {
  const auto scenario = read(
      "topology: {kind: private_loop, bb_credit: 7, processing_time: 3us}\n"
      "ports: [{name: a}, {name: b, bb_credit: 2, processing_time: 0}]\n");
  ASSERT_TRUE(scenario) << scenario.error().message;
  EXPECT_EQ(scenario->topology, TopologyKind::PrivateLoop);
  EXPECT_EQ(scenario->ports[0].link.bb_credit, 7);
  EXPECT_EQ(scenario->ports[0].link.processing_ns, 3 * runtime::microsecond);
  EXPECT_EQ(scenario->ports[1].link.bb_credit, 2);
  EXPECT_EQ(scenario->ports[1].link.processing_ns, 0);
  EXPECT_EQ(read(two_ports)->topology, TopologyKind::Fabric);
}

TEST(TopologyLoader, bad_values_are_refused) {
  EXPECT_NE(error_of(std::string("topology: {kind: ring}\n") + two_ports).find("kind: expected"), std::string::npos);
  EXPECT_NE(error_of("topology: {kind: point_to_point}\nports: [{name: a}]\n").find("two ports"), std::string::npos);
  EXPECT_NE(error_of(std::string("topology: {bb_credit: 40000}\n") + two_ports).find("bb_credit: expected"),
            std::string::npos);
}

// An event that the topology does not have is refused, with its line.
TEST(TopologyLoader, events_of_other_topologies_are_refused) {
  const std::string ports = two_ports;
  for (const std::string refused : {"faults: [{action: lip, port: a, at: 1ms}]",
                                    "topology: {kind: point_to_point}\nfaults: [{action: replug, port: a, at: 1ms}]",
                                    "topology: {kind: private_loop}\nfaults: [{action: nos, port: a, at: 1ms}]"})
    EXPECT_NE(error_of(ports + refused + "\n").find("one that the topology has"), std::string::npos) << refused;
  EXPECT_TRUE(read(ports + "topology: {kind: private_loop}\nfaults: [{action: replug, port: a, at: 1ms}]\n"));
  const std::string loop = "topology: {loops: [{name: ring}]}\nports: [{name: a, loop: ring}, {name: b}]\n";
  for (const std::string event : {"lip", "replug", "link_down"})
    EXPECT_TRUE(read(loop + "faults: [{action: " + event + ", port: a, at: 1ms}]\n")) << event;
  for (const std::string event :
       {"cut, port: a", "nos, port: a", "ols, port: a", "link_reset, port: a", "lip, port: b"})
    EXPECT_NE(error_of(loop + "faults: [{action: " + event + ", at: 1ms}]\n")
                  .find("s.yaml:4: action: expected one that the topology has"),
              std::string::npos)
        << event;
}

// Public loops: every key, and what does not fit together.
TEST(TopologyLoader, loops) {
  const auto scenario = read(
      "topology: {switches: [{name: s}, {name: t}], loops: [{name: ring, switch: t, line_rate: 1GFC, latency: 3us}]}\n"
      "ports: [{name: a, loop: ring}, {name: b, loop: ring, private: true}, {name: c}]\n");
  ASSERT_TRUE(scenario) << scenario.error().message;
  ASSERT_EQ(scenario->loops.size(), 1U);
  EXPECT_EQ(scenario->loops[0].at_switch, 1U);
  EXPECT_EQ(scenario->loops[0].link.latency_ns, 3 * runtime::microsecond);
  EXPECT_EQ(scenario->loops[0].link.bytes_per_second, wire::line_rate_bytes_per_second("1GFC"));
  EXPECT_EQ(scenario->ports[0].at_loop, 0U);
  EXPECT_TRUE(scenario->ports[1].is_private);
  EXPECT_FALSE(scenario->ports[2].at_loop.has_value());
  const std::string ports = "ports: [{name: a}]\n";
  for (const auto& [bad, why] : {std::pair{"topology: {loops: [{switch: s}]}", "name"},
                                 {"topology: {loops: [{name: r}, {name: r}]}", "two loops"},
                                 {"topology: {loops: [{name: r, switch: x}]}", "switch: expected"},
                                 {"topology: {kind: private_loop, loops: [{name: r}]}", "none but in a fabric"}})
    EXPECT_NE(error_of(bad + ("\n" + ports)).find(why), std::string::npos) << bad << error_of(bad + ("\n" + ports));
  const std::string ring = "topology: {loops: [{name: r}]}\n";
  for (const auto& [bad, why] : {std::pair{"ports: [{name: a, loop: x}]", "loop: expected"},
                                 {"ports: [{name: a, loop: r, switch: switch}]", "either a loop or a switch"},
                                 {"ports: [{name: a, private: true}]", "a loop to be private on"}})
    EXPECT_NE(error_of(ring + bad + "\n").find(why), std::string::npos) << bad << error_of(ring + bad + "\n");
}

// Each event happens, once, at its time.
TEST(TopologyScenario, events_happen) {
  const std::string workload =
      "workloads: [{name: w, client: a, server: b, hold: 1s}]\nexpectations: {discards: {min: 0}}\n";
  for (const std::string event : {"nos", "ols", "link_reset"}) {
    const RunResult result = run(two_ports + workload + "faults: [{action: " + event + ", port: a, at: 5ms}]\n");
    EXPECT_EQ(result.faults, std::vector<std::uint64_t>{1}) << event;
    EXPECT_EQ(result.ius.at("FLOGI"), event == "link_reset" ? 2U : 3U) << event;
    EXPECT_EQ(result.asynchronous_errors, 1U) << event;  // the disconnect, at the other end
  }
  const RunResult lip =
      run(two_ports + workload + "topology: {kind: private_loop}\nfaults: [{action: lip, port: a, at: 5ms}]\n");
  EXPECT_EQ(lip.ius.at("ADISC"), 2U);
  EXPECT_EQ(lip.asynchronous_errors, 1U);
}

// A port that is plugged in at a switch that is down has no link yet that anything could happen to; when the switch is
// back it has one, and logs in.
TEST(TopologyScenario, switch_down_link_that_is_not_there_is_left_alone) {
  for (const std::string event : {"nos", "ols", "link_reset", "cut"}) {
    const RunResult result = run(two_ports +
                                 std::string("workloads: [{name: w, client: b, server: b, hold: 10s}]\n"
                                             "faults:\n"
                                             "  - {action: switch_down, switch: switch, at: 1ms, for: 1s}\n"
                                             "  - {action: replug, port: a, at: 2ms}\n"
                                             "  - {action: ") +
                                 event + ", port: a, at: 3ms}\nexpectations: {discards: {min: 0}}\n");
    EXPECT_EQ(result.faults, (std::vector<std::uint64_t>{1, 1, 1})) << event;
    EXPECT_EQ(result.ius.at("FLOGI"), 4U) << event;
    EXPECT_EQ(result.unexpected_events, 0U) << event;
  }
}

// A link that is cut for a moment: what the programs do meanwhile waits.
TEST(TopologyScenario, cut_waits) {
  const RunResult result =
      run(std::string(two_ports) +
          "workloads: [{name: w, client: a, server: b, hold: 10ms, transfers: [{operation: send, data: {random: "
          "64KiB}}]}]\n"
          "faults: [{action: cut, port: b, at: 5ms, for: 1ms}]\nexpectations: {discards: {min: 0}}\n");
  EXPECT_EQ(result.ius.at("FLOGI"), 3U);
  EXPECT_EQ(result.asynchronous_errors, 1U);
}

// Without a fabric: the host address is found by FARP, no service is asked.
TEST(TopologyScenario, without_fabric_farp_resolves) {
  for (const std::string kind : {"point_to_point", "private_loop"}) {
    const RunResult result =
        run(std::string(two_ports) + "topology: {kind: " + kind + "}\nworkloads: [{name: w, client: a, server: b}]\n");
    EXPECT_EQ(result.ius.at("FARP-REQ"), 1U) << kind;
    EXPECT_FALSE(result.ius.contains("GID_IPP")) << kind;
  }
}

}  // namespace
}  // namespace sim
