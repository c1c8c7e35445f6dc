// FCVI_SEND_RQST: a frame of a Send message.
#pragma once
#include "wire/fcvi/message_request.hpp"

namespace wire::fcvi {

/// FCVI_SEND_RQST (FC-VI 6.2), Device_Header of 32 bytes. The rest of the frame is message data.
struct SendRqst {
  FcviHandle handle{};  // of the receiving endpoint
  MsgId msg_id{};
  std::optional<std::uint32_t> immediate_data;
  std::uint32_t total_length = 0;  // of the whole message, bytes

  static constexpr std::string_view name = "FCVI_SEND_RQST";
  static constexpr Opcode opcode = Opcode::send_rqst;
  [[nodiscard]] static constexpr std::size_t size() { return 32; }
  [[nodiscard]] static Result<SendRqst> parse(std::size_t df_size, Bytes data_field) {
    return parse_iu<SendRqst>(df_size, data_field);
  }
  [[nodiscard]] static Result<SendRqst> parse(Bytes data_field) { return parse(size(), data_field); }
  void write(MutableBytes to) const { to_device_header().write(to); }
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const SendRqst&, const SendRqst&) = default;

  /// `header` is one of this opcode.
  [[nodiscard]] static SendRqst from(const DeviceHeader& header) {
    assert(header.opcode == opcode);
    SendRqst iu{header.handle, header.msg_id, std::nullopt, header.tot_len_or_connection_id};
    if (header.has(message_request_flag::imm_data)) iu.immediate_data = header.parameter;
    return iu;
  }
  [[nodiscard]] DeviceHeader to_device_header() const {
    return MessageRequest{.opcode = opcode,
                          .handle = handle,
                          .msg_id = msg_id,
                          .has_immediate = immediate_data.has_value(),
                          .immediate_data = immediate_data.value_or(0),
                          .total_length = total_length}
        .to_device_header();
  }
};

}  // namespace wire::fcvi
