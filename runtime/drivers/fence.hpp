// A fence between all that a thread wrote before and all that it reads after: between a word of its own and one of
// another process, of which at least one side must see the other's.
#pragma once
#include <atomic>

namespace runtime::drivers {

inline void full_fence() {
#ifdef __SANITIZE_THREAD__
  // ThreadSanitizer does not know fences. For the processor this is one, and it orders nothing for the sanitizer: races
  // that it would hide are still found.
  std::atomic<int> own{0};
  static_cast<void>(own.exchange(1));
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

}  // namespace runtime::drivers
