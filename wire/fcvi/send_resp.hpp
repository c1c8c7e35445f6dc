// FCVI_SEND_RESP: acknowledges a message of Reliable Reception.
#pragma once
#include "wire/fcvi/device_header.hpp"
#include "wire/fcvi/message_status.hpp"

namespace wire::fcvi {

/// FCVI_SEND_RESP (FC-VI 6.3), Device_Header of 16 bytes, no payload.
struct SendResp {
  FcviHandle handle{};  // of the receiving endpoint
  MsgId msg_id{};       // of the SEND_RQST
  MessageStatus status{};

  static constexpr std::string_view name = "FCVI_SEND_RESP";
  static constexpr Opcode opcode = Opcode::send_resp;
  [[nodiscard]] static constexpr std::size_t size() { return 16; }
  [[nodiscard]] static Result<SendResp> parse(std::size_t df_size, Bytes data_field) {
    return parse_iu<SendResp>(df_size, data_field);
  }
  [[nodiscard]] static Result<SendResp> parse(Bytes data_field) { return parse(size(), data_field); }
  void write(MutableBytes to) const { to_device_header().write(to); }
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const SendResp&, const SendResp&) = default;

  /// `header` is one of this opcode.
  [[nodiscard]] static SendResp from(const DeviceHeader& header) {
    assert(header.opcode == opcode);
    return {header.handle, header.msg_id, MessageStatus::from_flags(header.flags)};
  }
  [[nodiscard]] DeviceHeader to_device_header() const {
    return {handle, opcode, status.to_flags(), msg_id, 0, 0, {}, 0};
  }
};

}  // namespace wire::fcvi
