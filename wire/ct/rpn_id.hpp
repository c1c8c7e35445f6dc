// RPN_ID: registers the Port_Name of a port.
#pragma once
#include "wire/ct/preamble.hpp"

namespace wire::ct {

/// RPN_ID (FC-GS 5.2.5), 28 bytes, after the preamble:
/// word | 31-24    | 23-0
///  4   | reserved | N_Port_ID
///  5-6 | Port_Name
struct RpnId {
  CtHeader preamble = CtHeader::of(Command::rpn_id);
  FcId port_id{};
  Wwn port_name{};

  static constexpr std::string_view name = "RPN_ID";
  static constexpr Command command = Command::rpn_id;
  static constexpr auto layout = codec::layout<28>(
      codec::field<0, 16>(&RpnId::preamble, "preamble"), codec::check<8, 2>(0x0212, "command"),
      codec::field<17, 3>(&RpnId::port_id, "port_id"), codec::field<20, 8>(&RpnId::port_name, "port_name"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<RpnId> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const RpnId&, const RpnId&) = default;
};

}  // namespace wire::ct
