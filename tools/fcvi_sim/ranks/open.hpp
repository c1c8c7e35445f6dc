// Starts MPI.
#pragma once
#include <memory>
#include <string>

#include "tools/fcvi_sim/ranks/ranks.hpp"

namespace sim::ranks {

/// Loads the module and calls MPI_Init. Call it once in a process, and only where launch() says that ranks can find one
/// another: it waits until all of them were started. nullptr, with what is wrong in `wrong`: the module is not
/// installed, or MPI does not start.
std::unique_ptr<Ranks> open(std::string& wrong);

}  // namespace sim::ranks
