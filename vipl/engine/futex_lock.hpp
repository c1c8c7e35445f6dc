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
    if (!try_lock()) static_cast<void>(lock_slowly(runtime::never));
  }
  /// False: the deadline came before.
  [[nodiscard]] bool lock_until(TimeNs deadline) { return try_lock() || lock_slowly(deadline); }
  [[gnu::always_inline]] void unlock() {
    if (state_.exchange(is_free) == is_waited_for) [[unlikely]]
      futex_wake_one(state_);
  }

 private:
  static constexpr std::uint32_t is_free = 0, is_held = 1, is_waited_for = 2;
  static constexpr int spins = 64;  // a holder that runs is done by then: sections are tens of instructions

  // Who gives up leaves the mark: the next unlock() wakes nobody, or one too early.
  bool lock_slowly(TimeNs deadline) {
    for (int i = 0; i != spins; ++i) {
      if (state_.load(std::memory_order_relaxed) == is_free && try_lock()) return true;
#if defined(__x86_64__) || defined(__i386__)
      __builtin_ia32_pause();
#endif
    }
    while (state_.exchange(is_waited_for) != is_free)
      if (!futex_wait(state_, is_waited_for, deadline)) return false;
    return true;
  }

  std::atomic<std::uint32_t> state_{is_free};
};

}  // namespace vipl
