// Messages of one data segment, past SendWork, ReceiveWork and DataCursor: see Vi::read_short_send().
#include "vi/consumer_memory.hpp"
#include "vi/nic.hpp"
#include "vi/vi.hpp"

namespace vi {

/// A descriptor with one data segment, which is not empty.
struct Vi::ShortDescriptor {
  ControlSegment control;
  std::byte* data = nullptr;
  std::uint32_t data_bytes = 0;
};

/// False: anything is unusual. What is read is judged as it was read, and not read again.
bool Vi::read_short(const WorkQueue& queue, Access access, ShortDescriptor& found) const {
  constexpr std::uint32_t whole = sizeof(ControlSegment) + sizeof(Segment);
  if (!queue.next_is_alone()) return false;
  const WorkQueue::Entry& entry = queue.entry(queue.next_index());
  const MemoryTable& memory = nic_.memory();
  if (entry.generation != memory.generation() || entry.host_bytes < whole) return false;
  const std::byte* const host = entry.host;
  Segment segment;
  const bool there = memory.access(host, whole, [&] {
    return consumer_memory::load_control_segment(host, found.control) &&
           consumer_memory::load_segment(host + sizeof(ControlSegment), segment);
  });
  if (!there || found.control.segment_count != 1 || found.control.reserved != 0 || segment.length_or_reserved == 0)
    return false;
  const MemoryTable::Grant granted =
      memory.grant(wire::MemHandle{segment.handle}, segment.address, attributes_.ptag, access);
  if (granted.length_bytes < segment.length_or_reserved) return false;
  found.data = granted.host;
  found.data_bytes = segment.length_or_reserved;
  return true;
}

std::optional<ShortSend> Vi::read_short_send(std::span<std::uint8_t> room) const {
  ShortDescriptor found;
  if (!read_short(send_, Access::Local, found)) return std::nullopt;
  const std::uint32_t length = found.data_bytes;
  // A fence is open, and no RDMA Read is: nothing is under way.
  if ((found.control.control & (control::op_mask | control::reserved)) != control::op_send_receive) return std::nullopt;
  if (found.control.length_bytes != length || length > attributes_.max_transfer_size_bytes || length > room.size())
    return std::nullopt;
  if (!nic_.memory().read(room.first(length), found.data)) return std::nullopt;
  const bool immediate = (found.control.control & control::immediate) != 0;
  return ShortSend{length, immediate, immediate ? found.control.immediate_data : 0};
}

void Vi::complete_short_send(const ShortSend& send) {
  WorkQueue::Entry& entry = send_.entry(send_.next_index());
  std::byte* const host = entry.host;
  constexpr std::uint32_t whole = status::op_send | status::done;
  const bool written = nic_.memory().access(host, sizeof(ControlSegment), [&] {
    return consumer_memory::store_length(host, send.length_bytes) && consumer_memory::store_status(host, whole);
  });
  if (written) [[likely]]
    return complete_next(send_, whole);
  entry.status = status::op_send;
  fail_by_status(finish(send_, send_.take_next(), 0, {.length_bytes = send.length_bytes}), 0);
}

// What cannot be written is left to the long way, before anything else has happened.
bool Vi::receive_short(std::span<const std::uint8_t> data, std::optional<std::uint32_t> immediate) {
  ShortDescriptor found;
  if (data.empty() || !read_short(receive_, Access::LocalWrite, found)) return false;
  if ((found.control.control & (control::op_mask | control::reserved)) != control::op_send_receive) return false;
  if (data.size() > found.data_bytes || data.size() > attributes_.max_transfer_size_bytes) return false;
  if (!nic_.memory().write(found.data, data)) return false;
  std::byte* const host = receive_.entry(receive_.next_index()).host;
  const std::uint32_t whole = status::op_receive | status::done | (immediate ? status::immediate : 0);
  const bool written = nic_.memory().access(host, sizeof(ControlSegment), [&] {
    return (!immediate || consumer_memory::store_immediate_data(host, *immediate)) &&
           consumer_memory::store_length(host, static_cast<std::uint32_t>(data.size())) &&
           consumer_memory::store_status(host, whole);
  });
  if (!written) return false;
  complete_next(receive_, whole);
  return true;
}

void Vi::complete_next(WorkQueue& queue, std::uint32_t status) {
  const std::uint64_t address = queue.entry(queue.next_index()).address;
  queue.complete_next(status);
  if (nic_.listener().completed(*this, &queue == &receive_, address, false)) queue.pop_head();
  FCVI_ASSERT_CONSISTENT(*this);
}

}  // namespace vi
