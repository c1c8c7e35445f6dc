// The rules of faults on the live fabric as people write them: the faults of a scenario (tools/scenarios/README.md),
// on ports that need not be there yet.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "settings/tree.hpp"
#include "tools/faults/rules.hpp"

namespace fabricd {

/// A rule whose ports are known by what people call them; its match has no links and no peers.
struct LiveRule {
  faults::Rule rule;
  std::vector<std::string> ports, peers;  // empty: any
  std::string text;                       // all that was written, in one line: "{action: drop, nth: 2}"
};

inline constexpr std::size_t max_live_rules = 256;
/// Of the text that fault_rules_in() reads; far more than so many rules need.
inline constexpr std::size_t max_rules_bytes = 64 * 1024;

/// What may happen to frames here; the other actions of scenarios befall what a live fabric has not, or by other means.
[[nodiscard]] std::vector<std::string_view> live_actions();

/// Reads YAML: a rule, a list of rules, or a mapping whose only key is `faults`, with such a list. Times count from
/// when the rule is added. `name` names the text in messages: "F.yaml:3:12: action: expected one of ...".
[[nodiscard]] settings::Result<std::vector<LiveRule>> fault_rules_in(const std::string& text, const std::string& name);

}  // namespace fabricd
