#include "tools/fcvi_sim/explore_command.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <utility>

#include "fc2_fabric/drivers/file_sink.hpp"
#include "tools/fcvi_sim/explore/report.hpp"
#include "tools/fcvi_sim/ignored_keys.hpp"
#include "tools/fcvi_sim/seed_option.hpp"
#include "tools/fcvi_sim/share/identity.hpp"
#include "tools/fcvi_sim/share/serve.hpp"

namespace sim::explore {
namespace {

int refuse(const std::string& message) {
  std::fprintf(stderr, "fcvi-sim: %s\n", message.c_str());
  return 2;
}

volatile std::sig_atomic_t interrupted = 0;
void note_interrupt(int) { interrupted = 1; }

std::string read_faults(const Scenario& scenario, const std::vector<std::string>& texts, FaultList& faults) {
  for (const std::string& text : texts) {
    const auto fault = parse_fault(text);
    if (!fault)
      return "--fault " + text +
             ": expected lose:FRAME, duplicate:FRAME[+TIME], delay:FRAME+TIME or reorder:FRAME+COUNT, or "
             "of a block of frames delay:FRAMExCOUNT+TIME, alternate:FRAMExCOUNT+TIME, reverse:FRAMExCOUNT or "
             "shuffle:FRAMExCOUNT; over TCP reset:OCTET, close:OCTET, silence:OCTET, invert:OCTET or delay:OCTET+TIME";
    if (scenario.topology == TopologyKind::Tcp ? !is_of_octets(fault->kind) && fault->kind != Fault::Kind::Delay
                                               : is_of_octets(fault->kind))
      return "--fault " + text + ": the scenario's topology has no such fault";
    if (!faults.empty() && faults.back().frame >= fault->frame)
      return "--fault " + text + ": expected a later frame than before";
    faults.push_back(*fault);
  }
  return {};
}

int replay(const Scenario& scenario, const CommandOptions& options, const FaultList& faults) {
  fc2::drivers::FileSink ladder_file, capture_file;
  if (!options.ladder.empty() && !ladder_file.open(options.ladder)) return refuse(ladder_file.error());
  if (!options.capture.empty() && !capture_file.open(options.capture)) return refuse(capture_file.error());
  fc2::FramePool pool;
  Ladder ladder(scenario);
  const Sabotage none;
  std::optional<fc2::Capture> capture;
  if (!options.capture.empty()) capture.emplace(capture_file, scenario.name + ", " + to_string(faults));
  World world(scenario, faults, pool, none, capture ? &*capture : nullptr);
  const runtime::TimeNs start = world.driver().now();
  const Record& record = world.run(&ladder);
  const auto violations = check_invariants(record);
  std::fputs(report_run(record, violations, ladder, start).c_str(), stdout);
  if (!options.ladder.empty()) {
    const std::string svg = to_svg(ladder, scenario.name + ", " + to_string(faults), start);
    ladder_file.write(std::span(reinterpret_cast<const std::uint8_t*>(svg.data()), svg.size()));
    if (!ladder_file.commit()) return refuse(ladder_file.error());
  }
  if (!options.capture.empty() && !capture_file.commit()) return refuse(capture_file.error());
  if (record.faults_applied != faults.size()) return refuse("a fault names a frame that was not sent");
  return violations.empty() ? 0 : 1;
}

/// What an exploration cannot do.
std::string unsuitable(const Scenario& scenario, bool disorder) {
  constexpr std::uint64_t most_bytes = 1u << 20;
  if (scenario.workloads.empty()) return "has no workload to explore";
  if (scenario.topology == TopologyKind::Tcp && disorder) return "is over TCP: expected without --disorder";
  if (scenario.switches.size() > 1) return "has several switches: expected one";
  for (const WorkloadSpec& workload : scenario.workloads) {
    std::uint64_t bytes = 0, messages = 0;
    for (const TransferSpec& transfer : workload.transfers) {
      bytes += transfer.data.size_bytes * transfer.repeat;
      messages += transfer.message_count() * transfer.repeat;
    }
    if (workload.rdma)
      for (const RdmaOperationSpec& operation : workload.rdma->operations)
        bytes += std::uint64_t{operation.size_bytes} * operation.repeat;
    if (bytes > most_bytes || messages > workload.queue_depth)
      return "workload " + workload.name + ": expected at most 1 MiB, in no more messages than queue_depth";
  }
  return {};
}

/// What is to be explored, with the file's own name and those that it includes.
struct Explored {
  std::optional<Scenario> scenario = {};
  std::vector<std::string> files = {};
  settings::Tree tree = {};  // of the only run
  std::string wrong = {};    // else empty
};

Explored read(const CommandOptions& options) {
  const auto file = ScenarioFile::load(options.scenario, options.overrides);
  if (!file) return {.wrong = file.error().message};
  auto scenario = file->only_run();
  if (!scenario) return {.wrong = scenario.error().message};
  if (const std::string why = unsuitable(*scenario, options.disorder); !why.empty())
    return {.wrong = options.scenario + ": " + why};
  Explored explored{.scenario = std::move(*scenario), .files = file->included(), .tree = *file->tree(0)};
  explored.files.push_back(options.scenario);
  return explored;
}

Options options_of(const CommandOptions& options) {
  constexpr std::size_t sampled = 12;
  return {.faults = options.most_faults,
          .max_runs = options.max_runs,
          .disorder = options.disorder,
          .positions = options.positions == 0 && options.disorder ? sampled : options.positions,
          .owners_every = options.owners_every};
}

share::Team team_of(const CommandOptions& options, const Explored& explored, share::Company* company) {
  return {.jobs = options.jobs, .company = company, .identity = share::identity_of(explored.files)};
}

/// As a rank that is not 0.
int help(const CommandOptions& options, share::Company& company) {
  Explored explored = read(options);
  if (!explored.scenario) explored.scenario.emplace();
  const Options exploration = options_of(options);
  share::serve(as_pieces(*explored.scenario, exploration), team_of(options, explored, &company), explored.wrong);
  return 0;
}

int lead(const CommandOptions& options, std::unique_ptr<share::Company> company) {
  const Explored explored = read(options);
  if (!explored.wrong.empty()) return refuse(explored.wrong);
  FaultList faults;
  if (const std::string error = read_faults(*explored.scenario, options.faults, faults); !error.empty())
    return refuse(error);
  for (const auto& [name, path] : {std::pair("--ladder", options.ladder), std::pair("--capture", options.capture)})
    if (!path.empty() && options.faults.empty() && options.most_faults != 0)
      return refuse(std::string(name) + ": expected with --fault");
  warn_of_ignored(
      options.scenario, explored.tree, "explore",
      {"expectations", "expect", "expect_group", "except", "faults", "background", "time_limit", "buffers"});
  if (!faults.empty() || options.most_faults == 0) return replay(*explored.scenario, options, faults);
  const Options exploration = options_of(options);
  const auto begin = std::chrono::steady_clock::now();
  std::string shares;
  std::signal(SIGINT, note_interrupt);
  std::signal(SIGTERM, note_interrupt);
  const Findings findings =
      explore(*explored.scenario, exploration,
              {.team = team_of(options, explored, company.get()), .stop = &interrupted, .shares = &shares});
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::fputs(report(*explored.scenario, options.scenario, findings).c_str(), stdout);
  std::printf("explored in %.2f s of real time, %.0f runs per second\n", seconds,
              seconds > 0 ? static_cast<double>(findings.runs) / seconds : 0.0);
  if (!shares.empty()) std::fprintf(stderr, "fcvi-sim: %s\n", shares.c_str());
  return findings.all_held() && !findings.interrupted ? 0 : 1;
}

}  // namespace

CLI::App* add_command(CLI::App& app, CommandOptions& options) {
  CLI::App* command = app.add_subcommand(
      "explore", "run a scenario under every fault of up to K frames and check what must always hold");
  command->add_option("SCENARIO", options.scenario, "scenario file (YAML; see fcvi-sim(1))")->required();
  command->add_option("--faults", options.most_faults, "K: faults in one run")
      ->check(CLI::Range(0, 8))
      ->capture_default_str();
  command->add_option("--jobs", options.jobs, "processes")->check(CLI::Range(1, 256))->capture_default_str();
  command
      ->add_option(
          "--owners-every", options.owners_every,
          "of so many runs one asks all parts of the model after each event whether they contradict themselves, "
          "the others at their end")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command->add_option("--max-runs", options.max_runs, "stop after so many runs; 0: no limit")->capture_default_str();
  command->add_flag(
      "--disorder", options.disorder,
      "blocks of hundreds of frames late by seconds or out of order, instead of single frames past each timer");
  command->add_option(
      "--positions", options.positions,
      "number of frames where faults begin, from the first to the last, evenly; 0: each frame; 12 with --disorder");
  command
      ->add_option("--fault", options.faults,
                   "run just this list of faults: lose:7, duplicate:7+2s, delay:7+10s, reorder:7+1, reverse:7x300")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--ladder", options.ladder, "with --fault: draw the run into this file (SVG)");
  command->add_option("--capture", options.capture, "with --fault: write the run's frames into this file (pcapng)");
  command->add_option("--seed", options.overrides.seed, "seed of all random numbers, instead of the scenario's")
      ->check(seed_error, "");
  command->add_option("--set", options.overrides.assignments, "KEY=VALUE: change a value of the scenario")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--param", options.overrides.parameters.values, "NAME=VALUE: a parameter of the scenario")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--only", options.overrides.parameters.only, "NAME=VALUE: of the runs of for_each that one")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->footer(
      "mpirun -n N fcvi-sim explore ...: N ranks share the runs, with --jobs processes each (docs/many-machines.md).\n"
      "Exit status: 0 every invariant held, 1 one was broken or Ctrl-C ended it, 2 bad input.");
  return command;
}

bool shares(const CommandOptions& options) { return options.faults.empty() && options.most_faults != 0; }

int run_command(const CommandOptions& options, std::unique_ptr<share::Company> company) {
  try {
    if (company != nullptr && !company->leads()) return help(options, *company);
    return lead(options, std::move(company));
  } catch (const std::runtime_error& error) {
    return refuse(error.what());
  }
}

}  // namespace sim::explore
