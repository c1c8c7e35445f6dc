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
  std::vector<std::uint8_t> bytes(fc2::frame_header_bytes + data.size());
  header.write(bytes);
  std::copy(data.begin(), data.end(), bytes.begin() + fc2::frame_header_bytes);
  return raw_frame(pool, bytes, sof, eof);
}

}  // namespace support
