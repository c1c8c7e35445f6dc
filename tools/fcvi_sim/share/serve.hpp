// What every rank but 0 does while the ranks share a work.
#pragma once
#include <string>

#include "tools/fcvi_sim/share/hands.hpp"

namespace sim::share {

/// Carries out what rank 0 hands out, until it says that this is the end, or died. Ctrl-C and SIGTERM are left to rank
/// 0. `wrong`: why this rank cannot take part; else empty. Pre: team.company is there, and this is not rank 0.
void serve(const Run& run, const Team& team, const std::string& wrong);

}  // namespace sim::share
