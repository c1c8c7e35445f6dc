// fcvi-sim report: its options and what it does.
#pragma once
#include <CLI/CLI.hpp>

#include <string>

namespace sim::report {

struct CommandOptions {
  std::string path, output;
  std::size_t frames = 200'000;
};

const CLI::App* add_command(CLI::App& app, CommandOptions& options);
/// Returns the exit status.
int run_command(const CommandOptions& options);

}  // namespace sim::report
