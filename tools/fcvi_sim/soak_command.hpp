// fcvi-sim soak: the command line.
#pragma once
#include <CLI/CLI.hpp>

#include <optional>
#include <string>

namespace sim::soak {

struct CommandOptions {
  std::string scenario, seeds, folder = "fcvi-soak";
  std::optional<std::uint64_t> seed;
  double minutes = 0;  // 0: no limit
  std::size_t jobs = 1, most_failures = 10;
  bool resume = false, print = false;
};

CLI::App* add_command(CLI::App& app, CommandOptions& options);
/// Exit status: 0 all passed, 1 one failed, 2 bad input.
int run_command(const CommandOptions& options);

}  // namespace sim::soak
