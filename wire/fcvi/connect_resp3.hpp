// FCVI_CONNECT_RESP3: the responder has seen the RESP2.
#pragma once
#include "wire/fcvi/device_header.hpp"
#include "wire/fcvi/flags.hpp"
#include "wire/fcvi/reason.hpp"

namespace wire::fcvi {

/// FCVI_CONNECT_RESP3 (FC-VI 6.11), Device_Header of 32 bytes, no payload.
struct ConnectResp3 {
  FcviHandle handle = FcviHandle::unassigned;  // FCVI_RQST_HANDLE of the CONNECT_RQST
  ConnectionId connection_id = ConnectionId::unassigned;
  bool retry = false;
  std::optional<ConnectionStatus> status;  // none: the setup goes on

  static constexpr std::string_view name = "FCVI_CONNECT_RESP3";
  static constexpr Opcode opcode = Opcode::connect_resp3;
  [[nodiscard]] static constexpr std::size_t size() { return 32; }
  [[nodiscard]] static Result<ConnectResp3> parse(std::size_t df_size, Bytes data_field) {
    return parse_iu<ConnectResp3>(df_size, data_field);
  }
  [[nodiscard]] static Result<ConnectResp3> parse(Bytes data_field) { return parse(size(), data_field); }
  void write(MutableBytes to) const { to_device_header().write(to); }
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const ConnectResp3&, const ConnectResp3&) = default;

  /// `header` is one of this opcode.
  [[nodiscard]] static ConnectResp3 from(const DeviceHeader& header);
  [[nodiscard]] DeviceHeader to_device_header() const;
};

}  // namespace wire::fcvi
