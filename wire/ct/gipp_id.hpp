// GIPP_ID: the IP addresses of an N_Port_ID. Accept: IpAddressListAccept.
#pragma once
#include "wire/ct/preamble.hpp"

namespace wire::ct {

/// GIPP_ID (FC-GS 5.2.5), 20 bytes, after the preamble:
/// word | 31-24    | 23-0
///  4   | reserved | N_Port_ID
struct GippId {
  CtHeader preamble = CtHeader::of(Command::gipp_id);
  FcId port_id{};

  static constexpr std::string_view name = "GIPP_ID";
  static constexpr Command command = Command::gipp_id;
  static constexpr auto layout =
      codec::layout<20>(codec::field<0, 16>(&GippId::preamble, "preamble"), codec::check<8, 2>(0x011B, "command"),
                        codec::field<17, 3>(&GippId::port_id, "port_id"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<GippId> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const GippId&, const GippId&) = default;
};

}  // namespace wire::ct
