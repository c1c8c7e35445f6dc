// A Send of one frame, as most messages are: both of its headers at once.
#pragma once
#include <optional>

#include "wire/fc_header.hpp"
#include "wire/fcvi/message_request.hpp"

namespace wire::fcvi {

/// A FCVI_SEND_RQST whose one frame begins and ends its Exchange (FC-VI 5.2.1, 6.2): class 3, and nothing comes back.
/// What its frame header (FC-FS) and its Device_Header (FC-VI 5.9.1) say beyond this is the same in all of them.
struct WholeSend {
  FcId d_id{}, s_id{};
  std::uint8_t cs_ctl = 0;
  SeqId seq_id{};
  OxId ox_id{};
  FcviHandle handle{};
  MsgId msg_id{};
  bool has_immediate = false;
  std::uint32_t immediate_data = 0;  // 0 where has_immediate is false
  std::uint32_t length_bytes = 0;    // of the message, which stands behind the headers

  static constexpr std::size_t header_bytes = FcHeader::size() + DeviceHeader::layout.size();
  static constexpr std::uint32_t f_ctl_bits =
      f_ctl::first_sequence | f_ctl::last_sequence | f_ctl::end_sequence | f_ctl::relative_offset_present;

  [[nodiscard]] std::size_t fill_bytes() const { return fill_bytes_for(length_bytes); }
  /// Headers, data and fill bytes.
  [[nodiscard]] std::size_t frame_bytes() const { return header_bytes + length_bytes + fill_bytes(); }

  /// nullopt: it is something else, or its parts contradict one another. Bits and fields that a receiver is to ignore
  /// (FC-VI 5.9.5) are ignored; one that only may be ignored makes it something else.
  [[nodiscard]] static std::optional<WholeSend> read(Bytes frame) {
    if (frame.size() < header_bytes) return std::nullopt;
    const FcHeader fc = codec::read<FcHeader>(frame.data());
    const DeviceHeader device = codec::read<DeviceHeader>(frame.data() + FcHeader::size());
    // By words as they stand, not by fields, which would be taken apart and put together again.
    constexpr std::uint32_t type_and_f_ctl = static_cast<std::uint32_t>(Type::fc_vi) << 24 | f_ctl_bits;
    constexpr std::uint32_t df_ctl_and_seq_cnt = std::uint32_t{df_ctl::device_header_32} << 16,
                            behind_seq_id = 0xFFFFFF;
    const std::uint8_t* const at = frame.data();
    const bool is_one = fc.r_ctl == RCtl::solicited_data &&
                        (load_big<4>(at + 8) & ~std::uint32_t{f_ctl::fill_bytes_mask}) == type_and_f_ctl &&
                        (load_big<4>(at + 12) & behind_seq_id) == df_ctl_and_seq_cnt && fc.parameter == 0 &&
                        device.opcode == Opcode::send_rqst;
    const std::size_t length = device.tot_len_or_connection_id;
    if (!is_one || frame.size() != header_bytes + length + fc.fill_bytes()) return std::nullopt;
    const bool immediate = device.has(message_request_flag::imm_data);
    return WholeSend{fc.d_id,
                     fc.s_id,
                     fc.cs_ctl,
                     fc.seq_id,
                     fc.ox_id,
                     device.handle,
                     device.msg_id,
                     immediate,
                     immediate ? device.parameter : 0,
                     device.tot_len_or_connection_id};
  }
  /// Pre: the data stand in `frame`, behind the headers; there is room for the fill bytes.
  void write(MutableBytes frame) const {
    assert(frame.size() >= frame_bytes());
    FcHeader::layout.store(fc_header(), frame.data());
    DeviceHeader::layout.store(request().to_device_header(), frame.data() + FcHeader::size());
    std::uint8_t* const behind = frame.data() + header_bytes + length_bytes;
    for (std::size_t left = fill_bytes(); left != 0; --left) behind[left - 1] = 0;
  }
  [[nodiscard]] FcHeader fc_header() const {
    return {.r_ctl = RCtl::solicited_data,
            .d_id = d_id,
            .cs_ctl = cs_ctl,
            .s_id = s_id,
            .type = Type::fc_vi,
            .f_ctl = f_ctl_bits | static_cast<std::uint32_t>(fill_bytes()),
            .seq_id = seq_id,
            .df_ctl = df_ctl::device_header_32,
            .ox_id = ox_id};
  }
  [[nodiscard]] MessageRequest request() const {
    return {.opcode = Opcode::send_rqst,
            .handle = handle,
            .msg_id = msg_id,
            .has_immediate = has_immediate,
            .immediate_data = immediate_data,
            .total_length = length_bytes};
  }
  friend bool operator==(const WholeSend&, const WholeSend&) = default;
};

}  // namespace wire::fcvi
