// Messages that are due at times of their own: open and closed loops, replies, background traffic; and what is expected
// of their times.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tools/fcvi_sim/host/pace.hpp"
#include "tools/fcvi_sim/run/expectations.hpp"
#include "tools/fcvi_sim/run/simulation.hpp"
#include "tools/fcvi_sim/run/statistics.hpp"
#include "tools/fcvi_sim/run/summary.hpp"
#include "tools/fcvi_sim/scenario/loader.hpp"

namespace sim {
namespace {
using runtime::microsecond;
using runtime::millisecond;
using Lines = std::vector<std::string>;

Scenario scenario_of(const std::string& text) {
  auto scenario = read_scenario(text, "s.yaml", "", {});
  EXPECT_TRUE(scenario) << scenario.error().message;
  return scenario ? *scenario : Scenario{};
}

/// One workload between two ports, with this transfer and these further keys of the workload.
std::string one_transfer(const std::string& transfer, const std::string& more = "") {
  return "name: x\nports: [{name: a}, {name: b}]\nworkloads:\n  - {name: w, client: a, server: b, transfers: [{" +
         transfer + "}]" + more + "}\n";
}

struct Ran {
  RunResult result;
  Verdicts verdicts;
  [[nodiscard]] const MessageLog& log(std::size_t workload = 0) const { return result.workloads[workload].log; }
};

Ran run(const Scenario& scenario) {
  ContentStore contents(scenario.seed);
  Simulation simulation(scenario, contents, {.check = true});
  Ran ran{simulation.run(), {}};
  ran.verdicts = check_expectations(scenario, ran.result);
  return ran;
}

/// When each message was due, counted from the first.
std::vector<runtime::TimeNs> due_times(const MessageLog& log) {
  std::vector<runtime::TimeNs> due;
  for (const MessageTime& message : log.messages) due.push_back(message.at - message.latency - log.first);
  return due;
}

// --- when messages are due

TEST(Pace, fixed_gaps_lose_no_fraction_of_a_nanosecond) {
  // Three messages a second and microsecond: 333.33 ns each.
  const Scenario scenario = scenario_of(one_transfer("operation: send, data: {random: 1KiB}, rate: 3000000/s"));
  const PaceSpec& spec = scenario.workloads[0].transfers[0].pace;
  EXPECT_EQ(spec.loop, PaceSpec::Loop::Open);
  Pace pace(spec, Random(1, "x"));
  EXPECT_EQ(pace.first_gap(), 0);
  runtime::TimeNs sum = 0;
  for (int i = 0; i < 3'000'000; ++i) sum += pace.next_gap();
  EXPECT_NEAR(static_cast<double>(sum), 1e9, 1e5);
}

// Mean and variance of an exponential distribution: within five standard errors of so many draws.
TEST(Pace, poisson_gaps_are_exponentially_distributed) {
  const PaceSpec spec{.loop = PaceSpec::Loop::Open, .gap = 1'000'000 * PaceSpec::gap_units, .poisson = true};
  Pace pace(spec, Random(7, "x"));
  constexpr int count = 200'000;
  double sum = 0, squares = 0;
  int above_mean = 0;
  for (int i = 0; i < count; ++i) {
    const double gap = static_cast<double>(pace.next_gap()) / 1e6;
    sum += gap;
    squares += gap * gap;
    above_mean += gap > 1;
  }
  EXPECT_NEAR(sum / count, 1, 0.012);
  EXPECT_NEAR(squares / count, 2, 0.06);
  EXPECT_NEAR(static_cast<double>(above_mean) / count, std::exp(-1), 0.006);
}

TEST(Paced, open_loop_messages_are_due_at_the_same_times_whatever_happens) {
  const std::string transfer =
      "operation: send, data: {random: 32KiB}, message_bytes: 1KiB, rate: 100000/s, arrivals: poisson";
  const Ran quick = run(scenario_of(one_transfer(transfer)));
  const Ran slow = run(scenario_of(one_transfer(transfer) + "topology: {line_rate: 1GFC, latency: 50us}\n"));
  const Ran other = run(scenario_of(one_transfer(transfer) + "seed: 2\n"));
  EXPECT_EQ(quick.verdicts.failures, Lines{});
  ASSERT_EQ(quick.log().count, 32U);
  EXPECT_EQ(due_times(quick.log()), due_times(slow.log()));
  EXPECT_NE(due_times(quick.log()), due_times(other.log()));
  EXPECT_LT(statistics_of(logs_of(quick.result.workloads))->latency(LatencyPoint::Max),
            statistics_of(logs_of(slow.result.workloads))->latency(LatencyPoint::P50));
}

TEST(Paced, poisson_times_of_one_workload_do_not_depend_on_another) {
  const std::string transfers =
      ", transfers: [{operation: send, data: {random: 8KiB}, message_bytes: 1KiB, interval: 5us, arrivals: poisson}]}";
  const std::string text =
      "name: x\nports: [{name: a}, {name: b}]\nworkloads:\n  - {name: w, client: a, server: b" + transfers;
  const Ran alone = run(scenario_of(text + "\n"));
  const Ran beside = run(scenario_of(text + "\n  - {name: v, client: a, server: b" + transfers + "\n"));
  EXPECT_EQ(due_times(alone.log()), due_times(beside.log()));
  EXPECT_NE(due_times(beside.log(0)), due_times(beside.log(1)));
}

// No coordinated omission: 16 KiB take 10 us of the link at 1.6 GB/s and are due each 5 us, so that the n-th waits for
// n times 5 us more.
TEST(Paced, latency_counts_from_when_a_message_was_due) {
  const Ran ran =
      run(scenario_of(one_transfer("operation: send, data: {random: 1MiB}, message_bytes: 16KiB, interval: 5us")));
  ASSERT_EQ(ran.log().count, 64U);
  const std::vector<runtime::TimeNs> due = due_times(ran.log());
  for (std::size_t i = 0; i < due.size(); ++i) EXPECT_EQ(due[i], static_cast<runtime::TimeNs>(i) * 5 * microsecond);
  EXPECT_GT(ran.log().messages.back().latency, 63 * 5 * microsecond);
  EXPECT_LT(ran.log().messages.front().latency, 20 * microsecond);
}

TEST(Paced, bursts_are_due_together_at_the_same_rate) {
  const Ran ran = run(scenario_of(
      one_transfer("operation: rdma_write, data: {random: 12KiB}, message_bytes: 1KiB, rate: 10000/s, burst: 4")));
  const runtime::TimeNs gap = 400 * microsecond;
  EXPECT_EQ(due_times(ran.log()),
            (std::vector<runtime::TimeNs>{0, 0, 0, 0, gap, gap, gap, gap, 2 * gap, 2 * gap, 2 * gap, 2 * gap}));
  EXPECT_EQ(ran.verdicts.failures, Lines{});
}

// More messages than either queue has room for, at every operation and level: nothing is lost, and all are counted.
TEST(Paced, every_operation_and_level) {
  for (const char* level : {"unreliable_delivery", "reliable_delivery", "reliable_reception"})
    for (const char* operation : {"send", "rdma_write", "rdma_write, immediate: 7", "rdma_read"}) {
      if (std::string(level) == "unreliable_delivery" && std::string(operation) == "rdma_read") continue;
      for (const char* pace : {"rate: 1GB/s, arrivals: poisson", "think_time: 1us", "think_time: 1us, burst: 9"}) {
        const std::string transfer =
            std::string("operation: ") + operation + ", data: {random: 64KiB}, message_bytes: 500, repeat: 2, " + pace;
        const Ran ran =
            run(scenario_of(one_transfer(transfer, std::string(", queue_depth: 4, reliability: ") + level)));
        EXPECT_EQ(ran.verdicts.failures, Lines{}) << level << " " << transfer;
        EXPECT_EQ(ran.log().count, 2U * 132) << level << " " << transfer;
        EXPECT_EQ(ran.log().bytes, 2U * 65536) << level << " " << transfer;
      }
    }
}

// --- closed loops

TEST(Paced, think_time_counts_from_the_answer) {
  const Ran ran = run(scenario_of(
      one_transfer("operation: send, data: {random: 8KiB}, message_bytes: 1KiB, reply: 100, think_time: 10us")));
  EXPECT_EQ(ran.verdicts.failures, Lines{});
  ASSERT_EQ(ran.log().count, 8U);
  const std::vector<runtime::TimeNs> due = due_times(ran.log());
  for (std::size_t i = 1; i < due.size(); ++i)
    EXPECT_EQ(due[i], ran.log().messages[i - 1].at - ran.log().first + 10 * microsecond) << i;
}

TEST(Paced, replies_come_to_each_message_in_either_direction) {
  for (const char* operation : {"send", "rdma_write, immediate: 7"})
    for (const char* direction : {"client_to_server", "server_to_client"}) {
      const Ran ran = run(scenario_of(
          one_transfer(std::string("operation: ") + operation + ", direction: " + direction +
                           ", data: {random: 64KiB}, message_bytes: 256, reply: 4KiB, repeat: 2, burst: 100",
                       ", queue_depth: 4")));
      EXPECT_EQ(ran.verdicts.failures, Lines{}) << operation << direction;
      EXPECT_EQ(ran.log().count, 512U);
    }
}

// A reply that is not what the server sent is a difference: here a bit of one is inverted, with a good CRC.
TEST(Paced, damaged_reply_is_noticed) {
  const Ran ran = run(
      scenario_of(one_transfer("operation: send, data: {random: 1KiB}, message_bytes: 256, reply: 256") +
                  "faults:\n  - {action: corrupt, port: b, message: FCVI_SEND_RQST, nth: 3, bit: 800, crc: good}\n"));
  EXPECT_EQ(ran.verdicts.failures,
            Lines{"workload w, transfer 0 (Send): SHA-256 and length: expected equal at both sides, got 1 different"});
}

TEST(Paced, open_loop_with_replies_measures_response_times) {
  const Ran ran = run(scenario_of(one_transfer(
      "operation: send, data: {random: 100KiB}, message_bytes: 100, reply: 10, rate: 200000/s", ", queue_depth: 3")));
  EXPECT_EQ(ran.verdicts.failures, Lines{});
  EXPECT_EQ(ran.log().count, 1024U);
  EXPECT_GT(ran.log().messages.front().latency, 2 * microsecond);  // there and back, 500 ns for each of four links
}

// Two transfers at once, each at a pace of its own; and between peers.
TEST(Paced, both_ways_at_once) {
  const Ran ran =
      run(scenario_of(one_transfer("operation: rdma_write, data: {random: 64KiB}, message_bytes: 1KiB, rate: 200MB/s, "
                                   "arrivals: poisson}, {operation: "
                                   "rdma_read, data: {random: 32KiB}, message_bytes: 1KiB, direction: "
                                   "server_to_client, think_time: 1us, concurrent: true",
                                   ", model: peer_to_peer")));
  EXPECT_EQ(ran.verdicts.failures, Lines{});
  EXPECT_EQ(ran.log().count, 96U);
  EXPECT_EQ(ran.log().bytes, 96U * 1024);
}

// --- times without a pace

TEST(Paced, times_are_noted_only_where_they_are_asked_for) {
  const std::string transfer = "operation: send, data: {random: 8KiB}, message_bytes: 1KiB";
  EXPECT_EQ(run(scenario_of(one_transfer(transfer))).log().count, 0U);
  const Ran asked = run(scenario_of(one_transfer(transfer, ", expect: {throughput: {min: 1MB/s}}")));
  EXPECT_EQ(asked.log().count, 8U);
  EXPECT_EQ(asked.verdicts.failures, Lines{});
}

// --- expectations

class Expected : public testing::Test {
 protected:
  Expected() {
    scenario = scenario_of(
        "name: x\nports: [{name: a}, {name: b}]\nworkloads:\n"
        "  - {name: w, count: 3, client: a, server: b, expect_group: {survivors: 2}}\n");
    result.workloads.resize(3);
    for (WorkloadResult& workload : result.workloads) {
      workload.connect = workload.accept = workload.disconnect = vi::Return::Success;
      workload.client_ended = workload.server_ended = true;
    }
  }
  Lines failures() { return check_expectations(scenario, result).failures; }
  GroupExpectation& group() { return scenario.workload_groups[0].expect; }
  Scenario scenario;
  RunResult result;
};

TEST_F(Expected, so_many_survive_and_are_named) {
  EXPECT_EQ(failures(), Lines{"group w: survivors: expected exactly 2, got 3 (w-1, w-2, w-3)"});
  result.workloads[1].client_state = vi::State::Error;
  EXPECT_EQ(failures(), Lines{});
  EXPECT_NE(summary(scenario, result).find("  survivors: w-1, w-3\n"), std::string::npos);
}

TEST_F(Expected, exceptions_are_judged_by_themselves) {
  scenario.workloads[1].is_exception = true;
  scenario.workloads[1].expect.client_state = vi::State::Error;
  EXPECT_EQ(failures(), Lines{"workload w-2: client state: expected Error, got Idle"});
}

TEST_F(Expected, percentiles_are_those_of_the_nearest_rank) {
  for (runtime::TimeNs i = 1; i <= 1000; ++i) result.workloads[0].log.add(0, i * microsecond, 10);
  const auto seen = statistics_of(logs_of(result.workloads));
  EXPECT_EQ(seen->latency(LatencyPoint::P50), 500 * microsecond);
  EXPECT_EQ(seen->latency(LatencyPoint::P99), 990 * microsecond);
  EXPECT_EQ(seen->latency(LatencyPoint::P99_9), 999 * microsecond);
  EXPECT_EQ(seen->latency(LatencyPoint::Max), 1000 * microsecond);
  EXPECT_EQ(seen->latency(LatencyPoint::Mean), 500'500);
  EXPECT_EQ(seen->bytes_per_second(), 10'000'000U);
  EXPECT_EQ(seen->messages_per_second(), 1'000'000U);
}

TEST_F(Expected, fairness_is_one_where_all_get_the_same_and_a_third_where_one_of_three_does) {
  group() = {.fairness = ShareBound{0.9, 1}};
  for (WorkloadResult& workload : result.workloads) workload.log.add(0, millisecond, 1000);
  EXPECT_EQ(failures(), Lines{});
  group() = {.fairness = ShareBound{0.9, 1}};
  result.workloads[1].log = result.workloads[2].log = {};
  EXPECT_EQ(failures(), Lines{"group w: fairness: expected at least 0.900, got 0.333"});
}

// All have as much in the end: what counts is what each had when the first was done.
TEST_F(Expected, fairness_is_of_the_time_in_which_all_might_move) {
  group() = {.fairness = ShareBound{0.9, 1}};
  scenario.workloads.pop_back();
  scenario.workload_groups[0].count = 2;
  result.workloads.pop_back();
  for (runtime::TimeNs i = 0; i < 1024; ++i) {
    result.workloads[0].log.add(i * microsecond, (i + 1) * microsecond, 100);
    result.workloads[1].log.add(i * microsecond + 10 * runtime::second, (i + 1) * microsecond + 10 * runtime::second,
                                100);
  }
  EXPECT_EQ(failures(), Lines{"group w: fairness: expected at least 0.900, got 0.500"});
  result.workloads[1].log = {};
  for (runtime::TimeNs i = 0; i < 6; ++i) result.workloads[1].log.add(i * microsecond, (i + 1) * microsecond, 100);
  for (WorkloadResult& workload : result.workloads) workload.log.expected = 1024;
  EXPECT_EQ(failures(), Lines{"group w: fairness: expected at least 0.900, got 0.506"});
}

// One message each, of which one is there a little later.
TEST_F(Expected, fairness_counts_the_part_of_a_message) {
  group() = {.fairness = ShareBound{0.9, 1}};
  for (runtime::TimeNs i = 0; i < 3; ++i) result.workloads[static_cast<std::size_t>(i)].log.add(0, 100 + i, 1000);
  EXPECT_EQ(failures(), Lines{});
  group() = {.fairness = ShareBound{1, 1}};
  ASSERT_EQ(failures().size(), 1U);
  EXPECT_TRUE(failures()[0].starts_with("group w: fairness: expected exactly 1.000, got 0.9999")) << failures()[0];
}

TEST_F(Expected, what_never_came_is_later_than_any_bound) {
  group() = {.messages = {.latencies = {{LatencyPoint::P50, {0, microsecond}},
                                        {LatencyPoint::P90, {0, microsecond}},
                                        {LatencyPoint::Max, {0, runtime::never}},
                                        {LatencyPoint::Mean, {0, microsecond}}}}};
  for (WorkloadResult& workload : result.workloads) workload.log.expected = 100;
  for (int i = 0; i < 240; ++i) result.workloads[static_cast<std::size_t>(i % 3)].log.add(0, 10, 1);
  const std::string never = ", got never: 60 of 300 messages never came";
  EXPECT_EQ(failures(), (Lines{"group w: latency p90: expected at most 1.000 us" + never,
                               "group w: latency max: expected at least 0 ns" + never,
                               "group w: latency mean: expected at most 1.000 us" + never}));
  EXPECT_NE(summary(scenario, result).find("p50 10 ns, p90 never"), std::string::npos);
  EXPECT_NE(summary(scenario, result).find("; 60 of 300 messages never came\n"), std::string::npos);
}

// A member that may fail, or has an expectation of its own, is not judged with the others.
TEST_F(Expected, latency_and_recovery_are_those_of_survivors) {
  group() = {.messages = {.latencies = {{LatencyPoint::Max, {0, microsecond}}}, .recovery = TimeBound{0, millisecond}},
             .survivors = Bound{2, 2}};
  result.fault_moments = {5 * millisecond};
  for (WorkloadResult& workload : result.workloads) {
    workload.log.expected = 2;
    workload.log.add(4 * millisecond, 4 * millisecond, 1);
    workload.log.add_due(6 * millisecond);
  }
  for (const std::size_t i : {0, 2}) result.workloads[i].log.add(6 * millisecond, 6 * millisecond, 1);
  result.workloads[1].client_state = vi::State::Error;
  EXPECT_EQ(failures(), Lines{});
  group().survivors = Bound{3, 3};
  result.workloads[1].client_state = vi::State::Idle;
  EXPECT_EQ(failures(),
            (Lines{"group w: latency max: expected at most 1.000 us, got never: 1 of 6 messages never came",
                   "group w: recovery: expected at most 1.000 ms, got no message that was due after the last fault"}));
}

TEST_F(Expected, recovery_counts_from_the_last_fault_to_the_next_message_that_is_due) {
  group() = {.messages = {.recovery = TimeBound{0, millisecond}}};
  EXPECT_EQ(failures(), Lines{"group w: recovery: expected at most 1.000 ms, got no fault"});
  result.fault_moments = {5 * millisecond, 50 * runtime::second};  // the second: when nothing is due any more
  EXPECT_EQ(failures(),
            Lines{"group w: recovery: expected at most 1.000 ms, got no fault while its messages were due"});
  for (WorkloadResult& workload : result.workloads) {
    workload.log.add(0, millisecond, 1);
    workload.log.add(5 * millisecond - 1, 5 * millisecond + 1, 1);  // under way when it happened
    workload.log.add_due(7 * millisecond);
  }
  EXPECT_EQ(failures(),
            Lines{"group w: recovery: expected at most 1.000 ms, got no message that was due after the last fault"});
  for (WorkloadResult& workload : result.workloads) workload.log.add(5 * millisecond + 1, 6 * millisecond, 1);
  EXPECT_EQ(failures(), Lines{});
  for (WorkloadResult& workload : result.workloads) workload.log.messages.back().at += 1;
  EXPECT_EQ(failures(), Lines{"group w: recovery: expected at most 1.000 ms, got 1.000 ms"});
}

TEST_F(Expected, failed_descriptors_are_named_without_those_that_were_flushed) {
  group() = {};
  WorkloadExpectation& expect = scenario.workloads[0].expect;
  expect.failed_client_sends = FailureExpectation{{}, std::vector<std::uint64_t>{2}};
  result.workloads[0].client_sends = {{1, 0}, {2, 0x20000000}, {3, 0}};
  result.workloads[0].client_sends[1].error_bits = vi::status::transport_error;
  result.workloads[0].client_sends[2].error_bits = vi::status::flushed;
  EXPECT_EQ(failures(), Lines{});
  expect.failed_client_sends = FailureExpectation{{0, 0}, {}};
  EXPECT_EQ(failures(),
            Lines{"workload w-1: failed sends of the client: expected exactly 0, got 1 (2: transport_error at 2 ns)"});
}

// Two messages, one a millisecond, are a thousand a second; so is one.
TEST(Paced, rates_count_the_interval_behind_the_last_message) {
  for (const char* size : {"1KiB", "2KiB", "20KiB"}) {
    const Ran ran = run(scenario_of(
        one_transfer(std::string("operation: send, data: {random: ") + size + "}, message_bytes: 1KiB, interval: 1ms",
                     ", expect: {messages_per_second: 1000, throughput: 1024kB/s}")));
    EXPECT_EQ(ran.verdicts.failures, Lines{}) << size;
  }
}

// A member dies with its second message: the others' figures show it.
TEST(Paced, messages_that_never_came_are_told) {
  const Ran ran = run(scenario_of(
      "name: x\nports: [{name: a}, {name: b}]\nworkloads:\n"
      "  - {name: w, count: 2, client: a, server: b, transfers: [{operation: send, data: {random: 100KiB}, "
      "message_bytes: 1KiB, interval: 10us}], expect_group: {fairness: {min: 0.9}, latency: {p99: {max: 1ms}}}}\n"
      "faults: [{action: drop, message: FCVI_SEND_RQST, workload: w-2, nth: 4}]\nexpectations: {discards: {min: "
      "0}}\n"));
  const auto told = [&](const std::string& what) { return std::ranges::count(ran.verdicts.failures, what) == 1; };
  EXPECT_TRUE(told("group w: latency p99: expected at most 1.000 ms, got never: " +
                   std::to_string(100 - ran.log(1).count) + " of 200 messages never came"));
  EXPECT_LT(*fairness_of(logs_of(ran.result.workloads)), 0.6);
}

// --- background

TEST(Background, frames_of_another_fc4_share_the_link_and_are_discarded) {
  const std::string text = one_transfer("operation: send, data: {random: 1MiB}, message_bytes: 64KiB",
                                        ", expect: {throughput: {min: 1MB/s}}") +
                           "background:\n  - {name: storage, from: a, to: b, type: fcp, rate: 800MB/s}\n";
  const Ran ran = run(scenario_of(text));
  EXPECT_EQ(ran.verdicts.failures, Lines{});
  ASSERT_EQ(ran.result.background.size(), 1U);
  EXPECT_GT(ran.result.background[0].sent, 100U);
  EXPECT_EQ(ran.result.background_discards, ran.result.background[0].sent);
  const Ran alone = run(scenario_of(text.substr(0, text.find("background"))));
  EXPECT_LT(statistics_of(logs_of(ran.result.workloads))->bytes_per_second() * 10,
            statistics_of(logs_of(alone.result.workloads))->bytes_per_second() * 8);
  const Ran given = run(scenario_of(text + "expectations: {discards: 0}\n"));
  EXPECT_EQ(given.verdicts.failures.size(), 1U);
}

TEST(Background, until_ends_it) {
  const Ran ran = run(scenario_of(
      one_transfer("operation: send, data: {random: 10KiB}, message_bytes: 1KiB, interval: 1ms") +
      "background:\n  - {name: net, from: a, to: b, type: ip, interval: 100us, burst: 2, start: 2ms, until: 4ms}\n"));
  EXPECT_EQ(ran.result.background[0].sent + ran.result.background[0].without_login, 40U);
}

TEST(Background, rate_in_bytes_holds_where_frames_are_shorter) {
  const Ran ran = run(scenario_of(
      "name: x\nports: [{name: a}, {name: b, receive_data_field: 256}]\nworkloads:\n"
      "  - {name: w, client: a, server: b, transfers: [{operation: send, data: {random: 10KiB}, message_bytes: 1KiB, "
      "interval: 1ms}]}\nbackground: [{name: n, from: a, to: b, rate: 25600kB/s}]\n"));
  EXPECT_EQ(ran.verdicts.failures, Lines{});
  const BackgroundResult& got = ran.result.background[0];
  EXPECT_NEAR(static_cast<double>(got.sent + got.without_login), 900, 10);  // 256 bytes each 10 us, for 9 ms and some
}

// More than any link takes: what waits is bounded, time goes on, and the run ends.
TEST(Background, too_much_of_it_is_not_sent) {
  const Ran ran =
      run(scenario_of(one_transfer("operation: send, data: {random: 10KiB}, message_bytes: 1KiB, interval: 10us") +
                      "background:\n  - {name: n, from: a, to: b, burst: 1000000, interval: 1ns}\ntime_limit: 5ms\n"));
  const BackgroundResult& got = ran.result.background[0];
  EXPECT_GT(got.behind, 1'000'000U);
  EXPECT_LT(got.sent, 10'000U);
  EXPECT_LE(ran.result.duration, 26 * runtime::second);
}

// What waits when the programs have ended comes to a port that has logged out.
TEST(Background, frames_behind_the_logout_do_not_count) {
  const Ran ran = run(scenario_of(
      "name: x\nports: [{name: a}, {name: b, line_rate: 1GFC}]\nworkloads:\n"
      "  - {name: w, client: a, server: b, transfers: [{operation: send, data: {random: 10KiB}, message_bytes: 1KiB, "
      "interval: 100us}]}\nbackground: [{name: n, from: a, to: b, rate: 400MB/s}]\n"));
  EXPECT_EQ(ran.verdicts.failures, Lines{});
  EXPECT_GT(ran.result.background_discards, 0U);
  EXPECT_NE(std::ranges::find_if(ran.result.discard_reasons,
                                 [](const std::string& reason) { return reason.starts_with("b: wrong address"); }),
            ran.result.discard_reasons.end());
}

}  // namespace
}  // namespace sim
