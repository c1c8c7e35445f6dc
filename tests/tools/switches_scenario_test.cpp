// topology: of scenarios: switches and the links between them, what is refused, and what becomes of runs
// when they fail.
#include <gtest/gtest.h>

#include "tools/fcvi_sim/run/expectations.hpp"
#include "tools/fcvi_sim/scenario/loader.hpp"
#include "tools/fcvi_sim/run/simulation.hpp"

namespace sim {
namespace {

// Two ways of different length from a to d.
constexpr const char* diamond = R"(name: t
topology:
  line_rate: 8GFC
  latency: 1us
  multipath: MULTIPATH
  switches: [{name: a}, {name: b}, {name: c}, {name: d, domain: 7, priority: 1}]
  isls:
    - {between: [a, b], latency: 5us}
    - {between: [b, d]}
    - {between: [a, c], latency: 50us}
    - {name: last, between: [c, d], line_rate: 8GFC, capture: false}
ports:
  - {name: client, switch: a, ulp_timeout: 10ms}
  - {name: server, switch: d, ulp_timeout: 10ms}
)";
constexpr const char* transfer = R"(workloads:
  - {name: w, client: client, server: server, reliability: reliable_reception, hold: 1ms,
     transfers: [{operation: send, data: {random: 200KiB}, message_bytes: 10KiB}]}
)";

std::string scenario_with(const char* multipath, const std::string& rest = transfer) {
  std::string text = diamond;
  return text.replace(text.find("MULTIPATH"), 9, multipath) + rest;
}
Result<Scenario> read(const std::string& text) { return read_scenario(text, "s.yaml", "", {}); }

struct Outcome {
  std::vector<std::string> failures;
  RunResult result;
};
Outcome run(const std::string& text) {
  const auto scenario = read(text);
  EXPECT_TRUE(scenario) << scenario.error().message;
  if (!scenario) return {};
  ContentStore contents(scenario->seed);
  Simulation simulation(*scenario, contents, {});
  const RunResult& result = simulation.run();
  return {check_expectations(*scenario, result).failures, result};
}

TEST(TopologyLoader, every_key_is_read) {
  const auto scenario = read(scenario_with("exchange\n  domain_conflict: isolate\n  reconfiguration_delay: 3ms"));
  ASSERT_TRUE(scenario) << scenario.error().message;
  EXPECT_EQ(scenario->switches.size(), 4U);
  EXPECT_EQ(scenario->switches[3].domain, 7);
  EXPECT_EQ(scenario->switches[3].priority, 1);
  EXPECT_EQ(scenario->switch_links.size(), 4U);
  EXPECT_EQ(scenario->switch_links[0].name, "a-b");
  EXPECT_EQ(scenario->switch_links[0].link.latency_ns, 5000);
  EXPECT_EQ(scenario->switch_links[3].name, "last");
  EXPECT_FALSE(scenario->switch_links[3].capture);
  EXPECT_EQ(scenario->ports[1].at_switch, 3U);
  EXPECT_FALSE(scenario->in_order);
  EXPECT_EQ(scenario->fabric.multipath, fc2::Multipath::Exchange);
  EXPECT_EQ(scenario->fabric.domain_conflict, fc2::DomainConflict::Isolate);
  EXPECT_EQ(scenario->fabric.reconfiguration_delay, 3 * runtime::millisecond);
}

TEST(TopologyLoader, refuses_with_the_place) {
  const auto error_of = [](const std::string& line) {
    const auto scenario =
        read("name: t\ntopology: {switches: [{name: a}, {name: b}], " + line + "}\nports: [{name: p}]\n");
    return scenario ? "no error" : scenario.error().message;
  };
  for (const char* line : {"isls: [{between: [a]}]", "isls: [{between: [a, a]}]", "isls: [{between: [a, c]}]",
                           "isls: [{}]", "isls: [{between: [a, b]}, {between: [a, b]}]", "multipath: always",
                           "domain_conflict: fight", "isls: [{between: [a, b], latency: long}]"})
    EXPECT_EQ(error_of(line).substr(0, 9), "s.yaml:2:") << line << ": " << error_of(line);
  for (const char* text : {"topology: {switches: []}\nports: [{name: p}]",
                           "topology: {switches: [{name: a}, {name: a}]}\nports: [{name: p}]",
                           "topology: {switches: [{name: a, domain: 240}]}\nports: [{name: p}]"})
    EXPECT_FALSE(read(std::string("name: t\n") + text + "\n")) << text;
  EXPECT_FALSE(read("name: t\nports: [{name: p, switch: nowhere}]\n"));
}

TEST(FaultLoader, isls_and_switches_go_down) {
  const auto scenario = read(scenario_with("port_pair",
                                           "faults:\n  - {action: isl_down, isl: last, at: 1ms, for: 2ms}\n"
                                           "  - {action: switch_down, switch: b, at: 1ms}\n"));
  ASSERT_TRUE(scenario) << scenario.error().message;
  EXPECT_EQ(scenario->faults[0].event->apply, port_event::isl_down);
  EXPECT_EQ(scenario->faults[0].event->port, 3U);
  EXPECT_EQ(scenario->faults[0].event->duration, 2 * runtime::millisecond);
  EXPECT_EQ(scenario->faults[1].event->apply, port_event::switch_down);
  EXPECT_EQ(scenario->faults[1].event->port, 1U);
  EXPECT_FALSE(read(scenario_with("port_pair", "faults: [{action: isl_down, isl: none, at: 1ms}]\n")));
  EXPECT_FALSE(read(scenario_with("port_pair", "faults: [{action: switch_down, at: 1ms}]\n")));
}

// All data arrives over several switches, in order and out of order: equal paths of different length lose nothing.
// (Without `hold` a DISCONNECT_RQST may overtake the response to the last message, which nobody needs any more.)
TEST(Topology, transfers_pass_switches) {
  for (const char* multipath : {"port_pair", "exchange", "frame"}) {
    const Outcome outcome = run(scenario_with(multipath));
    EXPECT_EQ(outcome.failures, std::vector<std::string>{}) << multipath;
    EXPECT_EQ(outcome.result.unexpected_events, 0U) << multipath;
  }
}

// The way that is not taken fails: nobody notices. The switch of the server fails: the connection ends, at both ends.
TEST(Topology, failures_concern_who_uses_what_failed) {
  const std::string fault = "faults: [{action: switch_down, switch: ";
  const Outcome unused =
      run(scenario_with("port_pair", transfer + std::string("faults: [{action: isl_down, isl: last, at: 1us}]\n")));
  const Outcome other =
      run(scenario_with("port_pair", transfer + std::string("faults: [{action: isl_down, isl: b-d, at: 1us}]\n")));
  EXPECT_NE(unused.failures.empty(), other.failures.empty());  // one of the two ways was taken
  const Outcome server = run(scenario_with("port_pair", transfer + fault + "d, at: 50us, for: 1s}]\n"));
  EXPECT_FALSE(server.failures.empty());
  EXPECT_EQ(server.result.outcome, Driver::Outcome::Finished);
  EXPECT_EQ(server.result.unexpected_events, 0U);
}

}  // namespace
}  // namespace sim
