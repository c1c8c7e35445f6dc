#include "tools/fcvi_sim/scenario/placeholders.hpp"

#include <algorithm>
#include <cctype>

#include "settings/reader.hpp"
#include "settings/units.hpp"

namespace sim {
using namespace settings;
namespace {

constexpr std::size_t max_values = 200'000;   // a few parameters, one in another, may stand for a large tree
constexpr std::size_t max_depth = 64;         // of parameters, one in another
constexpr std::size_t max_bytes = 16u << 20;  // of all texts

bool is_name(std::string_view text) {
  const auto may_stand = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::ranges::all_of(text, may_stand);
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

/// The name of a text that is ${NAME} and nothing else; else empty.
std::string_view whole_name(std::string_view text) {
  if (!text.starts_with("${") || text.find('}') != text.size() - 1) return {};
  return text.substr(2, text.size() - 3);
}

}  // namespace

void check_parameter_name(const std::string& name, const Tree& value) {
  if (!is_name(name))
    throw BadInput{value.where + ": \"" + name + "\": a parameter's name has letters, digits and _, no digit first"};
}

void Placeholders::set(const std::string& name, const Tree& value) {
  const auto own = std::find_if(values_.begin(), values_.end(), [&](const auto& one) { return one.first == name; });
  if (own == values_.end())
    values_.emplace_back(name, value);
  else
    own->second = value;
}

void Placeholders::count_bytes(std::size_t bytes, const Tree& tree) {
  bytes_ += bytes;
  if (bytes_ > max_bytes) throw BadInput{tree.where + ": more than 16 MiB of text with that of parameters"};
}

Tree Placeholders::put_into(const Tree& tree) {
  if (++count_ > max_values)
    throw BadInput{tree.where + ": more than " + format_count(max_values) + " values with those of parameters"};
  if (tree.kind == Tree::Kind::Scalar) count_bytes(tree.scalar.size(), tree);
  if (tree.kind == Tree::Kind::Scalar) return tree.scalar.find("${") == std::string::npos ? tree : put_into_text(tree);
  if (tree.kind == Tree::Kind::Map) return put_into_map(tree);
  Tree list{.kind = tree.kind, .where = tree.where};
  for (const Tree& item : tree.items) list.items.push_back(put_into(item));
  return list;
}

Tree Placeholders::put_into_map(const Tree& map) {
  Tree result{.kind = Tree::Kind::Map, .where = map.where};
  for (const auto& [key, value] : map.entries)
    if (key != "<<") result.entries.emplace_back(key, put_into(value));
  const Tree* const defaults = map.find("<<");
  if (defaults == nullptr) return result;
  const Tree given = put_into(*defaults);
  const std::vector<Tree> one{given};
  for (const Tree& each : given.kind == Tree::Kind::List ? given.items : one) {
    if (each.kind != Tree::Kind::Map) fail_expected(*defaults, "<<", "a mapping, or a list of mappings");
    for (const auto& [key, value] : each.entries)
      if (result.find(key) == nullptr) result.entries.emplace_back(key, value);
  }
  return result;
}

Tree Placeholders::put_into_text(const Tree& text) {
  if (const std::string_view name = whole_name(text.scalar); !name.empty()) return value_of(name, text);
  // Not quoted: within { } YAML asks for quotes around ${.
  Tree result{.kind = Tree::Kind::Scalar, .where = text.where};
  std::string_view left = text.scalar;
  while (!left.empty()) {
    const std::size_t begin = std::min(left.find("${"), left.size());
    const bool escaped = begin != left.size() && begin > 0 && left[begin - 1] == '$';
    result.scalar += left.substr(0, begin - (escaped ? 1 : 0));
    left.remove_prefix(begin);
    if (left.empty()) break;
    if (escaped) {
      result.scalar += "${";
      left.remove_prefix(2);
      continue;
    }
    const std::size_t end = left.find('}');
    if (end == std::string_view::npos) throw BadInput{text.where + ": \"" + text.scalar + "\": } is missing after ${"};
    const Tree value = value_of(left.substr(2, end - 2), text);
    if (value.kind != Tree::Kind::Scalar)
      throw BadInput{text.where + ": ${" + std::string(left.substr(2, end - 2)) + "} is " + value.describe() +
                     ", and stands within text"};
    result.scalar += value.scalar;
    result.where = value.where;  // of the last one
    count_bytes(value.scalar.size(), text);
    left.remove_prefix(end + 1);
  }
  return result;
}

/// Where it is wrong, the place where it is used is named first.
Tree Placeholders::value_of(std::string_view padded, const Tree& use) {
  const std::string_view name = trimmed(padded);
  const auto found = std::find_if(values_.begin(), values_.end(), [&](const auto& one) { return one.first == name; });
  if (found == values_.end()) {
    std::vector<std::string_view> known;
    for (const auto& [own, value] : values_) known.push_back(own);
    const std::string_view near = nearest(name, known);
    if (known.empty())
      throw BadInput{use.where + ": there is no parameter \"" + std::string(name) +
                     "\", and no other; \"parameters\" declares them"};
    throw BadInput{use.where + ": there is no parameter \"" + std::string(name) + "\"" +
                   (near.empty() ? "" : "; did you mean \"" + std::string(near) + "\"?")};
  }
  if (std::find(open_.begin(), open_.end(), name) != open_.end())
    throw BadInput{found->second.where + ": the value of \"" + found->first + "\" has itself in it"};
  if (open_.size() == max_depth)
    throw BadInput{use.where + ": more than " + std::to_string(max_depth) + " parameters, one in another"};
  open_.push_back(found->first);
  Tree value = put_into(found->second);
  open_.pop_back();
  add_use(value, use.where + " (" + found->first + " of ");
  return value;
}

/// All values in it, too: where one is used is not where it stands. Of very many the last ones do without.
void Placeholders::add_use(Tree& value, const std::string& use) {
  if (place_bytes_ > max_bytes) return;
  value.where = use + value.where + ")";
  place_bytes_ += value.where.size();
  for (Tree& item : value.items) add_use(item, use);
  for (auto& [key, entry] : value.entries) add_use(entry, use);
}

}  // namespace sim
