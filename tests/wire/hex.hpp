// Bytes written as text, so that a test can comment every field.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "wire/bytes.hpp"

namespace wire::test {

/// "52 00 00 00" or "52000000": spaces do not count.
inline std::vector<std::uint8_t> hex(std::string_view text) {
  std::vector<std::uint8_t> bytes;
  int high = -1;
  for (const char c : text) {
    if (c == ' ') continue;
    const std::size_t digit =
        std::string_view("0123456789ABCDEF").find(c >= 'a' && c <= 'f' ? static_cast<char>(c - 32) : c);
    if (digit == std::string_view::npos) throw std::invalid_argument("not hexadecimal");
    if (high < 0)
      high = static_cast<int>(digit);
    else {
      bytes.push_back(static_cast<std::uint8_t>(high * 16 + static_cast<int>(digit)));
      high = -1;
    }
  }
  if (high >= 0) throw std::invalid_argument("odd number of digits");
  return bytes;
}

inline std::vector<std::uint8_t> zeros(std::size_t count) { return std::vector<std::uint8_t>(count); }

/// One after the other.
template <class... Parts>
std::vector<std::uint8_t> join(const Parts&... parts) {
  std::vector<std::uint8_t> bytes;
  (bytes.insert(bytes.end(), parts.begin(), parts.end()), ...);
  return bytes;
}

template <class Message>
std::vector<std::uint8_t> written(const Message& message) {
  std::vector<std::uint8_t> bytes(message.size(), 0xA5);  // write() must leave none of these
  message.write(bytes);
  return bytes;
}

/// What does not depend on chance, but looks like it (xorshift64*).
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15U | 1) {}
  std::uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545F4914F6CDD1DU;
  }
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(next() >> 33) % limit; }
  std::vector<std::uint8_t> bytes(std::size_t count) {
    std::vector<std::uint8_t> out(count);
    for (auto& byte : out) byte = static_cast<std::uint8_t>(next() >> 56);
    return out;
  }

 private:
  std::uint64_t state_;
};

}  // namespace wire::test
