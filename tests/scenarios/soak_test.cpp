// fcvi-sim soak from outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/scenarios/command.hpp"

namespace scenarios {
namespace {
using testing::ElementsAre;
using testing::HasSubstr;

class Soak : public testing::Test {
 protected:
  Folder folder;
};

// Standard output is the same with any number of processes, and a soak that passes leaves nothing.
TEST_F(Soak, seeds_that_pass_exit_0_and_leave_no_file) {
  const Finished one = fcvi_sim({"soak", "--seeds", "1..40", "--out", folder / "out"});
  EXPECT_EQ(one.status, 0) << one.output << one.errors;
  EXPECT_THAT(one.output, HasSubstr("40 runs, "));
  EXPECT_THAT(one.output, HasSubstr(" 0 failures; digest "));
  EXPECT_EQ(fcvi_sim({"soak", "--seeds", "1..40", "--jobs", "3", "--out", folder / "out"}).output, one.output);
  EXPECT_THAT(folder.files(), ElementsAre());
}

// One number prints the scenario that it stands for, and that one is the same run.
TEST_F(Soak, a_seed_prints_its_scenario_which_run_and_soak_take) {
  const Finished printed = fcvi_sim({"soak", "--seed", "12", "--print"});
  EXPECT_EQ(printed.status, 0);
  EXPECT_THAT(printed.output, HasSubstr("name: soak 12\nseed: 12\n"));
  const Finished seed = fcvi_sim({"soak", "--seed", "12", "--out", folder / "out"});
  const std::string file = folder.write("s.yaml", printed.output);
  const Finished again = fcvi_sim({"soak", file, "--out", folder / "out"});
  EXPECT_EQ(seed.output, printed.output + again.output);
  EXPECT_THAT(again.output, HasSubstr("passed: "));
  EXPECT_EQ(fcvi_sim({"check", file}).status, 0);
}

TEST_F(Soak, a_failure_shrinks_and_leaves_what_is_needed) {
  const std::string file = folder.write("bad.yaml", R"(name: bad
topology: {latency: 20us, bb_credit: 3}
ports: [{name: a}, {name: b}, {name: c}]
workloads:
  - {name: v, client: c, server: a, connect_timeout: 60s}
  - {name: w, client: a, server: b, connect_timeout: 60s, hold: 1s, transfers: [{operation: send, data: {random: 100}, repeat: 3}]}
faults:
  - {action: corrupt, bit: 600, crc: good, message: FCVI_SEND_RQST, nth: [1, 2]}
)");
  const Finished run = fcvi_sim({"soak", file, "--out", folder / "out"});
  EXPECT_EQ(run.status, 1) << run.output << run.errors;
  EXPECT_THAT(run.output, HasSubstr("failed: delivery\n"));
  const std::string minimal = content_of(folder / "out/bad/minimal.yaml");
  EXPECT_THAT(run.output, HasSubstr(" to:\n" + minimal));
  EXPECT_LE(std::count(minimal.begin(), minimal.end(), '\n'), 10);
  EXPECT_EQ(minimal.find("latency"), std::string::npos);
  EXPECT_EQ(content_of(folder / "out/bad/scenario.yaml"), content_of(file));
  EXPECT_THAT(content_of(folder / "out/bad/failure.txt"), HasSubstr("fcvi-sim soak " + file));
  EXPECT_THAT(content_of(folder / "out/bad/ladder.svg"), HasSubstr("FCVI_SEND_RQST"));
  EXPECT_THAT(content_of(folder / "out/bad/report.html"), HasSubstr("<html"));
  EXPECT_EQ(fcvi_sim({"decode", folder / "out/bad/capture.pcapng"}).status, 0);
  const Finished again = fcvi_sim({"soak", folder / "out/bad/minimal.yaml", "--out", folder / "again"});
  EXPECT_EQ(again.status, 1);
  EXPECT_THAT(again.output, HasSubstr("failed: delivery\n"));
}

TEST_F(Soak, bad_input_exits_2) {
  EXPECT_THAT(fcvi_sim({"soak", "--seeds", "9..3"}).errors, HasSubstr("--seeds 9..3: expected FIRST..LAST"));
  EXPECT_EQ(fcvi_sim({"soak", "--seeds", "9..3"}).status, 2);
  EXPECT_EQ(fcvi_sim({"soak", "--jobs", "0"}).status, 2);
  EXPECT_EQ(fcvi_sim({"soak", folder / "missing.yaml"}).status, 2);
  EXPECT_EQ(fcvi_sim({"soak", "--resume", "--out", folder / "out"}).status, 2);
  const std::string none = folder.write("none.yaml", "name: n\nports: [{name: a}]\n");
  EXPECT_THAT(fcvi_sim({"soak", none}).errors, HasSubstr("has no workload"));
  EXPECT_THAT(folder.files(), ElementsAre("none.yaml"));
}

// The state of one that was ended by its time.
TEST_F(Soak, a_soak_that_was_ended_goes_on) {
  const Finished first = fcvi_sim({"soak", "--seeds", "1..4000000", "--minutes", "0.005", "--out", folder / "out"});
  EXPECT_EQ(first.status, 0) << first.output << first.errors;
  EXPECT_THAT(first.output, HasSubstr("fcvi-sim soak --resume --out "));
  EXPECT_THAT(content_of(folder / "out/state.yaml"), HasSubstr("last: 4000000\n"));
  const Finished second = fcvi_sim({"soak", "--resume", "--minutes", "0.005", "--out", folder / "out"});
  EXPECT_EQ(second.status, 0) << second.output << second.errors;
  EXPECT_THAT(second.output, HasSubstr(", resumed"));
}

// What the user has there stays; nothing is run.
TEST_F(Soak, out_that_is_no_folder_is_refused_and_stays) {
  const std::string file = folder.write("mine", "text\n");
  const Finished run = fcvi_sim({"soak", "--seeds", "1..5", "--out", file});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.errors, HasSubstr("is no folder"));
  EXPECT_EQ(content_of(file), "text\n");
  EXPECT_EQ(fcvi_sim({"soak", "--seed", "5", "--out", file}).status, 2);
  EXPECT_EQ(fcvi_sim({"soak", "--seeds", "1..5", "--out", "/dev/null"}).status, 2);
  EXPECT_EQ(fcvi_sim({"soak", "--seeds", "1..5", "--out", ""}).status, 2);
  std::filesystem::create_directory(folder / "empty");
  EXPECT_EQ(fcvi_sim({"soak", "--seeds", "1..5", "--out", folder / "empty"}).status, 0);
  EXPECT_TRUE(std::filesystem::is_directory(folder / "empty"));
  std::filesystem::create_directory_symlink(folder / "empty", folder / "link");
  EXPECT_EQ(fcvi_sim({"soak", "--seeds", "1..5", "--out", folder / "link"}).status, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
}

TEST_F(Soak, the_state_of_another_soak_stays) {
  const std::string out = folder / "out";
  EXPECT_EQ(fcvi_sim({"soak", "--seeds", "1..4000000", "--minutes", "0.005", "--out", out}).status, 0);
  const std::string state = content_of(out + "/state.yaml");
  const Finished other = fcvi_sim({"soak", "--seeds", "1..5", "--out", out});
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.errors, HasSubstr("expected --resume, another --out"));
  EXPECT_EQ(content_of(out + "/state.yaml"), state);
  std::string built = state;
  built.replace(0, built.find('\n'), "build: 7");
  std::ofstream(out + "/state.yaml") << built;
  const Finished resumed = fcvi_sim({"soak", "--resume", "--out", out});
  EXPECT_EQ(resumed.status, 2);
  EXPECT_THAT(resumed.errors, HasSubstr("another build"));
}

TEST_F(Soak, numbers_that_are_none_are_refused) {
  for (const char* minutes : {"nan", "1e15", "1e300", "0.00001", "-1", "x"})
    EXPECT_EQ(fcvi_sim({"soak", "--minutes", minutes, "--out", folder / "out"}).status, 2) << minutes;
  for (const char* seed : {"-1", "99999999999999999999", "1.5"})
    EXPECT_EQ(fcvi_sim({"soak", "--seed", seed, "--print"}).status, 2) << seed;
  EXPECT_EQ(fcvi_sim({"soak", "--seeds", "18446744073709551615"}).status, 2);
  EXPECT_EQ(fcvi_sim({"soak", "--seed", "1", "--minutes", "1"}).status, 2);
  EXPECT_EQ(fcvi_sim({"soak", "--seed", "1", "--resume"}).status, 2);
  const Finished last = fcvi_sim({"soak", "--seeds", "18446744073709551610..", "--out", folder / "out"});
  EXPECT_EQ(last.status, 0) << last.output << last.errors;
  EXPECT_THAT(last.output, HasSubstr("\n5 runs, "));
}

TEST_F(Soak, what_it_includes_is_found_and_what_it_ignores_is_named) {
  std::filesystem::create_directory(folder / "deep");
  folder.write("deep/base.yaml", "ports: [{name: a}, {name: b}]\n");
  const std::string file = folder.write("deep/s.yaml",
                                        "name: s\ninclude: base.yaml\nexpectations: {discards: 0}\n"
                                        "workloads: [{name: w, client: a, server: b, hold: 1s}]\n");
  const Finished run = fcvi_sim({"soak", file, "--out", folder / "out"});
  EXPECT_EQ(run.status, 0) << run.output << run.errors;
  EXPECT_THAT(run.errors, HasSubstr("warning: soak ignores expectations"));
}

TEST_F(Soak, output_that_nobody_can_read_is_an_error) {
  const std::string program = std::string(FCVI_SIM) + " soak --seeds 1..5 --out " + (folder / "out");
  EXPECT_EQ(WEXITSTATUS(std::system((program + " > /dev/full 2> /dev/null").c_str())), 2);
  EXPECT_EQ(WEXITSTATUS(std::system((program + " > /dev/null").c_str())), 0);
}

}  // namespace
}  // namespace scenarios
