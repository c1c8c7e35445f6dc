// GID_PT: N_Port_IDs of a port type. Accept: PortIdListAccept.
#pragma once
#include "wire/ct/preamble.hpp"
#include "wire/ct/port_type.hpp"

namespace wire::ct {

/// GID_PT (FC-GS 5.2.5), 20 bytes, after the preamble:
/// word | 31-24     | 23-16        | 15-8       | 7-0
///  4   | port type | domain scope | area scope | reserved
struct GidPt {
  CtHeader preamble = CtHeader::of(Command::gid_pt);
  PortType port_type{};
  std::uint8_t domain_scope = 0;
  std::uint8_t area_scope = 0;

  static constexpr std::string_view name = "GID_PT";
  static constexpr Command command = Command::gid_pt;
  static constexpr auto layout = codec::layout<20>(
      codec::field<0, 16>(&GidPt::preamble, "preamble"), codec::check<8, 2>(0x01A1, "command"),
      codec::field<16, 1>(&GidPt::port_type, "port_type"), codec::field<17, 1>(&GidPt::domain_scope, "domain_scope"),
      codec::field<18, 1>(&GidPt::area_scope, "area_scope"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<GidPt> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const GidPt&, const GidPt&) = default;
};

}  // namespace wire::ct
