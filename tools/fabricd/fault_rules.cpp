#include "tools/fabricd/fault_rules.hpp"

#include <algorithm>
#include <set>

#include "settings/reader.hpp"
#include "settings/units.hpp"
#include "tools/fcvi_sim/scenario/parts_loader.hpp"

namespace fabricd {
using settings::BadInput;
using settings::Tree;

namespace {
constexpr std::string_view actions[] = {"drop",    "duplicate", "delay",   "reorder",
                                        "corrupt", "truncate",  "rewrite", "silence"};

// As YAML within { } wants it.
std::string scalar_of(const std::string& text, bool quoted) {
  const bool plain = !text.empty() && text.find_first_of(",:#[]{}&*!|>'\"%@`\\ \t\r\n") == std::string::npos;
  if (plain && !quoted) return text;
  std::string line = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') line += '\\';
    line += static_cast<unsigned char>(letter) < ' ' ? ' ' : letter;
  }
  return line + "\"";
}

std::string in_one_line(const Tree& tree) {
  std::string line;
  const auto add = [&line](const std::string& part) { line += (line.empty() ? "" : ", ") + part; };
  switch (tree.kind) {
    case Tree::Kind::Null: return "null";
    case Tree::Kind::Scalar: return scalar_of(tree.scalar, tree.quoted);
    case Tree::Kind::List:
      for (const Tree& item : tree.items) add(in_one_line(item));
      return "[" + line + "]";
    case Tree::Kind::Map:
      for (const auto& [key, value] : tree.entries) add(scalar_of(key, false) + ": " + in_one_line(value));
      return "{" + line + "}";
  }
  return {};
}

// A rule, rules, or the `faults` of a file.
Tree list_of(Tree tree, const std::string& name) {
  if (tree.kind == Tree::Kind::Map && tree.find("faults") != nullptr) {
    const settings::MapReader only(tree, "the file of faults", {"faults"});
    return *only.find("faults");
  }
  if (tree.kind == Tree::Kind::List) return tree;
  if (tree.kind != Tree::Kind::Map) settings::fail_expected(tree, "faults", "a rule such as {action: drop}, or a list");
  return Tree{.kind = Tree::Kind::List, .where = name, .items = {std::move(tree)}};
}

// What only a scenario has.
void refuse_foreign(const Tree& item) {
  if (const Tree* action = item.find("action");
      action != nullptr && std::find(std::begin(actions), std::end(actions), action->scalar) == std::end(actions))
    settings::fail_choice(*action, "action", live_actions());
  constexpr std::pair<std::string_view, const char*> foreign[] = {
      {"workload", "known in scenarios only; a live fabric has port, peer and fields.fcvi_handle"},
      {"times", "known in scenarios only, where it is an expectation; limit ends a rule"}};
  for (const auto& [key, why] : foreign)
    if (const Tree* tree = item.find(key)) throw BadInput{tree->where + ": " + std::string(key) + ": " + why};
}

/// What the rules call ports: positions in it stand for them while the rules are loaded.
class Called {
 public:
  explicit Called(const Tree& list) {
    for (const Tree& item : list.items)
      for (const std::string_view key : {"port", "peer"})
        if (const Tree* tree = item.find(key)) all_.insert(settings::read_text(*tree, key));
  }
  [[nodiscard]] sim::Names names() const {
    sim::Names names;
    names.ports.assign(all_.begin(), all_.end());
    names.on_loop.assign(all_.size(), false);
    return names;
  }
  [[nodiscard]] std::vector<std::string> take(std::vector<std::size_t>& positions) const {
    std::vector<std::string> texts;
    for (const std::size_t position : std::exchange(positions, {}))
      texts.push_back(*std::next(all_.begin(), static_cast<std::ptrdiff_t>(position)));
    return texts;
  }

 private:
  std::set<std::string> all_;
};

std::vector<LiveRule> load(const Tree& list) {
  if (list.items.size() > max_live_rules)
    throw BadInput{list.where + ": more than " + settings::format_count(max_live_rules) + " rules"};
  for (const Tree& item : list.items) refuse_foreign(item);
  const Called called(list);
  std::vector<LiveRule> rules;
  const auto specs = sim::load_faults(list, called.names(), sim::TopologyKind::Fabric);
  for (std::size_t i = 0; i < specs.size(); ++i) {  // one for each item: no action that stays makes more
    LiveRule& rule = rules.emplace_back(LiveRule{specs[i].rule, {}, {}, in_one_line(list.items[i])});
    rule.ports = called.take(rule.rule.match.links);
    rule.peers = called.take(rule.rule.match.peers);
  }
  return rules;
}
}  // namespace

std::vector<std::string_view> live_actions() { return {std::begin(actions), std::end(actions)}; }

settings::Result<std::vector<LiveRule>> fault_rules_in(const std::string& text, const std::string& name) {
  if (text.size() > max_rules_bytes)
    return BadInput{name + ": more than " + settings::format_count(max_rules_bytes) + " bytes"};
  try {
    auto tree = settings::parse_yaml(text, name, settings::Places::Columns);
    if (!tree) return tree.error();
    return load(list_of(std::move(*tree), name));
  } catch (const BadInput& error) {
    return error;
  }
}

}  // namespace fabricd
