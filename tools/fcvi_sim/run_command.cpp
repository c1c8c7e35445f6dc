#include "tools/fcvi_sim/run_command.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "fc2_fabric/drivers/file_sink.hpp"
#include "tools/fcvi_sim/host/data_time.hpp"
#include "tools/fcvi_sim/report/report.hpp"
#include "tools/fcvi_sim/run/result_files.hpp"
#include "tools/fcvi_sim/run/simulation.hpp"
#include "tools/fcvi_sim/run/summary.hpp"
#include "settings/units.hpp"
#include "tools/fcvi_sim/seed_option.hpp"

namespace sim {
namespace {

enum ExitStatus { all_held = 0, expectation_failed = 1, bad_input = 2 };

int refuse(const std::string& message) {
  std::fprintf(stderr, "fcvi-sim: %s\n", message.c_str());
  return bad_input;
}

/// The files of all runs. No output is an input, or another output.
class Paths {
 public:
  void add_input(const std::string& path) {
    if (!path.empty()) inputs_.insert(path);
  }
  void add_inputs(const Scenario& scenario) {
    for (const auto& workload : scenario.workloads)
      for (const auto& transfer : workload.transfers) add_input(transfer.data.path);
  }
  /// After all inputs. "" if all is well.
  std::string add_output(const std::string& path) {
    std::error_code ignored;
    if (path.empty()) return {};
    if (std::filesystem::is_directory(path, ignored) || !std::filesystem::path(path).has_filename())
      return path + ": is a folder, expected a file to write";
    if (is_device(path)) return {};
    if (std::filesystem::exists(path, ignored))
      for (const std::string& input : inputs_)
        if (std::filesystem::equivalent(path, input, ignored)) return path + ": is an input of this run";
    const bool first = outputs_.insert(std::filesystem::weakly_canonical(path, ignored).string()).second;
    return first ? "" : path + ": named for two outputs";
  }
  /// A device, a FIFO: all is written there, one after the other.
  static bool is_device(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored) && std::filesystem::is_other(path, ignored);
  }

 private:
  std::set<std::string> inputs_, outputs_;
};

std::string wrote(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size_bytes = std::filesystem::file_size(path, error);
  return "wrote " + path + (error ? "" : " (" + settings::format_count(size_bytes) + " bytes)") + "\n";
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

/// Other programs' load does not change how many frames a second of processor time makes.
void print_speed(const Clocks& elapsed, const RunResult& result) {
  const double seconds = std::chrono::duration<double>(elapsed.processor).count();
  std::printf(
      "simulated in %.2f s of real time and %.2f s of processor time (data made and hashed apart), "
      "%.0f thousand frames per second of it\n",
      std::chrono::duration<double>(elapsed.real).count(), seconds,
      seconds > 0 ? static_cast<double>(result.frame_count) / seconds / 1000 : 0.0);
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
  std::span<std::uint8_t> room(std::size_t size_bytes) override {
    return named_ != nullptr && !file_ ? named_->room(size_bytes) : std::span<std::uint8_t>();
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
  /// Those of one run: `options` names its own files.
  RunOutputs(const RunOptions& options, const Scenario& scenario) : options_(options), scenario_(scenario) {}
  /// Returns what is wrong; empty: nothing.
  std::string open();
  [[nodiscard]] Outputs outputs() {
    return {capture_ ? &*capture_ : nullptr, ladder_ ? &*ladder_ : nullptr, options_.check,
            options_.report.empty() ? nullptr : &record_};
  }
  /// False with a message when one could not be written.
  bool write(const Simulation& simulation, const Verdicts& verdicts);

 private:
  bool write_report(const Simulation& simulation, const Verdicts& verdicts);
  static void write(fc2::drivers::FileSink& file, const std::string& text) {
    file.write(std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
  }
  const RunOptions& options_;
  const Scenario& scenario_;
  fc2::drivers::FileSink capture_file_, ladder_file_, report_file_;
  CaptureSink sink_{options_.capture.empty() ? nullptr : &capture_file_};
  std::optional<fc2::Capture> capture_;
  std::optional<Ladder> ladder_;
  RunRecord record_;
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

bool RunOutputs::write_report(const Simulation& simulation, const Verdicts& verdicts) {
  if (!sink_.flush()) {
    refuse("the frames of the report: the temporary file could not be written");
    return false;
  }
  const report::Run run{scenario_, simulation.result(), verdicts, record_, simulation.start()};
  const report::Report report = report::of_run(run, sink_.path(), options_.report_frames);
  if (!report.error.empty()) {
    refuse("the frames of the report: " + report.error);
    return false;
  }
  write(report_file_, report.page);
  return commit(report_file_, options_.report);
}

bool RunOutputs::write(const Simulation& simulation, const Verdicts& verdicts) {
  if (ladder_) {
    const std::string title = scenario_.name + ", seed " + std::to_string(scenario_.seed);
    write(ladder_file_, to_svg(*ladder_, title, simulation.start()));
  }
  return commit(capture_file_, options_.capture) && commit(ladder_file_, options_.ladder) &&
         (options_.report.empty() || write_report(simulation, verdicts));
}

/// What one run of the file came to, printed in full where it is the only one.
class OneRun {
 public:
  OneRun(const RunOptions& options, const Scenario& scenario, const std::string& label)
      : options_(options), scenario_(scenario), label_(label) {}
  /// 0, 1 or 2; what is bad was printed.
  int carry_out(bool alone);
  /// After carry_out(), which did not return 2.
  [[nodiscard]] RunOfFile outcome() const { return {options_.scenario, label_, scenario_, result_, verdicts_}; }

 private:
  void print(bool alone, const Clocks& elapsed) const;
  const RunOptions& options_;
  const Scenario& scenario_;
  const std::string& label_;
  RunResult result_;
  Verdicts verdicts_;
};

int OneRun::carry_out(bool alone) {
  for (const std::string& warning : scenario_.warnings)
    std::fprintf(stderr, "fcvi-sim: warning: %s\n", warning.c_str());
  ContentStore contents(scenario_.seed);
  if (const std::string error = contents.load(scenario_.workloads); !error.empty()) return refuse(error);
  RunOutputs outputs(options_, scenario_);
  if (const std::string error = outputs.open(); !error.empty()) return refuse(error);
  const Clocks begin = Clocks::now() - time_spent_on_data();
  Simulation simulation(scenario_, contents, outputs.outputs());
  result_ = simulation.run();
  const Clocks elapsed = Clocks::now() - time_spent_on_data() - begin;
  verdicts_ = check_expectations(scenario_, result_);
  print(alone, elapsed);
  if (!outputs.write(simulation, verdicts_)) return bad_input;
  if (alone) std::fputs(summary(verdicts_).c_str(), stdout);
  return verdicts_.failures.empty() ? all_held : expectation_failed;
}

void OneRun::print(bool alone, const Clocks& elapsed) const {
  if (alone) {
    std::fputs(summary(scenario_, result_).c_str(), stdout);
    return print_speed(elapsed, result_);
  }
  std::printf("%s: %s of simulated time, %s frames: ", label_.c_str(),
              settings::format_duration(result_.duration).c_str(), settings::format_count(result_.frame_count).c_str());
  std::fputs(summary(verdicts_).c_str(), stdout);
  std::fflush(stdout);  // a long matrix shows how far it is
}

// --- files of several runs

/// "level=unreliable, size=64KiB" as a part of a file's name: "level-unreliable.size-64KiB".
std::string file_part(const std::string& label) {
  std::string part;
  for (std::size_t i = 0; i < label.size(); ++i) {
    const char c = label[i];
    if (c == ' ' && i > 0 && label[i - 1] == ',') continue;
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_';
    part += c == ',' ? '.' : plain ? c : '-';
  }
  return part;
}

/// The options of one run of several: each output's name with the run's part before its ending. No two are equal.
class OptionsByRun {
 public:
  explicit OptionsByRun(const RunOptions& options) : options_(options) {}
  RunOptions of(const std::string& label, std::size_t run) {
    constexpr std::size_t longest = 150;  // of 255 in all
    std::string part = file_part(label);
    if (part.size() > longest) part = part.substr(0, longest) + "." + std::to_string(run + 1);
    while (!used_.insert(part).second) part += "." + std::to_string(run + 1);
    RunOptions own = options_;
    for (std::string* path : {&own.capture, &own.ladder, &own.report}) {
      const std::filesystem::path whole(*path);
      if (path->empty() || Paths::is_device(*path) || !whole.has_filename()) continue;
      *path = (whole.parent_path() / (whole.stem().string() + "." + part + whole.extension().string())).string();
    }
    return own;
  }

 private:
  const RunOptions& options_;
  std::set<std::string> used_;
};

/// --json and --junit.
class ResultFiles {
 public:
  explicit ResultFiles(const RunOptions& options) : options_(options) {}
  /// "" or what is wrong.
  std::string open() {
    if (!options_.json.empty() && !json_.open(options_.json)) return json_.error();
    if (!options_.junit.empty() && !junit_.open(options_.junit)) return junit_.error();
    return {};
  }
  [[nodiscard]] bool is_empty() const { return count_ == 0; }
  void add(const RunOfFile& run) {
    ++count_;
    if (!options_.json.empty()) write(json_, json_line(run));
    if (!options_.junit.empty()) suites_.add(run);
  }
  bool commit_all() {
    if (!options_.junit.empty()) write(junit_, suites_.text());
    return commit(json_, options_.json) && commit(junit_, options_.junit);
  }

 private:
  static void write(fc2::drivers::FileSink& file, const std::string& text) {
    file.write(std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
  }
  const RunOptions& options_;
  fc2::drivers::FileSink json_, junit_;
  JunitResults suites_;
  std::size_t count_ = 0;
};

/// A run before it begins.
struct Planned {
  std::string label;
  RunOptions options;
  std::optional<Scenario> scenario = {};  // none: it is read again, to keep memory small
};

/// How much of memory a scenario takes, roughly.
std::size_t weight_of(const Scenario& scenario) {
  return 1 + scenario.ports.size() + scenario.workloads.size() + scenario.faults.size();
}

/// Of a file with several runs none begins before all of them can be read, and written. "" or what is wrong.
std::string plan(const ScenarioFile& file, const RunOptions& options, std::vector<Planned>& runs) {
  constexpr std::size_t most_kept = 200'000;  // by weight
  std::size_t kept = 0;
  Paths paths;
  OptionsByRun options_by_run(options);
  paths.add_input(options.scenario);
  for (const std::string& included : file.included()) paths.add_input(included);
  for (std::size_t i = 0; i < file.size(); ++i) {
    auto scenario = file.scenario(i);
    if (!scenario) return scenario.error().message;
    paths.add_inputs(*scenario);
    const std::string label = file.label(i);
    runs.push_back({label, file.size() == 1 ? options : options_by_run.of(label, i)});
    kept += weight_of(*scenario);
    if (file.size() == 1 || kept <= most_kept) runs.back().scenario = std::move(*scenario);
  }
  std::vector<std::string> outputs{options.json, options.junit};
  std::error_code ignored;
  for (const std::string& path : {options.capture, options.ladder, options.report})
    if (std::filesystem::is_directory(path, ignored)) outputs.push_back(path);  // and not the files of runs in it
  for (const Planned& run : runs)
    outputs.insert(outputs.end(), {run.options.capture, run.options.ladder, run.options.report});
  for (const std::string& output : outputs)
    if (const std::string error = paths.add_output(output); !error.empty()) return error;
  return {};
}

int run_all(const ScenarioFile& file, std::vector<Planned>& runs, ResultFiles& results) {
  std::vector<std::string> failed;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    auto kept = std::exchange(runs[i].scenario, std::nullopt);
    const auto scenario = kept ? settings::Result<Scenario>(std::move(*kept)) : file.scenario(i);
    if (!scenario) return refuse(scenario.error().message);
    OneRun one(runs[i].options, *scenario, runs[i].label);
    const int status = one.carry_out(false);
    if (status == bad_input) return bad_input;
    results.add(one.outcome());
    if (status != all_held) failed.push_back(runs[i].label);
  }
  std::printf("%s runs: %s\n", settings::format_count(runs.size()).c_str(),
              failed.empty() ? "all held" : (settings::format_count(failed.size()) + " failed:").c_str());
  for (const std::string& label : failed) std::printf("  %s\n", label.c_str());
  return failed.empty() ? all_held : expectation_failed;
}

int run_only(const Planned& run, ResultFiles& results) {
  OneRun one(run.options, *run.scenario, run.label);
  const int status = one.carry_out(true);
  if (status != bad_input) results.add(one.outcome());
  return status;
}

void add_overrides(CLI::App& command, Overrides& overrides) {
  const auto list = [&](const char* name, std::vector<std::string>& values, const char* what) {
    command.add_option(name, values, what)
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  };
  list("--set", overrides.assignments,
       "KEY=VALUE: change a value of the scenario, e.g. topology.latency=1ms or ports.client.capture=false");
  list("--param", overrides.parameters.values, "NAME=VALUE: a parameter of the scenario");
  list("--only", overrides.parameters.only, "NAME=VALUE[,VALUE]: of the runs of for_each those with these values");
  command.add_option("--file", overrides.file, "data of transfers that have none of their own");
}

/// Says that it is good, and what is against advice; or returns what is wrong.
std::string check_file(const std::string& path, const Overrides& overrides) {
  const auto file = ScenarioFile::load(path, overrides);
  if (!file) return file.error().message;
  std::string first;
  std::set<std::string> warnings;
  for (std::size_t i = 0; i < file->size(); ++i) {
    const auto scenario = file->scenario(i);
    if (!scenario) return scenario.error().message;
    warnings.insert(scenario->warnings.begin(), scenario->warnings.end());
    if (i == 0)
      first = settings::format_count(scenario->ports.size()) + " ports, " +
              settings::format_count(scenario->workloads.size()) + " workloads, " +
              settings::format_count(scenario->faults.size()) + " faults";
  }
  std::printf("%s: good: %s %s\n", path.c_str(),
              file->size() == 1 ? "1 run," : (settings::format_count(file->size()) + " runs, the first of").c_str(),
              first.c_str());
  for (const std::string& warning : warnings) std::printf("  warning: %s\n", warning.c_str());
  return {};
}

}  // namespace

CLI::App* add_run_command(CLI::App& app, RunOptions& options) {
  CLI::App* run = app.add_subcommand("run", "run a scenario, once or as often as it says, and check its expectations");
  run->add_option("SCENARIO", options.scenario, "scenario file (YAML; see fcvi-sim(1))")->required();
  run->add_option("--seed", options.overrides.seed, "seed of all random numbers, instead of the scenario's")
      ->check(seed_error, "");
  run->add_option("--capture", options.capture, "write the frames to this file (pcapng with FCoE frames)");
  run->add_option("--ladder", options.ladder, "draw the connections into this file (SVG)");
  run->add_option("--report", options.report,
                  "write what happened into this file (HTML, a page that needs nothing else)");
  run->add_option("--report-frames", options.report_frames, "the most frames that the page has, 200000 by default")
      ->check(CLI::Range(std::size_t{1}, std::size_t{10'000'000}))
      ->type_name("N");
  run->add_option("--json", options.json, "write the results into this file, a line of JSON for each run");
  run->add_option("--junit", options.junit, "write the expectations into this file, as JUnit's XML");
  run->add_flag("--check", options.check,
                "after each event ask each part of the protocol whether it is consistent; slow");
  add_overrides(*run, options.overrides);
  run->footer(
      "With several runs (for_each in the scenario) the files of each have its values in their names.\n"
      "Exit status: 0 every expectation held, 1 one failed, 2 bad input (file, line and what was expected).");
  return run;
}

int run_command(const RunOptions& options) {
  const auto file = ScenarioFile::load(options.scenario, options.overrides);
  if (!file) return refuse(file.error().message);
  std::vector<Planned> runs;
  if (const std::string error = plan(*file, options, runs); !error.empty()) return refuse(error);
  const bool alone = runs.size() == 1;
  ResultFiles results(options);
  if (const std::string error = results.open(); !error.empty()) return refuse(error);
  const int status = alone ? run_only(runs.front(), results) : run_all(*file, runs, results);
  // What ended before a run failed to write its files is not lost.
  if (status == bad_input && (alone || results.is_empty())) return bad_input;
  return results.commit_all() ? status : bad_input;
}

CLI::App* add_check_command(CLI::App& app, CheckOptions& options) {
  CLI::App* check = app.add_subcommand("check", "read scenarios and say what is wrong with them, without a run");
  check->add_option("SCENARIO", options.scenarios, "scenario files")->required();
  add_overrides(*check, options.overrides);
  check->footer("Exit status: 0 all can be run, 2 one cannot.");
  return check;
}

int check_command(const CheckOptions& options) {
  int status = all_held;
  for (const std::string& path : options.scenarios)
    if (const std::string error = check_file(path, options.overrides); !error.empty()) status = refuse(error);
  return status;
}

}  // namespace sim
