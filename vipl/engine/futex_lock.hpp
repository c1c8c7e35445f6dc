// A mutex of four bytes whose operations are all sequentially consistent. The rule "the lock is taken, so its holder
// will see what I wrote" (engine.hpp) needs that; std::mutex does not promise it.
#pragma once
#include "vipl/engine/futex.hpp"

namespace vipl {

class FutexLock {
 public:
  FutexLock() = default;
  FutexLock(const FutexLock&) = delete;
  FutexLock& operator=(const FutexLock&) = delete;

  [[nodiscard]] bool try_lock() {
    std::uint32_t expected = is_free;
    return state_.compare_exchange_strong(expected, is_held);
  }
  void lock() {
    if (!try_lock()) lock_slowly();
  }
  void unlock() {
    if (state_.exchange(is_free) == is_waited_for) futex_wake_one(state_);
  }

 private:
  static constexpr std::uint32_t is_free = 0, is_held = 1, is_waited_for = 2;
  static constexpr int spins = 64;  // a holder that runs is done by then: sections are tens of instructions

  void lock_slowly() {
    for (int i = 0; i != spins; ++i) {
      if (state_.load(std::memory_order_relaxed) == is_free && try_lock()) return;
#if defined(__x86_64__) || defined(__i386__)
      __builtin_ia32_pause();
#endif
    }
    while (state_.exchange(is_waited_for) != is_free) futex_wait(state_, is_waited_for);
  }

  std::atomic<std::uint32_t> state_{is_free};
};

}  // namespace vipl
