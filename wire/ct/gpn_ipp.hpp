// GPN_IPP: N_Port_IDs and Port_Names of the ports that have an IP address. Accept: GpnFtAccept.
#pragma once
#include "wire/ct/preamble.hpp"

namespace wire::ct {

/// GPN_IPP (FC-GS 5.2.5), 32 bytes, after the preamble:
/// word | 31-0
///  4-7 | IP address, IPv6 or IPv4-mapped
struct GpnIpp {
  CtHeader preamble = CtHeader::of(Command::gpn_ipp);
  IpAddress ip_address{};

  static constexpr std::string_view name = "GPN_IPP";
  static constexpr Command command = Command::gpn_ipp;
  static constexpr auto layout =
      codec::layout<32>(codec::field<0, 16>(&GpnIpp::preamble, "preamble"), codec::check<8, 2>(0x01B2, "command"),
                        codec::field<16, 16>(&GpnIpp::ip_address, "ip_address"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<GpnIpp> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const GpnIpp&, const GpnIpp&) = default;
};

}  // namespace wire::ct
