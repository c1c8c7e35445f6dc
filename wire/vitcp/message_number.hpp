// Message Number and Message ACK (VI-TCP 3.2).
#pragma once
#include "wire/types.hpp"

namespace wire::vitcp {

/// Number of a message in one direction of a connection; the first is free, each next is one more, FFFFFFFFh is
/// followed by 0 (VI-TCP 3.2, ruling V-4). Order across the wrap: serial_less.
struct MessageNumber {
  std::uint32_t value = 0;
  friend constexpr auto operator<=>(const MessageNumber&, const MessageNumber&) = default;
};
/// "0000002Ah"
[[nodiscard]] std::string to_string(MessageNumber number);

/// `left` comes before `right` in serial-number arithmetic (RFC 1982); false where they are half the circle apart.
[[nodiscard]] constexpr bool serial_less(MessageNumber left, MessageNumber right) {
  const std::uint32_t ahead = right.value - left.value;
  return ahead != 0 && ahead < 0x80000000U;
}
/// The number `steps` further on, across the wrap.
[[nodiscard]] constexpr MessageNumber advance(MessageNumber number, std::uint32_t steps = 1) {
  return {number.value + steps};
}

}  // namespace wire::vitcp
