// FCVI_CONNECT_RQST: opens a Connection Setup.
#pragma once
#include "wire/fcvi/connect_payload.hpp"
#include "wire/fcvi/device_header.hpp"
#include "wire/fcvi/flags.hpp"

namespace wire::fcvi {

/// FCVI_CONNECT_RQST (FC-VI 6.8), Device_Header of 32 bytes, payload of 340 or 596 bytes. FCVI_HANDLE of the
/// Device_Header is always unassigned: the sender's handle is in the payload (ruling 3).
struct ConnectRqst {
  ConnectionId connection_id = ConnectionId::unassigned;
  bool retry = false;
  ConnectMode mode = ConnectMode::client_server;
  ConnectPayload payload{};

  static constexpr std::string_view name = "FCVI_CONNECT_RQST";
  static constexpr Opcode opcode = Opcode::connect_rqst;
  [[nodiscard]] std::size_t size() const { return device_header_bytes + payload.size(); }
  /// Of a whole IU that stands in one frame.
  [[nodiscard]] static Result<ConnectRqst> parse(std::size_t df_size, Bytes data_field);
  [[nodiscard]] static Result<ConnectRqst> parse(Bytes data_field) { return parse(device_header_bytes, data_field); }
  /// Of an IU that was put together from several frames; `header` is one of this opcode.
  [[nodiscard]] static Result<ConnectRqst> from(const DeviceHeader& header, Bytes payload);
  [[nodiscard]] DeviceHeader to_device_header() const;
  /// Device_Header and payload.
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const ConnectRqst&, const ConnectRqst&) = default;
  static constexpr std::size_t device_header_bytes = 32;
};

}  // namespace wire::fcvi
