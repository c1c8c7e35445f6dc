// --json and --junit of fcvi-sim run.
#include "tools/fcvi_sim/run/result_files.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <sstream>

#include "tools/fcvi_sim/run/simulation.hpp"
#include "tools/fcvi_sim/scenario/loader.hpp"

namespace sim {
namespace {

constexpr const char* scenario_text = R"(name: "a < b & \"c\""
ports: [{name: a}, {name: b}]
workloads:
  - {name: w, client: a, server: b, transfers: [{operation: send, data: {random: 6KiB}, message_bytes: 2KiB}]}
faults:
  - {action: delay, by: 1us, message: FCVI_SEND_RQST, times: 1000}
)";

class ResultFilesTest : public testing::Test {
 protected:
  ResultFilesTest()
      : scenario_(*read_scenario(scenario_text, "s.yaml", "", {})), contents_(scenario_.seed),
        result_(Simulation(scenario_, contents_, {}).run()), verdicts_(check_expectations(scenario_, result_)) {}
  [[nodiscard]] RunOfFile run() const { return {file_, label_, scenario_, result_, verdicts_}; }

  const std::string file_ = "s.yaml", label_ = "n=1";
  const Scenario scenario_;
  const ContentStore contents_;
  const RunResult result_;
  const Verdicts verdicts_;
};

TEST_F(ResultFilesTest, json_is_a_line_that_says_what_was_seen) {
  const std::string line = json_line(run());
  ASSERT_EQ(line.find('\n'), line.size() - 1);
  const auto value = boost::json::parse(line).as_object();
  EXPECT_EQ(value.at("scenario").as_string(), "a < b & \"c\"");
  EXPECT_EQ(value.at("run").as_string(), "n=1");
  EXPECT_FALSE(value.at("held").as_bool());
  EXPECT_EQ(value.at("frames").to_number<std::uint64_t>(), result_.frame_count);
  const auto& transfer = value.at("workloads").at(0).at("transfers").at(0);
  EXPECT_EQ(transfer.at("messages").to_number<int>(), 3);
  EXPECT_EQ(transfer.at("bytes").to_number<int>(), 6144);
  EXPECT_EQ(value.at("faults").at(0).at("times").to_number<std::uint64_t>(), result_.faults[0]);
  const auto& expectations = value.at("expectations").as_array();
  ASSERT_EQ(expectations.size(), verdicts_.all.size());
  const auto of_fault = [](const auto& one) { return one.at("what").as_string().starts_with("fault 0 (delayed by"); };
  ASSERT_EQ(std::ranges::count_if(expectations, of_fault), 1);
  const auto& fault = *std::ranges::find_if(expectations, of_fault);
  EXPECT_EQ(fault.at("expected").as_string(), "exactly 1,000");
  EXPECT_FALSE(fault.at("held").as_bool());
  EXPECT_EQ(line, json_line(run()));
}

TEST_F(ResultFilesTest, junit_has_a_case_for_each_expectation) {
  JunitResults results;
  results.add(JunitResults::suite_of(run()));
  results.add(JunitResults::suite_of(run()));
  std::istringstream text(results.text());
  boost::property_tree::ptree document;
  boost::property_tree::read_xml(text, document);
  ASSERT_EQ(document.get_child("testsuites").size(), 2U);
  const auto& suite = document.get_child("testsuites.testsuite");
  EXPECT_EQ(suite.get<std::string>("<xmlattr>.name"), "a < b & \"c\"");
  EXPECT_EQ(suite.get<std::size_t>("<xmlattr>.tests"), verdicts_.all.size());
  EXPECT_EQ(suite.get<std::size_t>("<xmlattr>.failures"), 1U);
  EXPECT_EQ(suite.count("testcase"), verdicts_.all.size());
  std::vector<std::string> failures;
  for (const auto& [name, one] : suite)
    if (const auto message = one.get_optional<std::string>("failure.<xmlattr>.message"))
      failures.push_back(one.get<std::string>("<xmlattr>.name") + ": " + *message);
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_EQ(failures.front(), verdicts_.failures.front());
}

// Names may be anything; what is not UTF-8 is not in these files.
TEST_F(ResultFilesTest, names_are_utf_8) {
  const std::string bad = "x\xFF\xC3(\xE2\x82\xAC\x01";
  const RunOfFile run{bad, bad, scenario_, result_, verdicts_};
  const auto value = boost::json::parse(json_line(run)).as_object();
  EXPECT_EQ(value.at("file").as_string(), "x\xEF\xBF\xBD\xEF\xBF\xBD(\xE2\x82\xAC\xEF\xBF\xBD");
}

// Times of messages, groups with their survivors, and background; null where no times were noted.
TEST(ResultFiles, times_and_groups_are_in_the_json_line) {
  const std::string file = "s.yaml", label;
  const Scenario scenario = *read_scenario(
      "name: x\nports: [{name: a}, {name: b}]\nworkloads:\n"
      "  - {name: w, count: 2, client: a, server: b, expect_group: {survivors: 2},\n"
      "     transfers: [{operation: send, data: {random: 4KiB}, message_bytes: 1KiB, interval: 10us}]}\n"
      "  - {name: v, client: a, server: b}\n"
      "background: [{name: n, from: a, to: b, interval: 10us}]\n",
      file, "", {});
  const ContentStore contents(scenario.seed);
  Simulation simulation(scenario, contents, {});
  const RunResult& result = simulation.run();
  const Verdicts verdicts = check_expectations(scenario, result);
  const boost::json::value line = boost::json::parse(json_line({file, label, scenario, result, verdicts}));
  const boost::json::value& messages = line.at("workloads").at(0).at("messages");
  EXPECT_EQ(messages.at("count").to_number<int>(), 4);
  EXPECT_GT(messages.at("latency_ns").at("p99.9").to_number<int>(), 0);
  EXPECT_EQ(messages.at("messages_per_second").to_number<int>(), 100'000);
  EXPECT_TRUE(messages.at("recovery_ns").is_null());
  EXPECT_TRUE(line.at("workloads").at(2).at("messages").is_null());
  const boost::json::value& group = line.at("groups").at(0);
  EXPECT_EQ(boost::json::serialize(group.at("survivors")), R"(["w-1","w-2"])");
  EXPECT_EQ(group.at("messages").at("count").to_number<int>(), 8);
  EXPECT_GT(group.at("fairness").to_number<double>(), 0.99);
  EXPECT_GT(line.at("background").at(0).at("frames").to_number<int>(), 2);
}

}  // namespace
}  // namespace sim
