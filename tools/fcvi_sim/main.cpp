// fcvi-sim: runs scenarios on a simulated fabric; prints and draws captures. Exit status: 0, 1 an expectation
// failed, 2 bad input.
#include <malloc.h>

#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdio>
#include <filesystem>

#include "fc2_fabric/drivers/file_sink.hpp"
#include "tools/fcvi_sim/capture_commands.hpp"
#include "tools/fcvi_sim/explore_command.hpp"
#include "tools/fcvi_sim/host/data_time.hpp"
#include "tools/fcvi_sim/scenario/loader.hpp"
#include "tools/fcvi_sim/run/simulation.hpp"
#include "tools/fcvi_sim/run/summary.hpp"
#include "settings/units.hpp"

namespace {

enum ExitStatus { all_held = 0, expectation_failed = 1, bad_input = 2 };

struct RunOptions {
  std::string scenario, capture, ladder;
  sim::Overrides overrides;
  bool check = false;
};

int refuse(const std::string& message) {
  std::fprintf(stderr, "fcvi-sim: %s\n", message.c_str());
  return bad_input;
}

/// An output must not be an input or another output: "" if all is well.
std::string check_outputs(const RunOptions& options, const sim::Scenario& scenario) {
  std::vector<std::string> inputs{options.scenario};
  for (const auto& workload : scenario.workloads)
    for (const auto& transfer : workload.transfers)
      if (!transfer.data.path.empty()) inputs.push_back(transfer.data.path);
  std::error_code ignored;
  for (const std::string& output : {options.capture, options.ladder}) {
    if (output.empty()) continue;
    if (std::filesystem::is_directory(output, ignored)) return output + ": is a folder, expected a file to write";
    for (const std::string& input : inputs)
      if (std::filesystem::equivalent(output, input, ignored)) return output + ": is an input of this run";
  }
  if (!options.capture.empty() && options.capture == options.ladder) return options.capture + ": named for two outputs";
  return {};
}

std::string wrote(const std::string& path) {
  std::error_code ignored;
  return "wrote " + path + " (" + settings::format_count(std::filesystem::file_size(path, ignored)) + " bytes)\n";
}

/// Puts the files in place and says so; false with a message when one could not be written.
bool commit(fc2::drivers::FileSink& sink, const std::string& path) {
  if (path.empty()) return true;
  if (!sink.commit()) {
    refuse(sink.error());
    return false;
  }
  std::fputs(wrote(path).c_str(), stdout);
  return true;
}

void print_speed(std::chrono::steady_clock::duration elapsed, const sim::RunResult& result) {
  const double seconds = std::chrono::duration<double>(elapsed).count();
  std::printf("simulated in %.2f s of real time (data made and hashed apart), %.0f thousand frames per second\n",
              seconds, seconds > 0 ? static_cast<double>(result.frame_count) / seconds / 1000 : 0.0);
}

int run(const RunOptions& options) {
  const auto scenario = sim::load_scenario(options.scenario, options.overrides);
  if (!scenario) return refuse(scenario.error().message);
  for (const std::string& warning : scenario->warnings)
    std::fprintf(stderr, "fcvi-sim: warning: %s\n", warning.c_str());
  if (const std::string error = check_outputs(options, *scenario); !error.empty()) return refuse(error);
  sim::ContentStore contents(scenario->seed);
  if (const std::string error = contents.load(scenario->workloads); !error.empty()) return refuse(error);
  fc2::drivers::FileSink capture_file, ladder_file;
  if (!options.capture.empty() && !capture_file.open(options.capture)) return refuse(capture_file.error());
  if (!options.ladder.empty() && !ladder_file.open(options.ladder)) return refuse(ladder_file.error());

  std::optional<fc2::Capture> capture;
  std::optional<sim::Ladder> ladder;
  if (!options.capture.empty()) capture.emplace(capture_file);
  if (!options.ladder.empty()) ladder.emplace(*scenario);
  const auto begin = std::chrono::steady_clock::now();
  const auto data_before = sim::time_spent_on_data();
  sim::Simulation simulation(*scenario, contents,
                             {capture ? &*capture : nullptr, ladder ? &*ladder : nullptr, options.check});
  const sim::RunResult& result = simulation.run();
  const auto on_data = sim::time_spent_on_data() - data_before;
  const auto elapsed = std::chrono::steady_clock::now() - begin - on_data;

  std::fputs(sim::summary(*scenario, result).c_str(), stdout);
  print_speed(elapsed, result);
  if (ladder) {
    const std::string title = scenario->name + ", seed " + std::to_string(scenario->seed);
    const std::string svg = sim::to_svg(*ladder, title, simulation.start());
    ladder_file.write(std::span(reinterpret_cast<const std::uint8_t*>(svg.data()), svg.size()));
  }
  if (!commit(capture_file, options.capture) || !commit(ladder_file, options.ladder)) return bad_input;
  const sim::Verdicts verdicts = sim::check_expectations(*scenario, result);
  std::fputs(sim::summary(verdicts).c_str(), stdout);
  return verdicts.failures.empty() ? all_held : expectation_failed;
}

void add_run(CLI::App& app, RunOptions& options) {
  CLI::App* run = app.add_subcommand("run", "run one scenario and check its expectations");
  run->add_option("SCENARIO", options.scenario, "scenario file (YAML; see fcvi-sim(1))")->required();
  run->add_option("--seed", options.overrides.seed, "seed of all random numbers, instead of the scenario's");
  run->add_option("--capture", options.capture, "write the frames to this file (pcapng with FCoE frames)");
  run->add_option("--ladder", options.ladder, "draw the connections into this file (SVG)");
  run->add_option("--file", options.overrides.file, "data of transfers that have none of their own");
  run->add_flag("--check", options.check,
                "after each event ask each part of the protocol whether it is consistent; slow");
  run->add_option("--set", options.overrides.assignments,
                  "KEY=VALUE: change a value of the scenario, e.g. topology.latency=1ms or ports.client.capture=false")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  run->footer("Exit status: 0 every expectation held, 1 one failed, 2 bad input (file, line and what was expected).");
}

}  // namespace

int main(int argc, char** argv) {
  // Transfers come and go: their memory is used again, not given back to the kernel and faulted in anew.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  CLI::App app{"Simulates FC-VI (ISO/IEC 14165-331) on a Fibre Channel fabric: same scenario, same seed, same bytes.",
               "fcvi-sim"};
  app.set_version_flag("--version", std::string("fcvi-sim ") + FCVI_VERSION);
  app.require_subcommand(1);
  RunOptions options;
  add_run(app, options);
  sim::explore::CommandOptions exploration;
  const CLI::App* explorer = sim::explore::add_command(app, exploration);
  sim::capture::CommandOptions captured;
  const sim::capture::Commands commands = sim::capture::add_commands(app, captured);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? all_held : bad_input;
  }
  if (explorer->parsed()) return sim::explore::run_command(exploration);
  return commands.parsed() ? sim::capture::run_command(commands, captured) : run(options);
}
