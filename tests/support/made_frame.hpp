// Frames that tests make by hand: of a header and data, or of any bytes.
#pragma once
#include <algorithm>
#include <cassert>
#include <cstdint>
#include <span>
#include <vector>

#include "fc2_fabric/frame/frame.hpp"
#include "wire/fc_header.hpp"
#include "wire/message_bytes.hpp"

namespace support {

using wire::bytes_of;

/// Where the content does not matter.
inline std::vector<std::uint8_t> zeros(std::size_t count) { return std::vector<std::uint8_t>(count); }

/// A header and its data field, as a frame has them.
inline std::vector<std::uint8_t> bytes_of_frame(const wire::FcHeader& header, std::span<const std::uint8_t> data = {}) {
  std::vector<std::uint8_t> bytes(fc2::frame_header_bytes + data.size());
  header.write(bytes);
  std::copy(data.begin(), data.end(), bytes.begin() + fc2::frame_header_bytes);
  return bytes;
}

/// Of these bytes, its header included; of one that is its whole sequence, in class 3, unless told otherwise.
inline fc2::FramePtr raw_frame(fc2::FramePool& pool, std::span<const std::uint8_t> bytes, wire::Sof sof = wire::Sof::i3,
                               wire::Eof eof = wire::Eof::t) {
  fc2::FramePtr frame = pool.take();
  assert(bytes.size() <= frame->bytes.size());
  std::copy(bytes.begin(), bytes.end(), frame->bytes.begin());
  frame->size_bytes = static_cast<std::uint16_t>(bytes.size());
  frame->sof = sof;
  frame->eof = eof;
  return frame;
}

/// The same of a header and its data field.
inline fc2::FramePtr made_frame(fc2::FramePool& pool, const wire::FcHeader& header,
                                std::span<const std::uint8_t> data = {}, wire::Sof sof = wire::Sof::i3,
                                wire::Eof eof = wire::Eof::t) {
  return raw_frame(pool, bytes_of_frame(header, data), sof, eof);
}

/// In a frame that is there: its data field has so many of the bytes that lie there.
inline void fill_frame(fc2::Frame& frame, const wire::FcHeader& header, std::size_t data_bytes,
                       wire::Sof sof = wire::Sof::i3, wire::Eof eof = wire::Eof::t) {
  header.write(frame.bytes);
  frame.size_bytes = static_cast<std::uint16_t>(fc2::frame_header_bytes + data_bytes);
  frame.sof = sof;
  frame.eof = eof;
}

/// Comes with a wrong CRC.
inline fc2::FramePtr damaged_frame(fc2::FramePool& pool) {
  fc2::FramePtr frame = raw_frame(pool, zeros(fc2::frame_header_bytes));
  frame->crc_error = true;
  return frame;
}

/// Of a request in one frame, which opens its exchange, and of the answer that ends it.
inline wire::FcHeader request_header(wire::RCtl r_ctl, wire::Type type, wire::FcId to, wire::FcId from,
                                     wire::OxId ox_id) {
  return {.r_ctl = r_ctl,
          .d_id = to,
          .s_id = from,
          .type = type,
          .f_ctl = wire::f_ctl::single_frame_request,
          .ox_id = ox_id};
}
inline wire::FcHeader reply_header(wire::RCtl r_ctl, wire::Type type, wire::FcId to, wire::FcId from,
                                   wire::OxId ox_id) {
  return {
      .r_ctl = r_ctl, .d_id = to, .s_id = from, .type = type, .f_ctl = wire::f_ctl::single_frame_reply, .ox_id = ox_id};
}
inline wire::FcHeader els_request_header(wire::FcId to, wire::FcId from, wire::OxId ox_id) {
  return request_header(wire::RCtl::els_request, wire::Type::els, to, from, ox_id);
}
inline wire::FcHeader els_reply_header(wire::FcId to, wire::FcId from, wire::OxId ox_id) {
  return reply_header(wire::RCtl::els_reply, wire::Type::els, to, from, ox_id);
}

}  // namespace support
