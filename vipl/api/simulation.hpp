// VIPL programs in virtual time: for tests, and for programs that need repeatable runs.
#pragma once
#include <functional>
#include <vector>

#include "vipl/engine/runtime.hpp"

namespace vipl {

struct SimulationResult {
  TimeNs elapsed_ns = 0;    // virtual time that passed
  bool deadlocked = false;  // all programs waited for ever; their calls returned VIP_TIMEOUT
};

/// Runs each program, a function that calls Vip*, on a fabric of its own, and returns when all have returned. Exactly
/// one runs at a time, in the order given, until it blocks in a call; when all are blocked, virtual time advances to
/// the next event or time-out. Nothing else takes time. Objects that they leave open are closed.
SimulationResult simulate(const std::vector<std::function<void()>>& programs);

}  // namespace vipl
