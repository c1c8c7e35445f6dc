// fcvi-sim explore: the command line.
#pragma once
#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "tools/fcvi_sim/scenario/loader.hpp"

namespace sim::explore {

struct CommandOptions {
  std::string scenario, ladder;
  std::vector<std::string> faults;  // to run just these
  std::size_t most_faults = 2, jobs = 1;
  std::uint64_t max_runs = 0, owners_every = 1;
  bool disorder = false;
  std::size_t positions = 0;
  Overrides overrides;
};

CLI::App* add_command(CLI::App& app, CommandOptions& options);
/// Exit status: 0 every invariant held, 1 one was broken, 2 bad input.
int run_command(const CommandOptions& options);

}  // namespace sim::explore
