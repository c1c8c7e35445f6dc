// Connection status in FCVI_PARAMETER (FC-VI 5.9.7, Tables 11 and 12).
#pragma once
#include "wire/codec.hpp"

namespace wire::fcvi {

/// FC-VI Table 12.
enum class Reason : std::uint8_t {
  no_discriminator_match = 0x01,
  connect_timeout = 0x02,
  no_waiting_remote_connectionpoint = 0x03,
  connect_reject = 0x04,
  connect_reject_concurrent_matching_peer_requests = 0x05,
  connect_reject_invalid_service_parm = 0x20,
  connect_reject_protocol_error = 0x21,
  connect_reject_transport_error = 0x22,
  transport_error = 0x40,
  rdma_protection_error = 0x41,
  remote_descriptor_error = 0x42,
  remote_rdma_write_protection_error = 0x43,
  remote_rdma_write_data_error = 0x44,
  remote_rdma_write_packet_abort = 0x45,
  remote_rdma_transport_error = 0x46,
  remote_rdma_read_protection_error = 0x47,
  protocol_error = 0x48,
  connection_setup_timeout = 0x49,
  connection_does_not_exist = 0x4A,
  disconnect_accept = 0x4B,
};
/// The text of Table 12: "No Discriminator Match"; "unknown" for reserved and vendor unique codes.
[[nodiscard]] std::string_view to_string(Reason reason);

/// 01h-1Fh: non-error response codes of CONNECT_RESP1, 2, 3 (FC-VI 5.9.7.1).
[[nodiscard]] constexpr bool is_non_error_response(Reason reason) {
  const auto code = static_cast<unsigned>(reason);
  return code >= 0x01 && code <= 0x1F;
}
/// 20h-3Fh: error response codes of CONNECT_RESP1, 2, 3.
[[nodiscard]] constexpr bool is_error_response(Reason reason) {
  const auto code = static_cast<unsigned>(reason);
  return code >= 0x20 && code <= 0x3F;
}
/// 40h-5Fh: codes of DISCONNECT_RQST and DISCONNECT_RESP.
[[nodiscard]] constexpr bool is_disconnect(Reason reason) {
  const auto code = static_cast<unsigned>(reason);
  return code >= 0x40 && code <= 0x5F;
}
/// F0h-FFh (ruling 7).
[[nodiscard]] constexpr bool is_vendor_unique(Reason reason) { return static_cast<unsigned>(reason) >= 0xF0; }
/// No meaning assigned: 00h, 60h-EFh (ruling 7), and the codes within the ranges above that Table 12 does not name.
[[nodiscard]] constexpr bool is_reserved(Reason reason) {
  const auto code = static_cast<unsigned>(reason);
  const bool named = (code >= 0x01 && code <= 0x05) || (code >= 0x20 && code <= 0x22) || (code >= 0x40 && code <= 0x4B);
  return !named && !is_vendor_unique(reason);
}

/// FCVI_PARAMETER with CONN_STS set (FC-VI Table 11), 4 bytes
/// word | 31-24    | 23-16       | 15-8               | 7-0
///  0   | reserved | reason code | reason explanation | vendor unique
struct ConnectionStatus {
  Reason reason{};
  std::uint8_t explanation = 0;  // 0: none; all other values are reserved
  std::uint8_t vendor_unique = 0;

  static constexpr std::string_view name = "STATUS";
  static constexpr auto layout =
      codec::layout<4>(codec::field<1, 1>(&ConnectionStatus::reason, "reason"),
                       codec::field<2, 1>(&ConnectionStatus::explanation, "explanation"),
                       codec::field<3, 1>(&ConnectionStatus::vendor_unique, "vendor_unique"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<ConnectionStatus> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const ConnectionStatus&, const ConnectionStatus&) = default;
  [[nodiscard]] static constexpr ConnectionStatus from_parameter(std::uint32_t parameter) {
    return {static_cast<Reason>(parameter >> 16 & 0xFF), static_cast<std::uint8_t>(parameter >> 8 & 0xFF),
            static_cast<std::uint8_t>(parameter & 0xFF)};
  }
  [[nodiscard]] constexpr std::uint32_t to_parameter() const {
    return std::uint32_t{static_cast<std::uint8_t>(reason)} << 16 | std::uint32_t{explanation} << 8 | vendor_unique;
  }
};

}  // namespace wire::fcvi
