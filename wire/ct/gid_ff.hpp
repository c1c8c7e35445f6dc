// GID_FF: N_Port_IDs of ports with some feature of an FC-4. Accept: PortIdListAccept.
#pragma once
#include "wire/ct/preamble.hpp"
#include "wire/fc_header.hpp"

namespace wire::ct {

/// GID_FF (FC-GS 5.2.5), 24 bytes, after the preamble:
/// word | 31-24    | 23-16        | 15-8         | 7-0
///  4   | reserved | domain scope | area scope   | reserved
///  5   | reserved                | FC-4 feature | TYPE
struct GidFf {
  CtHeader preamble = CtHeader::of(Command::gid_ff);
  std::uint8_t domain_scope = 0;
  std::uint8_t area_scope = 0;
  std::uint8_t features = 0;
  Type type{};

  static constexpr std::string_view name = "GID_FF";
  static constexpr Command command = Command::gid_ff;
  static constexpr auto layout = codec::layout<24>(
      codec::field<0, 16>(&GidFf::preamble, "preamble"), codec::check<8, 2>(0x01F1, "command"),
      codec::field<17, 1>(&GidFf::domain_scope, "domain_scope"), codec::field<18, 1>(&GidFf::area_scope, "area_scope"),
      codec::field<22, 1>(&GidFf::features, "features"), codec::field<23, 1>(&GidFf::type, "type"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<GidFf> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const GidFf&, const GidFf&) = default;
};

}  // namespace wire::ct
