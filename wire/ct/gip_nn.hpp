// GIP_NN: the IP addresses of a node. Accept: IpAddressListAccept.
#pragma once
#include "wire/ct/preamble.hpp"

namespace wire::ct {

/// GIP_NN (FC-GS 5.2.5), 24 bytes, after the preamble:
/// word | 31-0
///  4-5 | Node_Name
struct GipNn {
  CtHeader preamble = CtHeader::of(Command::gip_nn);
  Wwn node_name{};

  static constexpr std::string_view name = "GIP_NN";
  static constexpr Command command = Command::gip_nn;
  static constexpr auto layout =
      codec::layout<24>(codec::field<0, 16>(&GipNn::preamble, "preamble"), codec::check<8, 2>(0x0135, "command"),
                        codec::field<16, 8>(&GipNn::node_name, "node_name"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<GipNn> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const GipNn&, const GipNn&) = default;
};

}  // namespace wire::ct
