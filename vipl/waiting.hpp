// How a data-plane call waits.
#pragma once
#include "vipl/engine.hpp"
#include "vipl/taken.hpp"

namespace vipl {

/// Takes until there is something else than NotDone, at the latest at the deadline. Without the engine's lock. The
/// caller has nothing else to do: before it sleeps it runs what nobody is at.
template <class Take>
Taken wait_while_not_done(Engine& engine, EventCount& arrivals, TimeNs deadline, Take take) {
  Runtime& runtime = engine.runtime();
  for (;;) {
    Taken taken = take();
    if (taken != Taken::NotDone || runtime.now() >= deadline) return taken;
    if (engine.help()) continue;
    const std::uint32_t key = arrivals.prepare();
    taken = take();
    const bool woken = taken != Taken::NotDone || runtime.wait(arrivals, key, deadline);
    arrivals.finish();
    if (taken != Taken::NotDone) return taken;
    if (!woken) return take();
  }
}

}  // namespace vipl
