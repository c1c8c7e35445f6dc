// fcvi-sim explore from outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scenarios/command.hpp"
#include "tests/support/source_dir.hpp"

namespace scenarios {
namespace {
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class Explore : public testing::Test {
 protected:
  Folder folder;
  std::string scenario = folder.write("s.yaml", R"(name: small
ports: [{name: a}, {name: b}]
workloads:
  - {name: w, client: a, server: b, connect_timeout: 60s, transfers: [{operation: send, data: {random: 10}}]}
)");
};

TEST_F(Explore, sound_code_exits_0_and_counts) {
  const Finished run = fcvi_sim({"explore", scenario, "--faults", "1", "--jobs", "2"});
  EXPECT_EQ(run.status, 0) << run.output << run.errors;
  EXPECT_THAT(run.output, HasSubstr(" runs, each with another list of faults (1 of 0, "));
  EXPECT_THAT(run.output, HasSubstr("new connection  held: "));
  EXPECT_EQ(run.errors, "");
}

// The example that fails, with the lines that the README shows of it.
TEST_F(Explore, a_broken_invariant_exits_1_and_is_shown_as_documented) {
  const std::string scenarios = support::source_dir() + "/tools/scenarios/";
  const Finished run = fcvi_sim({"explore", scenarios + "explore/failing/too_little_patience.yaml"});
  EXPECT_EQ(run.status, 1) << run.output << run.errors;
  const std::string readme = content_of(scenarios + "README.md");
  const std::size_t begin = readme.find("new connection  BROKEN"), end = readme.find("```", begin);
  ASSERT_NE(end, std::string::npos);
  EXPECT_THAT(run.output, HasSubstr(readme.substr(begin, end - begin)));
}

TEST_F(Explore, faults_that_are_named_are_run_alone) {
  const Finished run =
      fcvi_sim({"explore", scenario, "--fault", "lose:5", "--fault", "delay:8+2001ms", "--ladder", folder / "l.svg"});
  EXPECT_EQ(run.status, 0) << run.output << run.errors;
  EXPECT_THAT(run.output, HasSubstr("with lose:5 delay:8+2001ms: "));
  EXPECT_THAT(run.output, HasSubstr("all invariants held\n"));
  EXPECT_THAT(content_of(folder / "l.svg"), HasSubstr("FCVI_CONNECT_RQST"));
}

// What prints the run has the numbers by which faults name frames.
TEST_F(Explore, a_run_of_named_faults_numbers_its_frames_and_leaves_a_capture) {
  const Finished run = fcvi_sim({"explore", scenario, "--fault", "lose:5", "--capture", folder / "c.pcapng"});
  EXPECT_EQ(run.status, 0) << run.output << run.errors;
  EXPECT_THAT(run.output, ContainsRegex(" 1  [a-z]+ +--> Name Server"));
  EXPECT_THAT(run.output, ContainsRegex(" 5  [a-z]+ +--> "));
  const Finished decoded = fcvi_sim({"decode", folder / "c.pcapng"});
  EXPECT_EQ(decoded.status, 0) << decoded.errors;
  EXPECT_THAT(decoded.output, HasSubstr("FCVI_CONNECT_RQST"));
  EXPECT_EQ(fcvi_sim({"explore", scenario, "--capture", folder / "d.pcapng"}).status, 2);
}

TEST_F(Explore, keys_that_do_not_count_are_named_in_a_warning) {
  const std::string path = folder.write("expecting.yaml", content_of(scenario) +
                                                              "faults: [{action: drop, message: FCVI_SEND_RQST}]\n"
                                                              "expectations: {ius: {FLOGI: 99}}\n");
  const Finished run = fcvi_sim({"explore", path, "--faults", "0"});
  EXPECT_EQ(run.status, 0) << run.output << run.errors;
  EXPECT_THAT(run.errors, HasSubstr("expecting.yaml: warning: explore ignores expectations, faults"));
}

TEST_F(Explore, bad_faults_exit_2) {
  const Finished nonsense = fcvi_sim({"explore", scenario, "--fault", "forget:1"});
  EXPECT_EQ(nonsense.status, 2);
  EXPECT_THAT(nonsense.errors, HasSubstr("--fault forget:1: expected lose:FRAME, "));
  const Finished backwards = fcvi_sim({"explore", scenario, "--fault", "lose:5", "--fault", "lose:5"});
  EXPECT_EQ(backwards.status, 2);
  EXPECT_THAT(backwards.errors, HasSubstr("expected a later frame than before"));
  const Finished beyond = fcvi_sim({"explore", scenario, "--fault", "lose:5000"});
  EXPECT_EQ(beyond.status, 2);
  EXPECT_THAT(beyond.output, Not(HasSubstr("all invariants held")));
  EXPECT_THAT(beyond.errors, HasSubstr("a fault names a frame that was not sent"));
}

TEST_F(Explore, scenarios_that_do_not_suit_exit_2) {
  const std::string none = folder.write("none.yaml", "name: n\nports: [{name: a}]\n");
  EXPECT_THAT(fcvi_sim({"explore", none}).errors, HasSubstr("has no workload to explore"));
  const Finished big = fcvi_sim({"explore", scenario, "--set", "workloads.0.transfers.0.data.random=2MiB"});
  EXPECT_EQ(big.status, 2);
  EXPECT_THAT(big.errors, HasSubstr("expected at most 1 MiB"));
  EXPECT_EQ(fcvi_sim({"explore", folder / "missing.yaml"}).status, 2);
  EXPECT_EQ(fcvi_sim({"explore", scenario, "--faults", "9"}).status, 2);
}

}  // namespace
}  // namespace scenarios
