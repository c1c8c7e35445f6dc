// Reads and writes of memory that a consumer may touch at the same time: descriptors it polls (VI-ARCH 6.4.1)
// and RDMA targets it spins on. Each function is one access, so that a value cannot change between check and
// use.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "vi/caught_access.hpp"
#include "vi/descriptor.hpp"

namespace vi::consumer_memory {

/// What the loads below need of a host address. A descriptor's own alignment gives it where addresses are
/// host addresses; a simulator may map them to anything.
inline bool is_aligned(const std::byte* host) {
  return reinterpret_cast<std::uintptr_t>(host) % alignof(std::uint64_t) == 0;
}

// Each of these is false where the memory is gone; it was done in part then (vi/caught_access.hpp).

/// Each field of a control segment read once (VI-DG 5.2), in the sizes that consumers write: a wider load
/// would wait for their stores. `next`, `next_handle` and `status` are not ours to read.
[[nodiscard]] inline bool load_control_segment(const std::byte* from, ControlSegment& segment) {
  return caught::load(from + offsetof(ControlSegment, segment_count), segment.segment_count) &&
         caught::load(from + offsetof(ControlSegment, control), segment.control) &&
         caught::load(from + offsetof(ControlSegment, reserved), segment.reserved) &&
         caught::load(from + offsetof(ControlSegment, immediate_data), segment.immediate_data) &&
         caught::load(from + offsetof(ControlSegment, length_bytes), segment.length_bytes);
}
/// Of these only what says how long the descriptor is, and for what.
[[nodiscard, gnu::always_inline]] inline bool load_shape(const std::byte* from, std::uint16_t& segment_count,
                                                         std::uint16_t& control) {
  return caught::load(from + offsetof(ControlSegment, segment_count), segment_count) &&
         caught::load(from + offsetof(ControlSegment, control), control);
}
/// And what that leaves out.
[[nodiscard, gnu::always_inline]] inline bool load_rest(const std::byte* from, std::uint32_t& reserved,
                                                        std::uint32_t& immediate_data, std::uint32_t& length_bytes) {
  return caught::load(from + offsetof(ControlSegment, reserved), reserved) &&
         caught::load(from + offsetof(ControlSegment, immediate_data), immediate_data) &&
         caught::load(from + offsetof(ControlSegment, length_bytes), length_bytes);
}
[[nodiscard, gnu::always_inline]] inline bool load_segment(const std::byte* from, std::uint64_t& address,
                                                           std::uint32_t& handle, std::uint32_t& length_or_reserved) {
  return caught::load(from + offsetof(Segment, address), address) &&
         caught::load(from + offsetof(Segment, handle), handle) &&
         caught::load(from + offsetof(Segment, length_or_reserved), length_or_reserved);
}
[[nodiscard]] inline bool load_segment(const std::byte* from, Segment& segment) {
  return load_segment(from, segment.address, segment.handle, segment.length_or_reserved);
}
[[nodiscard]] inline bool store_immediate_data(std::byte* control_segment, std::uint32_t value) {
  return caught::store(control_segment + offsetof(ControlSegment, immediate_data), value);
}
[[nodiscard]] inline bool store_length(std::byte* control_segment, std::uint32_t value) {
  return caught::store(control_segment + offsetof(ControlSegment, length_bytes), value);
}
/// The last write of a completion: a reader who sees Done sees all else.
[[nodiscard]] inline bool store_status(std::byte* control_segment, std::uint32_t value) {
  return caught::store(control_segment + offsetof(ControlSegment, status), value);
}

/// So many bytes are read and written singly; more by a copy that is left where it faults, under MemoryGuard::run.
inline constexpr std::size_t few_bytes = 32;
/// At most few_bytes.
[[nodiscard]] bool read_few(std::span<std::uint8_t> to, const std::byte* from);
/// As place().
[[nodiscard]] bool place_few(std::byte* to, std::span<const std::uint8_t> from);

/// Copies `from` so that the last aligned word of the target is written last and whole, with release
/// semantics: programs spin on it to see an RDMA Write arrive.
void place(std::byte* to, std::span<const std::uint8_t> from);

}  // namespace vi::consumer_memory
