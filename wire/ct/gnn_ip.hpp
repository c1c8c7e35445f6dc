// GNN_IP: the Node_Name of a node's IP address. Accept: NameAccept.
#pragma once
#include "wire/ct/preamble.hpp"

namespace wire::ct {

/// GNN_IP (FC-GS 5.2.5), 32 bytes, after the preamble:
/// word | 31-0
///  4-7 | IP address, IPv6 or IPv4-mapped
struct GnnIp {
  CtHeader preamble = CtHeader::of(Command::gnn_ip);
  IpAddress ip_address{};

  static constexpr std::string_view name = "GNN_IP";
  static constexpr Command command = Command::gnn_ip;
  static constexpr auto layout =
      codec::layout<32>(codec::field<0, 16>(&GnnIp::preamble, "preamble"), codec::check<8, 2>(0x0153, "command"),
                        codec::field<16, 16>(&GnnIp::ip_address, "ip_address"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<GnnIp> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const GnnIp&, const GnnIp&) = default;
};

}  // namespace wire::ct
