// RIP_NN: registers the IP address of a node.
#pragma once
#include "wire/ct/preamble.hpp"

namespace wire::ct {

/// RIP_NN (FC-GS 5.2.5), 40 bytes, after the preamble:
/// word | 31-0
///  4-5 | Node_Name
///  6-9 | IP address, IPv6 or IPv4-mapped
struct RipNn {
  CtHeader preamble = CtHeader::of(Command::rip_nn);
  Wwn node_name{};
  IpAddress ip_address{};

  static constexpr std::string_view name = "RIP_NN";
  static constexpr Command command = Command::rip_nn;
  static constexpr auto layout = codec::layout<40>(
      codec::field<0, 16>(&RipNn::preamble, "preamble"), codec::check<8, 2>(0x0235, "command"),
      codec::field<16, 8>(&RipNn::node_name, "node_name"), codec::field<24, 16>(&RipNn::ip_address, "ip_address"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<RipNn> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const RipNn&, const RipNn&) = default;
};

}  // namespace wire::ct
