#include "vipl/engine/watch.hpp"

#include "vipl/engine/futex.hpp"

namespace vipl {
namespace {

/// Between a program's last call that polls and the time from which the library's thread looks.
constexpr TimeNs tick = runtime::millisecond;
/// Of a call's sleep, before the library's thread ends its ticks.
constexpr int ticks_to_park = 20;

}  // namespace

// --- calls -------------------------------------------------------------------------------------------------------

bool Watch::wait(EventCount& point, std::uint32_t key, TimeNs deadline) {
  const std::uint32_t follow = follow_.load();
  if (!taken_.exchange(true)) {
    const bool woken = sleep_at_doorbell(point, key, deadline);
    leave();
    return woken;
  }
  if (thread_watches_.load()) end_watch_of_thread();
  followers_.fetch_add(1);
  // The one that leaves counts the followers after it has cleared the mark.
  const bool woken = !taken_.load() || futex_wait_either(point.epoch(), key, follow_, follow, false, deadline);
  followers_.fetch_sub(1);
  return woken;
}

bool Watch::sleep_at_doorbell(EventCount& point, std::uint32_t key, TimeNs deadline) {
  const std::uint32_t rung = doorbell_.fall_asleep();
  const bool woken =
      engine_.input_waits() || futex_wait_either(point.epoch(), key, doorbell_.word(), rung, true, deadline);
  doorbell_.awake();
  return woken;
}

void Watch::leave() {
  engine_.set_looked();
  taken_.store(false);
  if (followers_.load() != 0) {
    follow_.fetch_add(1);
    futex_wake_one(follow_);
  }
  if (parked_.load()) kick();
}

void Watch::end_watch_of_thread() {
  if (asked_to_leave_.exchange(true)) return;
  engine_.set_looked();
  leave_.fetch_add(1);
  futex_wake_one(leave_);
  doorbell_.ring_self();  // where the kernel waits for one word alone
}

void Watch::kick() {
  kick_.fetch_add(1);
  futex_wake_one(kick_);
}

// --- the library's thread ----------------------------------------------------------------------------------------

void Watch::run() {
  for (int sleeps = 0;;) {
    futex_wait(kick_, kick_.load(), monotonic_now() + tick);
    if (taken_.load()) {
      if (++sleeps < ticks_to_park) continue;
      park();
    } else if (!engine_.take_looked()) {
      watch_in_thread();
    }
    sleeps = 0;
  }
}

// A call sleeps at the doorbell; until it leaves.
void Watch::park() {
  const std::uint32_t kicked = kick_.load();
  parked_.store(true);
  if (taken_.load()) futex_wait(kick_, kicked);
  parked_.store(false);
}

void Watch::watch_in_thread() {
  if (taken_.exchange(true)) return;
  asked_to_leave_.store(false);
  thread_watches_.store(true);
  while (!asked_to_leave_.load()) {
    const std::uint32_t rung = doorbell_.fall_asleep();
    const std::uint32_t leave = leave_.load();
    if (!engine_.input_waits() && !asked_to_leave_.load()) futex_wait_shared(doorbell_.word(), rung, leave_, leave);
    doorbell_.awake();
    engine_.read_memory(monotonic_now());
    if (engine_.take_looked()) break;  // calls do it
  }
  thread_watches_.store(false);
  leave();
}

}  // namespace vipl
