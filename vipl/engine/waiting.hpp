// How a data-plane call waits, and how it polls.
#pragma once
#include <algorithm>
#include <utility>

#include "vipl/engine/cancellation.hpp"
#include "vipl/engine/engine.hpp"
#include "vipl/engine/polling.hpp"
#include "vipl/engine/taken.hpp"

namespace vipl {

/// What `take` finds while the thread spins, where that is worth while; else NotDone.
template <class Take>
Taken spin_before_sleep(Engine& engine, TimeNs deadline, Take take) {
  Runtime& runtime = engine.runtime();
  WaitSpin* const spin = engine.has_inputs() ? runtime.wait_spin() : nullptr;
  if (spin == nullptr || !spin->may_begin(runtime.place(runtime.now()))) return Taken::NotDone;
  const TimeNs end = std::min(deadline, runtime.now() + spin->longest);
  Taken taken = Taken::NotDone;
  for (TimeNs now = runtime.now(), before = now; now < end && now - before <= Patience::others_ran;) {
    engine.poll(now);
    taken = take();
    if (taken != Taken::NotDone) {
      spin->found();
      return taken;
    }
    before = std::exchange(now, runtime.now());
  }
  spin->in_vain();
  return Taken::NotDone;
}

/// Takes until the result is not NotDone, or until the deadline. Without the engine's lock. The caller has nothing else
/// to do: before it sleeps it runs work that no other thread is running.
template <class Take>
Taken wait_while_not_done(Engine& engine, EventCount& arrivals, TimeNs deadline, Take take) {
  const Cancellation held(Cancellation::Held);
  Runtime& runtime = engine.runtime();
  for (bool spun = false;;) {
    Taken taken = take();
    if (taken != Taken::NotDone) return taken;
    const TimeNs now = runtime.now();
    if (now >= deadline) return taken;
    if (engine.poll(now)) continue;
    if (!std::exchange(spun, true)) {
      taken = spin_before_sleep(engine, deadline, take);
      if (taken != Taken::NotDone) return taken;
    }
    const Engine::Sleeper sleeper(engine);
    engine.wait_for_input();
    const std::uint32_t key = arrivals.prepare();
    taken = take();
    const bool woken = taken != Taken::NotDone || runtime.wait(arrivals, key, deadline);
    arrivals.finish();
    if (taken != Taken::NotDone) return taken;
    if (!woken) return take();
  }
}

/// What `take` finds after others had this thread's core.
template <class Take>
Taken hand_over_core(Engine& engine, Patience& patience, TimeNs before, Take take) {
  engine.runtime().let_others_run();
  const TimeNs now = engine.runtime().now();
  const Taken taken = engine.help(now) ? take() : Taken::NotDone;
  patience.handed_over(before, now, taken != Taken::NotDone);
  return taken;
}

/// What a poll that found nothing does before it returns; meanwhile `take` finds something, or NotDone.
template <class Take>
Taken rest_after_empty_poll(Engine& engine, Patience& patience, TimeNs now, bool elsewhere, Take take) {
  if (!patience.poll_was_empty(now, engine.runtime()) || elsewhere) return Taken::NotDone;
  if (patience.may_hand_over()) {
    const Taken taken = hand_over_core(engine, patience, now, take);
    if (taken != Taken::NotDone) return taken;
  }
  const Engine::Sleeper sleeper(engine);
  engine.wait_for_input();
  EventCount& completions = engine.completions();
  const std::uint32_t key = completions.prepare();
  engine.expect_completion();
  Taken taken = take();
  if (taken == Taken::NotDone) engine.runtime().nap(completions, key, now);
  completions.finish();
  const TimeNs after = engine.runtime().now();
  patience.napped(after);
  if (taken == Taken::NotDone) taken = take();
  // What ended the nap may be input that nobody has read yet: else the program's next poll would do it.
  if (taken == Taken::NotDone && engine.help(after)) taken = take();
  return taken;
}

/// A poll of `queue` that found nothing yet: runs work and reads input that no other thread handles, and takes again.
template <class Take>
[[gnu::noinline]] Taken poll_further(Engine& engine, Patience* patience, const void* queue, Take take) {
  const Cancellation held(Cancellation::Held);
  Taken taken = Taken::NotDone;
  const TimeNs now = engine.runtime().now();
  const TimeNs spin = patience != nullptr && engine.has_inputs() ? engine.runtime().poll_spin() : 0;
  if (patience != nullptr) patience->set_memory_spin(spin);
  const bool reads = patience == nullptr || patience->reads_input(now);
  const bool worked = reads ? engine.poll(now) : engine.help(now);
  if (worked) taken = take();
  const bool elsewhere =
      patience != nullptr && patience->may_find_elsewhere(now, queue, engine.completed_count(), engine.has_untaken());
  if (taken == Taken::NotDone && patience != nullptr)
    taken = rest_after_empty_poll(engine, *patience, now, elsewhere, take);
  return taken;
}

/// Takes from `queue`; if that gives NotDone, runs work and reads input that no other thread handles, and takes again.
/// Without the engine's lock.
template <class Take>
[[gnu::always_inline]] inline Taken poll_once(Engine& engine, const void* queue, Take take) {
  Taken taken = take();
  Patience* const patience = engine.runtime().patience();
  if (taken == Taken::NotDone) [[unlikely]]
    taken = poll_further(engine, patience, queue, take);
  const bool found = taken == Taken::Success || taken == Taken::Error;  // an empty queue is none to find something in
  if (found && patience != nullptr) patience->found(engine.runtime());
  return taken;
}

}  // namespace vipl
