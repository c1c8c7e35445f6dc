// Registered memory of a host under a handle of its own, so that it can go away alone.
#pragma once
#include <utility>

#include "tests/fcvi/two_nodes.hpp"

namespace support {

/// `bytes` at this place of the host's data.
inline wire::MemHandle register_own(Host& host, std::uint64_t at, std::uint32_t bytes) {
  wire::MemHandle own{};
  const vi::MemoryAttributes attributes{.ptag = {}, .enable_rdma_write = true, .enable_rdma_read = true};
  EXPECT_EQ(host.nic.register_memory(at, host.memory.data() + (at - Host::base), bytes, attributes, own),
            vi::Return::Success);
  return own;
}

/// A descriptor (op_send_receive) in the common memory, its data under `own`.
inline std::uint64_t own_descriptor(Host& host, std::uint64_t data, wire::MemHandle own, std::uint32_t bytes) {
  const std::uint64_t at = std::exchange(host.next_descriptor, host.next_descriptor + 128);
  vi::ControlSegment control{};
  control.segment_count = 1;
  control.length_bytes = bytes;
  host.put(at, control);
  host.put(at + sizeof control, vi::Segment{data, own.value, bytes});
  return at;
}

}  // namespace support
