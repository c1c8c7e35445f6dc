#include "vi/work_queue.hpp"

#include <algorithm>
#include <cassert>

#include "state_machines/consistency.hpp"

namespace vi {
namespace {
constexpr std::uint32_t first_capacity = 2;  // entries; most VIs of a large run stay small
}

bool WorkQueue::post(const Entry& entry, std::uint64_t taken) {
  if (!has_room(taken)) return false;
  push(entry);
  FCVI_ASSERT_CONSISTENT(*this);
  return true;
}

WorkQueue::Index WorkQueue::take_next() {
  const Index index = next_++;
  while (next_ != tail_ && entry(next_).completed()) ++next_;  // completed before a rewind
  FCVI_ASSERT_CONSISTENT(*this);
  return index;
}

void WorkQueue::rewind() {
  next_ = completed_;
  FCVI_ASSERT_CONSISTENT(*this);
}

std::uint32_t WorkQueue::complete(Index index, std::uint32_t status) {
  assert(is_open(index) && (status & status::done) != 0);
  entry(index).status = status;
  next_ = std::max(next_, index + 1);
  const Index before = completed_;
  while (completed_ != tail_ && entry(completed_).completed()) ++completed_;
  next_ = std::max(next_, completed_);  // what was completed before a rewind is not begun again
  FCVI_ASSERT_CONSISTENT(*this);
  return static_cast<std::uint32_t>(completed_ - before);
}

const WorkQueue::Entry* WorkQueue::completed_head() const { return head_ == completed_ ? nullptr : &entry(head_); }

bool WorkQueue::is_consistent() const {
  const bool ordered = head_ <= completed_ && completed_ <= next_ && next_ <= tail_;
  const bool fits = size() <= limit_ && size() <= capacity_;
  const bool first_is_open = completed_ == tail_ || !entry(completed_).completed();
  const bool last_is_complete = head_ == completed_ || entry(completed_ - 1).completed();
  return ordered && fits && first_is_open && last_is_complete;
}

void WorkQueue::grow() {
  const std::uint32_t capacity = std::max(first_capacity, 2 * capacity_);
  auto ring = std::make_unique<Entry[]>(capacity);
  for (Index index = head_; index != tail_; ++index) ring[index & (capacity - 1)] = entry(index);
  ring_ = std::move(ring);
  capacity_ = capacity;
}

}  // namespace vi
