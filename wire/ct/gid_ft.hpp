// GID_FT: N_Port_IDs of the ports that speak an FC-4. Accept: PortIdListAccept.
#pragma once
#include "wire/ct/preamble.hpp"
#include "wire/fc_header.hpp"

namespace wire::ct {

/// GID_FT (FC-GS 5.2.5), 20 bytes, after the preamble:
/// word | 31-24    | 23-16        | 15-8       | 7-0
///  4   | reserved | domain scope | area scope | TYPE
struct GidFt {
  CtHeader preamble = CtHeader::of(Command::gid_ft);
  std::uint8_t domain_scope = 0;
  std::uint8_t area_scope = 0;
  Type type{};

  static constexpr std::string_view name = "GID_FT";
  static constexpr Command command = Command::gid_ft;
  static constexpr auto layout = codec::layout<20>(
      codec::field<0, 16>(&GidFt::preamble, "preamble"), codec::check<8, 2>(0x0171, "command"),
      codec::field<17, 1>(&GidFt::domain_scope, "domain_scope"), codec::field<18, 1>(&GidFt::area_scope, "area_scope"),
      codec::field<19, 1>(&GidFt::type, "type"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<GidFt> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const GidFt&, const GidFt&) = default;
};

}  // namespace wire::ct
