// The commands decode and ladder of fcvi-sim.
#pragma once
#include <CLI/CLI.hpp>

#include "tools/fcvi_sim/capture/decode.hpp"
#include "tools/fcvi_sim/capture/draw.hpp"

namespace sim::capture {

struct CommandOptions {
  DecodeOptions decode;
  DrawOptions draw;
  bool all_fields = false, json = false;
  std::string output;  // of ladder
};

struct Commands {
  const CLI::App* decode;
  const CLI::App* ladder;
  [[nodiscard]] bool parsed() const { return decode->parsed() || ladder->parsed(); }
};

Commands add_commands(CLI::App& app, CommandOptions& options);
/// The one that was given. Returns the exit status: 0, or 2 with a message on standard error.
int run_command(const Commands& commands, CommandOptions& options);

}  // namespace sim::capture
