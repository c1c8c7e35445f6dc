#include "tools/fcvi_sim/soak/shrinker.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "tools/fcvi_sim/soak/yaml_text.hpp"

namespace sim::soak {
namespace {
using settings::Tree;

constexpr std::array<std::string_view, 6> port_keys{"client", "server", "port", "peer", "ports", "direction"};
constexpr std::array<std::string_view, 2> kept_keys{"name", "seed"};

template <class Names>
bool is_one_of(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Tree scalar_of(const std::string& text) { return {.kind = Tree::Kind::Scalar, .where = "", .scalar = text}; }

/// The digits at the beginning of a text: "250us" is 250. 0: there are none, or too many.
std::size_t digits_of(const std::string& text) {
  std::size_t digits = 0;
  while (digits < text.size() && std::isdigit(static_cast<unsigned char>(text[digits])) != 0) ++digits;
  const bool is_number = digits == text.size() || std::isalpha(static_cast<unsigned char>(text[digits])) != 0;
  constexpr std::size_t most_digits = 18;
  return is_number && digits <= most_digits && !text.starts_with("0x") ? digits : 0;
}

std::vector<std::string> port_names(const Tree& root) {
  std::vector<std::string> names;
  if (const Tree* ports = root.find("ports"))
    for (const Tree& port : ports->items)
      if (const Tree* name = port.find("name")) names.push_back(name->scalar);
  return names;
}

}  // namespace

Shrinker::Shrinker(Tree root, Fails fails, std::size_t most)
    : root_(std::move(root)), fails_(std::move(fails)), most_(most) {
  tried_.emplace(text(), true);
}

std::string Shrinker::text() const { return yaml_text(root_); }

Tree& Shrinker::at(Tree& root, const Path& path) const {
  Tree* part = &root;
  for (const std::size_t step : path)
    part = part->kind == Tree::Kind::List ? &part->items[step] : &part->entries[step].second;
  return *part;
}

bool Shrinker::fails(const std::string& text) {
  if (const auto known = tried_.find(text); known != tried_.end()) return known->second;
  cut_short_ = cut_short_ || trials() >= most_;
  return !cut_short_ && tried_.emplace(text, fails_(text)).first->second;
}

bool Shrinker::try_change(const Path& path, const Change& change) {
  Tree candidate = root_;
  change(at(candidate, path));
  const std::string text = yaml_text(candidate);
  if (text == yaml_text(root_) || !fails(text)) return false;
  root_ = std::move(candidate);
  return true;
}

// As Zeller's ddmin: halves first, then quarters, at last single items.
bool Shrinker::shorten_list(const Path& path) {
  bool changed = false;
  for (std::size_t size = at(root_, path).items.size(); size > 0; size /= 2) {
    for (std::size_t end = at(root_, path).items.size(); end > 0;) {
      const std::size_t begin = end > size ? end - size : 0;
      const auto drop = [&](Tree& list) {
        list.items.erase(list.items.begin() + static_cast<std::ptrdiff_t>(begin),
                         list.items.begin() + static_cast<std::ptrdiff_t>(end));
      };
      changed = try_change(path, drop) || changed;
      end = begin;
    }
  }
  return changed;
}

bool Shrinker::drop_entries(const Path& path) {
  bool changed = false;
  for (std::size_t i = at(root_, path).entries.size(); i-- > 0;)
    changed =
        try_change(path, [i](Tree& map) { map.entries.erase(map.entries.begin() + static_cast<std::ptrdiff_t>(i)); }) ||
        changed;
  return changed;
}

bool Shrinker::lower_number(const Path& path) {
  bool changed = false;
  const std::string text = at(root_, path).scalar;
  const std::size_t digits = digits_of(text);
  if (digits == 0) return false;
  std::uint64_t value = std::stoull(text.substr(0, digits));
  const auto lowered_to = [&](std::uint64_t to) {
    return try_change(path, [&](Tree& scalar) { scalar.scalar = std::to_string(to) + text.substr(digits); });
  };
  for (std::uint64_t step = value; step > 0; step /= 2)
    while (value >= step && lowered_to(value - step)) {
      value -= step;
      changed = true;
    }
  return changed;
}

bool Shrinker::name_other_port(const Path& path) {
  const std::string text = at(root_, path).scalar;
  for (const std::string& name : port_names(root_)) {
    if (name == text) return false;
    if (try_change(path, [&](Tree& scalar) { scalar.scalar = name; })) return true;
  }
  return false;
}

bool Shrinker::shrink_part(const Path& path, bool names_port) {
  const Tree::Kind kind = at(root_, path).kind;
  if (kind == Tree::Kind::Scalar) return names_port ? name_other_port(path) : lower_number(path);
  bool changed = kind == Tree::Kind::List ? shorten_list(path) : drop_entries(path);
  Path part = path;
  part.push_back(0);
  for (std::size_t& i = part.back(); i < std::max(at(root_, path).items.size(), at(root_, path).entries.size()); ++i) {
    const Tree& whole = at(root_, path);
    const std::string key = kind == Tree::Kind::Map ? whole.entries[i].first : "";
    if (is_one_of(kept_keys, key)) continue;
    changed = shrink_part(part, names_port || is_one_of(port_keys, key)) || changed;
  }
  return changed;
}

const Tree& Shrinker::shrink() {
  // What others depend on goes last: a port when no workload names it.
  for (bool changed = true; changed;) {
    changed = false;
    for (const std::string_view key : {"workloads", "faults", "ports"})
      for (std::size_t i = 0; i < root_.entries.size(); ++i)
        if (root_.entries[i].first == key) changed = shorten_list({i}) || changed;
    changed = shrink_part({}, false) || changed;
  }
  return root_;
}

void Shrinker::name_turns(const Scenario& scenario, const Outcome& outcome) {
  std::size_t list = 0;
  while (list < root_.entries.size() && root_.entries[list].first != "faults") ++list;
  if (list == root_.entries.size()) return;
  for (std::size_t rule = 0; rule < std::min(scenario.faults.size(), outcome.turns.size()); ++rule) {
    const auto& items = root_.entries[list].second.items;
    const auto found = std::find_if(items.begin(), items.end(),
                                    [&](const Tree& item) { return item.where == scenario.faults[rule].where; });
    if (found == items.end() || outcome.turns[rule].empty()) continue;
    Tree turns{.kind = Tree::Kind::List, .where = ""};
    for (const std::uint64_t turn : outcome.turns[rule]) turns.items.push_back(scalar_of(std::to_string(turn)));
    const auto name = [&](Tree& fault) {
      constexpr std::array<std::string_view, 5> by_chance{"nth", "every", "probability", "limit", "until"};
      std::erase_if(fault.entries, [&](const auto& entry) { return is_one_of(by_chance, entry.first); });
      fault.entries.emplace_back("nth", turns);
    };
    try_change({list, static_cast<std::size_t>(found - items.begin())}, name);
  }
}

}  // namespace sim::soak
