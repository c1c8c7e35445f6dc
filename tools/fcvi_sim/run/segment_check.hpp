// What `wire` expects of VI segments, compared with those that were seen.
#pragma once
#include <optional>
#include <string>

#include "tools/fcvi_sim/run/results.hpp"
#include "tools/fcvi_sim/run/wire_check.hpp"

namespace sim {

/// The first difference; nothing: they are the same.
std::optional<WireDifference> compare_segments(const Scenario& scenario, const std::vector<SeenSegment>& seen);

}  // namespace sim
