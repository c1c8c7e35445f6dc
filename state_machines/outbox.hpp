// What the actions of a machine ask its owner to do once they are over: typed, in order, each once.
//
// An action must not call back into its machine, nor destroy it (fsm.hpp). It pushes an effect; the owner drains the
// outbox when process() has returned. What is pending is thereby one value that a test and a debugger can see, and the
// order is that in which the rows asked, not that of the lines of a hand-written settle().
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

namespace fsm {

/// `Effect` is an enum, or a small value as a struct or std::variant. `Capacity` is the most that is pending at once;
/// to exceed it is a defect of the owner (asserted). No allocation; of one-byte effects it has Capacity + 2 bytes.
template <class Effect, std::size_t Capacity>
class Outbox {
  static_assert(Capacity > 0 && Capacity <= std::numeric_limits<std::uint8_t>::max());
  static_assert(std::is_default_constructible_v<Effect> && std::is_nothrow_move_constructible_v<Effect> &&
                std::is_nothrow_move_assignable_v<Effect>);

 public:
  static constexpr std::size_t capacity = Capacity;

  void push(Effect effect) {
    assert(count_ < Capacity);
    slots_[place(count_)] = std::move(effect);
    ++count_;
  }

  /// Gives each effect to `handler`, in order, until none is left; what the handler pushes is drained too. An effect is
  /// out of the box before its handler runs: a drain() within the handler takes what is left, and no effect is handled
  /// twice. A handler that returns a bool says by false that nothing more is to be done: its owner is gone, for
  /// instance. The outbox is not touched after that.
  template <class Handler>
  void drain(Handler&& handler) {
    while (count_ != 0) {
      if constexpr (std::is_void_v<std::invoke_result_t<Handler&, Effect>>)
        handler(take());
      else if (!handler(take()))
        return;
    }
  }

  /// Forgets what is pending.
  void clear() {
    while (count_ != 0) take();
  }

  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::size_t size() const { return count_; }
  /// It is pending.
  [[nodiscard]] bool contains(const Effect& effect) const {
    for (std::size_t i = 0; i < count_; ++i)
      if (slots_[place(i)] == effect) return true;
    return false;
  }

 private:
  [[nodiscard]] std::size_t place(std::size_t index) const {
    const std::size_t at = first_ + index;
    return at < Capacity ? at : at - Capacity;
  }
  Effect take() {
    Effect effect = std::exchange(slots_[first_], Effect{});
    first_ = static_cast<std::uint8_t>(place(1));
    --count_;
    return effect;
  }

  std::array<Effect, Capacity> slots_{};
  std::uint8_t first_ = 0, count_ = 0;
};

}  // namespace fsm
