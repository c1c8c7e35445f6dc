#include "tools/fcvi_sim/explore/explore.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <utility>

#include <boost/unordered/unordered_flat_set.hpp>

#include "tools/fcvi_sim/explore/pieces.hpp"
#include "tools/fcvi_sim/share/process.hpp"
#include "tools/fcvi_sim/share/workers.hpp"

namespace sim::explore {
namespace {

// A frame that is late comes that much after the timer.
constexpr runtime::TimeNs past = runtime::millisecond;

/// In case that the process dies of this run.
void announce(const FaultList& faults) {
  std::string text;
  for (const Fault& fault : faults) text += " --fault " + to_string(fault);
  share::note_for_death(text);
  share::limit_processor_time(share::most_seconds_of_a_run);
}

bool shorter(const FaultList& left, const FaultList& right) {
  if (left.size() != right.size()) return left.size() < right.size();
  const auto key = [](const Fault& fault) {
    return std::tuple(fault.frame, fault.kind, fault.count, fault.delay, fault.overtaken);
  };
  return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end(),
                                      [&](const Fault& a, const Fault& b) { return key(a) < key(b); });
}

/// Walks the trees below fault lists of one fault.
class Explorer {
 public:
  /// `most_runs` 0: all.
  Explorer(const Scenario& scenario, const Options& options, const std::vector<Fault>& kinds, std::uint64_t most_runs)
      : scenario_(scenario), options_(options), kinds_(kinds), most_runs_(most_runs) {
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
  [[nodiscard]] bool may_run() const { return most_runs_ == 0 || findings.runs < most_runs_; }

  const Scenario& scenario_;
  const Options& options_;
  const std::vector<Fault>& kinds_;
  const std::uint64_t most_runs_;
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
  sum.runs_by_depth.resize(std::max(sum.runs_by_depth.size(), part.runs_by_depth.size()));
  for (std::size_t i = 0; i < part.runs_by_depth.size(); ++i) sum.runs_by_depth[i] += part.runs_by_depth[i];
  sum.frames = std::max(sum.frames, part.frames);
  sum.most_frames = std::max(sum.most_frames, part.most_frames);
  sum.not_extended += part.not_extended;
  sum.judged_for_order += part.judged_for_order;
  sum.complete = sum.complete && part.complete;
  for (const auto& [name, count] : part.failed_runs) sum.failed_runs[name] += count;
  sum.failures.insert(sum.failures.end(), part.failures.begin(), part.failures.end());
  sum.deaths.insert(sum.deaths.end(), part.deaths.begin(), part.deaths.end());
}

}  // namespace

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

// TCP has a checksum of its own: what changes an octet and is not found by the CRC is no fault of the protocol.
std::vector<Fault> faults_of_octet(const Scenario& scenario) {
  using Kind = Fault::Kind;
  std::vector<Fault> kinds{{.kind = Kind::Reset}, {.kind = Kind::Close}, {.kind = Kind::Silence}};
  const auto asks = [](const PortSpec& port) { return port.tcp.asks_for_crc && port.tcp.grants_crc; };
  const auto is_rdma = [](const WorkloadSpec& one) { return one.rdma.has_value(); };
  const bool vi = !std::ranges::all_of(scenario.workloads, is_rdma);
  const auto checked = [&](const WorkloadSpec& one) {
    return !one.rdma || (one.rdma->ends.client.crc && one.rdma->ends.server.crc);
  };
  if ((!vi || std::ranges::all_of(scenario.ports, asks)) && std::ranges::all_of(scenario.workloads, checked))
    kinds.push_back({.kind = Kind::Invert});
  std::set<runtime::TimeNs> timers{runtime::millisecond};
  for (const PortSpec& port : scenario.ports)
    if (vi) timers.insert({port.tcp.request_timeout, port.tcp.close_timeout});
  for (const WorkloadSpec& workload : scenario.workloads)
    if (workload.rdma)
      timers.insert({workload.rdma->startup_timeout, workload.rdma->close_timeout, workload.rdma->patience});
    else
      timers.insert(workload.connect_timeout);
  for (const runtime::TimeNs timer : timers) kinds.push_back({.kind = Kind::Delay, .delay = timer + past});
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

Exploration::Exploration(const Scenario& scenario, const Options& options)
    : scenario_(scenario), options_(options), kinds_(scenario.topology == TopologyKind::Tcp ? faults_of_octet(scenario)
                                                     : options.disorder                     ? disorder_of_frames()
                                                                        : faults_of_frame(scenario)) {}

std::uint64_t Exploration::pieces(const Findings& first) const {
  // A run that failed gets no fault on top.
  const std::uint32_t frames = options_.faults == 0 || !first.all_held() ? 0 : first.frames;
  return 1 + positions_among(frames, options_.positions).size() * kinds_.size();
}

Part Exploration::explore(std::uint64_t piece, std::uint64_t most_runs) {
  if (piece != 0 && frames_ == 0) frames_ = explore(0, 0).findings.frames;
  Explorer explorer(scenario_, options_, kinds_, most_runs);
  if (piece == 0) {
    explorer.run({});
  } else {
    FaultList list{kinds_[(piece - 1) % kinds_.size()]};
    list.back().frame = positions_among(frames_, options_.positions)[(piece - 1) / kinds_.size()];
    explorer.walk(list);
  }
  Part part{std::move(explorer.findings), {explorer.courses.begin(), explorer.courses.end()}};
  part.findings.failures = representatives(std::move(part.findings.failures));
  std::ranges::sort(part.courses);
  return part;
}

std::uint64_t Joining::room() const { return max_runs_ == 0 ? no_limit : max_runs_ - sum_.runs; }

void Joining::add(Part part) {
  sim::explore::add(sum_, part.findings);
  courses_.insert(courses_.end(), part.courses.begin(), part.courses.end());
}

Findings Joining::findings() {
  std::ranges::sort(courses_);
  sum_.distinct_courses = static_cast<std::uint64_t>(std::ranges::unique(courses_).begin() - courses_.begin());
  sum_.failures = representatives(std::move(sum_.failures));
  return std::move(sum_);
}

share::Run as_pieces(const Scenario& scenario, const Options& options) {
  const auto exploration = std::make_shared<Exploration>(scenario, options);
  return [exploration, &options](std::uint64_t piece) { return packed(exploration->explore(piece, options.max_runs)); };
}

namespace {

Part part_in(const share::Result& result) {
  if (result.death.empty()) return part_of(result.text);
  Part part;
  part.findings.deaths.push_back({result.note, result.death});
  return part;
}

/// Hands out pieces, and joins what comes back.
class Leader {
 public:
  Leader(const Scenario& scenario, const Options& options, const Sharing& sharing)
      : scenario_(scenario), options_(options), stop_(sharing.stop), hands_(as_pieces(scenario, options), sharing.team),
        joining_(options) {}
  Findings explore();
  [[nodiscard]] std::string shares() const { return hands_.summary(); }

 private:
  void hand_out();
  void take();
  void join();
  /// The same piece, with as many runs as there is room for.
  Part explore_less();

  static constexpr std::uint64_t most_at_once = 16, most_early = 4096;
  static constexpr int wait_ms = 200;
  const Scenario& scenario_;
  const Options& options_;
  const volatile std::sig_atomic_t* const stop_;
  share::Hands hands_;
  Joining joining_;
  std::uint64_t pieces_ = 1, fresh_ = 0, joined_ = 0;  // of them: given, joined
  std::map<std::uint64_t, Part> early_;                // some before them are missing
};

void Leader::hand_out() {
  while (fresh_ < pieces_ && fresh_ - joined_ < most_early && hands_.is_wanting()) {
    // Few pieces at a time towards the end, so that all are busy until then.
    const std::uint64_t left = pieces_ - fresh_;
    const share::Pieces next{fresh_, std::clamp<std::uint64_t>(left / (8 * hands_.size()), 1, most_at_once)};
    hands_.give(next);
    fresh_ += next.count;
  }
}

void Leader::take() {
  std::vector<share::Result> results;
  hands_.wait(wait_ms, results);
  for (const share::Result& result : results) {
    early_.emplace(result.piece, part_in(result));
    if (result.piece == 0) pieces_ = Exploration(scenario_, options_).pieces(early_.at(0).findings);
  }
}

void Leader::join() {
  for (auto next = early_.find(joined_); next != early_.end(); next = early_.find(joined_)) {
    if (joining_.room() == 0) return joining_.cut_short();
    if (next->second.findings.runs > joining_.room()) next->second = explore_less();
    joining_.add(std::move(next->second));
    early_.erase(next);
    ++joined_;
  }
}

Part Leader::explore_less() {
  Options less = options_;
  less.max_runs = joining_.room();
  share::Workers worker(as_pieces(scenario_, less), 1);
  worker.add({joined_, 1});
  std::vector<share::Result> results;
  while (results.empty()) worker.wait(wait_ms, results);
  return part_in(results.front());
}

Findings Leader::explore() {
  while (joined_ < pieces_ && !joining_.is_cut_short()) {
    hand_out();
    take();
    join();
    if (stop_ != nullptr && *stop_ != 0) joining_.interrupt();
  }
  hands_.end(stop_ != nullptr && *stop_ != 0);
  return joining_.findings();
}

}  // namespace

Findings explore(const Scenario& scenario, const Options& options, const Sharing& sharing) {
  Leader leader(scenario, options, sharing);
  Findings findings = leader.explore();
  if (sharing.shares != nullptr) *sharing.shares = leader.shares();
  return findings;
}

}  // namespace sim::explore
