#include "tools/fcvi_sim/scenario/matrix.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include "settings/file.hpp"
#include "settings/reader.hpp"
#include "settings/units.hpp"
#include "tools/fcvi_sim/scenario/placeholders.hpp"

namespace sim {
using namespace settings;
namespace {

constexpr std::uint64_t max_file_bytes = 4u << 20;  // of all included files
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

/// What a mapping takes by << from one that stands in the same file, now: it counts more than what is included. By
/// ${NAME} it is put in with the parameters.
void take_defaults(Tree& tree) {
  for (Tree& item : tree.items) take_defaults(item);
  for (auto& [key, value] : tree.entries) take_defaults(value);
  const Tree* const defaults = tree.find("<<");
  if (defaults == nullptr || defaults->kind == Tree::Kind::Scalar) return;
  const std::vector<Tree> given = defaults->kind == Tree::Kind::List ? defaults->items : std::vector<Tree>{*defaults};
  if (!std::ranges::all_of(given, [](const Tree& one) { return one.kind == Tree::Kind::Map; })) return;
  take(tree, "<<");
  for (const Tree& each : given)
    for (const auto& [key, value] : each.entries)
      if (tree.find(key) == nullptr) tree.entries.emplace_back(key, value);
}

// --- include

/// What `own` does not say: mappings key by key; of lists the items of `base` first, unless they are values of
/// parameters.
void merge(Tree& own, Tree base, bool joins_lists) {
  for (auto& [key, value] : base.entries) {
    Tree* const here = own.find(key);
    if (here == nullptr) {
      own.entries.emplace_back(key, std::move(value));
    } else if (key == "for_each") {
      continue;  // of runs the including file says all
    } else if (here->kind == Tree::Kind::Map && value.kind == Tree::Kind::Map) {
      merge(*here, std::move(value), joins_lists && key != "parameters");
    } else if (joins_lists && here->kind == Tree::Kind::List && value.kind == Tree::Kind::List) {
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
  [[nodiscard]] std::vector<std::string> take_files() { return std::move(files_); }

 private:
  void include_file(Tree& root, const Tree& item, const std::filesystem::path& folder) {
    const std::filesystem::path path = folder / read_text(item, "include");
    std::error_code ignored;
    const std::string real = std::filesystem::weakly_canonical(path, ignored).string();
    if (std::find(open_.begin(), open_.end(), real) != open_.end())
      throw BadInput{item.where + ": include: " + path.string() + " includes itself"};
    if (++count_ > max_includes)
      throw BadInput{item.where + ": include: more than " + std::to_string(max_includes) + " files"};
    if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored))
      throw BadInput{item.where + ": include: " + path.string() + ": is no file"};
    const Result<std::string> text = read_file(path.string(), max_file_bytes);
    if (!text) throw BadInput{item.where + ": include: " + text.error().message};
    bytes_ += text->size();
    if (bytes_ > max_file_bytes) throw BadInput{item.where + ": include: more than 4 MiB of files"};
    files_.push_back(path.string());
    Result<Tree> base = parse(*text, path.string());
    if (!base) throw base.error();
    take_defaults(*base);
    expect_map(*base, "include", "a file with a mapping, as a scenario is one");
    open_.push_back(real);
    include(*base, path.parent_path());
    open_.pop_back();
    merge(root, std::move(*base), true);
  }

  std::vector<std::string> open_;  // files that are being included, one by another
  std::vector<std::string> files_;
  std::size_t count_ = 0, bytes_ = 0;
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

/// The text, or the `name` of a mapping, or the position in the list, from 1; on one line, as a terminal shows it.
std::string shown(const Tree& value, std::size_t position) {
  const Tree* const name = value.find("name");
  const Tree& text = name != nullptr ? *name : value;
  if (text.kind != Tree::Kind::Scalar) return "#" + std::to_string(position + 1);
  std::string shown = text.scalar;
  std::ranges::replace_if(
      shown, [](unsigned char c) { return c < 0x20 || c == 0x7F; }, '?');
  return shown;
}

/// The names of all ${NAME} in it.
void add_mentions(const Tree& tree, std::set<std::string, std::less<>>& names) {
  for (std::size_t at = tree.scalar.find("${"); at != std::string::npos; at = tree.scalar.find("${", at + 2)) {
    const std::size_t begin = std::min(tree.scalar.find_first_not_of(' ', at + 2), tree.scalar.size());
    const std::size_t end = tree.scalar.find_first_of(" }", begin);
    names.insert(tree.scalar.substr(begin, end - begin));
  }
  for (const Tree& item : tree.items) add_mentions(item, names);
  for (const auto& [key, value] : tree.entries) add_mentions(value, names);
}
}  // namespace

const std::vector<Key>& matrix_keys() {
  static const std::vector<Key> keys{
      {"include", Form::Text, "files that are read first; what this one says counts more", false, InList::Also},
      {"parameters", Form::AnyMapping, "names and default values of what ${NAME} stands for"},
      {"for_each", Form::AnyMappings, "a run for each value: a mapping of lists, or a list of mappings"}};
  return keys;
}

Result<Matrix> Matrix::read(const std::string& text, const std::string& name, const std::string& folder,
                            const ParameterChoices& choices) {
  Result<Tree> root = parse(text, name);
  if (!root) return root.error();
  if (root->kind == Tree::Kind::Null) return BadInput{name + ": is empty, expected a scenario"};
  try {
    Includer includer;
    take_defaults(*root);
    if (root->kind == Tree::Kind::Map) includer.include(*root, folder);
    Matrix matrix = of_tree(std::move(*root), choices);
    matrix.included_ = includer.take_files();
    return matrix;
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
  matrix.name_values();
  matrix.warn_of_unused();
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
  if (known.empty()) throw BadInput{choice.where + ": the file has no parameters"};
  if (value == nullptr) fail_unknown(choice, "a parameter", known);
  *value = Tree{.kind = Tree::Kind::Scalar, .where = choice.where, .scalar = choice.value};
}

void Matrix::take_for_each() {
  runs_ = {Run{}};
  const auto each = take(root_, "for_each");
  if (!each) return;
  runs_.clear();
  if (each->kind == Tree::Kind::List)
    take_list(*each);
  else
    take_all_with_all(*each);
  check_varied(*each);
}

/// What a value is called that has ${NAME} in it: by what it stands for.
void Matrix::name_values() {
  for (Run& run : runs_)
    for (Varied& value : run) {
      if (value.shown.find("${") == std::string::npos) continue;
      Placeholders placeholders(parameters_);
      for (const Varied& other : run) placeholders.set(other.name, *other.value);
      value.shown = shown(placeholders.put_into(*value.value), value.position);
    }
}

/// A list of mappings: each of them is a run.
void Matrix::take_list(const Tree& each) {
  if (each.items.empty()) fail_expected(each, "for_each", "one run at least");
  if (each.items.size() > max_runs)
    throw BadInput{each.where + ": for_each: more than " + format_count(max_runs) + " runs"};
  for (std::size_t i = 0; i < each.items.size(); ++i) {
    const Tree& item = each.items[i];
    expect_map(item, "for_each", "a list of mappings, or a mapping of lists");
    if (item.entries.empty()) fail_expected(item, "for_each", "a name and a value at least");
    Run& run = runs_.emplace_back();
    for (const auto& [name, value] : item.entries)
      run.push_back({name, std::make_shared<Tree>(value), shown(value, i), i});
  }
}

/// A mapping of lists: each value of each name with all of the others, the last name changes first.
void Matrix::take_all_with_all(const Tree& each) {
  expect_map(each, "for_each", "a list of mappings, or a mapping of lists");
  runs_ = {Run{}};
  for (const auto& [name, values] : each.entries) {
    const std::vector<Tree>& items = read_list(values, name);
    if (items.empty()) fail_expected(values, name, "one value at least");
    if (runs_.size() * items.size() > max_runs)
      throw BadInput{values.where + ": for_each: more than " + format_count(max_runs) + " runs"};
    Run shared;
    for (std::size_t i = 0; i < items.size(); ++i)
      shared.push_back({name, std::make_shared<Tree>(items[i]), shown(items[i], i), i});
    std::vector<Run> runs;
    for (const Run& run : runs_)
      for (const Varied& value : shared) runs.emplace_back(run).push_back(value);
    runs_ = std::move(runs);
  }
}

std::set<std::string, std::less<>> Matrix::used_names() const {
  std::set<std::string, std::less<>> names;
  add_mentions(root_, names);
  for (const auto& [name, value] : parameters_) add_mentions(value, names);
  std::set<const Tree*> seen;  // many runs share a value
  for (const Run& run : runs_)
    for (const Varied& one : run)
      if (seen.insert(one.value.get()).second) add_mentions(*one.value, names);
  return names;
}

/// A name that nothing uses is mistyped: its runs would all be the same.
void Matrix::check_varied(const Tree& each) const {
  const auto used = used_names();
  for (const std::string_view name : varied_names()) {
    check_parameter_name(std::string(name), each);
    if (used.contains(name)) continue;
    std::vector<std::string_view> known;
    for (const auto& [own, value] : parameters_) known.push_back(own);
    const std::string_view near = nearest(name, known);
    throw BadInput{each.where + ": for_each: nothing uses ${" + std::string(name) + "}" +
                   (near.empty() ? "" : "; did you mean \"" + std::string(near) + "\"?")};
  }
}

void Matrix::warn_of_unused() {
  const auto used = used_names();
  for (const auto& [name, value] : parameters_)
    if (!used.contains(name)) warnings_.push_back(value.where + ": nothing uses the parameter \"" + name + "\"");
}

std::vector<std::string_view> Matrix::varied_names() const {
  std::vector<std::string_view> names;
  for (const Run& run : runs_)
    for (const Varied& value : run)
      if (std::find(names.begin(), names.end(), value.name) == names.end()) names.push_back(value.name);
  return names;
}

std::string Matrix::varied() const {
  std::string text;
  for (const std::string_view name : varied_names()) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

/// Where a name of for_each follows a comma, another choice begins: "a=1,2, b=y" as "a=1,2" and "b=y".
std::vector<std::string> Matrix::choices_of(const std::string& text) const {
  std::vector<std::string> choices;
  for (const std::string& part : between_commas(text)) {
    const std::string trimmed = part.substr(std::min(part.find_first_not_of(' '), part.size()));
    const auto begins = [&](std::string_view name) { return trimmed.starts_with(std::string(name) + "="); };
    if (choices.empty())
      choices.push_back(part);
    else if (std::ranges::any_of(varied_names(), begins))
      choices.push_back(trimmed);
    else
      choices.back() += "," + part;
  }
  return choices;
}

/// --only NAME=VALUE[,VALUE][, NAME=VALUE...]: also as the label of a run is printed.
void Matrix::keep_only(const std::string& text) {
  for (const std::string& choice : choices_of(text)) keep_those_with(choice);
}

void Matrix::keep_those_with(const std::string& text) {
  const Choice choice = split("--only", text);
  const auto names = varied_names();
  if (names.empty()) throw BadInput{choice.where + ": the file has no for_each"};
  if (std::find(names.begin(), names.end(), choice.name) == names.end())
    fail_unknown(choice, "a name of for_each", names);
  std::vector<std::string_view> known;
  for (const Run& run : runs_)
    for (const Varied& value : run)
      if (value.name == choice.name && std::find(known.begin(), known.end(), value.shown) == known.end())
        known.push_back(value.shown);
  const bool whole = std::find(known.begin(), known.end(), choice.value) != known.end();  // it may have a comma
  const auto wanted = whole ? std::vector{choice.value} : between_commas(choice.value);
  for (const std::string& one : wanted)
    if (std::find(known.begin(), known.end(), one) == known.end())
      fail_choice(Tree{.kind = Tree::Kind::Scalar, .where = choice.where, .scalar = one}, choice.name, known);
  std::vector<Run> kept;
  for (Run& run : runs_) {
    const auto is_wanted = [&](const Varied& value) {
      return value.name == choice.name && std::find(wanted.begin(), wanted.end(), value.shown) != wanted.end();
    };
    if (std::ranges::any_of(run, is_wanted)) kept.push_back(std::move(run));
  }
  runs_ = std::move(kept);
  if (runs_.empty()) throw BadInput{choice.where + ": no run is left that every --only takes"};
}

std::string Matrix::label(std::size_t run) const {
  std::string text;
  for (const Varied& value : runs_[run]) text += (text.empty() ? "" : ", ") + value.name + "=" + value.shown;
  return text;
}

Result<Tree> Matrix::tree(std::size_t run) const {
  try {
    Placeholders placeholders(parameters_);
    for (const Varied& value : runs_[run]) placeholders.set(value.name, *value.value);
    return placeholders.put_into(root_);
  } catch (const BadInput& error) {
    return error;
  }
}

}  // namespace sim
