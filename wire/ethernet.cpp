#include "wire/ethernet.hpp"

#include <charconv>

namespace wire {

std::optional<MacAddress> MacAddress::from_string(std::string_view text) {
  constexpr std::size_t text_size = 17;  // six pairs of digits, five colons
  if (text.size() != text_size) return {};
  MacAddress address;
  for (std::size_t i = 0; i < address.bytes.size(); ++i) {
    const char* const pair = text.data() + 3 * i;
    const auto [end, error] = std::from_chars(pair, pair + 2, address.bytes[i], 16);
    if (error != std::errc{} || end != pair + 2) return {};
    if (i != 5 && *end != ':') return {};
  }
  return address;
}

std::string to_string(const MacAddress& address) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  for (const std::uint8_t byte : address.bytes) {
    if (!out.empty()) out += ':';
    out += digits[byte >> 4];
    out += digits[byte & 0xF];
  }
  return out;
}

std::string_view to_string(EtherType type) {
  switch (type) {
    case EtherType::fcoe: return "FCoE";
    case EtherType::fip: return "FIP";
    case EtherType::vlan: return "VLAN";
  }
  return text::unknown;
}

}  // namespace wire
