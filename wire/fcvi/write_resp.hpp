// FCVI_WRITE_RESP: acknowledges a message of Reliable Reception.
#pragma once
#include "wire/fcvi/device_header.hpp"
#include "wire/fcvi/message_status.hpp"

namespace wire::fcvi {

/// FCVI_WRITE_RESP (FC-VI 6.5), Device_Header of 16 bytes, no payload.
struct WriteResp {
  FcviHandle handle{};  // of the receiving endpoint
  MsgId msg_id{};       // of the WRITE_RQST
  MessageStatus status{};

  static constexpr std::string_view name = "FCVI_WRITE_RESP";
  static constexpr Opcode opcode = Opcode::write_resp;
  [[nodiscard]] static constexpr std::size_t size() { return 16; }
  [[nodiscard]] static Result<WriteResp> parse(std::size_t df_size, Bytes data_field) {
    return parse_iu<WriteResp>(df_size, data_field);
  }
  [[nodiscard]] static Result<WriteResp> parse(Bytes data_field) { return parse(size(), data_field); }
  void write(MutableBytes to) const { to_device_header().write(to); }
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const WriteResp&, const WriteResp&) = default;

  /// `header` is one of this opcode.
  [[nodiscard]] static WriteResp from(const DeviceHeader& header) {
    assert(header.opcode == opcode);
    return {header.handle, header.msg_id, MessageStatus::from_flags(header.flags)};
  }
  [[nodiscard]] DeviceHeader to_device_header() const {
    return {handle, opcode, status.to_flags(), msg_id, 0, 0, {}, 0};
  }
};

}  // namespace wire::fcvi
