// The sleep of a thread that polls and finds nothing.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>

#include "runtime/scheduler.hpp"
#include "vipl/engine/runtime.hpp"

namespace vipl {

/// Tries that may be in vain: after each of these it is left alone for twice as many waits.
class Tries {
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
  /// What was learned was of something else: the next may begin.
  void begin_anew() { left_ = 0; }
  static constexpr std::uint32_t longest_rest = 1024;

 private:
  std::uint32_t left_ = 0, rest_ = 1;
};

/// How a thread that waits spins before it sleeps, where its messages come by memory and the machine has more than one
/// core: the sleep and the wake-up cost more than most waits last. On the core of the process that it waits for it does
/// not spin: that would only keep the other from running. Where others take the core before anything has come, the try
/// ends, in vain. That they take it now and then is no reason against the next: whoever spins has its turn with its
/// peer at once, and both get much done in it.
class WaitSpin {
 public:
  [[nodiscard]] bool may_begin(Place place) {
    if (place == Place::Moved) tries_.begin_anew();  // what it has learned was of the other core
    return place != Place::Shared && tries_.may_begin();
  }
  void found() { tries_.found(); }
  void in_vain() { tries_.in_vain(); }
  static constexpr TimeNs default_longest = 50 * runtime::microsecond;
  static constexpr std::uint32_t longest_rest = Tries::longest_rest;
  TimeNs longest = default_longest;

 private:
  Tries tries_;
};

/// Of a thread that shares its core with the process that it talks to, and may leave it. Where the other cores are busy
/// that gains nothing, and the system brings the two together again: so the soonest next move is put off twice as long
/// each time, from `first_rest` to `longest_rest`, until none was wanted for a while.
class Moves {
 public:
  /// At the beginning of a wait. `cores`: current(), the calling thread's core as the system counts them, -1: not
  /// known; leave(core): moves it off that core, false: it may run nowhere else. `doorbell`: peer_core();
  /// look_from(core) tells peers where this process looks for its input.
  template <class Doorbell, class Cores>
  [[nodiscard]] Place place(TimeNs now, Doorbell& doorbell, Cores cores) {
    const int core = cores.current();
    doorbell.look_from(core);
    if (core < 0 || core != doorbell.peer_core()) return Place::Apart;
    if (!may_begin(now)) return Place::Shared;
    doorbell.look_from(-1);  // the peer runs there before this thread has arrived, and is not to follow
    const bool left = cores.leave(core);
    doorbell.look_from(cores.current());
    return left ? Place::Moved : Place::Shared;
  }
  static constexpr TimeNs first_rest = runtime::millisecond, longest_rest = runtime::second;

 private:
  bool may_begin(TimeNs now) {
    if (now < not_before_) return false;
    rest_ = now - not_before_ < longest_rest ? std::min(2 * rest_, longest_rest) : first_rest;
    not_before_ = now + rest_;
    return true;
  }
  TimeNs not_before_ = 0, rest_ = first_rest;
};

/// One for each thread. Its data comes from other processes, which may need its core. So a thread that polls without a
/// pause sleeps between its polls, for a short time or until a completion, as a waiting thread does: then it is about
/// as fast. If cores are free it is faster without sleep: it tries that now and then, and continues as long as
/// completions come within `spin`. On the core of the process that it polls for it hands the core over before it
/// sleeps. A thread that does other work between its polls never sleeps here. The class uses no
/// clock and no thread: the caller passes the time, and sleeps. `System` is a Runtime, or a test's: now(),
/// times_preempted(), place().
class Patience {
 public:
  /// With each poll. Not 0: messages come by memory and the machine has more than one core; so it spins from the first
  /// wait on, as WaitSpin says.
  void set_memory_spin(TimeNs longest) {
    at_once_ = longest != 0;
    of_memory_.longest = longest;
  }
  /// Whether a poll at `now` that finds nothing should read the sockets. Before a nap it does not: the library's
  /// thread was woken for the input and reads it. After a nap in vain, and where there was no nap, it does not rely
  /// on that thread.
  [[nodiscard]] bool reads_input(TimeNs now) const {
    return spinning_ || in_vain_ || (waiting_ && now - last_ > longest_gap);
  }
  /// A poll that began at `now` found nothing. True: take a nap.
  template <class System>
  [[nodiscard]] bool poll_was_empty(TimeNs now, System& system) {
    const TimeNs gap = now - last_;
    last_ = now;
    if (!waiting_) {
      begin(now, system);
      // It napped in the wait before and polls on without a pause: it would nap at its second poll.
      return at_once_ && !spinning_ && napped_before_ && gap <= longest_gap;
    }
    if (spinning_ && (now - first_ >= (at_once_ ? of_memory_.longest : spin) || gap > others_ran)) give_up_spinning();
    return !spinning_ && gap <= longest_gap;
  }
  /// Before the first nap of a wait: the process that it waits for has this core, as far as is known, so the thread
  /// lets others run and looks again; handed_over() then tells how long that took and whether it brought something. A
  /// sleep and a wake-up cost more, unless processes that it does not wait for have the core in between: who is woken
  /// does not have to wait for them.
  [[nodiscard]] bool may_hand_over() { return std::exchange(hands_over_, false); }
  void handed_over(TimeNs before, TimeNs after, bool found) {
    found&& after - before <= spin ? core_.found() : core_.in_vain();
    if (found) napped(after);
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
  template <class System>
  void found(System& system) {
    if (!waiting_) return;
    napped_before_ = in_vain_;
    waiting_ = in_vain_ = false;
    if (!spinning_) return;
    if (at_once_) return of_memory_.found();
    // Other processes brought it on this core, or had to take it to do so.
    if (system.now() - last_ > others_ran || system.times_preempted() != preempted_) give_up_spinning();
  }
  void napped(TimeNs after) {
    last_ = after;
    in_vain_ = true;
  }

  /// The longest time between the starts of two polls in a loop that does little else.
  static constexpr TimeNs longest_gap = 3 * runtime::microsecond;
  /// Completions come within this time if the cores that they need are free; a try in vain costs no more.
  static constexpr TimeNs spin = 50 * runtime::microsecond;
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
  template <class System>
  void begin(TimeNs now, System& system) {
    waiting_ = true;
    first_ = now;
    if (at_once_)
      begin_at(system.place(now));
    else if (spinning_ && ++kept_ == trusted)
      rest_ = first_rest;
    else if (!spinning_ && (left_ == 0 || --left_ == 0))
      begin_spinning(system.times_preempted());
  }
  void begin_at(Place place) {
    spinning_ = of_memory_.may_begin(place);
    hands_over_ = place == Place::Shared && core_.may_begin();
  }
  void begin_spinning(std::uint64_t preempted) {
    spinning_ = true;
    preempted_ = preempted;
  }
  void give_up_spinning() {
    spinning_ = false;
    if (at_once_) return of_memory_.in_vain();
    kept_ = 0;
    left_ = rest_;
    rest_ = std::min(2 * rest_, longest_rest);
  }

  TimeNs first_ = 0, last_ = 0, roams_until_ = 0, looks_until_ = 0;
  const void* queue_ = nullptr;
  std::uint32_t completed_ = 0, stays_ = 0;
  std::uint64_t preempted_ = 0;
  std::uint32_t rest_ = first_rest, left_ = first_rest, kept_ = 0;
  bool waiting_ = false, spinning_ = false, in_vain_ = false, napped_before_ = false, at_once_ = false;
  bool hands_over_ = false;
  WaitSpin of_memory_;
  Tries core_;
};

}  // namespace vipl
