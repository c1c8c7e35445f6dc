// SCR: state change registration with the fabric controller.
#pragma once
#include "wire/codec.hpp"
#include "wire/els/command.hpp"

namespace wire::els {

enum class ScrFunction : std::uint8_t { fabric_detected = 1, n_port_detected = 2, full = 3, clear = 0xFF };
[[nodiscard]] std::string_view to_string(ScrFunction function);

/// SCR (FC-LS 4.2.25), 8 bytes
/// word | 31-24 | 23-8     | 7-0
///  0   | 62h   | 0
///  1   | reserved         | registration function
struct Scr {
  ScrFunction function = ScrFunction::full;

  static constexpr std::string_view name = "SCR";
  static constexpr std::array<Command, 1> commands{Command::scr};
  static constexpr auto layout =
      codec::layout<8>(codec::constant<0, 1>(0x62, "command"), codec::field<7, 1>(&Scr::function, "function"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<Scr> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const Scr&, const Scr&) = default;
};

}  // namespace wire::els
