// fcvi-sim explore: the command line.
#pragma once
#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <vector>

#include "tools/fcvi_sim/scenario/loader.hpp"
#include "tools/fcvi_sim/share/company.hpp"

namespace sim::explore {

struct CommandOptions {
  std::string scenario, ladder, capture;
  std::vector<std::string> faults;  // to run just these
  std::size_t most_faults = 2, jobs = 1;
  std::uint64_t max_runs = 0, owners_every = 1;
  bool disorder = false;
  std::size_t positions = 0;
  Overrides overrides;
};

CLI::App* add_command(CLI::App& app, CommandOptions& options);
/// All lists of faults, which ranks share; else one, which takes one process.
bool shares(const CommandOptions& options);
/// Exit status: 0 every invariant held, 1 one was broken or it was interrupted, 2 bad input; of a rank that is not 0
/// always 0. `company`: the ranks, if there are several; pre: shares(options).
int run_command(const CommandOptions& options, std::unique_ptr<share::Company> company);

}  // namespace sim::explore
