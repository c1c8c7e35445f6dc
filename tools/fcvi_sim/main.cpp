// fcvi-sim: runs scenarios on a simulated fabric; prints, draws and reports captures. Exit status: 0, 1 an expectation
// failed, 2 bad input.
#include <malloc.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "fc2_fabric/drivers/file_sink.hpp"
#include "tools/fcvi_sim/capture_commands.hpp"
#include "tools/fcvi_sim/explore_command.hpp"
#include "tools/fcvi_sim/host/data_time.hpp"
#include "tools/fcvi_sim/report/report.hpp"
#include "tools/fcvi_sim/replay_command.hpp"
#include "tools/fcvi_sim/report_command.hpp"
#include "tools/fcvi_sim/scenario/loader.hpp"
#include "tools/fcvi_sim/run/simulation.hpp"
#include "tools/fcvi_sim/run/summary.hpp"
#include "settings/units.hpp"

namespace {

enum ExitStatus { all_held = 0, expectation_failed = 1, bad_input = 2 };

struct RunOptions {
  std::string scenario, capture, ladder, report;
  std::size_t report_frames = 200'000;
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
  const std::vector<std::string> outputs{options.capture, options.ladder, options.report};
  for (const std::string& output : outputs) {
    if (output.empty()) continue;
    if (std::filesystem::is_directory(output, ignored)) return output + ": is a folder, expected a file to write";
    for (const std::string& input : inputs)
      if (std::filesystem::equivalent(output, input, ignored)) return output + ": is an input of this run";
  }
  for (auto output = outputs.begin(); output != outputs.end(); ++output)
    if (!output->empty() && std::find(output + 1, outputs.end(), *output) != outputs.end())
      return *output + ": named for two outputs";
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

/// The capture that a report is made of: in a file without a name, and in the one that --capture names.
class CaptureSink final : public fc2::ByteSink {
 public:
  explicit CaptureSink(fc2::drivers::FileSink* named) : named_(named) {}
  /// False: there is no room for a temporary file.
  bool open() {
    file_.reset(std::tmpfile());
    return file_ != nullptr;
  }
  void write(std::span<const std::uint8_t> bytes) override {
    if (named_ != nullptr) named_->write(bytes);
    if (file_) good_ = std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) == bytes.size() && good_;
  }
  /// All bytes can be read at path().
  bool flush() { return file_ && std::fflush(file_.get()) == 0 && good_; }
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(::fileno(file_.get())); }

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  fc2::drivers::FileSink* named_;
  std::unique_ptr<std::FILE, CloseFile> file_;
  bool good_ = true;
};

/// What a run writes besides its summary.
class RunOutputs {
 public:
  RunOutputs(const RunOptions& options, const sim::Scenario& scenario) : options_(options), scenario_(scenario) {}
  /// Returns what is wrong; empty: nothing.
  std::string open();
  [[nodiscard]] sim::Outputs outputs() {
    return {capture_ ? &*capture_ : nullptr, ladder_ ? &*ladder_ : nullptr, options_.check,
            options_.report.empty() ? nullptr : &record_};
  }
  /// False with a message when one could not be written.
  bool write(const sim::Simulation& simulation, const sim::Verdicts& verdicts);

 private:
  bool write_report(const sim::Simulation& simulation, const sim::Verdicts& verdicts);
  static void write(fc2::drivers::FileSink& file, const std::string& text) {
    file.write(std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
  }
  const RunOptions& options_;
  const sim::Scenario& scenario_;
  fc2::drivers::FileSink capture_file_, ladder_file_, report_file_;
  CaptureSink sink_{options_.capture.empty() ? nullptr : &capture_file_};
  std::optional<fc2::Capture> capture_;
  std::optional<sim::Ladder> ladder_;
  sim::RunRecord record_;
};

std::string RunOutputs::open() {
  const bool report = !options_.report.empty();
  if (!options_.capture.empty() && !capture_file_.open(options_.capture)) return capture_file_.error();
  if (!options_.ladder.empty() && !ladder_file_.open(options_.ladder)) return ladder_file_.error();
  if (report && !report_file_.open(options_.report)) return report_file_.error();
  if (report && !sink_.open()) return "no temporary file for the frames of the report";
  if (!options_.capture.empty() || report) capture_.emplace(sink_);
  if (!options_.ladder.empty()) ladder_.emplace(scenario_);
  return {};
}

bool RunOutputs::write_report(const sim::Simulation& simulation, const sim::Verdicts& verdicts) {
  if (!sink_.flush()) {
    refuse("the frames of the report: the temporary file could not be written");
    return false;
  }
  const sim::report::Run run{scenario_, simulation.result(), verdicts, record_, simulation.start()};
  const sim::report::Report report = sim::report::of_run(run, sink_.path(), options_.report_frames);
  if (!report.error.empty()) {
    refuse("the frames of the report: " + report.error);
    return false;
  }
  write(report_file_, report.page);
  return commit(report_file_, options_.report);
}

bool RunOutputs::write(const sim::Simulation& simulation, const sim::Verdicts& verdicts) {
  if (ladder_) {
    const std::string title = scenario_.name + ", seed " + std::to_string(scenario_.seed);
    write(ladder_file_, sim::to_svg(*ladder_, title, simulation.start()));
  }
  return commit(capture_file_, options_.capture) && commit(ladder_file_, options_.ladder) &&
         (options_.report.empty() || write_report(simulation, verdicts));
}

int run(const RunOptions& options) {
  const auto scenario = sim::load_scenario(options.scenario, options.overrides);
  if (!scenario) return refuse(scenario.error().message);
  for (const std::string& warning : scenario->warnings)
    std::fprintf(stderr, "fcvi-sim: warning: %s\n", warning.c_str());
  if (const std::string error = check_outputs(options, *scenario); !error.empty()) return refuse(error);
  sim::ContentStore contents(scenario->seed);
  if (const std::string error = contents.load(scenario->workloads); !error.empty()) return refuse(error);
  RunOutputs outputs(options, *scenario);
  if (const std::string error = outputs.open(); !error.empty()) return refuse(error);
  const auto begin = std::chrono::steady_clock::now();
  const auto data_before = sim::time_spent_on_data();
  sim::Simulation simulation(*scenario, contents, outputs.outputs());
  const sim::RunResult& result = simulation.run();
  const auto on_data = sim::time_spent_on_data() - data_before;
  const auto elapsed = std::chrono::steady_clock::now() - begin - on_data;

  std::fputs(sim::summary(*scenario, result).c_str(), stdout);
  print_speed(elapsed, result);
  const sim::Verdicts verdicts = sim::check_expectations(*scenario, result);
  if (!outputs.write(simulation, verdicts)) return bad_input;
  std::fputs(sim::summary(verdicts).c_str(), stdout);
  return verdicts.failures.empty() ? all_held : expectation_failed;
}

void add_run(CLI::App& app, RunOptions& options) {
  CLI::App* run = app.add_subcommand("run", "run one scenario and check its expectations");
  run->add_option("SCENARIO", options.scenario, "scenario file (YAML; see fcvi-sim(1))")->required();
  run->add_option("--seed", options.overrides.seed, "seed of all random numbers, instead of the scenario's");
  run->add_option("--capture", options.capture, "write the frames to this file (pcapng with FCoE frames)");
  run->add_option("--ladder", options.ladder, "draw the connections into this file (SVG)");
  run->add_option("--report", options.report,
                  "write what happened into this file (HTML, a page that needs nothing else)");
  run->add_option("--report-frames", options.report_frames, "the most frames that the page has, 200000 by default")
      ->check(CLI::Range(std::size_t{1}, std::size_t{10'000'000}))
      ->type_name("N");
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
  sim::report::CommandOptions reported;
  const CLI::App* reporter = sim::report::add_command(app, reported);
  sim::capture::CommandOptions captured;
  const sim::capture::Commands commands = sim::capture::add_commands(app, captured);
  sim::replay::ReplayOptions replayed;
  const CLI::App* replayer = sim::replay::add_command(app, replayed);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? all_held : bad_input;
  }
  if (explorer->parsed()) return sim::explore::run_command(exploration);
  if (reporter->parsed()) return sim::report::run_command(reported);
  if (replayer->parsed()) return sim::replay::run_command(replayed);
  return commands.parsed() ? sim::capture::run_command(commands, captured) : run(options);
}
