#include "tools/fcvi_sim/run/expectations.hpp"

#include <gtest/gtest.h>

#include "tools/fcvi_sim/scenario/loader.hpp"
#include "tools/fcvi_sim/run/summary.hpp"
#include "vi/descriptor.hpp"

namespace sim {
namespace {

/// A scenario of one workload with one transfer, and a result that meets it.
class ExpectationsTest : public testing::Test {
 protected:
  ExpectationsTest() {
    scenario.ports = {{.name = "a"}, {.name = "b"}};
    scenario.workloads = {{.name = "w", .client = 0, .server = 1, .transfers = {{.operation = Operation::Send}}}};
    result.workloads.resize(1);
    workload().connect = workload().accept = workload().disconnect = vi::Return::Success;
    workload().client_ended = workload().server_ended = true;
    workload().transfers = {{.begun = 1, .ended = 1}};
  }
  WorkloadResult& workload() { return result.workloads[0]; }
  std::vector<std::string> failures() { return check_expectations(scenario, result).failures; }

  Scenario scenario;
  RunResult result;
};
using Lines = std::vector<std::string>;

// Ruling 131: who loses frames for want of room reads which port had too little.
TEST_F(ExpectationsTest, full_reorder_pool_is_told) {
  result.kept_bytes = {0, 3 << 20};
  result.pool_refusals = {0, 1200};
  scenario.ports[1].reorder_pool_bytes = 6 << 20;
  const std::string text = summary(scenario, result);
  EXPECT_NE(text.find("kept at b of what overtook other frames: 3 MiB at most\nfound no room at b (reorder_pool: 6 "
                      "MiB): 1,200 frames\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("room at a"), std::string::npos);
}

TEST_F(ExpectationsTest, all_held) {
  EXPECT_EQ(failures(), Lines{});
  EXPECT_EQ(summary(check_expectations(scenario, result)), "all 13 expectations held\n");
}

TEST_F(ExpectationsTest, different_content) {
  workload().transfers[0].different = 1;
  EXPECT_EQ(failures(), Lines{"workload w, transfer 0 (Send): SHA-256 and length: expected equal at both "
                              "sides, got 1 different"});
}

TEST_F(ExpectationsTest, transfer_that_did_not_run) {
  workload().transfers[0] = {};
  EXPECT_EQ(failures(), Lines{"workload w, transfer 0 (Send): expected 1 done, got 0 done"});
}

TEST_F(ExpectationsTest, other_status) {
  workload().transfers[0].ended = 0;
  workload().transfers[0].unexpected_status = vi::status::length_error | vi::status::partial_error;
  EXPECT_EQ(failures()[0],
            "workload w, transfer 0 (Send): descriptor status: expected success, got length_error and "
            "partial_error");
}

TEST_F(ExpectationsTest, call_with_another_return_code) {
  workload().connect = vi::Return::Timeout;
  EXPECT_EQ(failures()[0], "workload w: connect: expected Success, got Timeout");
}

TEST_F(ExpectationsTest, call_that_never_returned) {
  workload().disconnect.reset();
  workload().client_ended = false;
  result.outcome = Driver::Outcome::TimeLimit;
  EXPECT_EQ(failures(), (Lines{"the run: expected an end within 60.000 s, got programs that still wait",
                               "workload w: disconnect: expected Success, got no answer",
                               "workload w: client program: expected an end, got still waiting"}));
}

TEST_F(ExpectationsTest, final_states) {
  workload().server_state = vi::State::Error;
  EXPECT_EQ(failures(), Lines{"workload w: server state: expected Idle, got Error"});
}

TEST_F(ExpectationsTest, counts) {
  scenario.expectations.ius = {
      {"FLOGI", {2, 2}}, {"LOGO", {1, std::numeric_limits<std::uint64_t>::max()}}, {"ABTS", {0, 5}}};
  result.ius = {{"FLOGI", 3}, {"ABTS", 6}};
  EXPECT_EQ(failures(), (Lines{"IUs ABTS: expected at most 5, got 6", "IUs FLOGI: expected exactly 2, got 3",
                               "IUs LOGO: expected at least 1, got 0"}));
}

TEST_F(ExpectationsTest, discards_errors_and_time) {
  scenario.expectations.asynchronous_errors = {1, 2};
  scenario.expectations.max_duration = runtime::millisecond;
  result.discards = 1;
  result.unexpected_events = 1;
  result.duration = 2 * runtime::millisecond;
  EXPECT_EQ(failures(),
            (Lines{"discarded frames: expected exactly 0, got 1", "asynchronous errors: expected 1 to 2, got 0",
                   "events that a state machine had no row for: expected exactly 0, got 1",
                   "simulated time: expected at most 1.000 ms, got 2.000 ms"}));
  EXPECT_NE(summary(check_expectations(scenario, result)).find("4 of 14 expectations failed"), std::string::npos);
}

TEST_F(ExpectationsTest, port_that_never_got_ready) {
  result.outcome = Driver::Outcome::TimeLimit;
  result.not_ready = "b";
  result.awaited = "logged in and registered";
  EXPECT_EQ(failures()[0], "port b: expected logged in and registered within 60.000 s, got no end");
}

}  // namespace
}  // namespace sim
