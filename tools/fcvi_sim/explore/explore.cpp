#include "tools/fcvi_sim/explore/explore.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>

#include <boost/unordered/unordered_flat_set.hpp>

namespace sim::explore {
namespace {

// A frame that is late comes that much after the timer.
constexpr runtime::TimeNs past = runtime::millisecond;

thread_local char running[512] = "";

void announce(const FaultList& faults) {
  std::string text;
  for (const Fault& fault : faults) text += " --fault " + to_string(fault);
  const std::size_t size = std::min(text.size(), sizeof running - 1);
  std::memcpy(running, text.data(), size);
  running[size] = '\0';
}

bool shorter(const FaultList& left, const FaultList& right) {
  if (left.size() != right.size()) return left.size() < right.size();
  const auto key = [](const Fault& fault) {
    return std::tuple(fault.frame, fault.kind, fault.count, fault.delay, fault.overtaken);
  };
  return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end(),
                                      [&](const Fault& a, const Fault& b) { return key(a) < key(b); });
}

/// One thread's share: walks the trees below fault lists of one fault.
class Explorer {
 public:
  Explorer(const Scenario& scenario, const Options& options, const std::vector<Fault>& kinds,
           std::atomic<std::uint64_t>& runs)
      : scenario_(scenario), options_(options), kinds_(kinds), all_runs_(runs) {
    findings.runs_by_depth.resize(options.faults + 1);
  }

  /// The frames that faults can hit after `list`; 0 where no further fault is to be added.
  std::uint32_t run(const FaultList& list);
  [[nodiscard]] bool asks_after_each_event(const FaultList& list) const;
  void walk(FaultList& list);

  Findings findings;
  boost::unordered_flat_set<std::uint64_t> courses;

 private:
  void failed(const FaultList& list, std::vector<Violation> violations);
  [[nodiscard]] bool may_run() { return options_.max_runs == 0 || all_runs_.fetch_add(1) < options_.max_runs; }

  const Scenario& scenario_;
  const Options& options_;
  const std::vector<Fault>& kinds_;
  std::atomic<std::uint64_t>& all_runs_;
  fc2::FramePool pool_;
};

// By the list and not by the count of runs: the same with any number of threads.
bool Explorer::asks_after_each_event(const FaultList& list) const {
  const auto sum = [](std::uint64_t frames, const Fault& fault) { return frames + fault.frame; };
  return std::accumulate(list.begin(), list.end(), std::uint64_t{0}, sum) % options_.owners_every == 0;
}

std::uint32_t Explorer::run(const FaultList& list) {
  if (!may_run()) {
    findings.complete = false;
    return 0;
  }
  announce(list);
  ++findings.runs;
  ++findings.runs_by_depth[list.size()];
  World world(scenario_, list, pool_, options_.sabotage);
  if (!asks_after_each_event(list)) world.ask_owners_at_the_end();
  const Record& record = world.run();
  courses.insert(record.digest);
  findings.most_frames = std::max(findings.most_frames, record.frames);
  if (list.empty()) findings.frames = record.frames;
  if (!list.empty() && judges_order(record)) ++findings.judged_for_order;
  if (auto violations = check_invariants(record); !violations.empty()) {
    failed(list, std::move(violations));
    return 0;
  }
  return record.frames;
}

void Explorer::failed(const FaultList& list, std::vector<Violation> violations) {
  if (list.size() < options_.faults) ++findings.not_extended;
  std::set<std::string_view> names;
  for (const Violation& violation : violations) names.insert(violation.invariant);
  for (const std::string_view name : names) ++findings.failed_runs[std::string(name)];
  findings.failures.push_back({list, std::move(violations)});
}

// Depth first: the frames that the next fault can hit are known when this list has run.
void Explorer::walk(FaultList& list) {
  const std::uint32_t frames = run(list);
  if (list.size() == options_.faults) return;
  const std::uint32_t last = list.empty() ? 0 : list.back().frame;
  for (const std::uint32_t frame : positions_among(frames, options_.positions)) {
    if (frame <= last) continue;
    for (Fault fault : kinds_) {
      fault.frame = frame;
      list.push_back(fault);
      walk(list);
      list.pop_back();
    }
  }
}

/// For each invariant the shortest list that breaks it.
std::vector<Failure> representatives(std::vector<Failure> failures) {
  std::sort(failures.begin(), failures.end(),
            [](const Failure& a, const Failure& b) { return shorter(a.faults, b.faults); });
  std::set<std::string_view> shown;
  std::vector<Failure> chosen;
  for (Failure& failure : failures) {
    const bool is_new = std::any_of(failure.violations.begin(), failure.violations.end(),
                                    [&](const Violation& violation) { return !shown.contains(violation.invariant); });
    if (!is_new) continue;
    for (const Violation& violation : failure.violations) shown.insert(violation.invariant);
    chosen.push_back(std::move(failure));
  }
  return chosen;
}

void add(Findings& sum, const Findings& part) {
  sum.runs += part.runs;
  for (std::size_t i = 0; i < part.runs_by_depth.size(); ++i) sum.runs_by_depth[i] += part.runs_by_depth[i];
  sum.frames = std::max(sum.frames, part.frames);
  sum.most_frames = std::max(sum.most_frames, part.most_frames);
  sum.not_extended += part.not_extended;
  sum.judged_for_order += part.judged_for_order;
  sum.complete = sum.complete && part.complete;
  for (const auto& [name, count] : part.failed_runs) sum.failed_runs[name] += count;
  sum.failures.insert(sum.failures.end(), part.failures.begin(), part.failures.end());
}

}  // namespace

const char* running_faults() { return running; }

// No fabric delivers a frame after R_A_TOV (FC-FS), and ids are used again in the trust of that. Timers are longer, T1
// and T2 above all, and what comes after each of them is tried all the same: a scenario is short enough that no id has
// come round by then.
std::vector<Fault> faults_of_frame(const Scenario& scenario) {
  fc2::SwitchConfig fabric;
  std::set<runtime::TimeNs> timers{fabric.e_d_tov, fabric.r_a_tov,
                                   2 * fabric.r_a_tov};  // the last one: ELS and CT (FC-LS)
  for (const PortSpec& port : scenario.ports) {
    const runtime::TimeNs ulp_timeout = port.ulp_timeout != 0 ? port.ulp_timeout : fabric.r_a_tov;
    timers.insert({ulp_timeout, 2 * ulp_timeout});  // T3, T2 (FC-VI C.5.2)
  }
  for (const WorkloadSpec& workload : scenario.workloads) timers.insert(workload.connect_timeout);  // T0, T1
  using Kind = Fault::Kind;
  std::vector<Fault> kinds{{.kind = Kind::Lose}, {.kind = Kind::Duplicate}};
  for (const Kind late : {Kind::Duplicate, Kind::Delay})
    for (const runtime::TimeNs timer : timers) kinds.push_back({.kind = late, .delay = timer + past});
  for (const std::uint32_t overtaken : {1u, 2u}) kinds.push_back({.kind = Kind::Reorder, .overtaken = overtaken});
  return kinds;
}

// Below R_A_TOV in sum, when a request and its answer are hit (8.4.1); hundreds of frames are more than any window
// holds at once.
std::vector<Fault> disorder_of_frames() {
  using Kind = Fault::Kind;
  constexpr runtime::TimeNs late = 4 * runtime::second, very_late = 9 * runtime::second;
  constexpr std::uint32_t some = 16, many = 300;
  return {{.kind = Kind::Lose},
          {.kind = Kind::Delay, .delay = late},
          {.kind = Kind::Delay, .delay = very_late},
          {.kind = Kind::Reorder, .overtaken = many},
          {.kind = Kind::Reverse, .count = some},
          {.kind = Kind::Reverse, .count = many},
          {.kind = Kind::Shuffle, .count = many},
          {.kind = Kind::Delay, .delay = late, .count = some},
          {.kind = Kind::Delay, .delay = late, .count = many},
          {.kind = Kind::Alternate, .delay = late, .count = many}};
}

std::vector<std::uint32_t> positions_among(std::uint32_t frames, std::size_t positions) {
  const std::uint64_t count = positions == 0 ? frames : std::min<std::uint64_t>(frames, positions);
  std::vector<std::uint32_t> all;
  for (std::uint64_t i = 0; i < count; ++i)
    all.push_back(static_cast<std::uint32_t>(count == 1 ? 1 : 1 + i * (frames - 1) / (count - 1)));
  return all;
}

Findings explore(const Scenario& scenario, const Options& options) {
  const std::vector<Fault> kinds = options.disorder ? disorder_of_frames() : faults_of_frame(scenario);
  std::atomic<std::uint64_t> runs = 0;
  Explorer first(scenario, options, kinds, runs);
  const std::uint32_t found = first.run({});
  const std::vector<std::uint32_t> frames = positions_among(options.faults == 0 ? 0 : found, options.positions);
  std::atomic<std::size_t> next = 0;
  std::mutex merging;
  const auto work = [&] {
    Explorer mine(scenario, options, kinds, runs);
    for (std::size_t i = next++; i < frames.size() * kinds.size(); i = next++) {
      FaultList list{kinds[i % kinds.size()]};
      list.back().frame = frames[i / kinds.size()];
      mine.walk(list);
    }
    const std::lock_guard lock(merging);
    add(first.findings, mine.findings);
    first.courses.insert(mine.courses.begin(), mine.courses.end());
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < options.jobs; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  first.findings.distinct_courses = first.courses.size();
  first.findings.failures = representatives(std::move(first.findings.failures));
  return std::move(first.findings);
}

}  // namespace sim::explore
