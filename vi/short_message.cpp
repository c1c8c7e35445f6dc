// Messages of one data segment, past SendWork, ReceiveWork and DataCursor: see Vi::read_short_send().
#include "vi/consumer_memory.hpp"
#include "vi/nic.hpp"
#include "vi/vi.hpp"

namespace vi {

/// The next to begin, where its post found it short and nothing else of the queue is under way; else nullptr.
inline const WorkQueue::Entry* Vi::next_short(const WorkQueue& queue) const {
  if (!queue.next_is_alone()) return nullptr;
  const WorkQueue::Entry& entry = queue.entry(queue.next_index());
  return entry.data_bytes != 0 && entry.generation == nic_.memory().generation() ? &entry : nullptr;
}

[[gnu::always_inline]] inline void Vi::complete_next(WorkQueue& queue, std::uint32_t status) {
  const std::uint64_t address = queue.entry(queue.next_index()).address;
  queue.complete_next(status);
  if (nic_.listener().completed(*this, &queue == &receive_, address, false)) queue.pop_head();
  FCVI_ASSERT_CONSISTENT(*this);
}

// A fence is open, and no RDMA Read is: nothing is under way.
std::optional<ShortSend> Vi::read_short_send(std::span<std::uint8_t> room) const {
  const WorkQueue::Entry* const entry = next_short(send_);
  if (entry == nullptr) return std::nullopt;
  const std::uint32_t length = entry->data_bytes;
  if (length > attributes_.max_transfer_size_bytes || length > room.size()) return std::nullopt;
  if (!nic_.memory().read(room.first(length), entry->data)) return std::nullopt;
  const bool immediate = entry->has_immediate != 0;
  return ShortSend{length, immediate, immediate ? entry->immediate_data : 0};
}

void Vi::complete_short_send(const ShortSend& send) {
  WorkQueue::Entry& entry = send_.entry(send_.next_index());
  std::byte* const host = entry.host;
  constexpr std::uint32_t whole = status::op_send | status::done;
  const bool written = nic_.memory().access(host, sizeof(ControlSegment), [host, bytes = send.length_bytes] {
    return consumer_memory::store_length(host, bytes) && consumer_memory::store_status(host, whole);
  });
  if (written) [[likely]]
    return complete_next(send_, whole);
  entry.status = status::op_send;
  fail_by_status(finish(send_, send_.take_next(), 0, {.length_bytes = send.length_bytes}), 0);
}

// What cannot be written is left to the long way, before anything else has happened.
bool Vi::receive_short(std::span<const std::uint8_t> data, std::optional<std::uint32_t> immediate) {
  const WorkQueue::Entry* const entry = data.empty() ? nullptr : next_short(receive_);
  if (entry == nullptr) return false;
  if (data.size() > entry->data_bytes || data.size() > attributes_.max_transfer_size_bytes) return false;
  if (!nic_.memory().write(entry->data, data)) return false;
  std::byte* const host = entry->host;
  const std::uint32_t whole = status::op_receive | status::done | (immediate ? status::immediate : 0);
  const auto bytes = static_cast<std::uint32_t>(data.size());
  const bool has_immediate = immediate.has_value();
  const std::uint32_t immediate_data = immediate.value_or(0);
  const bool written = nic_.memory().access(host, sizeof(ControlSegment), [=] {
    return (!has_immediate || consumer_memory::store_immediate_data(host, immediate_data)) &&
           consumer_memory::store_length(host, bytes) && consumer_memory::store_status(host, whole);
  });
  if (!written) return false;
  complete_next(receive_, whole);
  return true;
}

}  // namespace vi
