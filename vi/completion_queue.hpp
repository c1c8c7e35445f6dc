// A completion queue (VI-ARCH 2.4): which work queue completed, in completion order.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "vi/types.hpp"

namespace vi {
class Vi;

class CompletionQueue {
 public:
  struct Entry {
    Vi* vi;
    bool receive_queue;
  };
  /// VI-DG 3.6.1: at least `entry_count` entries, and never none.
  explicit CompletionQueue(std::uint32_t entry_count) : ring_(entry_count == 0 ? 1 : entry_count) {}

  /// False when full: the entry is lost (VI-ARCH 6.4.1 allows it) and counted.
  bool push(Entry entry);
  std::optional<Entry> pop();
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t capacity() const { return ring_.size(); }
  /// Keeps all entries; false (and unchanged) when more are queued than would fit (VI-DG 3.6.3).
  bool resize(std::uint32_t entry_count);
  /// Entries of a VI that is being destroyed.
  void remove(const Vi& vi);

  void attach() { ++users_; }
  void detach() { --users_; }
  [[nodiscard]] bool in_use() const { return users_ != 0; }
  [[nodiscard]] std::uint64_t lost_entries() const { return lost_; }
  /// What is queued fits, and lies in the ring.
  [[nodiscard]] bool is_consistent() const { return !ring_.empty() && first_ < ring_.size() && size_ <= ring_.size(); }
  void* context = nullptr;  // the consumer's side (vipl, simulator) keeps its waiters here

 private:
  [[nodiscard]] std::size_t place(std::size_t position) const {
    const std::size_t index = first_ + position;
    return index < ring_.size() ? index : index - ring_.size();
  }
  std::vector<Entry> ring_;
  std::size_t first_ = 0, size_ = 0;
  std::uint32_t users_ = 0;
  std::uint64_t lost_ = 0;
};

}  // namespace vi
