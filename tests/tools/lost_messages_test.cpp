// Messages that are lost at Unreliable Delivery: the programs go on, and each that comes is known for what it is.
#include <gtest/gtest.h>

#include "tools/fcvi_sim/run/expectations.hpp"
#include "tools/fcvi_sim/run/parted_run.hpp"
#include "tools/fcvi_sim/run/simulation.hpp"
#include "tools/fcvi_sim/run/summary.hpp"
#include "tools/fcvi_sim/scenario/loader.hpp"

namespace sim {
namespace {
using Lines = std::vector<std::string>;
using runtime::microsecond;

/// Ten messages of two frames each, or what else `transfer` says, one a millisecond.
std::string scenario_with(const std::string& faults, const std::string& lost = "lost: 1",
                          const std::string& transfer = "data: {random: 40KiB}, message_bytes: 4KiB") {
  return R"(name: x
ports: [{name: a}, {name: b}]
workloads:
  - name: w
    client: a
    server: b
    reliability: unreliable_delivery
    transfers: [{operation: send, interval: 1ms, )" +
         transfer + "}]\n    expect: {" + lost + ", latency: {p50: {max: 1s}}}\nfaults: [" + faults + "]\n";
}

struct Ran {
  RunResult result;
  Lines failures;
  std::string summary;
};

Ran run(const std::string& text) {
  const auto scenario = read_scenario(text, "s.yaml", "", {});
  if (!scenario) throw std::runtime_error(scenario.error().message);
  ContentStore contents(scenario->seed);
  Simulation simulation(*scenario, contents, {.check = true});
  const RunResult& result = simulation.run();
  return {result, check_expectations(*scenario, result).failures, summary(*scenario, result)};
}

std::string error_of(const std::string& text) {
  const auto scenario = read_scenario(text, "s.yaml", "", {});
  return scenario ? "" : scenario.error().message;
}

std::vector<runtime::TimeNs> due_ms(const RunResult& result) {
  std::vector<runtime::TimeNs> due;
  for (const MessageTime& message : result.workloads[0].log.messages)
    due.push_back((message.due() - result.workloads[0].log.first) / (1000 * microsecond));
  return due;
}

// Both frames of the seventh: those behind it come in its place, and are timed by when they themselves were due.
TEST(LostMessages, a_message_that_never_came_delays_none_behind_it) {
  const Ran ran = run(scenario_with("{action: drop, message: FCVI_SEND_RQST, port: a, nth: [13, 14]}"));
  EXPECT_EQ(ran.failures, Lines{});
  EXPECT_EQ(due_ms(ran.result), (std::vector<runtime::TimeNs>{0, 1, 2, 3, 4, 5, 7, 8, 9}));
  for (const MessageTime& message : ran.result.workloads[0].log.messages) EXPECT_LT(message.latency, 10 * microsecond);
  EXPECT_EQ(ran.result.workloads[0].log.missing(), 1U);
  EXPECT_NE(ran.summary.find("equal but 1 lost"), std::string::npos) << ran.summary;
}

// The second frame of two: its receive descriptor fails, and is the only one.
TEST(LostMessages, a_message_that_came_in_part_is_lost) {
  const Ran ran = run(scenario_with("{action: drop, message: FCVI_SEND_RQST, port: a, nth: 6}",
                                    "lost: 1, failed: {server_receives: [3]}"));
  EXPECT_EQ(ran.failures, Lines{});
  EXPECT_EQ(due_ms(ran.result), (std::vector<runtime::TimeNs>{0, 1, 3, 4, 5, 6, 7, 8, 9}));
}

// The last message is shorter than what the client says at the end, which comes in its place.
TEST(LostMessages, the_last_message_may_be_lost_or_short) {
  const std::string transfer = "data: {random: 130}, message_bytes: 64";
  EXPECT_EQ(
      run(scenario_with("{action: drop, message: FCVI_SEND_RQST, port: a, nth: 3}", "lost: 1", transfer)).failures,
      Lines{});
  EXPECT_EQ(
      run(scenario_with("{action: drop, message: FCVI_SEND_RQST, port: a, nth: 1}", "lost: 1", transfer)).failures,
      Lines{});
}

// More messages than the receiver has descriptors for at once.
TEST(LostMessages, credit_goes_on) {
  const std::string transfer = "data: {random: 400KiB}, message_bytes: 1KiB";
  const Ran ran =
      run(scenario_with("{action: drop, message: FCVI_SEND_RQST, port: a, every: 40, limit: 9}", "lost: 9", transfer));
  EXPECT_EQ(ran.failures, Lines{});
}

TEST(LostMessages, none_and_too_many_are_told) {
  EXPECT_EQ(run(scenario_with("{action: delay, by: 1us, message: FCVI_SEND_RQST, port: a, nth: 5}")).failures,
            Lines{"workload w: messages lost: expected exactly 1, got 0"});
  EXPECT_EQ(run(scenario_with("{action: drop, message: FCVI_SEND_RQST, port: a, nth: [2, 4, 6]}")).failures,
            Lines{"workload w: messages lost: expected exactly 1, got 3"});
}

// Changed on the way, with a good CRC: it comes, and is not what was sent.
TEST(LostMessages, a_changed_message_is_not_lost_but_different) {
  const Ran ran = run(
      scenario_with("{action: corrupt, bit: 1000, crc: good, message: FCVI_SEND_RQST, port: a, nth: 5}", "lost: 0"));
  ASSERT_EQ(ran.failures.size(), 1U);
  EXPECT_TRUE(ran.failures[0].starts_with(
      "workload w, transfer 0 (Send): SHA-256 and length: expected equal at both sides, got "));
}

// Without the key a program waits, and the failure names the key.
TEST(LostMessages, who_waits_is_told_of_the_key) {
  const Ran ran =
      run(scenario_with("{action: drop, message: FCVI_SEND_RQST, port: a, nth: [1, 2]}", "connect: Success"));
  ASSERT_GE(ran.failures.size(), 3U);
  EXPECT_EQ(ran.failures[2],
            "workload w: client program: expected an end, got still waiting: perhaps for a message that was lost; with "
            "`lost` under expect it goes on");
}

TEST(LostMessages, where_losses_cannot_be_told_apart_they_are_refused) {
  const std::string why =
      "s.yaml:9: lost: expected only with unreliable_delivery, and one transfer: a send of messages of 64 bytes at "
      "least, without repeat, segments, buffers, immediate and reply";
  for (const char* transfer :
       {"data: {random: 1KiB}, message_bytes: 32", "data: {random: 1KiB}, repeat: 2",
        "data: {random: 1KiB}, segments: 2", "data: {random: 1KiB}, immediate: 1", "data: {random: 1KiB}, reply: 64"})
    EXPECT_EQ(error_of(scenario_with("", "lost: 1", transfer)), why) << transfer;
  std::string reliable = scenario_with("");
  reliable.replace(reliable.find("unreliable"), 10, "reliable");
  EXPECT_EQ(error_of(reliable), why);
}

}  // namespace
}  // namespace sim
