// VIPL programs in virtual time: for tests, and for programs whose every run is to be the same.
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
/// one runs at a time, in the order given, until it blocks in a call; when all are blocked, virtual time goes on to
/// the next event or time-out. Nothing else takes time. What they leave open is closed.
SimulationResult simulate(const std::vector<std::function<void()>>& programs);

}  // namespace vipl
