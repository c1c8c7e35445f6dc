#include "tools/fcvi_sim/run_command.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include "fc2_fabric/drivers/file_sink.hpp"
#include "tools/fcvi_sim/host/data_time.hpp"
#include "tools/fcvi_sim/report/report.hpp"
#include "tools/fcvi_sim/run/parted_run.hpp"
#include "tools/fcvi_sim/run/result_files.hpp"
#include "tools/fcvi_sim/run/simulation.hpp"
#include "tools/fcvi_sim/run/summary.hpp"
#include "settings/units.hpp"
#include "tools/fcvi_sim/ended_run.hpp"
#include "tools/fcvi_sim/parts/rank_exchange.hpp"
#include "tools/fcvi_sim/parts/share.hpp"
#include "tools/fcvi_sim/seed_option.hpp"
#include "tools/fcvi_sim/share/identity.hpp"
#include "tools/fcvi_sim/share/in_order.hpp"
#include "tools/fcvi_sim/share/serve.hpp"

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

/// Puts the file in place and says so in `said`; false with a message when it could not be written.
bool commit(fc2::drivers::FileSink& sink, const std::string& path, std::string& said) {
  if (path.empty()) return true;
  if (!sink.commit()) {
    refuse(sink.error());
    return false;
  }
  said += wrote(path);
  return true;
}

/// Other programs' load does not change how many frames a second of processor time makes.
std::string speed(const Clocks& elapsed, const RunResult& result) {
  const double seconds = std::chrono::duration<double>(elapsed.processor).count();
  char text[200];
  std::snprintf(text, sizeof text,
                "simulated in %.2f s of real time and %.2f s of processor time (data made and hashed apart), "
                "%.0f thousand frames per second of it\n",
                std::chrono::duration<double>(elapsed.real).count(), seconds,
                seconds > 0 ? static_cast<double>(result.frame_count) / seconds / 1000 : 0.0);
  return text;
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
  /// Those of one run: `options` names its own files. What there is to say about them goes to `said`.
  RunOutputs(const RunOptions& options, const Scenario& scenario, std::string& said)
      : options_(options), scenario_(scenario), said_(said) {}
  /// Returns what is wrong; empty: nothing.
  std::string open();
  [[nodiscard]] Outputs outputs() {
    return {capture_ ? &*capture_ : nullptr, ladder_ ? &*ladder_ : nullptr, options_.check,
            options_.report.empty() ? nullptr : &record_};
  }
  /// False with a message when one could not be written.
  /// `start`: Simulation::start().
  bool write(const RunResult& result, runtime::TimeNs start, const Verdicts& verdicts);
  [[nodiscard]] PartOptions part_options() {
    const bool reports = !options_.report.empty();
    return {.captures = capture_.has_value(),
            .capture = capture_ ? &*capture_ : nullptr,
            .ladders = ladder_.has_value(),
            .ladder = ladder_ ? &*ladder_ : nullptr,
            .check = options_.check,
            .reports = reports,
            .record = reports ? &record_ : nullptr};
  }

 private:
  bool write_report(const RunResult& result, runtime::TimeNs start, const Verdicts& verdicts);
  static void write(fc2::drivers::FileSink& file, const std::string& text) {
    file.write(std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
  }
  const RunOptions& options_;
  const Scenario& scenario_;
  std::string& said_;
  fc2::drivers::FileSink capture_file_, ladder_file_, report_file_;
  CaptureSink sink_{options_.capture.empty() ? nullptr : &capture_file_};
  std::optional<fc2::Capture> capture_;
  std::optional<Ladder> ladder_;
  RunRecord record_;
};

std::string RunOutputs::open() {
  const bool report = !options_.report.empty();
  if (!options_.capture.empty() &&
      !capture_file_.open(options_.capture, fc2::drivers::FileSink::simulation_buffer_bytes))
    return capture_file_.error();
  if (!options_.ladder.empty() && !ladder_file_.open(options_.ladder)) return ladder_file_.error();
  if (report && !report_file_.open(options_.report)) return report_file_.error();
  if (report && !sink_.open()) return "no temporary file for the frames of the report";
  if (!options_.capture.empty() || report) capture_.emplace(sink_);
  if (!options_.ladder.empty()) ladder_.emplace(scenario_);
  return {};
}

bool RunOutputs::write_report(const RunResult& result, runtime::TimeNs start, const Verdicts& verdicts) {
  if (!sink_.flush()) {
    refuse("the frames of the report: the temporary file could not be written");
    return false;
  }
  const report::Run run{scenario_, result, verdicts, record_, start};
  const report::Report report = report::of_run(run, sink_.path(), options_.report_frames);
  if (!report.error.empty()) {
    refuse("the frames of the report: " + report.error);
    return false;
  }
  write(report_file_, report.page);
  return commit(report_file_, options_.report, said_);
}

bool RunOutputs::write(const RunResult& result, runtime::TimeNs start, const Verdicts& verdicts) {
  if (ladder_) {
    const std::string title = scenario_.name + ", seed " + std::to_string(scenario_.seed);
    write(ladder_file_, to_svg(*ladder_, title, start));
  }
  return commit(capture_file_, options_.capture, said_) && commit(ladder_file_, options_.ladder, said_) &&
         (options_.report.empty() || write_report(result, start, verdicts));
}

/// What one run of the file came to, told in full where it is the only one.
class OneRun {
 public:
  /// `exchange`: with the other parts of this run, of which this is part 0; nullptr: there are none elsewhere.
  OneRun(const RunOptions& options, const Scenario& scenario, const std::string& label, Exchange* exchange)
      : options_(options), scenario_(scenario), label_(label), exchange_(exchange) {}
  /// 0, 1 or 2; what is bad was printed on standard error.
  int carry_out(bool alone);
  /// For standard output.
  [[nodiscard]] const std::string& said() const { return said_; }
  /// After carry_out(), which did not return 2.
  [[nodiscard]] RunOfFile outcome() const { return {options_.scenario, label_, scenario_, result_, verdicts_}; }

 private:
  [[nodiscard]] std::size_t parts() const { return exchange_ == nullptr ? options_.parts : exchange_->parts(); }
  [[nodiscard]] std::string why_not_in_parts() const;
  /// Empty; or why the run is of no use.
  std::string simulate(RunOutputs& outputs, std::optional<Simulation>& simulation, runtime::TimeNs& start);
  void tell(bool alone, const Clocks& elapsed);
  const RunOptions& options_;
  const Scenario& scenario_;
  const std::string& label_;
  Exchange* const exchange_;
  ContentStore contents_{scenario_.seed};
  std::string said_;
  RunResult result_;
  Verdicts verdicts_;
};

std::string OneRun::why_not_in_parts() const {
  const std::string why = sim::why_not_in_parts(scenario_, parts());
  return why.empty() ? why : options_.scenario + ": " + why;
}

std::string OneRun::simulate(RunOutputs& outputs, std::optional<Simulation>& simulation, runtime::TimeNs& start) {
  if (parts() == 1) {
    simulation.emplace(scenario_, contents_, outputs.outputs());
    start = simulation->start();
    result_ = simulation->run();
    return {};
  }
  PartedResult parted = exchange_ == nullptr ? run_in_threads(scenario_, contents_, parts(), outputs.part_options())
                                             : run_part(scenario_, contents_, *exchange_, outputs.part_options());
  result_ = std::move(parted.result);
  start = parted.start;
  return parted.error;
}

int OneRun::carry_out(bool alone) {
  if (const std::string error = parts() == 1 ? "" : why_not_in_parts(); !error.empty()) return refuse(error);
  for (const std::string& warning : scenario_.warnings)
    std::fprintf(stderr, "fcvi-sim: warning: %s\n", warning.c_str());
  if (parts() > 1)
    for (const std::string& reason : why_together(scenario_))
      std::fprintf(stderr, "fcvi-sim: note: %s\n", reason.c_str());
  if (const std::string error = contents_.load(scenario_.workloads); !error.empty()) return refuse(error);
  RunOutputs outputs(options_, scenario_, said_);
  if (const std::string error = outputs.open(); !error.empty()) return refuse(error);
  const Clocks begin = Clocks::now() - time_spent_on_data();
  std::optional<Simulation> simulation;
  runtime::TimeNs start = 0;
  if (const std::string error = simulate(outputs, simulation, start); !error.empty()) return refuse(error);
  const Clocks elapsed = Clocks::now() - time_spent_on_data() - begin;
  verdicts_ = check_expectations(scenario_, result_);
  tell(alone, elapsed);
  if (!outputs.write(result_, start, verdicts_)) return bad_input;
  if (alone) said_ += summary(verdicts_);
  return verdicts_.failures.empty() ? all_held : expectation_failed;
}

void OneRun::tell(bool alone, const Clocks& elapsed) {
  if (alone)
    said_ += summary(scenario_, result_) + speed(elapsed, result_);
  else
    said_ += label_ + ": " + settings::format_duration(result_.duration) + " of simulated time, " +
             settings::format_count(result_.frame_count) + " frames: " + summary(verdicts_);
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
  void add(EndedRun run) {
    ++count_;
    if (!options_.json.empty()) write(json_, run.json);
    if (!options_.junit.empty()) suites_.add(std::move(run.suite));
  }
  bool commit_all() {
    if (!options_.junit.empty()) write(junit_, suites_.text());
    std::string said;
    const bool written = commit(json_, options_.json, said) && commit(junit_, options_.junit, said);
    std::fputs(said.c_str(), stdout);
    return written;
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

/// Those of a run that ended well.
std::vector<std::string> written_by(const RunOptions& options) {
  std::vector<std::string> paths;
  for (const std::string& path : {options.capture, options.ladder, options.report})
    if (!path.empty() && !Paths::is_device(path)) paths.push_back(path);
  return paths;
}

/// Run no. `index` of the file, in this process.
EndedRun carry_out(const ScenarioFile& file, const Planned& run, std::size_t index, Exchange* exchange = nullptr) {
  const auto read = run.scenario ? settings::Result<Scenario>(Scenario()) : file.scenario(index);
  if (!read) return {.status = refuse(read.error().message)};
  OneRun one(run.options, run.scenario ? *run.scenario : *read, run.label, exchange);
  EndedRun ended{.status = one.carry_out(file.size() == 1)};
  ended.said = one.said();
  if (ended.status == bad_input) return ended;
  ended.json = json_line(one.outcome());
  ended.suite = JunitResults::suite_of(one.outcome());
  ended.wrote = written_by(run.options);
  return ended;
}

volatile std::sig_atomic_t interrupted = 0;
void note_interrupt(int) { interrupted = 1; }

/// Without SA_RESTART: rank 0 may be in a write() to mpirun, who reads no more.
void note_interrupts() {
  struct sigaction action {};
  action.sa_handler = note_interrupt;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

/// Standard output as it is while this process works alone.
void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);  // a long matrix shows how far it is
}

/// Standard output of rank 0, which mpirun reads until Ctrl-C: then what does not go at once goes nowhere.
void print_to_mpirun(const std::string& text) {
  std::fflush(stdout);
  for (std::size_t done = 0; done < text.size();) {
    if (interrupted != 0) ::fcntl(STDOUT_FILENO, F_SETFL, O_NONBLOCK);
    const ssize_t size = ::write(STDOUT_FILENO, text.data() + done, text.size() - done);
    if (size > 0) done += static_cast<std::size_t>(size);
    if (size <= 0 && errno != EINTR) return;
  }
}

using Print = void (*)(const std::string& text);

/// Takes the runs of a file in their order: prints what they say, and what they came to.
class Summing {
 public:
  Summing(const std::vector<Planned>& runs, ResultFiles& results, Print print)
      : runs_(runs), results_(results), print_(print) {}
  /// False: it was bad, there is no use in others.
  bool take(std::size_t index, EndedRun run) {
    print_(run.said);
    if (run.status == bad_input) return false;
    if (run.status != all_held) failed_.push_back(runs_[index].label);
    ++taken_;
    results_.add(std::move(run));
    return true;
  }
  /// Of all that were taken. The exit status.
  int conclude() const {
    const bool is_whole = taken_ == runs_.size();
    const std::string count = settings::format_count(taken_), of = settings::format_count(runs_.size());
    const std::string outcome = failed_.empty() ? "all held" : settings::format_count(failed_.size()) + " failed";
    if (!is_whole)
      std::fprintf(stderr, "fcvi-sim: interrupted after %s of %s runs: %s\n", count.c_str(), of.c_str(),
                   outcome.c_str());
    if (runs_.size() > 1) {
      std::string text = (is_whole ? "" : count + " of ") + of + " runs: " + outcome + (failed_.empty() ? "\n" : ":\n");
      for (const std::string& label : failed_) text += "  " + label + "\n";
      print_(text);
    }
    return failed_.empty() && is_whole ? all_held : expectation_failed;
  }

 private:
  const std::vector<Planned>& runs_;
  ResultFiles& results_;
  const Print print_;
  std::vector<std::string> failed_;
  std::size_t taken_ = 0;
};

int run_all(const ScenarioFile& file, const std::vector<Planned>& runs, ResultFiles& results, Exchange* exchange) {
  Summing summing(runs, results, print);
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (!summing.take(i, carry_out(file, runs[i], i, exchange))) return bad_input;
  return summing.conclude();
}

// --- --matrix: several processes and ranks

share::Run as_pieces(const ScenarioFile& file, const std::vector<Planned>& runs) {
  return [&](std::uint64_t index) {
    return packed(carry_out(file, runs[static_cast<std::size_t>(index)], static_cast<std::size_t>(index)));
  };
}

/// A run that ended its process failed.
EndedRun ended_run_of(const ScenarioFile& file, const Planned& run, const share::Result& result) {
  if (result.death.empty()) return sim::ended_run_of(result.text);
  const auto scenario = file.scenario(static_cast<std::size_t>(result.piece));
  const std::string seed = scenario ? ", seed " + std::to_string(scenario->seed) : "";
  EndedRun ended{.status = expectation_failed};
  ended.said = (run.label.empty() ? "the run" : run.label) + seed + ": its process " + result.death + "\n";
  ended.json = json_line_of_death(run.options.scenario, run.label, result.death);
  ended.suite.name = scenario ? scenario->name : run.label;
  ended.suite.cases.push_back({false, "process", "that the run ends by itself", result.death});
  return ended;
}

/// Files that other ranks wrote and this one does not see.
void warn_of_unseen(const std::vector<std::string>& paths) {
  std::error_code ignored;
  for (const std::string& path : paths)
    if (!std::filesystem::exists(path, ignored))
      std::fprintf(
          stderr,
          "fcvi-sim: warning: %s was written by another rank, and is not seen by rank 0: expected a folder that "
          "all machines share\n",
          path.c_str());
}

int run_shared(const ScenarioFile& file, const std::vector<Planned>& runs, const share::Team& team,
               ResultFiles& results) {
  note_interrupts();
  share::Hands hands(as_pieces(file, runs), team);
  Summing summing(runs, results, team.company != nullptr ? print_to_mpirun : print);
  std::vector<std::string> wrote;
  bool is_bad = false;
  const auto take = [&](const share::Result& result) {
    EndedRun run = ended_run_of(file, runs[static_cast<std::size_t>(result.piece)], result);
    wrote.insert(wrote.end(), run.wrote.begin(), run.wrote.end());
    is_bad = !summing.take(static_cast<std::size_t>(result.piece), std::move(run));
    return !is_bad;
  };
  share::carry_out_in_order(hands, runs.size(), take, interrupted);
  warn_of_unseen(wrote);
  if (!hands.summary().empty()) std::fprintf(stderr, "fcvi-sim: %s\n", hands.summary().c_str());
  return is_bad ? static_cast<int>(bad_input) : summing.conclude();
}

/// What --matrix cannot do with this file; else empty.
std::string unsuitable(const RunOptions& options, const ScenarioFile& file) {
  if (file.label(0).empty()) return options.scenario + ": --matrix: expected a scenario with for_each";
  for (const std::string& path : {options.capture, options.ladder, options.report})
    if (Paths::is_device(path))
      return path + ": is a device: expected without --matrix, whose runs write at the same time";
  return {};
}

share::Team team_of(const RunOptions& options, const ScenarioFile& file, share::Company* company) {
  std::vector<std::string> files = file.included();
  files.push_back(options.scenario);
  return {.jobs = options.jobs, .company = company, .identity = share::identity_of(files)};
}

/// As a rank that is not 0.
int help(const RunOptions& options, share::Company& company) {
  const auto file = ScenarioFile::load(options.scenario, options.overrides);
  std::vector<Planned> runs;
  const std::string wrong = file ? plan(*file, options, runs) : file.error().message;
  if (!wrong.empty()) {
    share::serve([](std::uint64_t) { return std::string(); }, {.jobs = options.jobs, .company = &company}, wrong);
  } else {
    share::serve(as_pieces(*file, runs), team_of(options, *file, &company), "");
  }
  return all_held;
}

/// Alone, or as rank 0. `exchange`: where the ranks share one run.
int lead(const RunOptions& options, share::Company* company, Exchange* exchange = nullptr) {
  const auto file = ScenarioFile::load(options.scenario, options.overrides);
  if (!file) return refuse(file.error().message);
  if (const std::string why = options.matrix ? unsuitable(options, *file) : ""; !why.empty()) return refuse(why);
  if (exchange != nullptr && file->size() != 1)
    return refuse(options.scenario + ": " + settings::format_count(file->size()) +
                  " runs: expected one, which the ranks share (--only), or --matrix");
  std::vector<Planned> runs;
  if (const std::string error = plan(*file, options, runs); !error.empty()) return refuse(error);
  ResultFiles results(options);
  if (const std::string error = results.open(); !error.empty()) return refuse(error);
  const int status = options.matrix ? run_shared(*file, runs, team_of(options, *file, company), results)
                                    : run_all(*file, runs, results, exchange);
  // What ended before a run failed to write its files is not lost.
  if (status == bad_input && results.is_empty()) return bad_input;
  return results.commit_all() ? status : bad_input;
}

// --- one fabric over several ranks

/// As a rank that is not 0. Says nothing: what is wrong here is wrong at rank 0 as well.
int simulate_part(const RunOptions& options, Exchange& exchange) {
  const auto file = ScenarioFile::load(options.scenario, options.overrides);
  if (!file || file->size() != 1) return bad_input;
  const auto scenario = file->scenario(0);
  if (!scenario || !why_not_in_parts(*scenario, exchange.parts()).empty()) return bad_input;
  ContentStore contents(scenario->seed);
  if (!contents.load(scenario->workloads).empty()) return bad_input;
  const PartOptions own{.captures = !options.capture.empty() || !options.report.empty(),
                        .ladders = !options.ladder.empty(),
                        .check = options.check,
                        .reports = !options.report.empty()};
  const PartedResult parted = run_part(*scenario, contents, exchange, own);
  return parted.error.empty() ? all_held : bad_input;
}

/// Whoever fails tells the others. Whoever waits in vain ends at once, without MPI: mpirun ends those that are left.
int run_as_rank(const RunOptions& options, ranks::Ranks& all) {
  RankExchange exchange(all, std::chrono::seconds(options.patience_s));
  try {
    if (all.rank() != 0) return simulate_part(options, exchange);
    const int status = lead(options, nullptr, &exchange);
    if (status == bad_input) exchange.fail("rank 0 has said why");
    return status;
  } catch (const PartGone& gone) {
    refuse(gone.what());
    std::fflush(nullptr);
    ::_exit(bad_input);
  } catch (const PartLost& lost) {
    if (all.rank() == 0) refuse(lost.what());
  } catch (const std::exception& error) {
    refuse("rank " + std::to_string(all.rank()) + ": " + error.what());
    exchange.fail("rank " + std::to_string(all.rank()) + " failed");
  }
  return bad_input;
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

/// "1 port", "2 ports".
std::string count_of(std::size_t count, const std::string& one) {
  return settings::format_count(count) + " " + one + (count == 1 ? "" : "s");
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
      first = count_of(scenario->ports.size(), "port") + ", " + count_of(scenario->workloads.size(), "workload") +
              ", " + count_of(scenario->faults.size(), "fault");
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
  run->add_option(
      "--ladder", options.ladder,
      "draw the connections into this file (SVG); of many, draw parts of the capture: fcvi-sim ladder --follow, "
      "--filter, --no-login");
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
  auto* matrix = run->add_flag("--matrix", options.matrix,
                               "each run of for_each in a process of its own, several at a time; what ends its process "
                               "is a run that failed");
  run->add_option("--jobs", options.jobs, "with --matrix: processes")
      ->check(CLI::Range(1, 256))
      ->capture_default_str()
      ->needs(matrix);
  run->add_option("--parts", options.parts, "simulate the switches in so many parts, a thread each (1 by default)")
      ->check(CLI::Range(std::size_t{1}, std::size_t{239}))
      ->type_name("N")
      ->excludes(matrix);
  run->add_option("--patience", options.patience_s, "how long a rank waits for another one: real time, 600 by default")
      ->check(CLI::Range(1U, 1'000'000U))
      ->type_name("SECONDS");
  run->footer(
      "With several runs (for_each in the scenario) the files of each have its values in their names.\n"
      "mpirun -n N fcvi-sim run --matrix ...: N ranks share the runs, with --jobs processes each "
      "(docs/many-machines.md).\n"
      "mpirun -n N fcvi-sim run ...: N ranks simulate the switches of one fabric (docs/one-fabric-over-ranks.md).\n"
      "Exit status: 0 every expectation held, 1 one failed, 2 bad input (file, line and what was expected).");
  return run;
}

int run_command(const RunOptions& options, std::unique_ptr<share::Company> company) {
  if (company != nullptr && !options.matrix) return run_as_rank(options, company->ranks());
  try {
    return company != nullptr && !company->leads() ? help(options, *company) : lead(options, company.get());
  } catch (const std::runtime_error& error) {
    return refuse(error.what());
  }
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
