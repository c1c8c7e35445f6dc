// GFPN_ID: the Port_Name of the F_Port of an N_Port_ID. Accept: NameAccept.
#pragma once
#include "wire/ct/preamble.hpp"

namespace wire::ct {

/// GFPN_ID (FC-GS 5.2.5), 20 bytes, after the preamble:
/// word | 31-24    | 23-0
///  4   | reserved | N_Port_ID
struct GfpnId {
  CtHeader preamble = CtHeader::of(Command::gfpn_id);
  FcId port_id{};

  static constexpr std::string_view name = "GFPN_ID";
  static constexpr Command command = Command::gfpn_id;
  static constexpr auto layout =
      codec::layout<20>(codec::field<0, 16>(&GfpnId::preamble, "preamble"), codec::check<8, 2>(0x011C, "command"),
                        codec::field<17, 3>(&GfpnId::port_id, "port_id"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<GfpnId> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const GfpnId&, const GfpnId&) = default;
};

}  // namespace wire::ct
