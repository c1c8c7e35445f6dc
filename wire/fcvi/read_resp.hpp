// FCVI_READ_RESP: a frame of the answer to an RDMA Read.
#pragma once
#include "wire/fcvi/device_header.hpp"
#include "wire/fcvi/message_status.hpp"

namespace wire::fcvi {

/// FCVI_READ_RESP (FC-VI 6.7), Device_Header of 32 bytes. The rest of the frame is message data; none where
/// the status is an error (ruling 18).
struct ReadResp {
  FcviHandle handle{};  // of the receiving endpoint
  MsgId msg_id{};       // of the READ_RQST
  MessageStatus status{};
  std::uint64_t rmt_va = 0;  // of the READ_RQST
  MemHandle rmt_va_handle{};
  std::uint32_t total_length = 0;  // of the whole message, bytes

  static constexpr std::string_view name = "FCVI_READ_RESP";
  static constexpr Opcode opcode = Opcode::read_resp;
  [[nodiscard]] static constexpr std::size_t size() { return 32; }
  [[nodiscard]] static Result<ReadResp> parse(std::size_t df_size, Bytes data_field) {
    return parse_iu<ReadResp>(df_size, data_field);
  }
  [[nodiscard]] static Result<ReadResp> parse(Bytes data_field) { return parse(size(), data_field); }
  void write(MutableBytes to) const { to_device_header().write(to); }
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const ReadResp&, const ReadResp&) = default;

  /// `header` is one of this opcode.
  [[nodiscard]] static ReadResp from(const DeviceHeader& header) {
    assert(header.opcode == opcode);
    return {header.handle, header.msg_id,        MessageStatus::from_flags(header.flags),
            header.rmt_va, header.rmt_va_handle, header.tot_len_or_connection_id};
  }
  [[nodiscard]] DeviceHeader to_device_header() const {
    return {handle, opcode, status.to_flags(), msg_id, 0, rmt_va, rmt_va_handle, total_length};
  }
};

}  // namespace wire::fcvi
