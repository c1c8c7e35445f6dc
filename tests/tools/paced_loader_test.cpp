// Pace, groups and background in the language of scenarios: what is refused, and with which words.
#include <gtest/gtest.h>

#include "tools/fcvi_sim/scenario/loader.hpp"

namespace sim {
namespace {

Scenario scenario_of(const std::string& text) {
  auto scenario = read_scenario(text, "s.yaml", "", {});
  EXPECT_TRUE(scenario) << scenario.error().message;
  return scenario ? *scenario : Scenario{};
}

std::string error_of(const std::string& text) {
  const auto scenario = read_scenario(text, "s.yaml", "", {});
  return scenario ? "" : scenario.error().message;
}

/// One workload between two ports, with this transfer and these further keys of the workload.
std::string one_transfer(const std::string& transfer, const std::string& more = "") {
  return "name: x\nports: [{name: a}, {name: b}]\nworkloads:\n  - {name: w, client: a, server: b, transfers: [{" +
         transfer + "}]" + more + "}\n";
}

TEST(PacedLoader, bounds_of_times_need_arrivals_that_somebody_sees) {
  const auto write = [](const std::string& keys, const std::string& more) {
    return error_of(one_transfer("operation: rdma_write, data: {random: 1KiB}" + keys, more));
  };
  const std::string refused =
      "s.yaml:4: latency, throughput, messages_per_second, recovery and fairness: an rdma_write is complete before it "
      "arrives; expected one with immediate, operation send, or reliability reliable_reception";
  EXPECT_EQ(write("", ", expect: {throughput: {min: 1MB/s}}"), refused);
  EXPECT_EQ(write("", ", count: 2, expect_group: {fairness: {min: 0.9}}"), refused);
  EXPECT_EQ(write("", ", count: 2, except: {w-1: {latency: {max: 1ms}}}"), refused);
  EXPECT_EQ(write("", ", count: 2, expect_group: {survivors: 2}"), "");
  EXPECT_EQ(write(", immediate: 1", ", expect: {throughput: {min: 1MB/s}}"), "");
  EXPECT_EQ(write("", ", reliability: reliable_reception, expect: {throughput: {min: 1MB/s}}"), "");
}

TEST(PacedLoader, expect_beside_reject_keeps_its_default) {
  const std::string text =
      "name: x\nports: [{name: a}, {name: b}]\nworkloads:\n"
      "  - {name: w, count: 2, client: a, server: b, answer: reject, expect: {client_state: Idle}";
  const Scenario scenario = scenario_of(text + ", except: {w-2: {server_state: Idle}}}\n");
  for (const WorkloadSpec& workload : scenario.workloads) EXPECT_EQ(workload.expect.connect, vi::Return::Reject);
  EXPECT_EQ(scenario_of(text + ", except: {w-2: {connect: Timeout}}}\n").workloads[1].expect.connect,
            vi::Return::Timeout);
}

TEST(PacedLoader, mistakes_are_told) {
  const auto transfer = [](const std::string& keys) {
    return error_of(one_transfer("operation: send, data: {random: 1KiB}, " + keys));
  };
  EXPECT_EQ(transfer("interval: 1us, rate: 5/s"), "s.yaml:4: rate: expected one of interval, rate and think_time");
  EXPECT_EQ(transfer("rate: 5"),
            "s.yaml:4: rate: expected a rate: messages such as 5000/s, or bytes such as 400MB/s, got \"5\"");
  EXPECT_EQ(transfer("rate: 0/s"),
            "s.yaml:4: rate: expected a rate: messages such as 5000/s, or bytes such as 400MB/s, got \"0/s\"");
  EXPECT_EQ(transfer("arrivals: poisson"), "s.yaml:4: arrivals: expected with interval, rate or think_time");
  EXPECT_EQ(transfer("burst: 2"), "s.yaml:4: burst: expected with interval, rate, think_time or reply");
  EXPECT_EQ(transfer("interval: 1us, arrivals: poison"),
            "s.yaml:4: arrivals: expected one of fixed, poisson, got \"poison\"; did you mean \"poisson\"?");
  EXPECT_EQ(
      error_of(one_transfer("operation: rdma_read, data: {random: 1KiB}, reply: 4")),
      "s.yaml:4: reply: expected operation send, or rdma_write with immediate: what a program notices, got \"4\"");
  EXPECT_EQ(transfer("intervall: 1us"),
            "s.yaml:4: unknown key \"intervall\" in workloads[0].transfers[0]; did you mean \"interval\"?");
}

TEST(PacedLoader, mistakes_of_groups_and_background_are_told) {
  const std::string ports = "name: x\nports: [{name: a}, {name: b}]\n";
  const auto workload = [&](const std::string& keys) {
    return error_of(ports + "workloads: [{name: w, client: a, server: b, " + keys + "}]\n");
  };
  EXPECT_EQ(workload("expect_group: {survivors: 1}"),
            "s.yaml:3: workloads[0]: expect_group and except come with count");
  EXPECT_EQ(workload("count: 2, except: {w-3: {}}"),
            "s.yaml:3: unknown key \"w-3\" in workloads[0].except; did you mean \"w-1\"?");
  EXPECT_EQ(workload("count: 2, expect_group: {fairness: 2}"),
            "s.yaml:3: fairness: expected a number from 0 to 1, got \"2\"");
  EXPECT_EQ(workload("expect: {latency: {p95: 1us}}"),
            "s.yaml:3: unknown key \"p95\" in latency; did you mean \"p90\"?");
  EXPECT_EQ(workload("expect: {failed: {client_sends: [3, 3]}}"),
            "s.yaml:3: client_sends: expected positions in ascending order, got a list");
  EXPECT_EQ(error_of(ports + "background: [{name: n, from: a, to: b}]\n"),
            "s.yaml:3: background needs an interval or a rate");
  EXPECT_EQ(error_of(ports + "background: [{name: n, from: a, to: a, rate: 1/s}]\n"),
            "s.yaml:3: to: expected another port, got \"a\"");
}

}  // namespace
}  // namespace sim
