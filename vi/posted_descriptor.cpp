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

namespace {

// By value, so that the compiler keeps them in registers. Without `there` the memory is gone.

/// How long a descriptor is, and for what.
struct Shape {
  bool there = false;
  std::uint16_t segment_count = 0, control = 0;
};
Shape read_shape(const MemoryTable& memory, std::byte* host, bool clear_status) {
  return memory.access_value<Shape>(host, sizeof(ControlSegment), [clear_status](std::byte* at) {
    std::uint16_t segment_count = 0, control = 0;  // as g++ 12 likes it (internal compiler error with a struct)
    const bool there = consumer_memory::load_shape(at, segment_count, control) &&
                       (!clear_status || consumer_memory::store_status(at, 0));
    return Shape{there, segment_count, control};
  });
}

/// The rest of one with a data segment.
struct Rest {
  bool there = false;
  std::uint32_t reserved = 0, immediate_data = 0, length_bytes = 0;
  Segment segment = {};
};
Rest read_rest(const MemoryTable& memory, std::byte* host) {
  return memory.access_value<Rest>(host, sizeof(ControlSegment) + sizeof(Segment), [](std::byte* at) {
    std::uint32_t reserved = 0, immediate_data = 0, length_bytes = 0, handle = 0, data_bytes = 0;
    std::uint64_t address = 0;
    const bool there = consumer_memory::load_rest(at, reserved, immediate_data, length_bytes) &&
                       consumer_memory::load_segment(at + sizeof(ControlSegment), address, handle, data_bytes);
    return Rest{there, reserved, immediate_data, length_bytes, {address, handle, data_bytes}};
  });
}

/// Of a descriptor.
struct Place {
  std::uint64_t address;
  wire::MemHandle handle;
  MemoryTable::Grant granted;  // from the address on
};

/// What the data segment may touch, where that is all that it names. Mostly it lies behind the descriptor, in the same
/// region.
inline std::byte* data_of(const PostRules& rules, const Segment& segment, bool receive_queue, const Place& descriptor) {
  const std::uint64_t bytes = segment.length_or_reserved, offset = segment.address - descriptor.address;
  const std::uint64_t granted_bytes = descriptor.granted.length_bytes;
  if (segment.handle == descriptor.handle.value && offset <= granted_bytes && bytes <= granted_bytes - offset)
    return descriptor.granted.host + offset;
  const Access access = receive_queue ? Access::LocalWrite : Access::Local;
  return rules.memory.translate(wire::MemHandle{segment.handle}, segment.address, bytes, rules.tag, access);
}

constexpr std::uint32_t most_bytes = 0x7FFFFFFF;  // of a short one
constexpr std::uint16_t unusual = control::op_mask | control::reserved;

/// What Vi::read_short_send() and Vi::receive_short() need of a descriptor with one data segment, which was found. All
/// that is unusual is left as it is: whoever processes it judges it (VI-DG 5.2 to 5.4).
void find_short(const PostRules& rules, bool receive_queue, std::uint16_t control, const MemoryTable::Grant& granted,
                WorkQueue::Entry& entry) {
  const Rest rest = read_rest(rules.memory, entry.host);
  const std::uint32_t bytes = rest.segment.length_or_reserved;
  if (!rest.there || rest.reserved != 0 || bytes == 0 || bytes > most_bytes) return;
  if (!receive_queue && rest.length_bytes != bytes) return;
  std::byte* const data = data_of(rules, rest.segment, receive_queue, {entry.address, entry.handle, granted});
  if (data == nullptr) return;
  entry.data = data;
  entry.data_bytes = bytes & most_bytes;
  entry.has_immediate = (control & control::immediate) != 0;
  entry.immediate_data = rest.immediate_data;
}

}  // namespace

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
  const Shape shape = read_shape(rules.memory, host, clear_status);
  if (!shape.there) return found;
  if (!receive_queue) found.entry.status = send_op_code(shape.control);
  const std::uint64_t whole = sizeof(ControlSegment) + std::uint64_t{shape.segment_count} * sizeof(Segment);
  const bool fits = whole <= granted.length_bytes;
  if (shape.segment_count <= rules.max_segments && !fits) return found;
  found.entry.host = host;
  found.entry.host_bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(granted.length_bytes, 0xFFFFFFFF));
  found.entry.generation = rules.memory.generation();
  found.valid = true;
  if (shape.segment_count == 1 && (shape.control & unusual) == 0 && fits)
    find_short(rules, receive_queue, shape.control, granted, found.entry);
  return found;
}

/// What was granted to the post before from its address on is granted to those behind it, until the generation is over.
inline MemoryTable::Grant grant_to_descriptor(const PostRules& rules, std::uint64_t address, wire::MemHandle handle,
                                              const WorkQueue::Entry& before) {
  constexpr std::uint32_t or_more = 0xFFFFFFFF;
  const std::uint64_t offset = address - before.address;
  const bool same = before.generation == rules.memory.generation() && before.handle == handle &&
                    offset <= before.host_bytes && before.host_bytes != or_more;
  if (same) [[likely]]
    return {before.host + offset, before.host_bytes - offset};
  return rules.memory.grant(handle, address, rules.tag, Access::LocalWrite);
}

bool judge_short_post(const PostRules& rules, bool receive_queue, std::uint64_t address, wire::MemHandle handle,
                      const WorkQueue::Entry& before, WorkQueue::Entry& entry) {
  if (!rules.memory.catches_accesses() || address % descriptor_alignment_bytes != 0) return false;
  const MemoryTable::Grant granted = grant_to_descriptor(rules, address, handle, before);
  std::byte* const host = granted.host;
  if (granted.length_bytes < sizeof(ControlSegment) + sizeof(Segment) || !consumer_memory::is_aligned(host))
    return false;
  std::uint16_t segment_count = 0, control = 0;  // as g++ 12 likes it: not as members
  if (!consumer_memory::load_shape(host, segment_count, control) || segment_count != 1 || (control & unusual) != 0)
    return false;
  entry.has_immediate = (control & control::immediate) != 0;
  std::uint32_t reserved = 0, immediate_data = 0, length_bytes = 0, data_handle = 0, data_bytes = 0;
  if (!consumer_memory::load_rest(host, reserved, immediate_data, length_bytes) || reserved != 0) return false;
  entry.immediate_data = immediate_data;
  std::uint64_t data_address = 0;
  if (!consumer_memory::load_segment(host + sizeof(ControlSegment), data_address, data_handle, data_bytes))
    return false;
  if (data_bytes - 1 >= most_bytes || (!receive_queue && length_bytes != data_bytes)) return false;
  entry.data_bytes = data_bytes & most_bytes;
  const Segment segment{data_address, data_handle, data_bytes};
  std::byte* const data = data_of(rules, segment, receive_queue, {address, handle, granted});
  if (data == nullptr || !consumer_memory::store_status(host, 0)) return false;
  entry.data = data;
  entry.address = address;
  entry.handle = handle;
  entry.status = receive_queue ? status::op_receive : status::op_send;
  entry.host = host;
  entry.host_bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(granted.length_bytes, 0xFFFFFFFF));
  entry.generation = rules.memory.generation();
  return true;
}

}  // namespace vi
