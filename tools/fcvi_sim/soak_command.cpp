#include "tools/fcvi_sim/ignored_keys.hpp"
#include "tools/fcvi_sim/soak_command.hpp"

#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <stdexcept>

#include "settings/file.hpp"
#include "settings/units.hpp"
#include "tools/fcvi_sim/scenario/loader.hpp"
#include "tools/fcvi_sim/scenario/matrix.hpp"
#include "tools/fcvi_sim/seed_option.hpp"
#include "tools/fcvi_sim/share/identity.hpp"
#include "tools/fcvi_sim/share/serve.hpp"
#include "tools/fcvi_sim/soak/campaign.hpp"
#include "tools/fcvi_sim/soak/child.hpp"
#include "tools/fcvi_sim/soak/drawn_scenario.hpp"
#include "tools/fcvi_sim/soak/failure_files.hpp"
#include "tools/fcvi_sim/soak/out_folder.hpp"
#include "tools/fcvi_sim/soak/progress.hpp"
#include "tools/fcvi_sim/soak/state.hpp"
#include "tools/fcvi_sim/soak/yaml_text.hpp"

namespace sim::soak {
namespace {

constexpr int all_passed = 0, one_failed = 1, bad_input = 2;
constexpr std::uint64_t usual_last = 10'000, most_text_bytes = 16 << 20;
constexpr std::chrono::seconds state_every{10};

// Of Ctrl-C and SIGTERM. The second one ends a campaign with what it has, and shrinking at once. Where mpirun started
// this process, the first one does: a second later it is killed.
volatile std::sig_atomic_t interrupts = 0, is_shrinking = 0, each_counts = 1;
void count_interrupt(int) {
  interrupts = interrupts + each_counts;
  if (is_shrinking != 0 && interrupts > 1) ::_exit(one_failed);
}
void count_interrupts() {
  std::signal(SIGINT, count_interrupt);
  std::signal(SIGTERM, count_interrupt);
}

int refuse(const std::string& message) {
  std::fprintf(stderr, "fcvi-sim: %s\n", message.c_str());
  return bad_input;
}

/// "A..B", "A.." or "A": the first and the last. False: it is none of these.
bool read_seeds(const std::string& text, std::uint64_t& first, std::uint64_t& last) {
  const std::size_t dots = text.find("..");
  const auto from = settings::parse_number(text.substr(0, dots));
  if (!from || *from == Plan::no_end) return false;
  first = last = *from;
  if (dots == std::string::npos) return true;
  const std::string rest = text.substr(dots + 2);
  const auto to = rest.empty() ? Plan::no_end - 1 : settings::parse_number(rest);
  if (!to || *to < first || *to == Plan::no_end) return false;
  last = rest.empty() ? Plan::no_end : *to;
  return true;
}

std::string count_of(std::uint64_t count, const char* one, const char* many) {
  return settings::format_count(count) + " " + (count == 1 ? one : many);
}

// --- one failure

/// How many runs there were: on a terminal a line that changes.
class Waiting {
 public:
  void tell(std::size_t trials) {
    const auto time = std::chrono::steady_clock::now();
    if (!terminal_ || time - told_ < std::chrono::milliseconds(200)) return;
    told_ = time;
    std::fprintf(stderr, "\r%s\033[K", count_of(trials, "run", "runs").c_str());
  }
  ~Waiting() {
    if (terminal_) std::fputs("\r\033[K", stderr);
  }

 private:
  const bool terminal_ = ::isatty(STDERR_FILENO) != 0;
  std::chrono::steady_clock::time_point told_ = std::chrono::steady_clock::now();
};

Left shrink(const Found& found, const std::string& folder) {
  std::fprintf(stderr, "shrinking, 10 minutes at most; Ctrl-C ends it ...\n");
  Waiting waiting;
  return shrink_and_leave(found, folder, interrupts, [&](std::size_t trials) { waiting.tell(trials); });
}

/// Shrinks it and says what is left. False: it could not be written.
bool leave(const Found& found, const std::string& folder) {
  std::fflush(stdout);
  is_shrinking = 1;
  const Left left = shrink(found, folder);
  if (!left.again)
    std::printf("it did not fail again: nothing to shrink\n");
  else
    std::printf("shrunk by %s%s to:\n%s%s", count_of(left.trials, "run", "runs").c_str(),
                left.cut.empty() ? "" : (", then cut short (" + left.cut + "),").c_str(), left.text.c_str(),
                left.what.c_str());
  if (!left.files.empty()) std::printf("left in %s: %s\n", folder.c_str(), left.files.c_str());
  if (!left.error.empty()) refuse(left.error);
  return left.error.empty();
}

/// A scenario that is there, or was drawn from one seed.
int run_one(const std::string& text, const std::string& folder, const std::string& command) {
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
  count_interrupts();
  return leave({text, outcome, command}, folder) ? one_failed : bad_input;
}

/// The programs and the judge are those of `explore`.
const std::set<std::string> ignored_keys{"expectations", "expect",     "expect_group", "except", "status",
                                         "concurrent",   "time_limit", "linger",       "times"};

/// A scenario as text that needs no other file.
struct Whole {
  std::string text;
  settings::Tree tree;
};

/// With what it includes; "" or what is wrong. Data of files is unsuitable: so paths go.
std::string read_whole(const std::string& path, Whole& whole) {
  const auto text = settings::read_file(path, most_text_bytes);
  if (!text) return text.error().message;
  const auto matrix = Matrix::read(*text, path, std::filesystem::path(path).parent_path().string(), {});
  if (!matrix) return matrix.error().message;
  if (matrix->size() != 1)
    return path + ": for_each: expected one run, found " + settings::format_count(matrix->size());
  const auto scenario = load_scenario(path, {});
  if (!scenario) return scenario.error().message;
  if (const std::string why = unsuitable(*scenario); !why.empty()) return path + ": " + why;
  const auto tree = matrix->tree(0);
  if (!tree) return tree.error().message;
  whole = {*text, *tree};
  if (matrix->included().empty() && tree->find("file") == nullptr) return {};
  std::erase_if(whole.tree.entries, [](const auto& entry) { return entry.first == "file"; });
  whole.text = yaml_text(whole.tree);
  return {};
}

int run_file(const CommandOptions& options) {
  Whole whole;
  if (const std::string wrong = read_whole(options.scenario, whole); !wrong.empty()) return refuse(wrong);
  warn_of_ignored(options.scenario, whole.tree, "soak", ignored_keys);
  OutFolder folder;
  if (const std::string wrong = folder.open(options.folder, OutFolder::Use::Shared); !wrong.empty())
    return refuse(wrong);
  return run_one(whole.text, options.folder + "/" + std::filesystem::path(options.scenario).stem().string(),
                 "fcvi-sim soak " + options.scenario);
}

std::string seed_command(std::uint64_t seed) { return "fcvi-sim soak --seed " + std::to_string(seed); }
std::string seed_folder(const CommandOptions& options, std::uint64_t seed) {
  return options.folder + "/seed-" + std::to_string(seed);
}

int run_seed(const CommandOptions& options) {
  const std::string text = drawn_scenario(*options.seed);
  OutFolder folder;
  if (const std::string wrong = options.print ? "" : folder.open(options.folder, OutFolder::Use::Shared);
      !wrong.empty())
    return refuse(wrong);
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
  std::error_code ignored;
  if (!options.resume && std::filesystem::exists(state_path(options), ignored))
    return state_path(options) +
           " is of a soak that was ended early: expected --resume, another --out, or that it is removed";
  if (!options.resume) return {};
  if (!options.seeds.empty())
    return "--resume: the seeds are those of " + state_path(options) + ": expected without --seeds";
  const auto text = settings::read_file(state_path(options), most_text_bytes);
  if (!text) return text.error().message;
  const auto read = read_state(*text, state_path(options));
  if (!read) return read.error().message;
  state = *read;
  if (state.build != share::own_build())
    return state_path(options) + ": another build of fcvi-sim ran those seeds: expected the same";
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
    error_ = write_file(state_path(options_), state_text({last_, totals}));
  }
  void remove() {
    std::error_code ignored;
    std::filesystem::remove(state_path(options_), ignored);
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

/// The first seed of each kind of failure. False: files could not be written.
bool leave_first_of_each_kind(const CommandOptions& options, const Totals& totals) {
  std::set<std::string> kinds;
  bool written = true;
  for (const Failure& failure : totals.failures) {
    const Outcome outcome{.kind = failure.kind, .what = failure.what};
    if (!kinds.insert(signature(outcome)).second) continue;
    std::printf("\nseed %llu: %s\n%s", static_cast<unsigned long long>(failure.seed), failure.kind.c_str(),
                failure.what.c_str());
    const Found found{drawn_scenario(failure.seed), outcome, seed_command(failure.seed)};
    written = leave(found, seed_folder(options, failure.seed)) && written;
  }
  return written;
}

share::Team team_of(const CommandOptions& options, share::Company* company) {
  return {.jobs = options.jobs, .company = company, .identity = share::identity_of({})};
}

Plan plan_of(const CommandOptions& options, const State& state) {
  Plan plan{.last = state.last, .most_failures = options.most_failures};
  if (options.minutes > 0)
    plan.until = std::chrono::steady_clock::now() + std::chrono::milliseconds(std::llround(options.minutes * 60'000));
  return plan;
}

/// What is said when no run goes on, and what is left. The state goes last: until then --resume comes here again.
/// MPI ends before failures are shrunk, which may take its time: this process does that alone.
int conclude(const CommandOptions& options, const Campaign& campaign, const Totals& totals, StateKeeper& keeper,
             std::unique_ptr<share::Company> company) {
  print_summary(totals);
  if (!campaign.is_complete())
    std::printf("not all of the seeds: fcvi-sim soak --resume --out %s goes on\n", options.folder.c_str());
  const bool hurry = interrupts > 1;
  if (hurry && !totals.failures.empty()) std::printf("interrupted twice: no failure was shrunk\n");
  std::fflush(stdout);
  interrupts = 0;
  if (!hurry) company.reset();
  bool written = hurry || leave_first_of_each_kind(options, totals);
  if (campaign.is_complete() && !hurry) keeper.remove();
  if (!keeper.error().empty()) written = refuse(keeper.error()) == all_passed;
  if (totals.runs == 0) written = refuse("not one seed was run") == all_passed;
  if (!written) return bad_input;
  return totals.failures.empty() ? all_passed : one_failed;
}

int run_campaign(const CommandOptions& options, std::unique_ptr<share::Company> company) {
  State state;
  OutFolder folder;
  if (const std::string wrong = folder.open(options.folder, OutFolder::Use::Alone); !wrong.empty())
    return refuse(wrong);
  if (const std::string wrong = begin_state(options, state); !wrong.empty()) return refuse(wrong);
  StateKeeper keeper(options, state.last);
  keeper.keep(state.totals, true);
  if (!keeper.error().empty()) return refuse(keeper.error());
  print_header(options, state);
  if (company != nullptr) each_counts = 2;
  count_interrupts();
  const Plan plan = plan_of(options, state);
  Progress progress(plan, state.totals, ::isatty(STDERR_FILENO) != 0);
  Campaign campaign(plan, state.totals, run_drawn, team_of(options, company.get()));
  const auto tell = [&](const Totals& totals) {
    progress.show(totals);
    keeper.keep(totals, false);
  };
  const Totals& totals = campaign.carry_out(tell, interrupts);
  progress.end();
  keeper.keep(totals, true);
  if (company != nullptr) std::fprintf(stderr, "fcvi-sim: %s\n", campaign.shares().c_str());
  return conclude(options, campaign, totals, keeper, std::move(company));
}

/// CLI::Range takes what is no number.
std::string minutes_error(const std::string& text) {
  char* end = nullptr;
  const double minutes = std::strtod(text.c_str(), &end);
  if (end != text.c_str() && *end == 0 && minutes >= 0.001 && minutes <= 525'600) return {};
  return text + ": expected from 0.001 to 525600 minutes, a year";
}

}  // namespace

CLI::App* add_command(CLI::App& app, CommandOptions& options) {
  CLI::App* command = app.add_subcommand(
      "soak", "run scenarios drawn from numbers under faults, judge them as explore does, and shrink those that fail");
  auto* scenario = command->add_option("SCENARIO", options.scenario, "judge, and shrink, this one instead");
  auto* seeds =
      command->add_option("--seeds", options.seeds, "FIRST..LAST, or FIRST.. without an end; 1..10000 by default")
          ->type_name("A..B");
  auto* seed =
      command->add_option("--seed", options.seed, "print the scenario of one seed, then run it")->check(seed_error, "");
  command->add_flag("--print", options.print, "with --seed: do not run it")->needs(seed);
  auto* minutes =
      command->add_option("--minutes", options.minutes, "end after this time; without --seeds there is no other end")
          ->check(minutes_error, "");
  auto* jobs =
      command->add_option("--jobs", options.jobs, "processes")->check(CLI::Range(1, 256))->capture_default_str();
  auto* failures = command->add_option("--failures", options.most_failures, "end after so many failures")
                       ->check(CLI::Range(1, 1'000'000))
                       ->capture_default_str();
  command->add_option("--out", options.folder, "folder for failures, and for what --resume needs")
      ->capture_default_str();
  auto* resume =
      command->add_flag("--resume", options.resume, "go on where Ctrl-C, --minutes or a crash ended the last one");
  scenario->excludes(seed);
  for (auto* of_many : {seeds, minutes, jobs, failures, resume}) {
    scenario->excludes(of_many);
    seed->excludes(of_many);
  }
  command->footer(
      "Ctrl-C ends it with a summary. The output on standard output is the same with any number of jobs.\n"
      "mpirun -n N fcvi-sim soak ...: N ranks share the seeds, with --jobs processes each (docs/many-machines.md).\n"
      "Exit status: 0 all passed, 1 one failed, 2 bad input.");
  return command;
}

bool shares(const CommandOptions& options) { return options.scenario.empty() && !options.seed; }

int run_command(const CommandOptions& options, std::unique_ptr<share::Company> company) {
  try {
    if (company != nullptr && !company->leads()) {
      share::serve(as_pieces(run_drawn), team_of(options, company.get()), "");
      return all_passed;
    }
    if (options.folder.empty()) return refuse("--out: expected the name of a folder");
    if (!options.scenario.empty()) return run_file(options);
    return options.seed ? run_seed(options) : run_campaign(options, std::move(company));
  } catch (const std::runtime_error& error) {
    return refuse(error.what());
  }
}

}  // namespace sim::soak
