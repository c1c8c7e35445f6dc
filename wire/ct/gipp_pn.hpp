// GIPP_PN: the IP addresses of a Port_Name. Accept: IpAddressListAccept.
#pragma once
#include "wire/ct/preamble.hpp"

namespace wire::ct {

/// GIPP_PN (FC-GS 5.2.5), 24 bytes, after the preamble:
/// word | 31-0
///  4-5 | Port_Name
struct GippPn {
  CtHeader preamble = CtHeader::of(Command::gipp_pn);
  Wwn port_name{};

  static constexpr std::string_view name = "GIPP_PN";
  static constexpr Command command = Command::gipp_pn;
  static constexpr auto layout =
      codec::layout<24>(codec::field<0, 16>(&GippPn::preamble, "preamble"), codec::check<8, 2>(0x012B, "command"),
                        codec::field<16, 8>(&GippPn::port_name, "port_name"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<GippPn> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const GippPn&, const GippPn&) = default;
};

}  // namespace wire::ct
