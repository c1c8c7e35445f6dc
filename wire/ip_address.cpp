// Text forms of IP addresses: RFC 4291 2.2 in, RFC 5952 out.
#include <algorithm>
#include <charconv>

#include "wire/bytes.hpp"
#include "wire/types.hpp"

namespace wire {
namespace {

constexpr std::array<std::uint8_t, 12> mapped_prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
constexpr std::size_t groups_per_address = 8;
using Groups = std::array<std::uint16_t, groups_per_address>;

/// A number without sign or further text; leading zeros only if `leading_zeros`.
template <class T>
std::optional<T> number(std::string_view text, int base, std::size_t max_digits, bool leading_zeros) {
  if (text.empty() || text.size() > max_digits || (!leading_zeros && text.size() > 1 && text[0] == '0')) return {};
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) return {};
  return value;
}

std::optional<std::array<std::uint8_t, 4>> parse_v4(std::string_view text) {
  std::array<std::uint8_t, 4> bytes{};
  for (std::size_t i = 0; i < 4; ++i) {
    const std::size_t dot = i < 3 ? text.find('.') : text.size();
    if (dot == std::string_view::npos) return {};
    const auto value = number<std::uint8_t>(text.substr(0, dot), 10, 3, false);
    if (!value) return {};
    bytes[i] = *value;
    text.remove_prefix(std::min(dot + 1, text.size()));
  }
  return bytes;
}

/// Appends the groups of one side of "::"; false if they are malformed or too many. Only the last side may
/// end in IPv4.
bool append_groups(std::string_view text, bool last_side, Groups& groups, std::size_t& count) {
  while (!text.empty()) {
    const std::size_t colon = text.find(':');
    const std::string_view piece = text.substr(0, colon);
    if (colon == std::string_view::npos && last_side && piece.find('.') != std::string_view::npos) {
      const auto v4 = parse_v4(piece);
      if (!v4 || count + 2 > groups_per_address) return false;
      groups[count++] = load_big<2>(v4->data());
      groups[count++] = load_big<2>(v4->data() + 2);
      return true;
    }
    const auto value = number<std::uint16_t>(piece, 16, 4, true);
    if (!value || count == groups_per_address) return false;
    groups[count++] = *value;
    if (colon == std::string_view::npos) return true;
    text.remove_prefix(colon + 1);
    if (text.empty()) return false;  // a colon must be followed
  }
  return true;
}

IpAddress address_of(const Groups& groups) {
  IpAddress address;
  for (std::size_t i = 0; i < groups_per_address; ++i) store_big<2>(address.bytes.data() + 2 * i, groups[i]);
  return address;
}

std::optional<IpAddress> parse_v6(std::string_view text) {
  Groups head{}, tail{};
  std::size_t head_count = 0, tail_count = 0;
  const std::size_t gap = text.find("::");
  if (gap == std::string_view::npos) {
    if (!append_groups(text, true, head, head_count) || head_count != groups_per_address) return {};
    return address_of(head);
  }
  if (!append_groups(text.substr(0, gap), false, head, head_count) ||
      !append_groups(text.substr(gap + 2), true, tail, tail_count) || head_count + tail_count >= groups_per_address)
    return {};
  std::copy_n(tail.begin(), tail_count, head.end() - static_cast<std::ptrdiff_t>(tail_count));
  return address_of(head);
}

struct Run {
  std::size_t begin = 0, length = 0;
};
/// The first longest run of two or more zero groups (RFC 5952 4.2).
Run longest_zero_run(const Groups& groups) {
  Run best, run;
  for (std::size_t i = 0; i < groups_per_address; ++i) {
    run = groups[i] != 0 ? Run{i + 1, 0} : Run{run.begin, run.length + 1};
    if (run.length > best.length) best = run;
  }
  return best.length >= 2 ? best : Run{groups_per_address, 0};
}

std::string hex_group(std::uint16_t group) {
  std::array<char, 4> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), group, 16).ptr;
  return {digits.data(), end};
}

}  // namespace

std::optional<IpAddress> IpAddress::from_string(std::string_view text) {
  if (text.find(':') != std::string_view::npos) return parse_v6(text);
  const auto v4 = parse_v4(text);
  if (!v4) return {};
  return IpAddress::v4((*v4)[0], (*v4)[1], (*v4)[2], (*v4)[3]);
}

bool IpAddress::is_v4_mapped() const { return std::equal(mapped_prefix.begin(), mapped_prefix.end(), bytes.begin()); }

IpAddress IpAddress::normalized() const {
  const bool right_justified = std::all_of(bytes.begin(), bytes.begin() + 12, [](std::uint8_t b) { return b == 0; });
  if (!right_justified || load_big<4>(bytes.data() + 12) <= 1) return *this;
  return v4(bytes[12], bytes[13], bytes[14], bytes[15]);
}

std::string to_string(const IpAddress& address) {
  const auto& b = address.bytes;
  if (address.is_v4_mapped())
    return std::to_string(b[12]) + '.' + std::to_string(b[13]) + '.' + std::to_string(b[14]) + '.' +
           std::to_string(b[15]);
  Groups groups{};
  for (std::size_t i = 0; i < groups_per_address; ++i) groups[i] = load_big<2>(b.data() + 2 * i);
  const Run gap = longest_zero_run(groups);
  std::string out;
  for (std::size_t i = 0; i < groups_per_address; ++i) {
    if (i == gap.begin) {
      out += "::";
      i += gap.length - 1;
      continue;
    }
    if (!out.empty() && out.back() != ':') out += ':';
    out += hex_group(groups[i]);
  }
  return out;
}

}  // namespace wire

std::size_t std::hash<wire::IpAddress>::operator()(const wire::IpAddress& address) const noexcept {
  const std::uint64_t high = wire::load_big<8>(address.bytes.data()), low = wire::load_big<8>(address.bytes.data() + 8);
  return std::hash<std::uint64_t>{}(high * 0x9E3779B97F4A7C15U ^ low);
}
