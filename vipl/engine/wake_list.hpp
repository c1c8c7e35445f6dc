// Threads that the holder of the engine's lock has something for, to be woken when it has released the lock: they find
// it free, they take no core from its holder, and one wake-up serves all that a slice brings.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "vipl/engine/futex.hpp"

namespace vipl {

class WakeList {
 public:
  enum class Scope : bool { Process, Shared };
  static constexpr std::size_t capacity = 16;

  [[nodiscard]] bool empty() const { return size_ == 0; }
  /// `count` more sleepers of this word; `everybody` for all. The word may be gone when they are woken: no more than
  /// its address is used, and who sleeps on another word there may wake early. False: no room.
  [[nodiscard]] bool add(const std::atomic<std::uint32_t>& word, std::uint32_t count, Scope scope) {
    const auto end = wakes_.begin() + static_cast<std::ptrdiff_t>(size_);
    const auto known = std::find_if(wakes_.begin(), end, [&](const Wake& wake) { return wake.word == &word; });
    if (known != end) {
      known->count = std::min(known->count, everybody - count) + count;
      return true;
    }
    if (size_ == capacity) return false;
    wakes_[size_++] = {&word, count, scope};
    return true;
  }
  void wake() const {
    for (std::size_t i = 0; i < size_; ++i)
      futex_wake(*wakes_[i].word, wakes_[i].count, wakes_[i].scope == Scope::Shared);
  }

  static constexpr std::uint32_t everybody = 0x7FFF'FFFF;

 private:
  struct Wake {
    const std::atomic<std::uint32_t>* word;
    std::uint32_t count;
    Scope scope;
  };
  std::size_t size_ = 0;
  std::array<Wake, capacity> wakes_;  // the first size_
};

}  // namespace vipl
