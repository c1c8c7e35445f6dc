// FCVI_DISCONNECT_RQST: ends a connection, or aborts a Connection Setup.
#pragma once
#include "wire/fcvi/device_header.hpp"
#include "wire/fcvi/flags.hpp"
#include "wire/fcvi/reason.hpp"

namespace wire::fcvi {

/// FCVI_DISCONNECT_RQST (FC-VI 6.12), Device_Header of 32 bytes, no payload.
struct DisconnectRqst {
  FcviHandle handle = FcviHandle::unassigned;  // of the receiving endpoint; unassigned where not known
  MsgId last_msg_id{};                         // last message that the sender completed; 0 for a setup
  ConnectionId connection_id{};                // 0 for an established connection (ruling 5); FFFFFFFFh is accepted
  bool conn_setup_abort = false;               // a Connection Setup is aborted, not a connection
  bool vi_app_discon = false;                  // asked for by the VI Application, not by the provider
  std::optional<ConnectionStatus> status;

  static constexpr std::string_view name = "FCVI_DISCONNECT_RQST";
  static constexpr Opcode opcode = Opcode::disconnect_rqst;
  [[nodiscard]] static constexpr std::size_t size() { return 32; }
  [[nodiscard]] static Result<DisconnectRqst> parse(std::size_t df_size, Bytes data_field) {
    return parse_iu<DisconnectRqst>(df_size, data_field);
  }
  [[nodiscard]] static Result<DisconnectRqst> parse(Bytes data_field) { return parse(size(), data_field); }
  void write(MutableBytes to) const { to_device_header().write(to); }
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const DisconnectRqst&, const DisconnectRqst&) = default;

  /// `header` is one of this opcode.
  [[nodiscard]] static DisconnectRqst from(const DeviceHeader& header);
  [[nodiscard]] DeviceHeader to_device_header() const;
};

}  // namespace wire::fcvi
