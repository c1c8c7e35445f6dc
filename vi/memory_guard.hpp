// Memory of consumers that is not there any more. A consumer may unmap registered memory, protect it, or cut off the
// file behind it at any time, also while a message moves through it.
#pragma once
#include <cstddef>

namespace vi {

/// Lets the model touch such memory and live. Whoever owns the process implements it (vipl/engine/memory_faults.hpp).
class MemoryGuard {
 public:
  using Body = void (*)(void* context);
  virtual ~MemoryGuard() = default;
  /// Whether an access of vi/caught_access.hpp that faults is false without run().
  [[nodiscard]] virtual bool catches_accesses() const { return false; }
  /// Calls body(context), which touches no memory of the consumer but [host, host + length_bytes). False: some of that
  /// cannot be touched in this way. The body was left where it tried; what it did before stands, and nothing of it is
  /// undone: it takes no lock and owns nothing. Any thread; does not block, allocate or throw.
  [[nodiscard]] virtual bool run(const std::byte* host, std::size_t length_bytes, Body body, void* context) const = 0;
  /// The same for a body that touches `length_bytes` from `one` on and as many from `other` on.
  [[nodiscard]] virtual bool run_between(const std::byte* one, const std::byte* other, std::size_t length_bytes,
                                         Body body, void* context) const;
};

inline bool MemoryGuard::run_between(const std::byte* one, const std::byte* other, std::size_t length_bytes, Body body,
                                     void* context) const {
  struct Inner {
    const MemoryGuard& guard;
    const std::byte* other;
    std::size_t length_bytes;
    Body body;
    void* context;
    bool there = false;
  } inner{*this, other, length_bytes, body, context};
  const bool there = run(
      one, length_bytes,
      [](void* at) {
        auto& both = *static_cast<Inner*>(at);
        both.there = both.guard.run(both.other, both.length_bytes, both.body, both.context);
      },
      &inner);
  return there && inner.there;
}

}  // namespace vi
