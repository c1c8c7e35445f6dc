#include "settings/reader.hpp"

#include <algorithm>
#include <charconv>

#include "settings/units.hpp"

namespace settings {
namespace {

std::string join(const std::vector<std::string_view>& words) {
  std::string line;
  for (const std::string_view word : words) line.append(line.empty() ? "" : ", ").append(word);
  return line;
}

std::string suggestion(std::string_view word, const std::vector<std::string_view>& known) {
  const std::string_view near = nearest(word, known);
  return near.empty() ? "" : "; did you mean \"" + std::string(near) + "\"?";
}

const std::string& scalar(const Tree& tree, std::string_view key, std::string_view what) {
  if (tree.kind != Tree::Kind::Scalar) fail_expected(tree, key, what);
  return tree.scalar;
}

std::string from_to(const std::string& min, const std::string& max) { return min + " to " + max; }

}  // namespace

void fail_expected(const Tree& tree, std::string_view key, std::string_view what) {
  throw BadInput{tree.where + ": " + std::string(key) + ": expected " + std::string(what) + ", got " + tree.describe()};
}

void fail_choice(const Tree& tree, std::string_view key, const std::vector<std::string_view>& known) {
  const std::string near = tree.kind == Tree::Kind::Scalar ? suggestion(tree.scalar, known) : "";
  if (known.empty()) fail_expected(tree, key, "nothing, for there is none");
  const bool few = known.size() <= 8;
  throw BadInput{tree.where + ": " + std::string(key) + ": expected " +
                 (few ? "one of " + join(known) : "a known name") + ", got " + tree.describe() + near};
}

std::string read_text(const Tree& tree, std::string_view key) {
  const std::string& text = scalar(tree, key, "text");
  if (text.empty()) fail_expected(tree, key, "text that is not empty");
  return text;
}

bool read_bool(const Tree& tree, std::string_view key) {
  const std::string& text = scalar(tree, key, "true or false");
  if (tree.quoted || (text != "true" && text != "false")) fail_expected(tree, key, "true or false");
  return text == "true";
}

namespace {

/// As captures show addresses and fields, 010200 or 380000h: their hexadecimal digits; empty: it is none.
std::string_view hexadecimal_without_prefix(std::string_view text) {
  const std::size_t end = text.find_first_not_of("0123456789ABCDEFabcdef");
  const bool marked = end != 0 && end + 1 == text.size() && text.back() == 'h';
  if (marked) return text.substr(0, end);
  const bool padded = end == std::string_view::npos && text.size() > 1 && text.front() == '0';
  return padded ? text : std::string_view();
}

}  // namespace

std::uint64_t read_number(const Tree& tree, std::string_view key, Range range) {
  const bool open = range.max == std::numeric_limits<std::uint64_t>::max();
  const std::string what = open && range.min == 0
                               ? "a whole number, at least 0"
                               : "a whole number, " + from_to(std::to_string(range.min), std::to_string(range.max));
  const std::string& text = scalar(tree, key, what);
  if (const auto hex = hexadecimal_without_prefix(text); !hex.empty())
    fail_expected(tree, key, what + ", in hexadecimal 0x" + std::string(hex));
  const auto value = parse_number(text);
  if (!value || tree.quoted || *value < range.min || *value > range.max) fail_expected(tree, key, what);
  return *value;
}

std::uint64_t read_bytes(const Tree& tree, std::string_view key, Range range) {
  const std::string what =
      "a number of bytes such as 2048, 64KiB, 16MiB, from " + from_to(format_count(range.min), format_count(range.max));
  const auto value = parse_bytes(scalar(tree, key, what));
  if (!value || *value < range.min || *value > range.max) fail_expected(tree, key, what);
  return *value;
}

runtime::TimeNs read_duration(const Tree& tree, std::string_view key, runtime::TimeNs min, runtime::TimeNs max) {
  const std::string what =
      "a time such as 500ns, 10us, 2.5ms, 1s, from " + from_to(format_duration(min), format_duration(max));
  const auto value = parse_duration(scalar(tree, key, what));
  if (!value || *value < min || *value > max) fail_expected(tree, key, what);
  return *value;
}

std::uint64_t read_line_rate(const Tree& tree, std::string_view key) {
  constexpr std::string_view what =
      "a line rate: 1GFC, 2GFC, 4GFC, 8GFC, 16GFC, 32GFC, 64GFC, 128GFC, bytes per second such as 400MB/s, "
      "or unlimited";
  const auto value = parse_line_rate(scalar(tree, key, what));
  if (!value) fail_expected(tree, key, what);
  return *value;
}

wire::Wwn read_name(const Tree& tree, std::string_view key) {
  constexpr std::string_view what = "a name such as 20:00:02:fc:f0:00:00:01";
  const std::string& text = scalar(tree, key, what);
  std::uint64_t value = 0;
  if (text.size() != 23) fail_expected(tree, key, what);
  for (std::size_t i = 0; i < text.size(); i += 3) {
    std::uint8_t byte = 0;
    const auto [end, error] = std::from_chars(text.data() + i, text.data() + i + 2, byte, 16);
    const bool separated = i + 2 == text.size() || text[i + 2] == ':';
    if (error != std::errc{} || end != text.data() + i + 2 || !separated) fail_expected(tree, key, what);
    value = value << 8 | byte;
  }
  if (value == 0) fail_expected(tree, key, what);
  return {value};
}

wire::IpAddress read_address(const Tree& tree, std::string_view key) {
  constexpr std::string_view what = "an IPv4 or IPv6 address";
  const auto address = wire::IpAddress::from_string(scalar(tree, key, what));
  if (!address || address->is_unspecified()) fail_expected(tree, key, what);
  return *address;
}

const std::vector<Tree>& read_list(const Tree& tree, std::string_view key) {
  if (tree.kind != Tree::Kind::List) fail_expected(tree, key, "a list");
  return tree.items;
}

MapReader::MapReader(const Tree& tree, std::string what, std::vector<std::string_view> known)
    : tree_(tree), what_(std::move(what)) {
  if (tree.kind != Tree::Kind::Map && tree.kind != Tree::Kind::Null) fail_expected(tree, what_, "a mapping");
  for (const auto& [key, value] : tree.entries) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    const std::string near = suggestion(key, known);
    throw BadInput{value.where + ": unknown key \"" + key + "\" in " + what_ +
                   (near.empty() ? "; known: " + join(known) : near)};
  }
}

const Tree& MapReader::require(std::string_view key) const {
  const Tree* value = find(key);
  if (value == nullptr) throw BadInput{tree_.where + ": " + what_ + " needs the key \"" + std::string(key) + "\""};
  return *value;
}

}  // namespace settings
