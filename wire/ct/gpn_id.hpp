// GPN_ID: the Port_Name of an N_Port_ID. Accept: NameAccept.
#pragma once
#include "wire/ct/preamble.hpp"

namespace wire::ct {

/// GPN_ID (FC-GS 5.2.5), 20 bytes, after the preamble:
/// word | 31-24    | 23-0
///  4   | reserved | N_Port_ID
struct GpnId {
  CtHeader preamble = CtHeader::of(Command::gpn_id);
  FcId port_id{};

  static constexpr std::string_view name = "GPN_ID";
  static constexpr Command command = Command::gpn_id;
  static constexpr auto layout =
      codec::layout<20>(codec::field<0, 16>(&GpnId::preamble, "preamble"), codec::check<8, 2>(0x0112, "command"),
                        codec::field<17, 3>(&GpnId::port_id, "port_id"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<GpnId> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const GpnId&, const GpnId&) = default;
};

}  // namespace wire::ct
