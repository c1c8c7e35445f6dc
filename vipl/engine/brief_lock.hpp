// A mutex of four bytes for sections of some ten instructions. Its holder does not look for waiters: unlock() is a
// plain store, and who waits looks again.
#pragma once
#include "vipl/engine/futex.hpp"

namespace vipl {

/// Orders no more than what is done in its sections (acquire, release). FutexLock does more, and costs a locked
/// instruction more.
class BriefLock {
 public:
  BriefLock() = default;
  BriefLock(const BriefLock&) = delete;
  BriefLock& operator=(const BriefLock&) = delete;

  [[nodiscard]] bool try_lock() { return state_.exchange(is_held) == is_free; }
  void lock() {
    if (!try_lock()) lock_slowly();
  }
  void unlock() { state_.store(is_free, std::memory_order_release); }

 private:
  static constexpr std::uint32_t is_free = 0, is_held = 1;
  static constexpr int spins = 64;  // a holder that runs is done by then

  /// Where the holder lost its core: until it has it again.
  [[gnu::noinline]] void lock_slowly() {
    for (int tries = 0;; ++tries) {
      if (state_.load(std::memory_order_relaxed) == is_free && try_lock()) return;
      if (tries < spins) {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#endif
        continue;
      }
      futex_wait(state_, is_held, monotonic_now() + nap);  // nobody wakes it
    }
  }
  static constexpr TimeNs nap = 50 * runtime::microsecond;
  std::atomic<std::uint32_t> state_{is_free};
};

}  // namespace vipl
