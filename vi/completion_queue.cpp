#include "vi/completion_queue.hpp"

#include "state_machines/consistency.hpp"

namespace vi {

bool CompletionQueue::push(Entry entry) {
  if (size_ == ring_.size()) {
    ++lost_;
    return false;
  }
  ring_[place(size_)] = entry;
  ++size_;
  FCVI_ASSERT_CONSISTENT(*this);
  return true;
}

std::optional<CompletionQueue::Entry> CompletionQueue::pop() {
  if (size_ == 0) return std::nullopt;
  const Entry entry = ring_[first_];
  first_ = place(1);
  --size_;
  FCVI_ASSERT_CONSISTENT(*this);
  return entry;
}

bool CompletionQueue::resize(std::uint32_t entry_count) {
  const std::size_t capacity = entry_count == 0 ? 1 : entry_count;
  if (capacity < size_) return false;
  std::vector<Entry> ring(capacity);
  for (std::size_t i = 0; i != size_; ++i) ring[i] = ring_[place(i)];
  ring_ = std::move(ring);
  first_ = 0;
  FCVI_ASSERT_CONSISTENT(*this);
  return true;
}

void CompletionQueue::remove(const Vi& vi) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i != size_; ++i) {
    const Entry entry = ring_[place(i)];
    if (entry.vi != &vi) ring_[place(kept++)] = entry;
  }
  size_ = kept;
  FCVI_ASSERT_CONSISTENT(*this);
}

}  // namespace vi
