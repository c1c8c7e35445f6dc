// GID_IPP: the N_Port_IDs of the ports with an IP address (FC-VI 7.6). Accept: PortIdListAccept.
#pragma once
#include "wire/ct/preamble.hpp"

namespace wire::ct {

/// GID_IPP (FC-GS 5.2.5), 32 bytes, after the preamble:
/// word | 31-0
///  4-7 | IP address, IPv6 or IPv4-mapped
struct GidIpp {
  CtHeader preamble = CtHeader::of(Command::gid_ipp);
  IpAddress ip_address{};

  static constexpr std::string_view name = "GID_IPP";
  static constexpr Command command = Command::gid_ipp;
  static constexpr auto layout =
      codec::layout<32>(codec::field<0, 16>(&GidIpp::preamble, "preamble"), codec::check<8, 2>(0x01B1, "command"),
                        codec::field<16, 16>(&GidIpp::ip_address, "ip_address"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<GidIpp> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const GidIpp&, const GidIpp&) = default;
};

}  // namespace wire::ct
