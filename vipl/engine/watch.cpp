#include "vipl/engine/watch.hpp"

#include "vipl/engine/futex.hpp"

namespace vipl {
namespace {

/// Between a program's last call that polls and the time at which the library's thread looks. While calls come it takes
/// the core from the program as often, for some 15 us.
constexpr TimeNs tick = 2 * runtime::millisecond;
/// Of a call's sleep, before the library's thread ends its ticks.
constexpr int ticks_to_park = 20;

}  // namespace

// --- calls -------------------------------------------------------------------------------------------------------

bool Watch::wait(EventCount& point, std::uint32_t key, TimeNs deadline) {
  const std::uint32_t follow = follow_.load();
  if (begin_as(Sleeper::Call)) {
    const bool woken = sleep_at_doorbell(point, key, deadline);
    leave();
    return woken;
  }
  // The one that leaves counts the followers after it has cleared the mark: whoever is there now counts this one.
  followers_.fetch_add(1);
  const bool nobody = sleeper_.load() == Sleeper::Nobody;
  if (!nobody) call_back_thread();
  const bool woken = nobody || futex_wait_either(point.epoch(), key, follow_, follow, false, deadline);
  followers_.fetch_sub(1);
  return woken;
}

bool Watch::begin_as(Sleeper sleeper) {
  Sleeper nobody = Sleeper::Nobody;
  return sleeper_.compare_exchange_strong(nobody, sleeper);
}

bool Watch::sleep_at_doorbell(EventCount& point, std::uint32_t key, TimeNs deadline) {
  const std::uint32_t rung = doorbell_.fall_asleep();
  const bool woken =
      engine_.input_waits(deadline) || futex_wait_either(point.epoch(), key, doorbell_.word(), rung, true, deadline);
  doorbell_.awake();
  return woken;
}

void Watch::leave() {
  engine_.set_looked();
  sleeper_.store(Sleeper::Nobody);
  if (followers_.load() != 0) {
    follow_.fetch_add(1);
    futex_wake_one(follow_);
  }
  if (parked_.load()) kick();
}

// Nothing if a call has the place, or the thread was called back already.
void Watch::call_back_thread() {
  Sleeper thread = Sleeper::Thread;
  if (!sleeper_.compare_exchange_strong(thread, Sleeper::ThreadToLeave)) return;
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
  TimeNs next = monotonic_now() + tick;
  for (int sleeps = 0;;) {
    futex_wait(kick_, kick_.load(), next);
    const bool call_sleeps = sleeper_.load() != Sleeper::Nobody;
    const TimeNs looked = call_sleeps ? Engine::at_some_time : engine_.take_looked();
    sleeps = call_sleeps ? sleeps + 1 : 0;
    if (looked == 0) watch_in_thread();
    if (sleeps == ticks_to_park) park();
    if (sleeps == ticks_to_park) sleeps = 0;
    next = (looked > Engine::at_some_time ? looked : monotonic_now()) + tick;
  }
}

// A call sleeps at the doorbell; until it leaves.
void Watch::park() {
  const std::uint32_t kicked = kick_.load();
  parked_.store(true);
  if (sleeper_.load() != Sleeper::Nobody) futex_wait(kick_, kicked);
  parked_.store(false);
}

void Watch::watch_in_thread() {
  if (!begin_as(Sleeper::Thread)) return;
  const auto stays = [this] { return sleeper_.load() == Sleeper::Thread; };
  while (stays()) {
    const std::uint32_t rung = doorbell_.fall_asleep();
    const std::uint32_t leave = leave_.load();
    if (!engine_.input_waits() && stays()) futex_wait_shared(doorbell_.word(), rung, leave_, leave);
    doorbell_.awake();
    engine_.read_memory(monotonic_now());
    if (engine_.take_looked() != 0) break;  // calls do it
  }
  leave();
}

}  // namespace vipl
