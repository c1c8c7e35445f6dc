// Exit status, messages and files of fcvi-sim, good input and bad.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/scenarios/command.hpp"
#include "tests/support/source_dir.hpp"

namespace scenarios {
namespace {
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* small = R"(name: small
ports: [{name: a}, {name: b}]
workloads:
  - name: w
    client: a
    server: b
    transfers: [{operation: send, data: {random: 10000}, message_bytes: 999}]
)";

class Inputs : public testing::Test {
 protected:
  Folder folder;
  std::string scenario = folder.write("s.yaml", small);
};

TEST_F(Inputs, good_scenario_says_what_it_wrote) {
  const Finished run = fcvi_sim({"run", scenario, "--capture", folder / "c.pcapng", "--ladder", folder / "l.svg"});
  EXPECT_EQ(run.status, 0) << run.output << run.errors;
  EXPECT_EQ(run.errors, "");
  EXPECT_THAT(folder.files(), ElementsAre("c.pcapng", "l.svg", "s.yaml"));
  EXPECT_THAT(run.output, HasSubstr("wrote " + folder / "c.pcapng" + " ("));
  EXPECT_THAT(run.output, HasSubstr("wrote " + folder / "l.svg" + " ("));
  EXPECT_THAT(run.output, HasSubstr("expectations held"));
  EXPECT_THAT(content_of(folder / "l.svg"), HasSubstr("FCVI_SEND_RQST"));
}

TEST_F(Inputs, failed_expectation_exits_1_with_its_capture) {
  const Finished run =
      fcvi_sim({"run", scenario, "--set", "expectations.ius.FLOGI=3", "--capture", folder / "c.pcapng"});
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.output, HasSubstr("FAILED IUs FLOGI: expected exactly 3, got 2\n"));
  EXPECT_THAT(folder.files(), ElementsAre("c.pcapng", "s.yaml"));  // to look into
}

constexpr const char* several = R"(name: several
parameters: {size: 2000}
for_each: {level: [reliable_delivery, reliable_reception], port: [a, "x y"]}
ports: [{name: "${port}"}, {name: b}]
workloads:
  - name: w
    client: ${port}
    server: b
    reliability: ${level}
    transfers: [{operation: send, data: {random: "${size}"}}]
expectations: {ius: {FLOGI: {max: 2}}}
)";

TEST_F(Inputs, several_runs_have_files_of_their_own) {
  const std::string file = folder.write("m.yaml", several);
  const Finished run = fcvi_sim({"run", file, "--only", "level=reliable_reception", "--capture", folder / "c.pcapng",
                                 "--json", folder / "r.jsonl", "--junit", folder / "r.xml"});
  EXPECT_EQ(run.status, 0) << run.output << run.errors;
  EXPECT_THAT(run.output, HasSubstr("level=reliable_reception, port=x y: "));
  EXPECT_THAT(run.output, HasSubstr("\n2 runs: all held\n"));
  EXPECT_THAT(folder.files(),
              ElementsAre("c.level-reliable_reception.port-a.pcapng", "c.level-reliable_reception.port-x-y.pcapng",
                          "m.yaml", "r.jsonl", "r.xml", "s.yaml"));
  const std::string lines = content_of(folder / "r.jsonl");
  EXPECT_EQ(std::ranges::count(lines, '\n'), 2);
  EXPECT_THAT(content_of(folder / "r.xml"),
              HasSubstr("<testsuite name=\"several (level=reliable_reception, port=a)\""));
}

TEST_F(Inputs, several_runs_fail_by_name) {
  const std::string file = folder.write("m.yaml", several);
  const Finished run = fcvi_sim({"run", file, "--set", "expectations.ius.FLOGI.max=1", "--only", "port=a"});
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.output, HasSubstr("FAILED IUs FLOGI: expected at most 1, got 2\n"));
  EXPECT_THAT(run.output, HasSubstr("2 runs: 2 failed:\n  level=reliable_delivery, port=a\n"));
}

// Of several runs one is bad: none begins, nothing is written.
TEST_F(Inputs, several_runs_are_read_before_the_first_begins) {
  const std::string file = folder.write("m.yaml", std::string(several) + "seed: \"${seeds}\"\n");
  const Finished run = fcvi_sim({"run", file, "--capture", folder / "c.pcapng", "--json", folder / "r.jsonl"});
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.output, "");
  EXPECT_THAT(run.errors, HasSubstr("m.yaml:12: there is no parameter \"seeds\""));
  EXPECT_THAT(folder.files(), ElementsAre("m.yaml", "s.yaml"));
}

// No output is an input, an included one neither, or another output by another name.
TEST_F(Inputs, outputs_of_several_runs_are_told_apart_before_the_first) {
  const std::string included = folder.write("i.yaml", "parameters: {size: 2000}\n");
  const std::string file = folder.write("m.yaml", "include: i.yaml\n" + std::string(several));
  const auto refused = [&](const std::vector<std::string>& options) {
    std::vector<std::string> all{"run", file};
    all.insert(all.end(), options.begin(), options.end());
    const Finished run = fcvi_sim(all);
    EXPECT_EQ(run.status, 2);
    EXPECT_EQ(run.output, "");
    return run.errors;
  };
  EXPECT_THAT(refused({"--json", included}), HasSubstr("i.yaml: is an input of this run"));
  EXPECT_THAT(refused({"--json", folder / "r", "--junit", folder / "./r"}), HasSubstr("named for two outputs"));
  EXPECT_THAT(refused({"--json", folder / "./c.level-reliable_delivery.port-a.x", "--capture", folder / "c.x"}),
              HasSubstr("named for two outputs"));
  EXPECT_THAT(refused({"--capture", folder / ""}), HasSubstr("is a folder"));
  EXPECT_THAT(folder.files(), ElementsAre("i.yaml", "m.yaml", "s.yaml"));
  EXPECT_EQ(fcvi_sim({"run", file, "--capture", "/dev/null", "--json", "/dev/null"}).status, 0);
}

TEST_F(Inputs, check_reads_and_runs_nothing) {
  const std::string file = folder.write("m.yaml", several), bad = folder.write("b.yaml", "name: x\nport: []\n");
  const Finished run = fcvi_sim({"check", scenario, file, bad});
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.output, scenario + ": good: 1 run, 2 ports, 1 workload, 0 faults\n" + file +
                            ": good: 4 runs, the first of 2 ports, 1 workload, 0 faults\n");
  EXPECT_THAT(run.errors, HasSubstr("b.yaml:2: "));
  EXPECT_EQ(fcvi_sim({"check", scenario}).status, 0);
}

// tools/scenarios/scale.yaml, smaller: many ports on many switches, in one process, told of together.
TEST_F(Inputs, many_ports_connect_pairwise) {
  const Finished run =
      fcvi_sim({"run", support::source_dir() + "/tools/scenarios/scale.yaml", "--set", "ports.client.count=500",
                "--set", "ports.server.count=500", "--set", "workloads.pair.count=500"});
  EXPECT_EQ(run.status, 0) << run.output << run.errors;
  EXPECT_THAT(run.output, HasSubstr("1000 ports"));
  EXPECT_THAT(run.output, HasSubstr("500 connections pair-1 to pair-500, set-up in "));
  EXPECT_THAT(run.output, HasSubstr("\n  Success: 500\n"));
  EXPECT_THAT(run.output, Not(HasSubstr("discarded at")));
}

struct Bad {
  const char* text;
  const char* message;
};

TEST_F(Inputs, bad_scenario_exits_2_and_writes_nothing) {
  for (const auto& [text, message] :
       {Bad{"name: x\nprts: 1\n", ":2: unknown key \"prts\" in the scenario; did you mean \"ports\"?"},
        Bad{"name: x\nports: 7\n", ":2: ports: expected a list, got \"7\""},
        Bad{"name: x\nports: [{name: a}]\nfile: none.bin\n", ":3: file: expected a file that exists, got \"none.bin\""},
        Bad{"name: x\nports: [{name: a}, {name: b}]\nworkloads:\n"
            "  - {name: w, client: a, server: b, expect: {connect: VIP_NOT_REACHABLE}}\n",
            ":4: connect: expected the VI-ARCH name NotReachable, got \"VIP_NOT_REACHABLE\""},
        Bad{"name: [", ":1: not YAML"}}) {
    const std::string path = folder.write("s.yaml", text);
    const Finished run = fcvi_sim({"run", path, "--capture", folder / "c.pcapng", "--ladder", folder / "l.svg"});
    EXPECT_EQ(run.status, 2) << text;
    EXPECT_THAT(run.errors, HasSubstr("fcvi-sim: " + path + message));
    EXPECT_EQ(run.output, "");
    EXPECT_THAT(folder.files(), ElementsAre("s.yaml"));
  }
}

TEST_F(Inputs, bad_command_lines_exit_2) {
  EXPECT_EQ(fcvi_sim({}).status, 2);
  EXPECT_EQ(fcvi_sim({"run"}).status, 2);
  EXPECT_EQ(fcvi_sim({"fly"}).status, 2);
  EXPECT_EQ(fcvi_sim({"run", scenario, "--seed", "x"}).status, 2);
  EXPECT_EQ(fcvi_sim({"run", scenario, "--set"}).status, 2);
  EXPECT_EQ(fcvi_sim({"run", scenario, "--report"}).status, 2);
  EXPECT_THAT(fcvi_sim({"run", folder / "none.yaml"}).errors, HasSubstr("none.yaml: cannot read: No such file"));
  EXPECT_THAT(fcvi_sim({"run", scenario, "--file", folder / "none"}).errors,
              HasSubstr("--file " + folder / "none" + ": no such file"));
  EXPECT_THAT(fcvi_sim({"run", scenario, "--set", "seed=x"}).errors,
              HasSubstr("--set seed=x: seed: expected a whole number"));
}

TEST_F(Inputs, outputs_that_cannot_be_written_exit_2) {
  EXPECT_EQ(fcvi_sim({"run", scenario, "--capture", folder / "no/such/c.pcapng"}).status, 2);
  EXPECT_THAT(fcvi_sim({"run", scenario, "--capture", scenario}).errors, HasSubstr("is an input of this run"));
  EXPECT_THAT(fcvi_sim({"run", scenario, "--capture", folder / "x", "--ladder", folder / "x"}).errors,
              HasSubstr("named for two outputs"));
  EXPECT_EQ(content_of(scenario), small);
  EXPECT_THAT(folder.files(), ElementsAre("s.yaml"));
}

TEST_F(Inputs, help_and_version) {
  const Finished help = fcvi_sim({"run", "--help"});
  EXPECT_EQ(help.status, 0);
  for (const char* option : {"--seed", "--capture", "--ladder", "--set", "--file", "Exit status"})
    EXPECT_THAT(help.output, HasSubstr(option));
  EXPECT_EQ(fcvi_sim({"--version"}).output.substr(0, 9), "fcvi-sim ");
}

TEST_F(Inputs, decode_prints_a_line_for_each_frame) {
  ASSERT_EQ(fcvi_sim({"run", scenario, "--capture", folder / "c.pcapng"}).status, 0);
  const Finished decode = fcvi_sim({"decode", folder / "c.pcapng"});
  EXPECT_EQ(decode.status, 0) << decode.errors;
  for (const char* name : {"FLOGI", "GID_IPP", "FCVI_CONNECT_RQST", "FCVI_SEND_RQST", "FCVI_DISCONNECT_RESP", "LOGO"})
    EXPECT_THAT(decode.output, HasSubstr(name));
  EXPECT_THAT(decode.output, Not(HasSubstr("malformed")));
  const std::string capture = content_of(folder / "c.pcapng");
  const Finished cut = fcvi_sim({"decode", folder.write("cut.pcapng", capture.substr(0, capture.size() - 10))});
  EXPECT_EQ(cut.status, 2);
  EXPECT_THAT(cut.errors, HasSubstr("cut.pcapng: frame "));
  EXPECT_EQ(fcvi_sim({"decode", scenario}).status, 2);
}

}  // namespace
}  // namespace scenarios
