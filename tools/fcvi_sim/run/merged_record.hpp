// What the parts of a run noted for its report becomes one record, that of the whole run in one process.
#pragma once
#include "tools/fcvi_sim/parts/exchange.hpp"
#include "tools/fcvi_sim/run/record.hpp"

namespace sim {

/// At part 0: the record of the whole run, but for `hits`, which stand where they are. Elsewhere of no use. All parts
/// call it, with what Simulation left.
[[nodiscard]] RunRecord merged(RunRecord own, Exchange& exchange);

}  // namespace sim
