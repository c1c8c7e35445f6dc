#include "vi/data_cursor.hpp"

#include <algorithm>
#include <cstring>

#include "vi/consumer_memory.hpp"
#include "vi/descriptor.hpp"

namespace vi {

bool DataCursor::gather(std::span<std::uint8_t> to) {
  std::uint8_t* target = to.data();
  return walk(to.size(), Access::Local, [&target](std::byte* source, std::size_t length) {
    std::memcpy(target, source, length);
    target += length;
  });
}

bool DataCursor::scatter(std::span<const std::uint8_t> from) {
  return walk(from.size(), Access::LocalWrite, [&from](std::byte* target, std::size_t length) {
    consumer_memory::place(target, from.first(length));
    from = from.subspan(length);
  });
}

bool DataCursor::skip(std::uint64_t length_bytes) {
  while (length_bytes != 0) {
    if (bytes_left_ == 0) {
      if (!next_segment()) return false;
      continue;
    }
    const auto length = static_cast<std::uint32_t>(std::min<std::uint64_t>(length_bytes, bytes_left_));
    address_ += length;
    bytes_left_ -= length;
    length_bytes -= length;
  }
  return true;
}

bool DataCursor::check(std::uint64_t& length_bytes, Access access) const {
  DataCursor ahead = *this;
  length_bytes = 0;
  do {
    if (ahead.bytes_left_ == 0) continue;
    if (memory_->translate(ahead.handle_, ahead.address_, ahead.bytes_left_, tag_, access) == nullptr)
      return false;
    length_bytes += ahead.bytes_left_;
  } while (ahead.next_segment());
  return ahead.segments_left_ == 0;
}

template <class Copy>
bool DataCursor::walk(std::size_t length_bytes, Access access, Copy copy) {
  while (length_bytes != 0) {
    if (bytes_left_ == 0) {
      if (!next_segment()) return false;
      continue;
    }
    const auto length = static_cast<std::uint32_t>(std::min<std::size_t>(length_bytes, bytes_left_));
    std::byte* host = memory_->translate(handle_, address_, length, tag_, access);
    if (host == nullptr) return false;
    copy(host, length);
    address_ += length;
    bytes_left_ -= length;
    length_bytes -= length;
  }
  return true;
}

bool DataCursor::next_segment() {
  if (segments_left_ == 0) return false;
  const std::byte* host =
      memory_->translate(segments_handle_, segments_address_, sizeof(Segment), tag_, Access::Local);
  if (host == nullptr || !consumer_memory::is_aligned(host)) return false;
  const Segment segment = consumer_memory::load_segment(host);
  address_ = segment.address;
  handle_ = wire::MemHandle{segment.handle};
  bytes_left_ = segment.length_or_reserved;
  segments_address_ += sizeof(Segment);
  --segments_left_;
  return true;
}

}  // namespace vi
