#include "tools/fcvi_sim/scenario/parts_loader.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstdio>

#include "settings/units.hpp"
#include "tools/faults/iu_flags.hpp"

namespace sim {
using namespace settings;

namespace {
/// VIP_NOT_DONE is NotDone.
bool is_vipl_name(std::string_view vipl, std::string_view name) {
  if (!vipl.starts_with("VIP_")) return false;
  std::string letters;
  for (const char c : vipl.substr(4))
    if (c != '_') letters += c;
  return std::ranges::equal(letters, name,
                            [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); });
}
}  // namespace

vi::Return read_return(const Tree& tree, std::string_view key) {
  std::vector<std::string_view> known;
  for (int code = 0; code <= static_cast<int>(vi::Return::NotReachable); ++code) {
    known.push_back(to_string(static_cast<vi::Return>(code)));
    if (tree.scalar == known.back()) return static_cast<vi::Return>(code);
    if (is_vipl_name(tree.scalar, known.back()))
      fail_expected(tree, key, "the VI-ARCH name " + std::string(known.back()));
  }
  fail_choice(tree, key, known);
}

Bound read_bound(const Tree& tree, std::string_view key) {
  return read_bound_of<Bound>(tree, key, read_number, Range{});
}

TimeBound read_time_bound(const Tree& tree, std::string_view key) {
  return read_bound_of<TimeBound>(tree, key, read_duration, runtime::TimeNs{0}, max_time);
}

double read_share(const Tree& tree, std::string_view key) {
  char* end = nullptr;
  const double value = tree.kind == Tree::Kind::Scalar ? std::strtod(tree.scalar.c_str(), &end) : -1;
  if (!(value >= 0 && value <= 1) || end == tree.scalar.c_str() || *end != 0)
    fail_expected(tree, key, "a number from 0 to 1");
  return value;
}

std::size_t read_position(const Tree& tree, std::string_view key, const std::vector<std::string_view>& names) {
  const auto found = std::find(names.begin(), names.end(), tree.scalar);
  if (tree.kind != Tree::Kind::Scalar || found == names.end()) fail_choice(tree, key, names);
  return static_cast<std::size_t>(found - names.begin());
}

Group for_each_member(const Tree& item, const std::string& what, std::size_t room, const std::string& too_many,
                      const std::function<void(const Member&)>& make) {
  Member member{.what = what};
  std::size_t count = 1;
  if (const Tree* tree = item.find("count")) {
    count = read_number(*tree, "count", counts);
    member.of_group = true;
    if (const Tree* name = item.find("name")) member.group = read_text(*name, "name");
  }
  if (count > room) throw BadInput{item.where + ": " + too_many};
  for (; member.index < count; ++member.index) make(member);
  return {.name = member.group, .first = 0, .count = count};
}

Roster::Roster(std::vector<std::string_view> names, const std::vector<Group>& groups) : names_(std::move(names)) {
  for (std::size_t i = 0; i < names_.size(); ++i) positions_.emplace(names_[i], i);
  for (const Group& group : groups) groups_.emplace(group.name, group);
}

std::size_t Roster::pick(const Tree& tree, std::string_view key, const Member& by) const {
  if (const auto one = positions_.find(tree.scalar); tree.kind == Tree::Kind::Scalar && one != positions_.end())
    return one->second;
  const auto group = groups_.find(tree.scalar);
  if (tree.kind != Tree::Kind::Scalar || group == groups_.end()) fail_choice(tree, key, names_);
  if (!by.of_group)
    fail_expected(tree, key, "one of that group, such as " + tree.scalar + "-1, where there is no count");
  return group->second.first + by.index % group->second.count;
}

std::string read_known(const Tree& tree, std::string_view key, const std::vector<std::string_view>& known) {
  return std::string(known[read_position(tree, key, known)]);
}

std::vector<std::string> read_flags(const Tree& tree, std::string_view key, const std::string& message) {
  const auto opcode = faults::opcode_of(message);
  if (!opcode) fail_expected(tree, key, "flags only where the message is an IU of FC-VI");
  std::vector<std::string> flags;
  for (const Tree& item : read_list(tree, key)) flags.push_back(read_known(item, key, faults::flag_names(*opcode)));
  return flags;
}

wire::fcvi::Reason read_reason(const Tree& tree, std::string_view key) {
  if (tree.kind == Tree::Kind::Scalar)
    if (const auto reason = faults::find_reason(tree.scalar)) return *reason;
  fail_choice(tree, key, faults::reason_names());
}

std::vector<faults::FieldRange> read_fields(const Tree& tree, std::string_view key) {
  std::vector<faults::FieldRange> fields;
  for (const auto& [name, value] : MapReader(tree, std::string(key), faults::field_names()).tree().entries) {
    const faults::FrameField* field = faults::find_field(name);
    const Bound bound = read_bound(value, name);
    const bool open = bound.max == Bound{}.max;
    if (bound.min > field->max() || (!open && bound.max > field->max()))
      fail_expected(value, name, "at most " + format_count(field->max()));
    fields.push_back({field, bound.min, bound.max});
  }
  return fields;
}

std::string to_string(const Bound& bound) {
  const bool open = bound.max == std::numeric_limits<std::uint64_t>::max();
  if (bound.min == bound.max) return "exactly " + format_count(bound.min);
  if (open) return "at least " + format_count(bound.min);
  if (bound.min == 0) return "at most " + format_count(bound.max);
  return format_count(bound.min) + " to " + format_count(bound.max);
}

std::string format_share(double share) {
  char text[16];
  std::snprintf(text, sizeof text, "%.3f", share);
  return text;
}

std::string to_string(const ShareBound& bound) {
  if (bound.min == bound.max) return "exactly " + format_share(bound.min);
  if (bound.max >= 1) return "at least " + format_share(bound.min);
  if (bound.min <= 0) return "at most " + format_share(bound.max);
  return format_share(bound.min) + " to " + format_share(bound.max);
}

std::string to_string(const TimeBound& bound) {
  if (bound.min == bound.max) return "exactly " + format_duration(bound.min);
  if (bound.max == runtime::never) return "at least " + format_duration(bound.min);
  if (bound.min == 0) return "at most " + format_duration(bound.max);
  return format_duration(bound.min) + " to " + format_duration(bound.max);
}

}  // namespace sim
