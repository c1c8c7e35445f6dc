// The results of the parts of a run, made one.
#pragma once
#include "tools/fcvi_sim/parts/exchange.hpp"
#include "tools/fcvi_sim/parts/share.hpp"
#include "tools/fcvi_sim/run/results.hpp"

namespace sim {

/// All parts call it, each with its own. At part 0: as if the run had been in one part; elsewhere of no use.
RunResult merged(const Scenario& scenario, const Share& share, RunResult own, Exchange& exchange);

}  // namespace sim
