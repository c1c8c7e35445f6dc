// What the frames of the three requests of a message have in common: SendRqst, WriteRqst, ReadRqst.
#pragma once
#include "wire/fcvi/device_header.hpp"
#include "wire/fcvi/flags.hpp"

namespace wire::fcvi {

/// FCVI_SEND_RQST, FCVI_WRITE_RQST and FCVI_READ_RQST (FC-VI 6.2, 6.4, 6.6) as their Device_Header has them. What a
/// request does not have is 0.
struct MessageRequest {
  Opcode opcode{};  // which of the three
  FcviHandle handle{};
  MsgId msg_id{};
  bool has_immediate = false;        // not in a FCVI_READ_RQST
  std::uint32_t immediate_data = 0;  // 0 where has_immediate is false
  std::uint64_t rmt_va = 0;          // not in a FCVI_SEND_RQST, nor the handle
  MemHandle rmt_va_handle{};
  std::uint32_t total_length = 0;  // of the whole message, bytes

  [[nodiscard]] DeviceHeader to_device_header() const {
    return {.handle = handle,
            .opcode = opcode,
            .flags = has_immediate ? message_request_flag::imm_data : std::uint8_t{0},
            .msg_id = msg_id,
            .parameter = immediate_data,
            .rmt_va = rmt_va,
            .rmt_va_handle = rmt_va_handle,
            .tot_len_or_connection_id = total_length};
  }
  void write(MutableBytes to) const { to_device_header().write(to); }
};

}  // namespace wire::fcvi
