// FCVI_READ_RQST: asks for an RDMA Read message.
#pragma once
#include "wire/fcvi/message_request.hpp"

namespace wire::fcvi {

/// FCVI_READ_RQST (FC-VI 6.6), Device_Header of 32 bytes, no payload. No flag is allowed: IMM_DATA is ignored.
struct ReadRqst {
  FcviHandle handle{};  // of the receiving endpoint
  MsgId msg_id{};
  std::uint64_t rmt_va = 0;
  MemHandle rmt_va_handle{};
  std::uint32_t total_length = 0;  // of the whole message, bytes

  static constexpr std::string_view name = "FCVI_READ_RQST";
  static constexpr Opcode opcode = Opcode::read_rqst;
  [[nodiscard]] static constexpr std::size_t size() { return 32; }
  [[nodiscard]] static Result<ReadRqst> parse(std::size_t df_size, Bytes data_field) {
    return parse_iu<ReadRqst>(df_size, data_field);
  }
  [[nodiscard]] static Result<ReadRqst> parse(Bytes data_field) { return parse(size(), data_field); }
  void write(MutableBytes to) const { to_device_header().write(to); }
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const ReadRqst&, const ReadRqst&) = default;

  /// `header` is one of this opcode.
  [[nodiscard]] static ReadRqst from(const DeviceHeader& header) {
    assert(header.opcode == opcode);
    return {header.handle, header.msg_id, header.rmt_va, header.rmt_va_handle, header.tot_len_or_connection_id};
  }
  [[nodiscard]] DeviceHeader to_device_header() const {
    return MessageRequest{.opcode = opcode,
                          .handle = handle,
                          .msg_id = msg_id,
                          .rmt_va = rmt_va,
                          .rmt_va_handle = rmt_va_handle,
                          .total_length = total_length}
        .to_device_header();
  }
};

}  // namespace wire::fcvi
