// GPN_FT: N_Port_IDs and Node_Names of the ports that speak an FC-4. Accept: GpnFtAccept, with Node_Names.
#pragma once
#include "wire/ct/preamble.hpp"
#include "wire/fc_header.hpp"

namespace wire::ct {

/// GNN_FT (FC-GS-4), 20 bytes, after the preamble:
/// word | 31-24    | 23-16        | 15-8       | 7-0
///  4   | reserved | domain scope | area scope | TYPE
struct GnnFt {
  CtHeader preamble = CtHeader::of(Command::gnn_ft);
  std::uint8_t domain_scope = 0;
  std::uint8_t area_scope = 0;
  Type type{};

  static constexpr std::string_view name = "GNN_FT";
  static constexpr Command command = Command::gnn_ft;
  static constexpr auto layout = codec::layout<20>(
      codec::field<0, 16>(&GnnFt::preamble, "preamble"), codec::check<8, 2>(0x0173, "command"),
      codec::field<17, 1>(&GnnFt::domain_scope, "domain_scope"), codec::field<18, 1>(&GnnFt::area_scope, "area_scope"),
      codec::field<19, 1>(&GnnFt::type, "type"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<GnnFt> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const GnnFt&, const GnnFt&) = default;
};

}  // namespace wire::ct
