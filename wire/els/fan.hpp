// FAN: fabric address notification, after a LIP on a public loop (FC-VI 7.7.4). It has no reply.
#pragma once
#include "wire/codec.hpp"
#include "wire/els/command.hpp"

namespace wire::els {

/// FAN (FC-LS 4.2.23), 24 bytes
/// word | 31-24    | 23-0
///  0   | 60h      | 0
///  1   | reserved | loop fabric address
///  2-3 | Port_Name of the F_Port
///  4-5 | Fabric_Name
struct Fan {
  FcId loop_fabric_address{};
  Wwn port_name{};
  Wwn fabric_name{};

  static constexpr std::string_view name = "FAN";
  static constexpr std::array<Command, 1> commands{Command::fan};
  static constexpr auto layout = codec::layout<24>(
      codec::constant<0, 1>(0x60, "command"), codec::field<5, 3>(&Fan::loop_fabric_address, "loop_fabric_address"),
      codec::field<8, 8>(&Fan::port_name, "port_name"), codec::field<16, 8>(&Fan::fabric_name, "fabric_name"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<Fan> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const Fan&, const Fan&) = default;
};

}  // namespace wire::els
