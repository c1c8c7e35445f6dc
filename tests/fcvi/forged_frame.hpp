// Frames of FC-VI that a test makes by hand: of a message whose sender knows nothing of it, or of what was on the wire.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "tests/support/made_frame.hpp"
#include "wire/bytes.hpp"
#include "wire/fcvi/device_header.hpp"

namespace support {

/// The FC header, and the data field as bytes.
struct ForgedFrame {
  wire::FcHeader header;
  std::vector<std::uint8_t> data = {};
  wire::Sof sof = wire::Sof::i3;
  wire::Eof eof = wire::Eof::t;

  void set(const wire::fcvi::DeviceHeader& device_header) {
    data.assign(std::max(data.size(), device_header.size()), 0);
    device_header.write(std::span(data).first(device_header.size()));
    header.df_ctl = wire::df_ctl::with_device_header(device_header.size());
  }
  void set_word(std::size_t word, std::uint32_t value) { wire::store_big<4>(data.data() + 4 * word, value); }
  [[nodiscard]] std::uint32_t word(std::size_t index) const { return wire::load_big<4>(data.data() + 4 * index); }
  [[nodiscard]] fc2::FramePtr build(fc2::FramePool& pool) const { return made_frame(pool, header, data, sof, eof); }
};

/// ABTS of the exchange that the frame is of.
inline ForgedFrame as_abts(ForgedFrame frame) {
  frame.header.r_ctl = wire::RCtl::abts;
  frame.header.type = wire::Type::bls;
  frame.header.f_ctl = wire::f_ctl::end_sequence | wire::f_ctl::sequence_initiative;
  frame.header.df_ctl = 0;
  frame.data.clear();
  return frame;
}

/// What one frame has of a message.
struct MessagePart {
  std::uint32_t offset = 0, bytes = 0, number = 0;  // number: SEQ_CNT; 0 begins the sequence
  bool last = true;                                 // ends it
  bool answered = false;                            // then with the Sequence Initiative, else with the exchange
  std::uint8_t content = 0;
  bool class_2 = false;
};
/// Of a request, on an exchange of its own: OX_ID is 5000h and the FCVI_MSG_ID.
inline ForgedFrame forged_message(wire::FcId to, wire::FcId from, const wire::fcvi::DeviceHeader& device,
                                  const MessagePart& part) {
  namespace f_ctl = wire::f_ctl;
  const bool first = part.number == 0;
  const auto fill = static_cast<std::uint32_t>(wire::fill_bytes_for(part.bytes));
  const std::uint32_t end = f_ctl::end_sequence | (part.answered ? f_ctl::sequence_initiative : f_ctl::last_sequence);
  ForgedFrame frame{
      .header = {.r_ctl = wire::fcvi::find_iu(device.opcode)->r_ctl,
                 .d_id = to,
                 .s_id = from,
                 .type = wire::Type::fc_vi,
                 .f_ctl = f_ctl::first_sequence | f_ctl::relative_offset_present | (part.last ? end : 0) | fill,
                 .seq_cnt = {static_cast<std::uint16_t>(part.number)},
                 .ox_id = {static_cast<std::uint16_t>(0x5000 + device.msg_id.value)},
                 .parameter = part.offset},
      .sof = part.class_2 ? (first ? wire::Sof::i2 : wire::Sof::n2)
             : first      ? wire::Sof::i3
                          : wire::Sof::n3,
      .eof = part.last && !part.class_2 ? wire::Eof::t : wire::Eof::n};
  frame.set(device);
  frame.data.resize(device.size() + part.bytes + fill, part.content);
  return frame;
}

}  // namespace support
