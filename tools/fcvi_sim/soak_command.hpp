// fcvi-sim soak: the command line.
#pragma once
#include <CLI/CLI.hpp>

#include <memory>
#include <optional>
#include <string>

#include "tools/fcvi_sim/share/company.hpp"

namespace sim::soak {

struct CommandOptions {
  std::string scenario, seeds, folder = "fcvi-soak";
  std::optional<std::uint64_t> seed;
  double minutes = 0;  // 0: no limit
  std::size_t jobs = 1, most_failures = 10;
  bool resume = false, print = false;
};

CLI::App* add_command(CLI::App& app, CommandOptions& options);
/// Many seeds, which ranks share; else one scenario, which takes one process.
bool shares(const CommandOptions& options);
/// Exit status: 0 all passed, 1 one failed, 2 bad input; of a rank that is not 0 always 0. `company`: the ranks, if
/// there are several; pre: shares(options).
int run_command(const CommandOptions& options, std::unique_ptr<share::Company> company);

}  // namespace sim::soak
