// GPN_FT: N_Port_IDs and Port_Names of the ports that speak an FC-4. Accept: GpnFtAccept.
#pragma once
#include "wire/ct/preamble.hpp"
#include "wire/fc_header.hpp"

namespace wire::ct {

/// GPN_FT (FC-GS 5.2.5), 20 bytes, after the preamble:
/// word | 31-24    | 23-16        | 15-8       | 7-0
///  4   | reserved | domain scope | area scope | TYPE
struct GpnFt {
  CtHeader preamble = CtHeader::of(Command::gpn_ft);
  std::uint8_t domain_scope = 0;
  std::uint8_t area_scope = 0;
  Type type{};

  static constexpr std::string_view name = "GPN_FT";
  static constexpr Command command = Command::gpn_ft;
  static constexpr auto layout = codec::layout<20>(
      codec::field<0, 16>(&GpnFt::preamble, "preamble"), codec::check<8, 2>(0x0172, "command"),
      codec::field<17, 1>(&GpnFt::domain_scope, "domain_scope"), codec::field<18, 1>(&GpnFt::area_scope, "area_scope"),
      codec::field<19, 1>(&GpnFt::type, "type"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<GpnFt> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const GpnFt&, const GpnFt&) = default;
};

}  // namespace wire::ct
