#include "tools/fcvi_sim/scenario/matrix.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "settings/file.hpp"
#include "settings/reader.hpp"
#include "tools/fcvi_sim/scenario/placeholders.hpp"

namespace sim {
using namespace settings;
namespace {

constexpr std::uint64_t max_file_bytes = 4u << 20;
constexpr std::size_t max_runs = 10'000;
constexpr std::size_t max_includes = 100;

/// Takes the key out of a mapping.
std::optional<Tree> take(Tree& map, std::string_view key) {
  const auto found =
      std::find_if(map.entries.begin(), map.entries.end(), [&](const auto& entry) { return entry.first == key; });
  if (found == map.entries.end()) return std::nullopt;
  Tree value = std::move(found->second);
  map.entries.erase(found);
  return value;
}

void expect_map(const Tree& tree, std::string_view key, std::string_view what) {
  if (tree.kind != Tree::Kind::Map) fail_expected(tree, key, what);
}

/// YAML, of a file that may have ${NAME} where YAML takes } for an end.
Result<Tree> parse(const std::string& text, const std::string& name) {
  Result<Tree> tree = parse_yaml(text, name);
  if (tree || text.find("${") == std::string::npos || tree.error().message.find("flow") == std::string::npos)
    return tree;
  return BadInput{tree.error().message + "; within { } and [ ] put quotes around ${...}"};
}

// --- include

/// What `own` does not say: mappings key by key; of lists the items of `base` first.
void merge(Tree& own, Tree base) {
  for (auto& [key, value] : base.entries) {
    Tree* const here = own.find(key);
    if (here == nullptr) {
      own.entries.emplace_back(key, std::move(value));
    } else if (here->kind == Tree::Kind::Map && value.kind == Tree::Kind::Map) {
      merge(*here, std::move(value));
    } else if (here->kind == Tree::Kind::List && value.kind == Tree::Kind::List) {
      here->items.insert(here->items.begin(), std::make_move_iterator(value.items.begin()),
                         std::make_move_iterator(value.items.end()));
    }
  }
}

class Includer {
 public:
  /// Reads what `root`, of a file in `folder`, includes.
  void include(Tree& root, const std::filesystem::path& folder) {
    const auto paths = take(root, "include");
    if (!paths) return;
    if (paths->kind == Tree::Kind::List) {
      // The last one counts most, as the file that includes counts more than all of them.
      for (auto item = paths->items.rbegin(); item != paths->items.rend(); ++item) include_file(root, *item, folder);
    } else {
      include_file(root, *paths, folder);
    }
  }

 private:
  void include_file(Tree& root, const Tree& item, const std::filesystem::path& folder) {
    const std::filesystem::path path = folder / read_text(item, "include");
    std::error_code ignored;
    const std::string real = std::filesystem::weakly_canonical(path, ignored).string();
    if (std::find(open_.begin(), open_.end(), real) != open_.end())
      throw BadInput{item.where + ": include: " + path.string() + " includes itself"};
    if (++count_ > max_includes)
      throw BadInput{item.where + ": include: more than " + std::to_string(max_includes) + " files"};
    const Result<std::string> text = read_file(path.string(), max_file_bytes);
    if (!text) throw BadInput{item.where + ": include: " + text.error().message};
    Result<Tree> base = parse(*text, path.string());
    if (!base) throw base.error();
    expect_map(*base, "include", "a file with a mapping, as a scenario is one");
    open_.push_back(real);
    include(*base, path.parent_path());
    open_.pop_back();
    merge(root, std::move(*base));
  }

  std::vector<std::string> open_;  // files that are being included, one by another
  std::size_t count_ = 0;
};

// --- NAME=VALUE of the command line

struct Choice {
  std::string where, name, value;
};

Choice split(std::string_view option, const std::string& text) {
  const std::string where = std::string(option) + " " + text;
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) throw BadInput{where + ": expected NAME=VALUE"};
  return {where, text.substr(0, equals), text.substr(equals + 1)};
}

std::vector<std::string> between_commas(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

[[noreturn]] void fail_unknown(const Choice& choice, const std::string& what,
                               const std::vector<std::string_view>& known) {
  fail_choice(Tree{.kind = Tree::Kind::Scalar, .where = choice.where, .scalar = choice.name}, what, known);
}

template <class Values>
auto find_value(Values& values, std::string_view name) -> decltype(&values.front().second) {
  for (auto& [own, value] : values)
    if (own == name) return &value;
  return nullptr;
}

std::string shown(const Tree& value) { return value.kind == Tree::Kind::Scalar ? value.scalar : value.describe(); }
}  // namespace

Result<Matrix> Matrix::read(const std::string& text, const std::string& name, const std::string& folder,
                            const ParameterChoices& choices) {
  Result<Tree> root = parse(text, name);
  if (!root) return root.error();
  if (root->kind == Tree::Kind::Null) return BadInput{name + ": is empty, expected a scenario"};
  try {
    if (root->kind == Tree::Kind::Map) Includer().include(*root, folder);
    return of_tree(std::move(*root), choices);
  } catch (const BadInput& error) {
    return error;
  }
}

Matrix Matrix::of_tree(Tree root, const ParameterChoices& choices) {
  Matrix matrix;
  matrix.root_ = std::move(root);
  matrix.take_parameters();
  matrix.take_for_each();
  for (const std::string& choice : choices.values) matrix.choose(choice);
  for (const std::string& choice : choices.only) matrix.keep_only(choice);
  return matrix;
}

void Matrix::take_parameters() {
  auto parameters = take(root_, "parameters");
  if (!parameters) return;
  expect_map(*parameters, "parameters", "a mapping of names to values");
  parameters_ = std::move(parameters->entries);
  for (const auto& [name, value] : parameters_) check_parameter_name(name, value);
}

/// --param NAME=VALUE
void Matrix::choose(const std::string& text) {
  const Choice choice = split("--param", text);
  const auto varied = varied_names();
  if (std::find(varied.begin(), varied.end(), choice.name) != varied.end())
    throw BadInput{choice.where + ": for_each varies \"" + choice.name + "\"; choose among its values with --only"};
  Tree* const value = find_value(parameters_, choice.name);
  std::vector<std::string_view> known;
  for (const auto& [name, ignored] : parameters_) known.push_back(name);
  if (value == nullptr) fail_unknown(choice, "a parameter", known);
  *value = Tree{.kind = Tree::Kind::Scalar, .where = choice.where, .scalar = choice.value};
}

/// A mapping of lists: each value of each name with all of the others, the last name changes first. A list of mappings:
/// each of them is a run.
void Matrix::take_for_each() {
  runs_ = {Values{}};
  const auto each = take(root_, "for_each");
  if (!each) return;
  const auto expect_runs = [&](const Tree& tree, const std::vector<Tree>& items, std::string_view key) {
    if (items.empty()) fail_expected(tree, key, "one value at least");
    if (runs_.size() * items.size() > max_runs)
      throw BadInput{tree.where + ": for_each: more than " + std::to_string(max_runs) + " runs"};
  };
  if (each->kind == Tree::Kind::List) {
    expect_runs(*each, each->items, "for_each");
    runs_.clear();
    for (const Tree& item : each->items) {
      expect_map(item, "for_each", "a list of mappings, or a mapping of lists");
      runs_.push_back(item.entries);
    }
  } else {
    expect_map(*each, "for_each", "a list of mappings, or a mapping of lists");
    for (const auto& [name, values] : each->entries) {
      expect_runs(values, read_list(values, name), name);
      std::vector<Values> runs;
      for (const Values& run : runs_) {
        for (const Tree& value : values.items) runs.emplace_back(run).emplace_back(name, value);
      }
      runs_ = std::move(runs);
    }
  }
  for (const Values& run : runs_)
    for (const auto& [name, value] : run) check_parameter_name(name, value);
}

std::vector<std::string_view> Matrix::varied_names() const {
  std::vector<std::string_view> names;
  for (const Values& run : runs_)
    for (const auto& [name, value] : run)
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  return names;
}

std::string Matrix::varied() const {
  std::string text;
  for (const std::string_view name : varied_names()) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

/// --only NAME=VALUE[,VALUE]
void Matrix::keep_only(const std::string& text) {
  const Choice choice = split("--only", text);
  const auto names = varied_names();
  if (std::find(names.begin(), names.end(), choice.name) == names.end())
    fail_unknown(choice, "a name of for_each", names);
  for (const std::string& wanted : between_commas(choice.value)) {
    const auto has_it = [&](const Values& run) {
      const Tree* const value = find_value(run, choice.name);
      return value != nullptr && shown(*value) == wanted;
    };
    if (std::ranges::none_of(runs_, has_it)) {
      std::vector<std::string_view> known;
      for (const Values& run : runs_)
        if (const Tree* const value = find_value(run, choice.name);
            value != nullptr && std::find(known.begin(), known.end(), value->scalar) == known.end())
          known.push_back(value->scalar);
      fail_choice(Tree{.kind = Tree::Kind::Scalar, .where = choice.where, .scalar = wanted}, choice.name, known);
    }
  }
  const auto wanted = between_commas(choice.value);
  std::erase_if(runs_, [&](const Values& run) {
    const Tree* const value = find_value(run, choice.name);
    return value == nullptr || std::find(wanted.begin(), wanted.end(), shown(*value)) == wanted.end();
  });
}

std::string Matrix::label(std::size_t run) const {
  std::string text;
  for (const auto& [name, value] : runs_[run]) text += (text.empty() ? "" : ", ") + name + "=" + shown(value);
  return text;
}

Result<Tree> Matrix::tree(std::size_t run) const {
  try {
    Placeholders placeholders(parameters_);
    placeholders.set(runs_[run]);
    return placeholders.put_into(root_);
  } catch (const BadInput& error) {
    return error;
  }
}

}  // namespace sim
