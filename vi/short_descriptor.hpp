// What makes a descriptor a short one: one data segment that is not empty and was found, without anything unusual.
#pragma once
#include <cstdint>

#include "vi/descriptor.hpp"
#include "vi/memory.hpp"

namespace vi::short_post {

/// Of a descriptor.
struct Place {
  std::uint64_t address;
  wire::MemHandle handle;
  MemoryTable::Grant granted;  // from the address on
};

/// What the data segment may touch, where that is all that it names. Mostly it lies behind the descriptor, in the same
/// region. `tag`: of the VI.
[[gnu::always_inline]] inline std::byte* data_of(const MemoryTable& memory, Ptag tag, const Segment& segment,
                                                 bool receive_queue, const Place& descriptor) {
  const std::uint64_t bytes = segment.length_or_reserved, offset = segment.address - descriptor.address;
  const std::uint64_t granted_bytes = descriptor.granted.length_bytes;
  if (segment.handle == descriptor.handle.value && offset <= granted_bytes && bytes <= granted_bytes - offset)
    return descriptor.granted.host + offset;
  const Access access = receive_queue ? Access::LocalWrite : Access::Local;
  return memory.translate(wire::MemHandle{segment.handle}, segment.address, bytes, tag, access);
}

inline constexpr std::uint32_t most_bytes = 0x7FFFFFFF;  // of data
inline constexpr std::uint16_t unusual = control::op_mask | control::reserved;

}  // namespace vi::short_post
