// Reads and writes of memory that a consumer may touch at the same time: descriptors it polls (VI-ARCH 6.4.1)
// and RDMA targets it spins on. Each function is one access, so that a value cannot change between check and
// use.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "vi/descriptor.hpp"

namespace vi::consumer_memory {

/// What the loads below need of a host address. A descriptor's own alignment gives it where addresses are
/// host addresses; a simulator may map them to anything.
inline bool is_aligned(const std::byte* host) {
  return reinterpret_cast<std::uintptr_t>(host) % alignof(std::uint64_t) == 0;
}

template <class T>
T load(const std::byte* from) {
  // The memory holds whatever the consumer made of it; the atomic access is what makes sharing it defined.
  return std::atomic_ref<T>(*reinterpret_cast<T*>(const_cast<std::byte*>(from)))
      .load(std::memory_order_relaxed);
}
template <class T>
void store(std::byte* to, T value, std::memory_order order = std::memory_order_relaxed) {
  std::atomic_ref<T>(*reinterpret_cast<T*>(to)).store(value, order);
}

/// Each field of a control segment read once (VI-DG 5.2), in the sizes that consumers write: a wider load
/// would wait for their stores. `next`, `next_handle` and `status` are not ours to read.
inline ControlSegment load_control_segment(const std::byte* from) {
  ControlSegment segment;
  segment.segment_count = load<std::uint16_t>(from + offsetof(ControlSegment, segment_count));
  segment.control = load<std::uint16_t>(from + offsetof(ControlSegment, control));
  segment.reserved = load<std::uint32_t>(from + offsetof(ControlSegment, reserved));
  segment.immediate_data = load<std::uint32_t>(from + offsetof(ControlSegment, immediate_data));
  segment.length_bytes = load<std::uint32_t>(from + offsetof(ControlSegment, length_bytes));
  return segment;
}
inline Segment load_segment(const std::byte* from) {
  Segment segment;
  segment.address = load<std::uint64_t>(from + offsetof(Segment, address));
  segment.handle = load<std::uint32_t>(from + offsetof(Segment, handle));
  segment.length_or_reserved = load<std::uint32_t>(from + offsetof(Segment, length_or_reserved));
  return segment;
}
inline void store_immediate_data(std::byte* control_segment, std::uint32_t value) {
  store(control_segment + offsetof(ControlSegment, immediate_data), value);
}
inline void store_length(std::byte* control_segment, std::uint32_t value) {
  store(control_segment + offsetof(ControlSegment, length_bytes), value);
}
/// The last write of a completion: a reader who sees Done sees all else.
inline void store_status(std::byte* control_segment, std::uint32_t value) {
  store(control_segment + offsetof(ControlSegment, status), value, std::memory_order_release);
}

/// Copies `from` so that the last aligned word of the target is written last and whole, with release
/// semantics: programs spin on it to see an RDMA Write arrive.
void place(std::byte* to, std::span<const std::uint8_t> from);

}  // namespace vi::consumer_memory
