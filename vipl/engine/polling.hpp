// The sleep of a thread that polls and finds nothing.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>

#include "runtime/scheduler.hpp"

namespace vipl {
using runtime::TimeNs;

/// How a thread that waits spins before it sleeps, where its messages come by memory and it has more than one core: the
/// sleep and the wake-up cost more than most waits last. A try in vain is repeated after twice as many waits.
class WaitSpin {
 public:
  [[nodiscard]] bool may_begin() {
    if (left_ == 0) return true;
    --left_;
    return false;
  }
  void found() { rest_ = 1; }
  void in_vain() {
    left_ = rest_;
    rest_ = std::min(2 * rest_, longest_rest);
  }
  static constexpr TimeNs default_longest = 50 * runtime::microsecond;
  static constexpr std::uint32_t longest_rest = 1024;
  TimeNs longest = default_longest;

 private:
  std::uint32_t left_ = 0, rest_ = 1;
};

/// One for each thread. Its data comes from other processes, which may need its core. So a thread that polls without a
/// pause sleeps between its polls, for a short time or until a completion, as a waiting thread does: then it is about
/// as fast. If cores are free it is faster without sleep: it tries that now and then, and continues as long as
/// completions come within `spin`. A thread that does other work between its polls never sleeps here. The class uses no
/// clock and no thread: the caller passes the time, and sleeps.
class Patience {
 public:
  /// Messages come by memory and the thread has more than one core: it spins from the first wait on, and longer, for a
  /// peer that slept needs time to wake up.
  void spin_at_once(TimeNs longest = long_spin) {
    at_once_longest_ = longest;
    if (std::exchange(at_once_, true)) return;
    left_ = 0;
  }
  /// Whether a poll at `now` that finds nothing should read the sockets. Before a nap it does not: the library's
  /// thread was woken for the input and reads it. After a nap in vain, and where there was no nap, it does not rely
  /// on that thread.
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
    if (spinning_ && (now - first_ >= (at_once_ ? at_once_longest_ : spin) || lost_its_core(gap))) give_up_spinning();
    return !spinning_ && gap <= longest_gap;
  }
  /// Whether a nap may be in vain because nothing completes during it: the thread polls several queues in turn, and a
  /// descriptor has completed that it may find in one of the others. Called with each empty poll: of which queue, how
  /// many completions there were, and whether some of them have not been taken.
  [[nodiscard]] bool may_find_elsewhere(TimeNs now, const void* queue, std::uint32_t completed, bool untaken) {
    const bool other_queue = std::exchange(queue_, queue) != queue;
    if (other_queue) roams_until_ = now + roaming;
    stays_ = other_queue ? 0 : stays_ + 1;
    if (std::exchange(completed_, completed) != completed) looks_until_ = now + spin;
    return untaken && stays_ < longest_stay && now < roams_until_ && now < looks_until_;
  }
  /// A poll found something: the next empty one begins a new wait.
  template <class Clock, class Preempted>
  void found(Clock clock, Preempted preempted) {
    if (!waiting_) return;
    waiting_ = in_vain_ = false;
    // Other processes brought it on this core, or had to take it to do so.
    if (spinning_ && (lost_its_core(clock() - last_) || shares_its_core(preempted))) give_up_spinning();
  }
  void napped(TimeNs after) {
    last_ = after;
    in_vain_ = true;
  }

  /// The longest time between the starts of two polls in a loop that does little else.
  static constexpr TimeNs longest_gap = 3 * runtime::microsecond;
  /// Completions come within this time if the cores that they need are free; a try in vain costs no more.
  static constexpr TimeNs spin = 50 * runtime::microsecond;
  static constexpr TimeNs long_spin = 200 * runtime::microsecond;
  static constexpr std::uint32_t waits_of_a_look = 16, losses_of_a_shared_core = waits_of_a_look / 2;
  /// A thread counts as polling several queues for this time after its latest change of queues.
  static constexpr TimeNs roaming = 20 * runtime::millisecond;
  /// So many polls of one queue in a row mean that the thread waits there.
  static constexpr std::uint32_t longest_stay = 4;
  /// If a loop that does little else lost its core for this long, others need it.
  static constexpr TimeNs others_ran = 20 * runtime::microsecond;
  /// The calls are not to block: other work of the program is delayed by no more than this, plus the kernel's delay.
  static constexpr TimeNs nap = runtime::millisecond;
  /// While completions keep coming they end the naps, and naps are checked no more often than this.
  static constexpr TimeNs longest_round = 4 * runtime::millisecond;
  /// The longest nap if nothing ends it. A timer for each nap that expires before the system's own next tick would cost
  /// more than the nap itself, above all in a virtual machine: one thread has one timer for all naps.
  static constexpr TimeNs longest_nap = 5 * runtime::millisecond;
  /// Number of waits before it tries to spin again: doubled with each try in vain, so that the tries cost
  /// next to nothing.
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
    unlooked_ = losses_ = 0;
    preempted_ = preempted();
  }
  /// Others ran for so long as `gap`. Where it spins from the start on that is only counted: the library's own threads
  /// run for a moment once in a millisecond, and a virtual machine's processor is taken away now and then.
  bool lost_its_core(TimeNs gap) {
    if (gap <= others_ran) return false;
    ++losses_;
    return !at_once_;
  }
  /// Others took the core. Where it spins from the start on, it looks now and then: who shares its core with what it waits
  /// for loses it in nearly each wait.
  template <class Preempted>
  bool shares_its_core(Preempted preempted) {
    if (at_once_ && ++unlooked_ < waits_of_a_look) return false;
    const std::uint64_t times = preempted() - preempted_;
    const bool shared = times >= (at_once_ ? losses_of_a_shared_core : 1) || losses_ >= losses_of_a_shared_core;
    preempted_ += times;
    unlooked_ = losses_ = 0;
    return shared;
  }
  void give_up_spinning() {
    spinning_ = false;
    kept_ = 0;
    left_ = rest_;
    rest_ = std::min(2 * rest_, longest_rest);
  }

  TimeNs first_ = 0, last_ = 0, roams_until_ = 0, looks_until_ = 0, at_once_longest_ = long_spin;
  const void* queue_ = nullptr;
  std::uint32_t completed_ = 0, stays_ = 0;
  std::uint64_t preempted_ = 0;
  std::uint32_t rest_ = first_rest, left_ = first_rest, kept_ = 0;
  bool waiting_ = false, spinning_ = false, in_vain_ = false, at_once_ = false;
  std::uint32_t unlooked_ = 0, losses_ = 0;
};

}  // namespace vipl
