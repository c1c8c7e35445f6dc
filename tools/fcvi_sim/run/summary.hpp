// What a run prints when it is over.
#pragma once
#include <string>

#include "tools/fcvi_sim/run/expectations.hpp"
#include "tools/fcvi_sim/run/results.hpp"

namespace sim {

/// Nothing in it depends on real time.
std::string summary(const Scenario& scenario, const RunResult& result);
/// "all 12 expectations held", or the failures, a line each.
std::string summary(const Verdicts& verdicts);

}  // namespace sim
