// FCVI_CONNECT_RESP2: the requestor confirms, or declines.
#pragma once
#include "wire/fcvi/device_header.hpp"
#include "wire/fcvi/flags.hpp"
#include "wire/fcvi/reason.hpp"

namespace wire::fcvi {

/// FCVI_CONNECT_RESP2 (FC-VI 6.10), Device_Header of 32 bytes, no payload.
struct ConnectResp2 {
  FcviHandle handle = FcviHandle::unassigned;  // FCVI_RESP_HANDLE of the RESP1
  ConnectionId connection_id = ConnectionId::unassigned;
  bool retry = false;
  std::optional<ConnectionStatus> status;  // none: the setup goes on

  static constexpr std::string_view name = "FCVI_CONNECT_RESP2";
  static constexpr Opcode opcode = Opcode::connect_resp2;
  [[nodiscard]] static constexpr std::size_t size() { return 32; }
  [[nodiscard]] static Result<ConnectResp2> parse(std::size_t df_size, Bytes data_field) {
    return parse_iu<ConnectResp2>(df_size, data_field);
  }
  [[nodiscard]] static Result<ConnectResp2> parse(Bytes data_field) { return parse(size(), data_field); }
  void write(MutableBytes to) const { to_device_header().write(to); }
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const ConnectResp2&, const ConnectResp2&) = default;

  /// `header` is one of this opcode.
  [[nodiscard]] static ConnectResp2 from(const DeviceHeader& header);
  [[nodiscard]] DeviceHeader to_device_header() const;
};

}  // namespace wire::fcvi
