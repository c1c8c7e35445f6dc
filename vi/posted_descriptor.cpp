#include "vi/posted_descriptor.hpp"

#include <algorithm>

#include "vi/consumer_memory.hpp"

namespace vi {

std::uint32_t send_op_code(std::uint16_t control) {
  switch (control & control::op_mask) {
    case control::op_rdma_write: return status::op_rdma_write;
    case control::op_rdma_read: return status::op_rdma_read;
    default: return status::op_send;
  }
}

PostedDescriptor judge_post(const PostRules& rules, bool receive_queue, std::uint64_t address, wire::MemHandle handle,
                            bool clear_status) {
  PostedDescriptor found{
      .entry = {.address = address, .handle = handle, .status = receive_queue ? status::op_receive : status::op_send},
      .tag = rules.tag};
  const MemoryTable::Grant granted = rules.memory.grant(handle, address, rules.tag, Access::LocalWrite);
  std::byte* const host = granted.host;
  if (address % descriptor_alignment_bytes != 0 || host == nullptr || granted.length_bytes < sizeof(ControlSegment) ||
      !consumer_memory::is_aligned(host))
    return found;
  ControlSegment segment;
  const auto take = [&] {
    return consumer_memory::load_shape(host, segment) && (!clear_status || consumer_memory::store_status(host, 0));
  };
  if (!rules.memory.access(host, sizeof segment, take)) return found;
  if (!receive_queue) found.entry.status = send_op_code(segment.control);
  const std::uint64_t whole = sizeof(ControlSegment) + std::uint64_t{segment.segment_count} * sizeof(Segment);
  if (segment.segment_count <= rules.max_segments && whole > granted.length_bytes) return found;
  found.entry.host = host;
  found.entry.host_bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(granted.length_bytes, 0xFFFFFFFF));
  found.entry.generation = rules.memory.generation();
  found.valid = true;
  return found;
}

}  // namespace vi
