// Where blocked calls wait for a condition that changes without a lock: one for each work queue, completion queue and
// operation under way.
//
//   waiter                                     who changes the condition
//     for (;;) {                                 change it, with a sequentially consistent store
//       if (condition) break;                    runtime.notify_one(point) or notify_all(point)
//       key = point.prepare();
//       if (!condition) runtime.wait(point, key, deadline);
//       point.finish();
//     }
//
// Either the waiter's second look comes after the change, or the notifier sees the waiter: no wake-up is lost. To
// notify costs one load while nobody waits.
#pragma once
#include <atomic>
#include <cstdint>

namespace vipl {

class EventCount {
 public:
  EventCount() = default;
  EventCount(const EventCount&) = delete;
  EventCount& operator=(const EventCount&) = delete;

  [[nodiscard]] std::uint32_t prepare() {
    waiters_.fetch_add(1);
    return epoch_.load();
  }
  void finish() { waiters_.fetch_sub(1); }

  /// What was prepared with that key is notified.
  [[nodiscard]] bool is_notified(std::uint32_t key) const { return epoch_.load() != key; }

  [[nodiscard]] bool has_waiters() const { return waiters_.load() != 0; }
  /// The runtime's side: ends all waits that were prepared before.
  void advance() { epoch_.fetch_add(1); }
  [[nodiscard]] const std::atomic<std::uint32_t>& epoch() const { return epoch_; }

 private:
  std::atomic<std::uint32_t> epoch_{0};
  std::atomic<std::uint32_t> waiters_{0};
};

}  // namespace vipl
