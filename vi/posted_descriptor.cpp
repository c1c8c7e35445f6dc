#include "vi/posted_descriptor.hpp"

#include <algorithm>

#include "vi/consumer_memory.hpp"
#include "vi/short_descriptor.hpp"

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

using short_post::data_of;
using short_post::most_bytes;
using short_post::unusual;

/// What Vi::read_short_send() and Vi::receive_short() need of a descriptor with one data segment, which was found. All
/// that is unusual is left as it is: whoever processes it judges it (VI-DG 5.2 to 5.4).
void find_short(const PostRules& rules, bool receive_queue, std::uint16_t control, const MemoryTable::Grant& granted,
                WorkQueue::Entry& entry) {
  const Rest rest = read_rest(rules.memory, entry.host);
  const std::uint32_t bytes = rest.segment.length_or_reserved;
  if (!rest.there || rest.reserved != 0 || bytes == 0 || bytes > most_bytes) return;
  if (!receive_queue && rest.length_bytes != bytes) return;
  const short_post::Place place{entry.address, entry.handle, granted};
  std::byte* const data = data_of(rules.memory, rules.tag, rest.segment, receive_queue, place);
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

}  // namespace vi
