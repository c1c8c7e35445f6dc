#include "fc2_fabric/drivers/frame_ring.hpp"

#include <algorithm>

#include "runtime/drivers/fence.hpp"

namespace fc2::drivers {
namespace {

// The reader had the line last: it comes for writing at once. Built for any x86-64, __builtin_prefetch(at, 1) is a
// prefetch for reading, whose line must be claimed a second time; processors that do not know PREFETCHW ignore it.
inline void claim_line(const void* at) {
#ifdef __x86_64__
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(at)));
#else
  __builtin_prefetch(at, 1);
#endif
}

}  // namespace

RingView RingPair::view(unsigned side) const {
  std::byte* const at = memory_.data() + side * (size_bytes(slot_count_) / 2);
  std::byte* const slots = at + header_bytes;
  return {reinterpret_cast<RingHeader*>(at), reinterpret_cast<RingSlot*>(slots),
          reinterpret_cast<std::uint8_t*>(slots + slot_count_ * sizeof(RingSlot)), slot_count_};
}

// --- writer ------------------------------------------------------------------------------------------------------

void RingWriter::publish(std::uint16_t size_bytes, wire::Sof sof, wire::Eof eof) {
  RingSlot& at = slot();
  at.size_bytes = size_bytes;
  at.sof = static_cast<std::uint8_t>(sof);
  at.eof = static_cast<std::uint8_t>(eof);
  at.turn.store(++written_, std::memory_order_release);
  claim_next();
}

std::uint32_t RingWriter::run_room(std::uint32_t frames, std::uint32_t left_over) {
  const std::uint32_t free = room(frames + left_over);
  const std::uint32_t may_go = free > left_over ? free - left_over : std::min(free, 1U);
  return std::min({frames, may_go, max_run_frames, ring_.slot_count - index()});
}

// The slots behind the first stay as they were: the reader passes over them. But once in 2^30 frames, half as far from
// the first, each is written: the number that stands there could come round.
void RingWriter::publish_run(std::uint16_t size_bytes, std::uint32_t frames) {
  RingSlot& at = slot();
  if (((written_ + (1U << 29)) & ((1U << 30) - 1)) < ring_.slot_count) [[unlikely]]
    for (std::uint32_t i = 1; i != frames; ++i)
      (&at)[i].turn.store(written_ + 1 + i - ring_.slot_count, std::memory_order_relaxed);
  at.size_bytes = size_bytes;
  at.sof = run_mark;
  at.eof = static_cast<std::uint8_t>(frames);
  at.turn.store(written_ + 1, std::memory_order_release);
  written_ += frames;
  claim_next();
}

// Headers and, of a short message, the data of the next frame: until it is made they come. The lines behind them the
// processor sees coming by itself. Not those of a slot that the reader may still read.
void RingWriter::claim_next() const {
  if (known_room() == 0) return;
  claim_line(slot().bytes);
  claim_line(slot().bytes + cache_line_bytes);
}

void RingWriter::look() {
  if (broken_) return;
  const std::uint32_t given_back = ring_.header->given_back.load(std::memory_order_acquire);
  // Neither more than was written, nor less than before.
  broken_ = given_back - given_back_ > written_ - given_back_;
  if (!broken_) given_back_ = given_back;
}

bool RingWriter::want_room(std::uint32_t enough) {
  ring_.header->wants_room.store(1);
  runtime::drivers::full_fence();
  look();
  if (known_room() < enough) return false;
  ring_.header->wants_room.store(0, std::memory_order_relaxed);
  return true;
}

// --- reader ------------------------------------------------------------------------------------------------------

// The bytes of the frame behind this one lie in the cache of the writer's core: they come while this one is handled. Of
// a slot that is not written yet none are asked for, which would take them from the writer.
void RingReader::fetch_next() const {
  constexpr std::uint16_t least_bytes = 1024;  // fewer come with their neighbours
  const RingSlot& next = slot(1);
  if (next.turn.load(std::memory_order_acquire) != read_ + 2 || next.size_bytes < least_bytes || next.sof == run_mark)
    return;
  const std::uint8_t* const end = next.bytes + std::min<std::size_t>(next.size_bytes, max_frame_bytes);
  for (const std::uint8_t* at = next.bytes; at < end; at += cache_line_bytes) __builtin_prefetch(at);
}

std::optional<RingReader::Slot> RingReader::look_at(std::uint32_t index) const {
  RingSlot& at = ring_.slots[index];
  // Once, whatever the writer does meanwhile.
  const std::uint16_t size_bytes = static_cast<volatile std::uint16_t&>(at.size_bytes);
  const auto sof = static_cast<wire::Sof>(static_cast<volatile std::uint8_t&>(at.sof));
  const auto eof = static_cast<wire::Eof>(static_cast<volatile std::uint8_t&>(at.eof));
  const bool has_size = size_bytes >= frame_header_bytes && size_bytes <= max_frame_bytes && size_bytes % 4 == 0;
  if (has_size && wire::is_known(sof) && wire::is_known(eof))
    return Slot{size_bytes, sof, eof, 0, FrameBytes(at.bytes)};
  if (!has_size || static_cast<std::uint8_t>(sof) != run_mark) return std::nullopt;
  return run_at(index, size_bytes, static_cast<std::uint8_t>(eof));
}

// Within the slab, whatever the slot says: as many shares as there are slots up to the end.
std::optional<RingReader::Slot> RingReader::run_at(std::uint32_t index, std::uint16_t size_bytes,
                                                   std::uint32_t frames) const {
  const bool is_run =
      size_bytes > run_header_bytes && frames != 0 && frames <= max_run_frames && frames <= ring_.slot_count - index;
  if (!is_run) return std::nullopt;
  return Slot{size_bytes, wire::Sof::n3, wire::Eof::n, frames, FrameBytes(ring_.slots[index].bytes)};
}

std::uint32_t RingReader::count_ready(std::uint32_t most) const {
  std::uint32_t ready = 0;
  for (; ready != most; ++ready) {
    const RingSlot& at = slot(ready);
    if (at.turn.load(std::memory_order_acquire) != read_ + ready + 1) break;
    __builtin_prefetch(at.bytes + cache_line_bytes);
  }
  return ready;
}

void RingReader::pass() {
  fetch_next();
  ++read_;
}

std::optional<RingReader::Slot> RingReader::peek(std::uint32_t ahead) const {
  const bool there = slot(ahead).turn.load(std::memory_order_acquire) == read_ + ahead + 1;
  if (!there || index(ahead) < index(0)) return std::nullopt;
  const std::optional<Slot> found = look_at(index(ahead));
  return found && found->is_run() ? std::nullopt : found;
}

bool RingReader::release() {
  if (released_ == read_) return false;
  released_ = read_;
  ring_.header->given_back.store(read_, std::memory_order_release);
  runtime::drivers::full_fence();
  if (ring_.header->wants_room.load(std::memory_order_relaxed) == 0) return false;
  ring_.header->wants_room.store(0, std::memory_order_relaxed);
  return true;
}

}  // namespace fc2::drivers
