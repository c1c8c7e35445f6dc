#include "tools/fcvi_sim/replay_command.hpp"

#include <cstdio>

namespace sim::replay {
namespace {
constexpr double least_tolerance_ms = 0.01;  // frames of one link at one time follow each other
}

const CLI::App* add_command(CLI::App& app, ReplayOptions& options) {
  CLI::App* command = app.add_subcommand(
      "replay", "play the other side of a captured conversation to the real implementation, and compare its answers");
  command->add_option("CAPTURE", options.path, "as for decode; - is standard input, to its end")->required();
  command
      ->add_option("--as", options.port,
                   "the port that the implementation plays: the name of its interface in the capture or of its node, "
                   "its N_Port_ID or its "
                   "Port_Name")
      ->type_name("PORT")
      ->required();
  command->add_flag("--all", options.all, "go on after the first difference");
  command->add_flag("-v,--verbose", options.all_fields, "with all fields of the frames that differ");
  command
      ->add_option("--tolerance", options.tolerance_ms,
                   "milliseconds that a frame may come late or early, 500 by default")
      ->check(CLI::Range(least_tolerance_ms, 60'000.0))
      ->type_name("MS");
  command->footer(
      "Exit status: 0 no difference, 1 one or more, 2 bad input: an unknown port names those that there are.");
  return command;
}

int run_command(const ReplayOptions& options) {
  constexpr int same = 0, different = 1, bad_input = 2;
  if (!(options.tolerance_ms >= least_tolerance_ms)) {  // "nan" is in every range
    std::fputs("fcvi-sim: --tolerance: expected a number\n", stderr);
    return bad_input;
  }
  if (options.port.empty()) {
    std::fputs("fcvi-sim: --as: expected a port, got \"\"; an unknown one names those that there are\n", stderr);
    return bad_input;
  }
  const ReplayResult result = replay(options);
  std::fputs(result.text.c_str(), stdout);
  const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (!result.error.empty() || !written) {
    std::fprintf(stderr, "fcvi-sim: %s\n", written ? result.error.c_str() : "standard output: cannot be written");
    return bad_input;
  }
  return result.same ? same : different;
}

}  // namespace sim::replay
