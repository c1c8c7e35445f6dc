// The command replay of fcvi-sim.
#pragma once
#include <CLI/CLI.hpp>

#include "tools/fcvi_sim/replay/replay.hpp"

namespace sim::replay {

const CLI::App* add_command(CLI::App& app, ReplayOptions& options);
/// Returns the exit status: 0 no difference, 1 one, 2 with a message on standard error.
int run_command(const ReplayOptions& options);

}  // namespace sim::replay
