// FCVI_DISCONNECT_RESP: the answer to a DISCONNECT_RQST.
#pragma once
#include "wire/fcvi/device_header.hpp"
#include "wire/fcvi/flags.hpp"
#include "wire/fcvi/reason.hpp"

namespace wire::fcvi {

/// FCVI_DISCONNECT_RESP (FC-VI 6.13), Device_Header of 32 bytes, no payload.
struct DisconnectResp {
  FcviHandle handle = FcviHandle::unassigned;  // of the receiving endpoint; unassigned where not known
  MsgId last_msg_id{};                         // last message that the sender completed; 0 for a setup
  ConnectionId connection_id{};                // 0 for an established connection (ruling 5); FFFFFFFFh is accepted
  bool conn_setup_abort = false;               // a Connection Setup is aborted, not a connection
  bool vi_app_discon = false;                  // asked for by the VI Application, not by the provider
  std::optional<ConnectionStatus> status;

  static constexpr std::string_view name = "FCVI_DISCONNECT_RESP";
  static constexpr Opcode opcode = Opcode::disconnect_resp;
  [[nodiscard]] static constexpr std::size_t size() { return 32; }
  [[nodiscard]] static Result<DisconnectResp> parse(std::size_t df_size, Bytes data_field) {
    return parse_iu<DisconnectResp>(df_size, data_field);
  }
  [[nodiscard]] static Result<DisconnectResp> parse(Bytes data_field) { return parse(size(), data_field); }
  void write(MutableBytes to) const { to_device_header().write(to); }
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const DisconnectResp&, const DisconnectResp&) = default;

  /// `header` is one of this opcode.
  [[nodiscard]] static DisconnectResp from(const DeviceHeader& header);
  [[nodiscard]] DeviceHeader to_device_header() const;
};

}  // namespace wire::fcvi
