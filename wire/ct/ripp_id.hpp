// RIPP_ID: registers the IP address of a port.
#pragma once
#include "wire/ct/preamble.hpp"

namespace wire::ct {

/// RIPP_ID (FC-GS 5.2.5), 36 bytes, after the preamble:
/// word | 31-24    | 23-0
///  4   | reserved | N_Port_ID
///  5-8 | IP address, IPv6 or IPv4-mapped
struct RippId {
  CtHeader preamble = CtHeader::of(Command::ripp_id);
  FcId port_id{};
  IpAddress ip_address{};

  static constexpr std::string_view name = "RIPP_ID";
  static constexpr Command command = Command::ripp_id;
  static constexpr auto layout = codec::layout<36>(
      codec::field<0, 16>(&RippId::preamble, "preamble"), codec::check<8, 2>(0x021B, "command"),
      codec::field<17, 3>(&RippId::port_id, "port_id"), codec::field<20, 16>(&RippId::ip_address, "ip_address"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<RippId> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const RippId&, const RippId&) = default;
};

}  // namespace wire::ct
