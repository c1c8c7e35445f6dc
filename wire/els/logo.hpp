// LOGO: N_Port logout.
#pragma once
#include "wire/codec.hpp"
#include "wire/els/command.hpp"

namespace wire::els {

/// LOGO (FC-LS 4.2.8), 16 bytes
/// word | 31-24    | 23-0
///  0   | 05h      | 0
///  1   | reserved | N_Port_ID of the sender
///  2-3 | Port_Name of the sender
struct Logo {
  FcId n_port_id{};
  Wwn port_name{};

  static constexpr std::string_view name = "LOGO";
  static constexpr std::array<Command, 1> commands{Command::logo};
  static constexpr auto layout =
      codec::layout<16>(codec::constant<0, 1>(0x05, "command"), codec::field<5, 3>(&Logo::n_port_id, "n_port_id"),
                        codec::field<8, 8>(&Logo::port_name, "port_name"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<Logo> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const Logo&, const Logo&) = default;
};

}  // namespace wire::els
