// The rules of faults on the live fabric: what can be written, and what a mistake is told, with its place.
#include "tools/fabricd/fault_rules.hpp"

#include <gtest/gtest.h>

namespace fabricd {
namespace {

std::vector<LiveRule> rules_in(const std::string& text) {
  auto rules = fault_rules_in(text, "F.yaml");
  EXPECT_TRUE(rules) << rules.error().message;
  return rules ? *rules : std::vector<LiveRule>{};
}
std::string error_of(const std::string& text) {
  const auto rules = fault_rules_in(text, "F.yaml");
  return rules ? "none" : rules.error().message;
}

// A rule, a list of rules, or the `faults` of a file; the names of ports stay names, whether ports are there or not.
TEST(FaultRules, forms_are_the_same_rules) {
  for (const char* text : {"{action: drop, port: alice, peer: 010200, nth: [2, 3]}",
                           "- {action: drop, port: alice, peer: 010200, nth: [2, 3]}",
                           "faults:\n- action: drop\n  port: alice\n  peer: 010200\n  nth: [2, 3]\n"}) {
    const auto rules = rules_in(text);
    ASSERT_EQ(rules.size(), 1U) << text;
    EXPECT_EQ(rules[0].ports, std::vector<std::string>{"alice"});
    EXPECT_EQ(rules[0].peers, std::vector<std::string>{"010200"});
    EXPECT_TRUE(rules[0].rule.match.links.empty() && rules[0].rule.match.peers.empty());
    EXPECT_EQ(rules[0].rule.turns, (std::vector<std::uint64_t>{2, 3}));
    EXPECT_EQ(rules[0].text, "{action: drop, port: alice, peer: 010200, nth: [2, 3]}");
  }
  EXPECT_TRUE(rules_in("[]").empty());
}

// What JSON and terminals cannot show is refused with its place, whether it stands there or an escape makes it.
TEST(FaultRules, text_is_utf8_without_control_characters) {
  EXPECT_EQ(error_of("{action: drop,\n port: \xff}"), "F.yaml:2:8: this is no UTF-8");
  EXPECT_EQ(error_of("{action: drop, port: \xc3}"), "F.yaml:1:22: this is no UTF-8");
  EXPECT_EQ(error_of("{action: drop, port: \xc3\xa9\x1b}"), "F.yaml:1:23: a control character");
  EXPECT_EQ(error_of("{action: drop, port: \xc2\x9b}"), "F.yaml:1:22: a control character");
  EXPECT_EQ(error_of("{action: drop, port: \"\\x1b\"}"), "F.yaml:1:16: a control character");
  EXPECT_EQ(error_of(std::string("{action: drop}\0", 15)), "F.yaml:1:15: a control character");
  EXPECT_EQ(rules_in("# \xc3\xa9\r\n- {action: drop,\tport: \xc3\xa9}\r\n").size(), 1U);
}

// Each rule has its own ports.
TEST(FaultRules, several_rules_keep_their_ports) {
  const auto rules =
      rules_in("[{action: drop, port: zoe}, {action: drop}, {action: delay, by: 1ms, port: anne, peer: zoe}]");
  ASSERT_EQ(rules.size(), 3U);
  EXPECT_EQ(rules[0].ports, std::vector<std::string>{"zoe"});
  EXPECT_TRUE(rules[1].ports.empty() && rules[1].peers.empty());
  EXPECT_EQ(rules[2].ports, std::vector<std::string>{"anne"});
  EXPECT_EQ(rules[2].peers, std::vector<std::string>{"zoe"});
}

// Each action that messages name is one that can be written.
TEST(FaultRules, every_live_action_loads) {
  const std::map<std::string_view, std::string> keys = {{"delay", ", by: 1ms"},
                                                        {"truncate", ", bytes: 40"},
                                                        {"rewrite", ", set: {fcvi_flags: 1}"},
                                                        {"silence", ", port: alice"}};
  for (const std::string_view action : live_actions()) {
    const auto more = keys.find(action);
    const auto rules = rules_in("{action: " + std::string(action) + (more == keys.end() ? "" : more->second) + "}");
    ASSERT_EQ(rules.size(), 1U) << action;
    EXPECT_TRUE(rules[0].rule.action) << action;
  }
}

// What was written comes back as YAML that says the same.
TEST(FaultRules, text_is_yaml_again) {
  const auto first =
      rules_in("{action: drop, port: \"viping[12] VINIC\", peer: \"a \\\"b\\\" \\\\c\", fields: {seq_cnt: {min: 2}}}");
  ASSERT_EQ(first.size(), 1U);
  const auto again = rules_in(first[0].text);
  ASSERT_EQ(again.size(), 1U) << first[0].text;
  EXPECT_EQ(again[0].ports, first[0].ports);
  EXPECT_EQ(again[0].peers, first[0].peers);
  EXPECT_EQ(again[0].text, first[0].text);
}

// File, line and column, what was expected, and the nearest name.
TEST(FaultRules, mistakes_are_told_with_their_place) {
  const std::pair<const char*, const char*> mistakes[] = {
      {"{action: dropp}",
       "F.yaml:1:2: action: expected one of drop, duplicate, delay, reorder, corrupt, truncate, rewrite, "
       "silence, got \"dropp\"; did you mean \"drop\"?"},
      {"- {action: drop}\n- {action: drop, mesage: ABTS}\n",
       "F.yaml:2:18: unknown key \"mesage\" in faults[1]; did you mean \"message\"?"},
      {"{action: drop, message: FCVI_SEND_RQTS}",
       "F.yaml:1:16: message: expected a known name, got \"FCVI_SEND_RQTS\"; "
       "did you mean \"FCVI_SEND_RQST\"?"},
      {"{action: partition, ports: [a]}", "F.yaml:1:2: action: expected one of drop"},
      {"{action: link_down, port: a, at: 1s}", "F.yaml:1:2: action: expected one of drop"},
      {"{action: drop, workload: w}", "F.yaml:1:16: workload: known in scenarios only"},
      {"{action: drop, times: 3}", "F.yaml:1:16: times: known in scenarios only"},
      {"{action: delay}", "F.yaml:1:1: faults[0] needs the key \"by\""},
      {"{message: ABTS}", "F.yaml:1:1: faults[0]: action is missing"},
      {"{faults: [], topology: {}}", "F.yaml:1:14: unknown key \"topology\" in the file of faults; known: faults"},
      {"{action: drop, port: [a]}", "F.yaml:1:16: port: expected text, got a list"},
      {"drop", "F.yaml:1:1: faults: expected a rule such as {action: drop}, or a list, got \"drop\""},
      {"{action: drop", "F.yaml:1:1: not YAML"},
      {"", "faults: expected a rule such as {action: drop}, or a list, got nothing"}};
  for (const auto& [text, message] : mistakes) {
    const std::string told = error_of(text);
    EXPECT_NE(told.find(message), std::string::npos) << text << "\n told: " << told;
  }
}

// However much comes, and however deep: it is refused before it costs anything.
TEST(FaultRules, too_much_is_refused) {
  EXPECT_EQ(error_of(std::string(max_rules_bytes + 1, ' ')), "F.yaml: more than 65,536 bytes");
  std::string many = "[";
  for (std::size_t i = 0; i <= max_live_rules; ++i) many += "{action: drop},";
  EXPECT_NE(error_of(many + "]").find("more than 256 rules"), std::string::npos);
  EXPECT_NE(error_of(std::string(max_rules_bytes, '[')), "none");
  EXPECT_NE(error_of(std::string(max_rules_bytes, '{')), "none");
  EXPECT_NE(error_of("a: &a [x,x,x,x]\nb: &b [*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b]\nfaults: [*c]\n"), "none");
}

}  // namespace
}  // namespace fabricd
