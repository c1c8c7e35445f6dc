#include "wire/text.hpp"

#include <algorithm>

namespace wire::text {
namespace {
constexpr std::size_t max_shown_bytes = 32;
constexpr std::string_view digits_of = "0123456789ABCDEF";
}  // namespace

std::string hex(std::uint64_t value, unsigned digits) {
  std::string out(digits, '0');
  for (unsigned i = digits; i-- > 0; value >>= 4) out[i] = digits_of[value & 0xF];
  return out;
}

std::string hex_h(std::uint64_t value, unsigned digits) { return hex(value, digits) + "h"; }

std::string bytes(Bytes value) {
  if (std::all_of(value.begin(), value.end(), [](std::uint8_t byte) { return byte == 0; })) return "0";
  std::string out;
  for (const std::uint8_t byte : value.first(std::min(value.size(), max_shown_bytes))) out += hex(byte, 2);
  if (value.size() > max_shown_bytes) out += "...";
  return out;
}

std::string quoted(Bytes value) {
  std::string out = "\"";
  for (const std::uint8_t byte : value) out += byte >= 0x20 && byte < 0x7F ? static_cast<char>(byte) : '.';
  return out + '"';
}

void append(std::string& line, std::string_view name, std::string_view value) {
  line += ' ';
  line += name;
  line += '=';
  line += value;
}

void append_flag(std::string& line, bool set, std::string_view flag) {
  if (!set) return;
  line += ' ';
  line += flag;
}

}  // namespace wire::text
