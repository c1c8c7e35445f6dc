// The results of the parts of a run, made one.
#pragma once
#include <string>
#include <string_view>

#include "tools/fcvi_sim/parts/exchange.hpp"
#include "tools/fcvi_sim/parts/share.hpp"
#include "tools/fcvi_sim/run/results.hpp"

namespace sim {

/// All parts call it, each with its own. At part 0: as if the run had been in one part; elsewhere of no use.
RunResult merged(const Scenario& scenario, const Share& share, RunResult own, Exchange& exchange);

/// The same text, for as long as the program runs: results and records name what the program has as constants. Of part
/// 0 alone.
std::string_view constant(const std::string& text);

}  // namespace sim
