#include "tools/fabricd/fault_rules.hpp"

#include <algorithm>
#include <set>

#include "settings/reader.hpp"
#include "settings/units.hpp"
#include "settings/utf8.hpp"
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

// What a text begins with that a terminal or JSON cannot show; nullptr: nothing of that kind.
const char* unfit_start(std::string_view text, std::size_t character_bytes) {
  if (character_bytes == 0) return "this is no UTF-8";
  const auto first = static_cast<unsigned char>(text.front());
  const bool c1 = first == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0;  // U+0080 to U+009F
  return (first < ' ' && first != '\t') || first == 0x7F || c1 ? "a control character" : nullptr;
}

// Line breaks aside.
void refuse_unfit(std::string_view text, const std::string& name) {
  std::size_t line = 1, column = 1;
  while (!text.empty()) {
    const std::size_t bytes = settings::utf8_character_bytes(text);
    const bool breaks = text.front() == '\n';
    if (const char* why = unfit_start(text, bytes); why != nullptr && !breaks && !text.starts_with("\r\n"))
      throw BadInput{name + ":" + std::to_string(line) + ":" + std::to_string(column) + ": " + why};
    line += breaks ? 1 : 0;
    column = breaks ? 1 : column + 1;
    text.remove_prefix(bytes);
  }
}

// What escapes such as "\x1B" have made.
void refuse_unfit(const Tree& tree) {
  const auto look = [&tree](std::string_view text) {
    while (!text.empty()) {
      const std::size_t bytes = settings::utf8_character_bytes(text);
      if (const char* why = unfit_start(text, bytes)) throw BadInput{tree.where + ": " + why};
      text.remove_prefix(bytes);
    }
  };
  look(tree.scalar);
  for (const Tree& item : tree.items) refuse_unfit(item);
  for (const auto& [key, value] : tree.entries) look(key), refuse_unfit(value);
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
    refuse_unfit(text, name);
    auto tree = settings::parse_yaml(text, name, settings::Places::Columns);
    if (!tree) return tree.error();
    refuse_unfit(*tree);
    return load(list_of(std::move(*tree), name));
  } catch (const BadInput& error) {
    return error;
  }
}

}  // namespace fabricd
