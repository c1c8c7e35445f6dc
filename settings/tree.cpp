#include "settings/tree.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>

#include "settings/units.hpp"

namespace settings {
namespace {

constexpr std::size_t max_values = 200'000;  // aliases multiply: a small file may stand for a large tree
constexpr std::size_t max_depth = 64;        // an alias may stand inside of what it stands for

std::string place(const std::string& name, const YAML::Mark& mark, Places places) {
  if (mark.line < 0) return name;
  std::string text = name + ":" + std::to_string(mark.line + 1);
  if (places == Places::Columns) text += ":" + std::to_string(mark.column + 1);
  return text;
}

class Converter {
 public:
  Converter(const std::string& name, Places places) : name_(name), places_(places) {}
  Tree convert(const YAML::Node& node) {
    Tree tree{.where = place(name_, node.Mark(), places_)};
    if (++count_ > max_values) throw BadInput{tree.where + ": more than " + format_count(max_values) + " values"};
    if (++depth_ > max_depth)
      throw BadInput{tree.where + ": more than " + std::to_string(max_depth) + " levels, one in another"};
    if (node.IsScalar()) {
      tree.kind = Tree::Kind::Scalar;
      tree.scalar = node.Scalar();
      tree.quoted = node.Tag() == "!";
    } else if (node.IsSequence()) {
      tree.kind = Tree::Kind::List;
      for (const YAML::Node& item : node) tree.items.push_back(convert(item));
    } else if (node.IsMap()) {
      tree.kind = Tree::Kind::Map;
      for (const auto& entry : node) add_entry(tree, entry.first, entry.second);
    }
    --depth_;
    return tree;
  }

 private:
  void add_entry(Tree& map, const YAML::Node& key, const YAML::Node& value) {
    const std::string where = place(name_, key.Mark(), places_);
    if (!key.IsScalar()) throw BadInput{where + ": a key must be plain text"};
    if (map.find(key.Scalar()) != nullptr) throw BadInput{where + ": key \"" + key.Scalar() + "\" stands here twice"};
    Tree converted = convert(value);
    converted.where = where;  // of the key: a list or mapping begins a line later
    map.entries.emplace_back(key.Scalar(), std::move(converted));
  }
  const std::string& name_;
  const Places places_;
  std::size_t count_ = 0, depth_ = 0;
};

Tree* item_by_name(Tree& list, std::string_view name) {
  for (Tree& item : list.items)
    if (const Tree* own = item.find("name"); own != nullptr && own->scalar == name) return &item;
  return nullptr;
}

/// One step of a path. nullptr when there is no such item.
Tree* step(Tree& tree, std::string_view key, const std::string& where) {
  if (tree.kind == Tree::Kind::List) {
    const auto position = parse_number(key);
    if (position) return *position < tree.items.size() ? &tree.items[*position] : nullptr;
    return item_by_name(tree, key);
  }
  if (tree.kind == Tree::Kind::Scalar) return nullptr;
  tree.kind = Tree::Kind::Map;
  if (Tree* found = tree.find(key); found != nullptr) return found;
  return &tree.entries.emplace_back(std::string(key), Tree{.where = where}).second;
}

}  // namespace

void throw_exception_from_error(const BadInput& error, const boost::source_location&) {
  throw std::invalid_argument(error.message);
}

Tree* Tree::find(std::string_view key) {
  for (auto& [name, value] : entries)
    if (name == key) return &value;
  return nullptr;
}

std::string Tree::describe() const {
  constexpr std::size_t most_shown = 100;
  switch (kind) {
    case Kind::Null: return "nothing";
    case Kind::Scalar: return "\"" + scalar.substr(0, most_shown) + (scalar.size() > most_shown ? "...\"" : "\"");
    case Kind::List: return "a list";
    case Kind::Map: return "a mapping";
  }
  return "?";
}

Result<Tree> parse_yaml(const std::string& text, const std::string& name, Places places) {
  try {
    return Converter(name, places).convert(YAML::Load(text));
  } catch (const YAML::Exception& error) {
    return BadInput{place(name, error.mark, places) + ": not YAML: " + error.msg};
  } catch (const BadInput& error) {
    return error;
  }
}

Result<void> assign(Tree& root, std::string_view assignment) {
  const std::string where = "--set " + std::string(assignment);
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos || equals == 0) return BadInput{where + ": expected KEY=VALUE"};
  std::string_view path = assignment.substr(0, equals);
  Tree* tree = &root;
  while (!path.empty()) {
    const std::string_view key = path.substr(0, path.find('.'));
    path.remove_prefix(std::min(path.size(), key.size() + 1));
    Tree* next = step(*tree, key, where);
    if (next == nullptr) return BadInput{where + ": there is no \"" + std::string(key) + "\" to go to"};
    tree = next;
  }
  if (tree->kind == Tree::Kind::List || tree->kind == Tree::Kind::Map)
    return BadInput{where + ": this is " + tree->describe() + "; only single values can be set"};
  *tree = Tree{.kind = Tree::Kind::Scalar, .where = where, .scalar = std::string(assignment.substr(equals + 1))};
  return {};
}

// How many letters must be changed, added, taken away, or swapped with their neighbour.
static std::size_t edit_distance(std::string_view left, std::string_view right) {
  std::vector<std::vector<std::size_t>> cost(left.size() + 1, std::vector<std::size_t>(right.size() + 1));
  for (std::size_t i = 0; i <= left.size(); ++i) {
    for (std::size_t j = 0; j <= right.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      const bool same = left[i - 1] == right[j - 1];
      cost[i][j] = std::min({cost[i - 1][j - 1] + (same ? 0 : 1), cost[i - 1][j] + 1, cost[i][j - 1] + 1});
      if (i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1])
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[left.size()][right.size()];
}

/// The shortest that has the word in it, in letters of any size: SEND_RQST is in FCVI_SEND_RQST.
static std::string_view with_in_it(std::string_view word, const std::vector<std::string_view>& known) {
  constexpr std::size_t shortest = 3;
  const auto same = [](char left, char right) {
    return std::tolower(static_cast<unsigned char>(left)) == std::tolower(static_cast<unsigned char>(right));
  };
  std::string_view best;
  if (word.size() < shortest) return best;
  for (const std::string_view candidate : known)
    if (!std::ranges::search(candidate, word, same).empty() && (best.empty() || candidate.size() < best.size()))
      best = candidate;
  return best;
}

/// The standard's names begin so, and are often said without it.
static std::string_view without_fcvi(std::string_view name) {
  return name.starts_with("FCVI_") || name.starts_with("fcvi_") ? name.substr(5) : name;
}

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& known) {
  constexpr std::size_t longest = 64;  // nobody mistypes more
  if (word.size() > longest) return {};
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(word.size() / 3, 1) + 1;  // a third of the word may differ
  for (const std::string_view candidate : known) {
    const std::size_t distance = std::min(edit_distance(word, candidate), edit_distance(word, without_fcvi(candidate)));
    if (distance >= best_distance) continue;
    best_distance = distance;
    best = candidate;
  }
  return best.empty() ? with_in_it(word, known) : best;
}

}  // namespace settings
