// The frame header that every Fibre Channel frame begins with (FC-FS).
#pragma once
#include "wire/codec.hpp"

namespace wire {

/// R_CTL: routing and information category. Values that are not named here are kept.
enum class RCtl : std::uint8_t {
  uncategorized = 0x00,
  solicited_data = 0x01,       // FC-VI message data
  unsolicited_control = 0x02,  // CT request, FC-VI connect request
  solicited_control = 0x03,    // CT reply, FC-VI connect response
  unsolicited_data = 0x04,
  data_descriptor = 0x05,
  unsolicited_command = 0x06,  // FC-VI read request
  command_status = 0x07,       // FC-VI send and write response
  els_request = 0x22,
  els_reply = 0x23,
  nop = 0x80,
  abts = 0x81,
  ba_acc = 0x84,
  ba_rjt = 0x85,
  ack_1 = 0xC0,  // also ACK_N
  ack_0 = 0xC1,
  p_rjt = 0xC2,
  f_rjt = 0xC3,
  p_bsy = 0xC4,
  f_bsy_data = 0xC5,
  f_bsy_link = 0xC6,
};
[[nodiscard]] std::string_view to_string(RCtl r_ctl);
/// ACK, reject and busy frames: answers of the class 2 protocol, never sequences of their own.
[[nodiscard]] constexpr bool is_link_control(RCtl r_ctl) { return (static_cast<std::uint8_t>(r_ctl) & 0xF0) == 0xC0; }

/// TYPE: the protocol of the data field.
enum class Type : std::uint8_t { bls = 0x00, els = 0x01, ip = 0x05, fcp = 0x08, ct = 0x20, fc_vi = 0x58 };
[[nodiscard]] std::string_view to_string(Type type);

/// F_CTL, 24 bits.
namespace f_ctl {
inline constexpr std::uint32_t exchange_responder = 1U << 23;   // sent by the responder of the exchange
inline constexpr std::uint32_t sequence_recipient = 1U << 22;   // sent by the recipient of the sequence
inline constexpr std::uint32_t first_sequence = 1U << 21;       // of the exchange
inline constexpr std::uint32_t last_sequence = 1U << 20;        // of the exchange
inline constexpr std::uint32_t end_sequence = 1U << 19;         // last frame of the sequence
inline constexpr std::uint32_t cs_ctl_priority = 1U << 17;      // CS_CTL holds a priority
inline constexpr std::uint32_t sequence_initiative = 1U << 16;  // transferred; valid with end_sequence
inline constexpr std::uint32_t ack_form_mask = 3U << 12;
inline constexpr std::uint32_t ack_form_ack_1 = 1U << 12;
inline constexpr std::uint32_t ack_form_ack_0 = 3U << 12;
inline constexpr std::uint32_t retransmitted = 1U << 9;
inline constexpr std::uint32_t unidirectional = 1U << 8;
inline constexpr std::uint32_t continue_sequence_mask = 3U << 6;
inline constexpr std::uint32_t abort_condition_mask = 3U << 4;     // meaning depends on sequence_recipient
inline constexpr std::uint32_t abort_continue = 0U << 4;           // in an ACK: continue the sequence
inline constexpr std::uint32_t abort_perform_abts = 1U << 4;       // in an ACK: abort the sequence, perform ABTS
inline constexpr std::uint32_t abort_stop_sequence = 2U << 4;      // in an ACK: stop the sequence
inline constexpr std::uint32_t abort_retransmit = 3U << 4;         // in an ACK: immediate retransmission
inline constexpr std::uint32_t relative_offset_present = 1U << 3;  // Parameter is a relative offset
inline constexpr std::uint32_t fill_bytes_mask = 3U;               // fill bytes at the end of the data field
inline constexpr std::uint32_t single_frame_request = first_sequence | end_sequence | sequence_initiative;  // 290000h
inline constexpr std::uint32_t single_frame_reply = exchange_responder | last_sequence | end_sequence;      // 980000h
}  // namespace f_ctl

/// DF_CTL: the optional headers at the start of the data field.
namespace df_ctl {
inline constexpr std::uint8_t network_header = 0x20;
inline constexpr std::uint8_t association_header = 0x10;
inline constexpr std::uint8_t device_header_mask = 0x03;
inline constexpr std::uint8_t no_device_header = 0x00;
inline constexpr std::uint8_t device_header_16 = 0x01;
inline constexpr std::uint8_t device_header_32 = 0x02;
inline constexpr std::uint8_t device_header_64 = 0x03;
/// Bytes of Device_Header that DF_CTL announces: 0, 16, 32 or 64.
[[nodiscard]] constexpr std::size_t device_header_size(std::uint8_t value) {
  const unsigned code = value & device_header_mask;
  return code == 0 ? 0 : std::size_t{8} << code;
}
/// The DF_CTL that announces a Device_Header of 0, 16, 32 or 64 bytes.
[[nodiscard]] constexpr std::uint8_t with_device_header(std::size_t size_bytes) {
  assert(size_bytes == 0 || size_bytes == 16 || size_bytes == 32 || size_bytes == 64);
  if (size_bytes == 0) return no_device_header;
  return size_bytes == 16 ? device_header_16 : size_bytes == 32 ? device_header_32 : device_header_64;
}
}  // namespace df_ctl

/// CS_CTL PREF bit (FC-VI 5.8.2), where F_CTL cs_ctl_priority is 0.
inline constexpr std::uint8_t cs_ctl_preference = 0x80;
/// FC-FS: the data field with its optional headers and fill bytes.
inline constexpr std::size_t max_data_field_size = 2112;

/// Frame header (FC-FS), 24 bytes
/// word | 31-24  | 23-16 | 15-8 | 7-0
///  0   | R_CTL  | D_ID
///  1   | CS_CTL | S_ID
///  2   | TYPE   | F_CTL
///  3   | SEQ_ID | DF_CTL | SEQ_CNT
///  4   | OX_ID           | RX_ID (FFFFh unassigned)
///  5   | Parameter
struct FcHeader {
  RCtl r_ctl{};
  FcId d_id{};
  std::uint8_t cs_ctl = 0;
  FcId s_id{};
  Type type{};
  std::uint32_t f_ctl = 0;
  SeqId seq_id{};
  std::uint8_t df_ctl = 0;
  SeqCnt seq_cnt{};
  OxId ox_id{};
  RxId rx_id = RxId::unassigned;
  std::uint32_t parameter = 0;

  static constexpr std::string_view name = "FC";
  static constexpr auto layout = codec::layout<24>(
      codec::word<0, 4>(codec::part<31, 24>(&FcHeader::r_ctl, "r_ctl"), codec::part<23, 0>(&FcHeader::d_id, "d_id")),
      codec::word<4, 4>(codec::part<31, 24>(&FcHeader::cs_ctl, "cs_ctl"), codec::part<23, 0>(&FcHeader::s_id, "s_id")),
      codec::word<8, 4>(codec::part<31, 24>(&FcHeader::type, "type"), codec::part<23, 0>(&FcHeader::f_ctl, "f_ctl")),
      codec::word<12, 4>(codec::part<31, 24>(&FcHeader::seq_id, "seq_id"),
                         codec::part<23, 16>(&FcHeader::df_ctl, "df_ctl"),
                         codec::part<15, 0>(&FcHeader::seq_cnt, "seq_cnt")),
      codec::word<16, 4>(codec::part<31, 16>(&FcHeader::ox_id, "ox_id"), codec::part<15, 0>(&FcHeader::rx_id, "rx_id")),
      codec::field<20, 4>(&FcHeader::parameter, "parameter"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<FcHeader> parse(Bytes bytes) { return codec::parse<FcHeader>(bytes); }
  /// Of bytes that are known to be enough: no check to pay.
  [[nodiscard]] static FcHeader read(std::span<const std::uint8_t, 24> bytes) {
    return codec::read<FcHeader>(bytes.data());
  }
  void write(MutableBytes to) const { codec::write(*this, to); }
  [[nodiscard]] std::string to_string() const { return codec::describe(*this); }
  friend bool operator==(const FcHeader&, const FcHeader&) = default;

  [[nodiscard]] constexpr bool has(std::uint32_t f_ctl_bits) const { return (f_ctl & f_ctl_bits) == f_ctl_bits; }
  [[nodiscard]] constexpr std::size_t fill_bytes() const { return f_ctl & f_ctl::fill_bytes_mask; }
  [[nodiscard]] constexpr std::size_t device_header_size() const { return df_ctl::device_header_size(df_ctl); }
};

/// Fill bytes, 0 to 3, that bring a data field to a multiple of 4 (F_CTL 1:0).
[[nodiscard]] constexpr std::size_t fill_bytes_for(std::size_t data_size_bytes) {
  return (4 - data_size_bytes % 4) % 4;
}

/// A frame, header parsed, data field without fill bytes. A view: the bytes stay where they are.
struct FcFrameView {
  FcHeader header;
  Bytes data_field;

  /// Fails where the frame is shorter than its header, or its fill bytes exceed its data field.
  [[nodiscard]] static Result<FcFrameView> parse(Bytes frame);
};

}  // namespace wire
