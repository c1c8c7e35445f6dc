// One send or receive queue: descriptors in posting order, processed in order, completed in any order that
// VI-ARCH 6.3.1 allows, dequeued in posting order.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "vi/descriptor.hpp"
#include "wire/types.hpp"

namespace vi {
class CompletionQueue;

class WorkQueue {
 public:
  /// A posted descriptor's place: counts up for ever, so that a late completion cannot hit a newer
  /// descriptor.
  using Index = std::uint64_t;
  struct Entry {
    std::uint64_t address = 0;  // of the descriptor, as posted
    wire::MemHandle handle{};
    std::uint32_t status = 0;  // operation code; from completion on, the whole status
    // Where it lies, as it was when posted: good in this generation of the memory table (MemoryTable::Grant).
    std::byte* host = nullptr;
    std::uint32_t host_bytes = 0;
    std::uint32_t generation = 0;  // 0: unknown
    // The same of what it says, where that is short: a Send or a receive of one data segment, which may be used so.
    std::byte* data = nullptr;
    std::uint32_t data_bytes : 31 = 0;  // 0: it is not short, or unknown
    std::uint32_t has_immediate : 1 = 0;
    std::uint32_t immediate_data = 0;
    [[nodiscard]] bool completed() const { return (status & status::done) != 0; }
  };

  WorkQueue(CompletionQueue* completion_queue, std::uint32_t limit)
      : completion_queue_(completion_queue), limit_(limit) {}

  /// False when the queue holds `limit` descriptors already, with `taken` that were taken from it and count on (VI-DG
  /// 3.8.1, VI Overrun).
  bool post(const Entry& entry, std::uint64_t taken = 0);
  /// Pre: has_room().
  void push(const Entry& entry) {
    place() = entry;
    push_placed();
  }
  /// Where the next one is to stand, and that it stands there. Pre: has_room().
  [[nodiscard, gnu::always_inline]] Entry& place() {
    if (size() == capacity_) [[unlikely]]
      grow();
    return entry(tail_);
  }
  void push_placed() { ++tail_; }
  /// What stands before place(), of before it or nothing. Pre: place() was called since the last post.
  [[nodiscard, gnu::always_inline]] const Entry& before_place() const { return entry(tail_ - 1); }
  [[nodiscard]] bool has_room(std::uint64_t taken) const { return size() + taken < limit_; }

  [[nodiscard]] bool empty() const { return head_ == tail_; }  // nothing posted and not dequeued
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(tail_ - head_); }
  [[nodiscard]] bool has_unprocessed() const { return next_ != tail_; }
  [[nodiscard]] bool is_begun(Index index) const { return index < next_ && is_open(index); }
  [[nodiscard]] Index next_index() const { return next_; }
  [[nodiscard]] Entry& entry(Index index) { return ring_[index & (capacity_ - 1)]; }
  [[nodiscard]] const Entry& entry(Index index) const { return ring_[index & (capacity_ - 1)]; }
  /// Posted and not completed. False for any index of the past, dequeued or not.
  [[nodiscard]] bool is_open(Index index) const {
    return index >= completed_ && index < tail_ && !entry(index).completed();
  }
  /// All entries before `index` are completed: the queue fence of VI-ARCH 6.3.1.2 opens.
  [[nodiscard]] bool completed_before(Index index) const { return completed_ >= index; }
  /// Begins processing of the next descriptor (pre: has_unprocessed()).
  Index take_next();
  /// Forgets that processing of entries that are not completed began.
  void rewind();
  /// Completes an open entry with its whole status (Done included); returns how many entries thereby became
  /// dequeueable, in posting order (VI-DG 6.1: completion queue entries are written in that order). An entry
  /// that was not begun counts as begun, with all before it.
  std::uint32_t complete(Index index, std::uint32_t status);
  /// The next to begin is the oldest that is open, and what lies behind it is not completed: for complete_next().
  [[nodiscard]] bool next_is_alone() const {
    return next_ != tail_ && next_ == completed_ && (next_ + 1 == tail_ || !entry(next_ + 1).completed());
  }
  /// take_next() and complete(), which returns 1. Pre: next_is_alone().
  void complete_next(std::uint32_t status) {
    entry(next_).status = status;
    completed_ = ++next_;
  }
  /// Oldest entry if completed (then it can be popped), else nullptr.
  [[nodiscard]] const Entry* completed_head() const;
  /// Pre: completed_head() is not null.
  void pop_head() { ++head_; }
  /// First entry that is posted and not completed; tail when none. For flushing.
  [[nodiscard]] Index first_open() const { return completed_; }
  [[nodiscard]] Index tail() const { return tail_; }

  [[nodiscard]] CompletionQueue* completion_queue() const { return completion_queue_; }
  /// The four places are in order, all fits, and nothing before first_open() is open. Constant time.
  [[nodiscard]] bool is_consistent() const;

 private:
  void grow();
  CompletionQueue* completion_queue_;
  std::uint32_t limit_;
  std::uint32_t capacity_ = 0;                            // of ring_: a power of two
  Index head_ = 0, completed_ = 0, next_ = 0, tail_ = 0;  // head <= completed <= next <= tail
  std::unique_ptr<Entry[]> ring_;  // grows by doubling up to limit_; no allocation in steady state
};

}  // namespace vi
