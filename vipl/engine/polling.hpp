// What a thread does that polls and finds nothing.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>

#include "runtime/scheduler.hpp"

namespace vipl {
using runtime::TimeNs;

/// One for each thread. What it waits for is brought by others, who may need its core. So a thread that polls in a row
/// sleeps between its polls, for a short time or until something completes, as one does that waits: then it is about as
/// fast. Where cores are free it is faster without: it tries that now and then, and goes on so as long as what it waits
/// for comes within `spin`. A thread that does other work between its polls never sleeps here. Knows no clock and no
/// thread: the caller tells the time, and sleeps.
class Patience {
 public:
  /// Whether a poll at `now` that finds nothing should read the sockets. Before a nap not: the library's thread was
  /// woken for what is there, and does it; after one that brought nothing, and where there is none, that thread is not
  /// relied on.
  [[nodiscard]] bool reads_input(TimeNs now) const {
    return spinning_ || in_vain_ || (waiting_ && now - last_ > longest_gap);
  }
  /// A poll that began at `now` found nothing. True: take a nap. `preempted()`: how often others took this thread's
  /// core from it.
  template <class Preempted>
  [[nodiscard]] bool poll_was_empty(TimeNs now, Preempted preempted) {
    const TimeNs gap = now - last_;
    last_ = now;
    if (!waiting_) {
      begin(now, preempted);
      return false;
    }
    if (spinning_ && (gap > others_ran || now - first_ >= spin)) give_up_spinning();
    return !spinning_ && gap <= longest_gap;
  }
  /// Whether a nap may be in vain though nothing completes in it: the thread polls several queues in turn, and
  /// something has completed that it may find in one of the others. Called with each empty poll, of which queue, how
  /// many completions there were, and whether some of them have not been taken.
  [[nodiscard]] bool may_find_elsewhere(TimeNs now, const void* queue, std::uint32_t completed, bool untaken) {
    const bool other_queue = std::exchange(queue_, queue) != queue;
    if (other_queue) roams_until_ = now + roaming;
    stays_ = other_queue ? 0 : stays_ + 1;
    if (std::exchange(completed_, completed) != completed) looks_until_ = now + spin;
    return untaken && stays_ < longest_stay && now < roams_until_ && now < looks_until_;
  }
  /// A poll found something: the next empty one begins a wait of its own.
  template <class Clock, class Preempted>
  void found(Clock clock, Preempted preempted) {
    if (!waiting_) return;
    waiting_ = in_vain_ = false;
    // It was brought by others, on this core; or others had to take it to do so.
    if (spinning_ && (clock() - last_ > others_ran || was_preempted(preempted))) give_up_spinning();
  }
  template <class Preempted>
  bool was_preempted(Preempted preempted) {
    const auto before = std::exchange(preempted_, preempted());
    return before != preempted_;
  }
  void napped(TimeNs after) {
    last_ = after;
    in_vain_ = true;
  }

  /// Between the beginnings of two polls of a loop that does little else.
  static constexpr TimeNs longest_gap = 3 * runtime::microsecond;
  /// What comes takes no longer than this where the cores that it needs are free; to have tried in vain costs no more.
  static constexpr TimeNs spin = 50 * runtime::microsecond;
  /// So long after its latest change of queues a thread counts as one that polls several.
  static constexpr TimeNs roaming = 20 * runtime::millisecond;
  /// So many polls of one queue in a row are of a thread that waits there.
  static constexpr std::uint32_t longest_stay = 4;
  /// A loop that does little else was off its core: others need it.
  static constexpr TimeNs others_ran = 20 * runtime::microsecond;
  /// The calls are not to block: what else a program looks at is late by no more than this, and what the kernel adds.
  static constexpr TimeNs nap = runtime::millisecond;
  /// While something completes all the time naps end by that, and are looked after no more often than this.
  static constexpr TimeNs longest_round = 4 * runtime::millisecond;
  /// Where nobody ends the nap then. To set a clock for each that comes before the system's own next tick would cost
  /// more than the nap itself, within a virtual machine above all: one thread has one clock for all who nap.
  static constexpr TimeNs longest_nap = 5 * runtime::millisecond;
  /// Waits until it tries to spin again: twice as many each time that it was in vain, so that this costs next to
  /// nothing.
  static constexpr std::uint32_t first_rest = 32, longest_rest = 8192;
  /// So many waits in a row that were not in vain are no accident.
  static constexpr std::uint32_t trusted = 64;

 private:
  template <class Preempted>
  void begin(TimeNs now, Preempted preempted) {
    waiting_ = true;
    first_ = now;
    if (spinning_ && ++kept_ == trusted)
      rest_ = first_rest;
    else if (!spinning_ && (left_ == 0 || --left_ == 0))
      begin_spinning(preempted);
  }
  template <class Preempted>
  void begin_spinning(Preempted preempted) {
    spinning_ = true;
    preempted_ = preempted();
  }
  void give_up_spinning() {
    spinning_ = false;
    kept_ = 0;
    left_ = rest_;
    rest_ = std::min(2 * rest_, longest_rest);
  }

  TimeNs first_ = 0, last_ = 0, roams_until_ = 0, looks_until_ = 0;
  const void* queue_ = nullptr;
  std::uint32_t completed_ = 0, stays_ = 0;
  std::uint64_t preempted_ = 0;
  std::uint32_t rest_ = first_rest, left_ = first_rest, kept_ = 0;
  bool waiting_ = false, spinning_ = false, in_vain_ = false;
};

}  // namespace vipl
