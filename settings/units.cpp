#include "settings/units.hpp"

#include <array>
#include <charconv>
#include <cstdio>
#include <limits>

#include "wire/line_rate.hpp"

namespace settings {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};
constexpr std::array byte_units{Unit{"", 1}, Unit{"B", 1}, Unit{"KiB", 1u << 10}, Unit{"MiB", 1u << 20},
                                Unit{"GiB", 1u << 30}};
constexpr std::array time_units{Unit{"ns", 1}, Unit{"us", 1'000}, Unit{"ms", 1'000'000}, Unit{"s", 1'000'000'000}};
constexpr std::array rate_units{Unit{"", 1}, Unit{"B/s", 1}, Unit{"kB/s", 1'000}, Unit{"MB/s", 1'000'000},
                                Unit{"GB/s", 1'000'000'000}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Digits of `text` as a whole number; empty text counts as zero.
std::optional<std::uint64_t> digits(std::string_view text) {
  std::uint64_t value = 0;
  if (text.empty()) return value;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> multiply(std::uint64_t left, std::uint64_t right) {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(left, right, &product)) return std::nullopt;
  return product;
}

/// whole.fraction times factor, if that is a whole number.
std::optional<std::uint64_t> scale(std::string_view whole, std::string_view fraction, std::uint64_t factor) {
  const auto integer = digits(whole);
  if (!integer || fraction.size() > 9) return std::nullopt;
  const auto base = multiply(*integer, factor);
  const auto numerator = digits(fraction);
  if (!base || !numerator) return std::nullopt;
  std::uint64_t denominator = 1;
  for (std::size_t i = 0; i < fraction.size(); ++i) denominator *= 10;
  const auto part = multiply(*numerator, factor);
  if (!part || *part % denominator != 0) return std::nullopt;
  std::uint64_t sum = 0;
  if (__builtin_add_overflow(*base, *part / denominator, &sum)) return std::nullopt;
  return sum;
}

template <std::size_t Size>
std::optional<std::uint64_t> parse_with_unit(std::string_view text, const std::array<Unit, Size>& units) {
  std::size_t point = 0;
  while (point < text.size() && is_digit(text[point])) ++point;
  std::size_t end = point;
  if (end < text.size() && text[end] == '.') {
    ++end;
    while (end < text.size() && is_digit(text[end])) ++end;
    if (end == point + 1) return std::nullopt;
  }
  if (point == 0) return std::nullopt;
  std::string_view unit = text.substr(end);
  if (unit.size() > 1 && unit.front() == ' ') unit.remove_prefix(1);
  for (const Unit& known : units) {
    if (known.name != unit) continue;
    return scale(text.substr(0, point), end == point ? "" : text.substr(point + 1, end - point - 1), known.factor);
  }
  return std::nullopt;
}

std::string decimal(double value, int places, std::string_view unit) {
  char text[48];
  const int length = std::snprintf(text, sizeof text, "%.*f ", places, value);
  return std::string(text, static_cast<std::size_t>(length)).append(unit);
}

}  // namespace

std::optional<std::uint64_t> parse_number(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  }
  if (text.empty()) return std::nullopt;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> parse_bytes(std::string_view text) { return parse_with_unit(text, byte_units); }

std::optional<runtime::TimeNs> parse_duration(std::string_view text) {
  if (text == "0") return 0;
  const auto value = parse_with_unit(text, time_units);
  if (!value || *value > std::uint64_t{std::numeric_limits<runtime::TimeNs>::max()}) return std::nullopt;
  return static_cast<runtime::TimeNs>(*value);
}

std::optional<std::uint64_t> parse_line_rate(std::string_view text) {
  if (text == "unlimited") return 0;
  if (const std::uint64_t rate = wire::line_rate_bytes_per_second(text); rate != 0) return rate;
  const auto rate = parse_with_unit(text, rate_units);
  return rate && *rate != 0 ? rate : std::nullopt;
}

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::uint64_t shown_exactly = 10'000;  // 2047 and 2048 must not look alike
  std::size_t unit = 1;
  if (bytes < shown_exactly && bytes % 1024 != 0) return std::to_string(bytes) + " B";
  while (unit + 1 < byte_units.size() && bytes >= byte_units[unit + 1].factor) ++unit;
  if (bytes % byte_units[unit].factor == 0)
    return std::to_string(bytes / byte_units[unit].factor).append(" ").append(byte_units[unit].name);
  return decimal(static_cast<double>(bytes) / static_cast<double>(byte_units[unit].factor), 1, byte_units[unit].name);
}

std::string format_duration(runtime::TimeNs duration) {
  if (duration < runtime::microsecond) return std::to_string(duration) + " ns";
  std::size_t unit = 1;
  while (unit + 1 < time_units.size() && static_cast<std::uint64_t>(duration) >= time_units[unit + 1].factor) ++unit;
  return decimal(static_cast<double>(duration) / static_cast<double>(time_units[unit].factor), 3,
                 time_units[unit].name);
}

std::string format_rate(std::uint64_t bytes, runtime::TimeNs duration) {
  if (duration <= 0 || bytes == 0) return "-";
  const double rate = static_cast<double>(bytes) / static_cast<double>(duration) * 1e9;
  std::size_t unit = 1;
  while (unit + 1 < rate_units.size() && rate >= static_cast<double>(rate_units[unit + 1].factor)) ++unit;
  return decimal(rate / static_cast<double>(rate_units[unit].factor), unit == 1 ? 0 : 2, rate_units[unit].name);
}

std::string format_count(std::uint64_t count) {
  std::string text = std::to_string(count);
  for (std::size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, 1, ',');
  return text;
}

}  // namespace settings
