// FCVI_CONNECT_RESP1: the first answer to a CONNECT_RQST.
#pragma once
#include "wire/fcvi/connect_payload.hpp"
#include "wire/fcvi/device_header.hpp"
#include "wire/fcvi/flags.hpp"
#include "wire/fcvi/reason.hpp"

namespace wire::fcvi {

/// FCVI_CONNECT_RESP1 (FC-VI 6.9), Device_Header of 32 bytes, payload of 340 or 596 bytes. FCVI_HANDLE of the
/// Device_Header is always unassigned: the sender's handle is in the payload, FFFFFFFFh where it does not
/// accept (ruling 3).
struct ConnectResp1 {
  ConnectionId connection_id = ConnectionId::unassigned;  // of the CONNECT_RQST
  bool retry = false;                                     // of the CONNECT_RQST
  std::optional<ConnectionStatus> status;                 // none: accepted
  ConnectPayload payload{};

  static constexpr std::string_view name = "FCVI_CONNECT_RESP1";
  static constexpr Opcode opcode = Opcode::connect_resp1;
  [[nodiscard]] std::size_t size() const { return device_header_bytes + payload.size(); }
  /// Of a whole IU that stands in one frame.
  [[nodiscard]] static Result<ConnectResp1> parse(std::size_t df_size, Bytes data_field);
  [[nodiscard]] static Result<ConnectResp1> parse(Bytes data_field) { return parse(device_header_bytes, data_field); }
  /// Of an IU that was put together from several frames; `header` is one of this opcode.
  [[nodiscard]] static Result<ConnectResp1> from(const DeviceHeader& header, Bytes payload);
  [[nodiscard]] DeviceHeader to_device_header() const;
  /// Device_Header and payload.
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const ConnectResp1&, const ConnectResp1&) = default;
  static constexpr std::size_t device_header_bytes = 32;
};

}  // namespace wire::fcvi
