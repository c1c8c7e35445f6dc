// Between the program and the module that has MPI. Both are of one build.
#pragma once
#include <string>

#include "tools/fcvi_sim/ranks/ranks.hpp"

namespace sim::ranks {

inline constexpr const char* module_file = "fcvi-sim-mpi.so";
inline constexpr const char* entry_name = "fcvi_sim_open_ranks";

/// Starts MPI; nullptr with what is wrong. The caller owns what it returns.
using Entry = Ranks*(std::string& wrong);

}  // namespace sim::ranks
