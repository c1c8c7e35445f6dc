// Extended link service command codes: the first byte of an ELS payload (FC-LS).
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace wire::els {

enum class Command : std::uint8_t {
  ls_rjt = 0x01,
  ls_acc = 0x02,
  plogi = 0x03,
  flogi = 0x04,
  logo = 0x05,
  rtv = 0x0E,
  rls = 0x0F,
  echo = 0x10,
  rrq = 0x12,
  rec = 0x13,
  prli = 0x20,
  prlo = 0x21,
  fdisc = 0x51,
  adisc = 0x52,
  farp_req = 0x54,
  farp_reply = 0x55,
  fan = 0x60,
  rscn = 0x61,
  scr = 0x62,
  rnid = 0x78,
};
/// "PLOGI"; "unknown" for a code without a name.
[[nodiscard]] std::string_view to_string(Command command);

/// Accepts share the code 02h: only the exchange tells which request they answer.
template <class Message>
concept Request = requires {
  Message::commands;
};
template <class Message>
[[nodiscard]] constexpr bool has_command(Command command) {
  for (const Command own : Message::commands)
    if (own == command) return true;
  return false;
}

}  // namespace wire::els
