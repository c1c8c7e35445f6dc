#include "tools/fcvi_sim/soak_command.hpp"

#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <set>
#include <stdexcept>

#include "settings/file.hpp"
#include "settings/units.hpp"
#include "tools/fcvi_sim/scenario/loader.hpp"
#include "tools/fcvi_sim/soak/campaign.hpp"
#include "tools/fcvi_sim/soak/child.hpp"
#include "tools/fcvi_sim/soak/drawn_scenario.hpp"
#include "tools/fcvi_sim/soak/failure_files.hpp"
#include "tools/fcvi_sim/soak/progress.hpp"
#include "tools/fcvi_sim/soak/state.hpp"

namespace sim::soak {
namespace {

constexpr int all_passed = 0, one_failed = 1, bad_input = 2;
constexpr std::uint64_t usual_last = 10'000, most_text_bytes = 16 << 20;
constexpr std::chrono::seconds state_every{10};

volatile std::sig_atomic_t interrupts = 0;
void count_interrupt(int) { interrupts = interrupts + 1; }

int refuse(const std::string& message) {
  std::fprintf(stderr, "fcvi-sim: %s\n", message.c_str());
  return bad_input;
}

/// "A..B", "A.." or "A": the first and the last. False: it is none of these.
bool read_seeds(const std::string& text, std::uint64_t& first, std::uint64_t& last) {
  const std::size_t dots = text.find("..");
  const auto from = settings::parse_number(text.substr(0, dots));
  if (!from) return false;
  first = last = *from;
  if (dots == std::string::npos) return true;
  const std::string rest = text.substr(dots + 2);
  const auto to = rest.empty() ? Plan::no_end - 1 : settings::parse_number(rest);
  if (!to || *to < first) return false;
  last = rest.empty() ? Plan::no_end : *to;
  return true;
}

std::string count_of(std::uint64_t count, const char* one, const char* many) {
  return settings::format_count(count) + " " + (count == 1 ? one : many);
}

// --- one failure

/// Shrinks it and says what is left. False: it could not be written.
bool leave(const Found& found, const std::string& folder) {
  std::fprintf(stderr, "shrinking ...\n");
  const Left left = shrink_and_leave(found, folder, interrupts);
  if (!left.error.empty()) {
    refuse(left.error);
    return false;
  }
  std::printf("shrunk by %s to:\n%s%s", count_of(left.trials, "run", "runs").c_str(), left.text.c_str(),
              left.what.c_str());
  std::printf("left in %s: scenario.yaml, minimal.yaml, failure.txt, capture.pcapng, ladder.svg, report.html\n",
              folder.c_str());
  return true;
}

/// A scenario that is there, or was drawn from one seed.
int run_one(const std::string& text, const std::string& folder, const std::string& command) {
  std::signal(SIGINT, count_interrupt);
  const Outcome outcome = in_child([&] {
    fc2::FramePool pool;
    return judged(text, pool);
  });
  if (outcome.kind == "bad scenario") return refuse(outcome.what.substr(0, outcome.what.find('\n')));
  if (outcome.passed()) {
    std::printf("passed: %s, digest %016llx\n", count_of(outcome.frames, "frame", "frames").c_str(),
                static_cast<unsigned long long>(outcome.digest));
    return all_passed;
  }
  std::printf("failed: %s\n%s", outcome.kind.c_str(), outcome.what.c_str());
  return leave({text, outcome.kind, command}, folder) ? one_failed : bad_input;
}

int run_file(const CommandOptions& options) {
  const auto text = settings::read_file(options.scenario, most_text_bytes);
  if (!text) return refuse(text.error().message);
  const std::filesystem::path path(options.scenario);
  const auto scenario = load_scenario(options.scenario, {});
  if (!scenario) return refuse(scenario.error().message);
  if (const std::string why = unsuitable(*scenario); !why.empty()) return refuse(options.scenario + ": " + why);
  return run_one(*text, options.folder + "/" + path.stem().string(), "fcvi-sim soak " + options.scenario);
}

std::string seed_command(std::uint64_t seed) { return "fcvi-sim soak --seed " + std::to_string(seed); }
std::string seed_folder(const CommandOptions& options, std::uint64_t seed) {
  return options.folder + "/seed-" + std::to_string(seed);
}

int run_seed(const CommandOptions& options) {
  const std::string text = drawn_scenario(*options.seed);
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
  if (options.print) return all_passed;
  return run_one(text, seed_folder(options, *options.seed), seed_command(*options.seed));
}

// --- many seeds

Outcome run_drawn(std::uint64_t seed) {
  static fc2::FramePool pool;  // of this process
  return judged(drawn_scenario(seed), pool);
}

std::string state_path(const CommandOptions& options) { return options.folder + "/state.yaml"; }

/// Where to begin and to end. "" or what is wrong.
std::string begin_state(const CommandOptions& options, State& state) {
  state.last = options.minutes > 0 ? Plan::no_end : usual_last;
  if (!options.seeds.empty() && !read_seeds(options.seeds, state.totals.next, state.last))
    return "--seeds " + options.seeds + ": expected FIRST..LAST, FIRST.. or one number";
  if (!options.resume) return {};
  if (!options.seeds.empty())
    return "--resume: the seeds are those of " + state_path(options) + ": expected without --seeds";
  const auto text = settings::read_file(state_path(options), most_text_bytes);
  if (!text) return text.error().message;
  const auto read = read_state(*text, state_path(options));
  if (!read) return read.error().message;
  state = *read;
  return {};
}

/// Writes the state now and then. An error is kept: the campaign goes on.
class StateKeeper {
 public:
  StateKeeper(const CommandOptions& options, std::uint64_t last) : options_(options), last_(last) {}
  void keep(const Totals& totals, bool now) {
    const auto time = std::chrono::steady_clock::now();
    if (!now && time - kept_ < state_every) return;
    kept_ = time;
    std::error_code ignored;
    std::filesystem::create_directories(options_.folder, ignored);
    error_ = write_file(state_path(options_), state_text({last_, totals}));
  }
  void remove() {
    std::error_code ignored;
    std::filesystem::remove(state_path(options_), ignored);
    std::filesystem::remove(options_.folder, ignored);  // where it is empty
  }
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  const CommandOptions& options_;
  const std::uint64_t last_;
  std::chrono::steady_clock::time_point kept_ = std::chrono::steady_clock::now();
  std::string error_;
};

void print_header(const CommandOptions& options, const State& state) {
  const std::string last = state.last == Plan::no_end ? "on" : "to " + settings::format_count(state.last);
  std::printf("soak: seeds from %s %s%s, until %s; each draws its scenario: fcvi-sim soak --seed N --print\n",
              settings::format_count(state.totals.next).c_str(), last.c_str(), options.resume ? ", resumed" : "",
              count_of(options.most_failures, "failure", "failures").c_str());
  std::fflush(stdout);
}

void print_summary(const Totals& totals) {
  std::printf("%s, %s, %s; digest %016llx\n", count_of(totals.runs, "run", "runs").c_str(),
              count_of(totals.frames, "frame", "frames").c_str(),
              count_of(totals.failures.size(), "failure", "failures").c_str(),
              static_cast<unsigned long long>(totals.digest));
  for (const Failure& failure : totals.failures)
    std::printf("  seed %llu: %s\n", static_cast<unsigned long long>(failure.seed), failure.kind.c_str());
}

/// The first seed of each kind of failure. False: its files could not be written.
bool leave_first_of_each_kind(const CommandOptions& options, const Totals& totals) {
  std::set<std::string> kinds;
  for (const Failure& failure : totals.failures) {
    if (!kinds.insert(failure.kind).second) continue;
    std::printf("\nseed %llu: %s\n%s", static_cast<unsigned long long>(failure.seed), failure.kind.c_str(),
                failure.what.c_str());
    std::fflush(stdout);
    const Found found{drawn_scenario(failure.seed), failure.kind, seed_command(failure.seed)};
    if (!leave(found, seed_folder(options, failure.seed))) return false;
  }
  return true;
}

int run_campaign(const CommandOptions& options) {
  State state;
  if (const std::string wrong = begin_state(options, state); !wrong.empty()) return refuse(wrong);
  print_header(options, state);
  std::signal(SIGINT, count_interrupt);
  Plan plan{.last = state.last, .jobs = options.jobs, .most_failures = options.most_failures};
  if (options.minutes > 0)
    plan.until = std::chrono::steady_clock::now() + std::chrono::milliseconds(std::llround(options.minutes * 60'000));
  Progress progress(plan, state.totals, ::isatty(STDERR_FILENO) != 0);
  StateKeeper keeper(options, state.last);
  Campaign campaign(plan, state.totals, run_drawn);
  const auto tell = [&](const Totals& totals) {
    progress.show(totals);
    keeper.keep(totals, false);
  };
  const Totals& totals = campaign.carry_out(tell, interrupts);
  progress.end();
  const bool complete = campaign.is_complete();
  complete ? keeper.remove() : keeper.keep(totals, true);
  if (!keeper.error().empty()) return refuse(keeper.error());
  print_summary(totals);
  if (!complete) std::printf("not all of the seeds: fcvi-sim soak --resume --out %s goes on\n", options.folder.c_str());
  interrupts = 0;  // the next Ctrl-C ends shrinking
  if (!leave_first_of_each_kind(options, totals)) return bad_input;
  return totals.failures.empty() ? all_passed : one_failed;
}

}  // namespace

CLI::App* add_command(CLI::App& app, CommandOptions& options) {
  CLI::App* command = app.add_subcommand(
      "soak", "run scenarios drawn from numbers under faults, judge them as explore does, and shrink those that fail");
  auto* scenario = command->add_option("SCENARIO", options.scenario, "judge, and shrink, this one instead");
  auto* seeds =
      command->add_option("--seeds", options.seeds, "FIRST..LAST, or FIRST.. without an end; 1..10000 by default")
          ->type_name("A..B");
  auto* seed = command->add_option("--seed", options.seed, "print the scenario of one seed, then run it");
  command->add_flag("--print", options.print, "with --seed: do not run it")->needs(seed);
  command->add_option("--minutes", options.minutes, "end after this time; without --seeds there is no other end")
      ->check(CLI::PositiveNumber);
  command->add_option("--jobs", options.jobs, "processes")->check(CLI::Range(1, 256))->capture_default_str();
  command->add_option("--failures", options.most_failures, "end after so many failures")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->add_option("--out", options.folder, "folder for failures, and for what --resume needs")
      ->capture_default_str();
  command->add_flag("--resume", options.resume, "go on where Ctrl-C, --minutes or a crash ended the last one");
  scenario->excludes(seed)->excludes(seeds);
  seed->excludes(seeds);
  command->footer(
      "Ctrl-C ends it with a summary. The output on standard output is the same with any number of jobs.\n"
      "Exit status: 0 all passed, 1 one failed, 2 bad input.");
  return command;
}

int run_command(const CommandOptions& options) {
  try {
    if (!options.scenario.empty()) return run_file(options);
    return options.seed ? run_seed(options) : run_campaign(options);
  } catch (const std::runtime_error& error) {
    return refuse(error.what());
  }
}

}  // namespace sim::soak
