#include "vi/data_cursor.hpp"

#include <algorithm>
#include <cassert>

#include "vi/consumer_memory.hpp"
#include "vi/descriptor.hpp"

namespace vi {

namespace {
constexpr std::uint32_t cache_line_bytes = 64, least_prefetch_bytes = 1024;

/// What the next frame most likely moves: by then it is in the cache, where it would be waited for otherwise. A hint,
/// which reads nothing: the memory may be gone. Inlined: g++ 12 drops a call that does nothing else.
[[gnu::always_inline]] inline void prefetch(const std::byte* host, std::uint32_t length_bytes) {
  constexpr std::uint32_t block_bytes = 8 * cache_line_bytes;
  std::uint32_t at = 0;
  for (; at + block_bytes <= length_bytes; at += block_bytes) {
#pragma GCC unroll 8
    for (std::uint32_t line = 0; line != block_bytes; line += cache_line_bytes) __builtin_prefetch(host + at + line);
  }
  for (; at < length_bytes; at += cache_line_bytes) __builtin_prefetch(host + at);
}
}  // namespace

inline void DataCursor::advance(std::uint32_t length_bytes) {
  address_ += length_bytes;
  bytes_left_ -= length_bytes;
  if (generation_ != 0) host_ += length_bytes;
}

inline bool DataCursor::allows(std::uint32_t length_bytes, Access access) const {
  return is_granted(access) || memory_->translate(handle_, address_, length_bytes, tag_, access) != nullptr;
}

bool DataCursor::gather(std::span<std::uint8_t> to) {
  std::uint8_t* target = to.data();
  return walk(to.size(), Access::Local, [&](std::byte* source, std::size_t length) {
    const bool there = memory_->read({target, length}, source);
    target += length;
    return there;
  });
}

bool DataCursor::scatter(std::span<const std::uint8_t> from) {
  return walk(from.size(), Access::LocalWrite, [&](std::byte* target, std::size_t length) {
    const auto piece = from.first(length);
    from = from.subspan(length);
    return memory_->write(target, piece);
  });
}

std::size_t DataCursor::scatter_pieces(MemoryTable::Pieces from) {
  const std::span<std::byte> room = rest(Access::LocalWrite);
  from.count = std::min(from.count, room.size() / from.bytes);
  if (from.count == 0) return 0;
  const std::size_t placed = memory_->write_pieces(room.data(), from);
  advance(static_cast<std::uint32_t>(placed * from.bytes));
  return placed;
}

DataCursor::Reach DataCursor::reach(std::uint64_t length_bytes, Access access) const {
  if (length_bytes != 0 && length_bytes <= bytes_left_)  // most often: without a copy that goes ahead
    return allows(static_cast<std::uint32_t>(length_bytes), access) ? Reach::Allowed : Reach::Refused;
  DataCursor ahead = *this;
  bool allowed = true;
  while (length_bytes != 0) {
    if (ahead.bytes_left_ == 0) {
      if (ahead.segments_left_ == 0) return Reach::TooShort;
      if (!ahead.next_segment()) return Reach::Refused;
      continue;
    }
    const auto length = static_cast<std::uint32_t>(std::min<std::uint64_t>(length_bytes, ahead.bytes_left_));
    allowed = allowed && ahead.allows(length, access);
    ahead.bytes_left_ = 0;
    length_bytes -= length;
  }
  return allowed ? Reach::Allowed : Reach::Refused;
}

bool DataCursor::skip(std::uint64_t length_bytes) {
  while (length_bytes != 0) {
    if (bytes_left_ == 0 && !next_segment()) return false;
    const auto length = static_cast<std::uint32_t>(std::min<std::uint64_t>(length_bytes, bytes_left_));
    advance(length);
    length_bytes -= length;
  }
  return true;
}

DataCursor::Window DataCursor::peek(std::uint64_t max_bytes, Access access) const {
  Window window;
  DataCursor ahead = *this;
  while (window.bytes_ < max_bytes && window.count_ < Window::max_pieces) {
    if (ahead.bytes_left_ == 0) {
      window.end_ = ahead.segments_left_ == 0 ? Reach::TooShort : Reach::Refused;
      if (!ahead.next_segment()) return window;
      continue;
    }
    const auto length =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(max_bytes - window.bytes_, ahead.bytes_left_));
    window.end_ = Reach::Refused;
    std::byte* host = memory_->translate(ahead.handle_, ahead.address_, length, tag_, access);
    if (host == nullptr) return window;
    window.starts_[window.count_] = ahead;
    window.pieces_[window.count_++] = {host, length};
    window.bytes_ += length;
    ahead.advance(length);
  }
  window.end_ = Reach::Allowed;
  return window;
}

void DataCursor::consume(const Window& window, std::uint64_t bytes) {
  assert(bytes <= window.bytes_);
  for (std::size_t i = 0; bytes != 0; ++i) {
    const auto length = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, window.pieces_[i].size()));
    *this = window.starts_[i];
    advance(length);
    bytes -= length;
  }
}

bool DataCursor::check(std::uint64_t& length_bytes, Access access) const {
  if (segments_left_ == 0) {  // the same
    length_bytes = bytes_left_;
    return bytes_left_ == 0 || allows(bytes_left_, access);
  }
  DataCursor ahead = *this;
  length_bytes = 0;
  do {
    if (ahead.bytes_left_ == 0) continue;
    if (!ahead.allows(ahead.bytes_left_, access)) return false;
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
    if (!is_granted(access)) find_memory(access);
    std::byte* host = is_granted(access) ? host_ : memory_->translate(handle_, address_, length, tag_, access);
    if (host == nullptr) return false;
    if (!copy(host, length)) return false;
    advance(length);
    length_bytes -= length;
    if (length >= least_prefetch_bytes) prefetch(host + length, std::min(length, bytes_left_));
  }
  return true;
}

bool DataCursor::next_segment() {
  if (segments_left_ == 0) return false;
  const std::byte* host = memory_->translate(segments_handle_, segments_address_, sizeof(Segment), tag_, Access::Local);
  return host != nullptr && take_segment(host);
}

bool DataCursor::take_segment(const std::byte* host) {
  Segment segment;
  if (!consumer_memory::is_aligned(host) ||
      !memory_->access(host, sizeof segment, [&] { return consumer_memory::load_segment(host, segment); }))
    return false;
  address_ = segment.address;
  handle_ = wire::MemHandle{segment.handle};
  bytes_left_ = segment.length_or_reserved;
  generation_ = 0;
  segments_address_ += sizeof(Segment);
  --segments_left_;
  return true;
}

void DataCursor::begin(const std::byte* host, Access access) {
  if (segments_left_ != 0 && take_segment(host)) find_memory(access);
}

/// For all that is left of the segment, so that its pieces need no look-up. Where some of that is not allowed, what is
/// touched may be all the same.
void DataCursor::find_memory(Access access) {
  if (bytes_left_ == 0) return;  // references nothing
  const MemoryTable::Grant granted = memory_->grant(handle_, address_, tag_, access);
  if (granted.host == nullptr || granted.length_bytes < bytes_left_) {
    generation_ = 0;
    return;
  }
  host_ = granted.host;
  granted_access_ = access;
  generation_ = memory_->generation();
}

}  // namespace vi
