#include "tools/fcvi_sim/run/expectations.hpp"

#include <algorithm>
#include <cstdio>

#include "tools/fcvi_sim/run/rdma_check.hpp"
#include "tools/fcvi_sim/run/segment_check.hpp"
#include "tools/fcvi_sim/run/statistics.hpp"
#include "tools/fcvi_sim/scenario/status_text.hpp"
#include "tools/fcvi_sim/run/wire_check.hpp"
#include "settings/units.hpp"
#include "vi/descriptor.hpp"

namespace sim {
using namespace settings;
namespace {
constexpr std::string_view any_reason = "any";  // of gives_up: it does not matter why

/// With all digits: where three do not tell it from what was expected.
std::string precise_share(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.12g", share);
  return text;
}

/// "no frame matched; 12 came nearest, and failed at message". Empty: its turn came. `what`: " frame", " segment"
std::string why_missed(const FaultMatches& fault, const std::string& what) {
  if (fault.fired != 0) return {};
  if (fault.matched == 1) return "1" + what + " matched, not at its turn";
  if (fault.matched != 0) return format_count(fault.matched) + what + "s matched, none at its turn";
  if (fault.nearest.frames == 0) return "no" + what + " passed";
  return "no" + what + " matched; " + format_count(fault.nearest.frames) + " came nearest, and failed at " +
         std::string(to_string(fault.nearest.key));
}

bool survives(const Scenario& scenario, const RunResult& result, std::size_t workload);

class Checker {
 public:
  explicit Checker(const Scenario& scenario, const RunResult& result) : scenario_(scenario), result_(result) {}
  Verdicts check();
  /// Of one workload alone.
  Verdicts check_workload(std::size_t index) {
    workload(scenario_.workloads[index], result_.workloads[index]);
    return std::move(verdicts_);
  }

 private:
  void expect(bool held, const std::string& what, std::string_view expected, std::string_view got) {
    ++verdicts_.checked;
    verdicts_.all.push_back({held, what, std::string(expected), std::string(got)});
    if (!held) verdicts_.failures.push_back(what + ": expected " + std::string(expected) + ", got " + std::string(got));
  }
  void bound(const std::string& what, const Bound& expected, std::uint64_t got) {
    expect(expected.holds(got), what, to_string(expected), format_count(got));
  }
  void call(const std::string& what, vi::Return expected, std::optional<vi::Return> got) {
    expect(got == expected, what, to_string(expected), got ? to_string(*got) : "no answer");
  }
  void time(const std::string& what, const std::optional<TimeBound>& expected, runtime::TimeNs got) {
    if (expected) expect(expected->holds(got), what, to_string(*expected), format_duration(got));
  }
  void states(const std::string& what, const std::optional<std::vector<std::string>>& expected,
              const std::vector<std::string_view>& got);
  void outcome();
  void calls(const std::string& name, const WorkloadSpec& spec, const WorkloadResult& got);
  void completions(const std::string& name, const WorkloadExpectation& expect, const WorkloadResult& got);
  void queue(const std::string& what, const CompletionExpectations& expected, const std::vector<SeenCompletion>& got);
  void discards();
  void kept();
  void transfers(const std::string& name, const WorkloadSpec& spec, const WorkloadResult& got);
  void losses(const std::string& name, const WorkloadSpec& spec, const WorkloadResult& got);
  void messages(const std::string& name, const MessageExpectation& expect, const Logs& all, const Logs& judged);
  void latencies(const std::string& name, const MessageExpectation& expect, const Logs& judged);
  void rates(const std::string& name, const MessageExpectation& expect, const Logs& all);
  [[nodiscard]] Logs judged_of(const WorkloadGroup& group) const;
  void failed(const std::string& what, const std::optional<FailureExpectation>& expected,
              const std::vector<SeenCompletion>& got);
  void failures(const std::string& name, const WorkloadExpectation& expect, const WorkloadResult& got);
  void workloads();
  void group(const WorkloadGroup& group);
  void survivors(const WorkloadGroup& group);
  void wire();
  void errors();
  void faults();
  void workload(const WorkloadSpec& spec, const WorkloadResult& got);
  void transfer(const std::string& name, const TransferSpec& spec, const TransferResult& got);

  const Scenario& scenario_;
  const RunResult& result_;
  Verdicts verdicts_;
};

void Checker::outcome() {
  switch (result_.outcome) {
    case Driver::Outcome::Finished: expect(true, "the run", "an end", "an end"); return;
    case Driver::Outcome::TimeLimit:
      if (!result_.not_ready.empty()) {
        expect(false, "port " + result_.not_ready,
               std::string(result_.awaited) + " within " + format_duration(scenario_.time_limit), "no end");
        return;
      }
      expect(false, "the run", "an end within " + format_duration(scenario_.time_limit), "programs that still wait");
      return;
    case Driver::Outcome::Stuck:
      expect(false, "the run", "an end", "programs that wait for something that cannot happen");
      return;
  }
}

void Checker::transfer(const std::string& name, const TransferSpec& spec, const TransferResult& got) {
  if (got.unexpected_status)
    expect(false, name + ": descriptor status", status_text(spec.expected_status), status_text(*got.unexpected_status));
  if (spec.expected_status == 0)
    expect(got.different == 0, name + ": SHA-256 and length", "equal at both sides",
           std::to_string(got.different) + " different");
  expect(got.ended == spec.repeat, name, std::to_string(spec.repeat) + " done", std::to_string(got.ended) + " done");
}

std::string joined(const auto& names) {
  std::string text;
  for (const auto& name : names) text.append(text.empty() ? "" : ", ").append(name);
  return text.empty() ? "none" : text;
}

void Checker::states(const std::string& what, const std::optional<std::vector<std::string>>& expected,
                     const std::vector<std::string_view>& got) {
  if (!expected) return;
  const bool held = std::equal(expected->begin(), expected->end(), got.begin(), got.end());
  expect(held, what, joined(*expected), joined(got));
}

void Checker::calls(const std::string& name, const WorkloadSpec& spec, const WorkloadResult& got) {
  call(name + ": connect", spec.expect.connect, got.connect);
  if (spec.expect.connect == vi::Return::Success || spec.expect.disconnect)
    call(name + ": disconnect", spec.expect.disconnect.value_or(vi::Return::Success), got.disconnect);
  if (spec.expect.accept) call(name + ": accept", *spec.expect.accept, got.accept);
  if (spec.expect.server_disconnect)
    call(name + ": server disconnect", *spec.expect.server_disconnect, got.server_disconnect);
  time(name + ": time of connect", spec.expect.connect_time, got.setup_duration);
  time(name + ": time of accept", spec.expect.accept_time, got.accept_duration);
  states(name + ": client states", spec.expect.client_states, got.client_states);
  states(name + ": server states", spec.expect.server_states, got.server_states);
}

bool is_any(const TimeBound& bound) { return bound.min == 0 && bound.max == runtime::never; }

/// "completion 5 (FILE:LINE): expected success at most 5 ms, got flushed at 7.000 ms": the first difference only.
void Checker::queue(const std::string& what, const CompletionExpectations& expected,
                    const std::vector<SeenCompletion>& got) {
  if (!expected) return;
  std::size_t position = 0;
  for (const CompletionExpectation& wanted : *expected) {
    for (std::uint64_t i = 0; i < wanted.count; ++i, ++position) {
      const bool there = position < got.size();
      if (there && got[position].error_bits == wanted.error_bits && wanted.at.holds(got[position].at)) continue;
      return expect(
          false, what + ", completion " + std::to_string(position + 1) + " (" + wanted.where + ")",
          status_text(wanted.error_bits) + (is_any(wanted.at) ? "" : ", " + to_string(wanted.at)),
          there ? status_text(got[position].error_bits) + " at " + format_duration(got[position].at) : "no more");
    }
  }
  expect(position == got.size(), what + ", after " + std::to_string(position) + " completions", "no more",
         position == got.size() ? "no more"
                                : status_text(got[position].error_bits) + " at " + format_duration(got[position].at));
}

void Checker::completions(const std::string& name, const WorkloadExpectation& expect, const WorkloadResult& got) {
  queue(name + ": client's sends", expect.client_sends, got.client_sends);
  queue(name + ": client's receives", expect.client_receives, got.client_receives);
  queue(name + ": server's sends", expect.server_sends, got.server_sends);
  queue(name + ": server's receives", expect.server_receives, got.server_receives);
}

void Checker::transfers(const std::string& name, const WorkloadSpec& spec, const WorkloadResult& got) {
  if (spec.expect.gives_up) {
    const bool any = *spec.expect.gives_up == any_reason;
    expect(any ? !got.broken.empty() : got.broken == *spec.expect.gives_up, name + ": programs",
           any ? "a program that gives up" : *spec.expect.gives_up, got.broken.empty() ? "no error" : got.broken);
    return;
  }
  bool failure_expected = spec.expect.connect != vi::Return::Success;
  for (std::size_t i = 0; i < spec.transfers.size() && !failure_expected; ++i) {
    const TransferSpec& transfer_spec = spec.transfers[i];
    transfer(name + ", transfer " + std::to_string(i) + " (" + std::string(to_string(transfer_spec.operation)) + ")",
             transfer_spec, got.transfers[i]);
    failure_expected = transfer_spec.expected_status != 0 && !got.broken.empty();
  }
  if (!failure_expected) expect(got.broken.empty(), name + ": programs", "no error", got.broken);
}

void Checker::losses(const std::string& name, const WorkloadSpec& spec, const WorkloadResult& got) {
  std::uint64_t lost = 0;
  for (const TransferResult& transfer : got.transfers) lost += transfer.lost;
  if (spec.expect.lost) bound(name + ": messages lost", *spec.expect.lost, lost);
}

void Checker::workload(const WorkloadSpec& spec, const WorkloadResult& got) {
  const std::string name = "workload " + spec.name;
  if (spec.rdma)
    return check_rdma(name, *spec.rdma, got.rdma, [this](bool held, const std::string& what, auto expected, auto seen) {
      expect(held, what, expected, seen);
    });
  calls(name, spec, got);
  // Nobody tells a program of what is lost there.
  const bool may_miss = spec.attributes.reliability == vi::ReliabilityLevel::UnreliableDelivery && !spec.expect.lost &&
                        std::ranges::any_of(result_.faults, [](std::uint64_t times) { return times != 0; });
  const auto end_of = [&](bool ended) {
    if (ended) return "an end";
    return may_miss ? "still waiting: perhaps for a message that was lost; with `lost` under expect it goes on"
                    : "still waiting";
  };
  expect(got.client_ended, name + ": client program", "an end", end_of(got.client_ended));
  expect(got.server_ended, name + ": server program", "an end", end_of(got.server_ended));
  if (got.client_ended)
    expect(got.client_state == spec.expect.client_state, name + ": client state", to_string(spec.expect.client_state),
           to_string(got.client_state));
  if (got.server_ended)
    expect(got.server_state == spec.expect.server_state, name + ": server state", to_string(spec.expect.server_state),
           to_string(got.server_state));
  transfers(name, spec, got);
  losses(name, spec, got);
  completions(name, spec.expect, got);
  failures(name, spec.expect, got);
  messages(name, spec.expect.messages, {&got.log}, {&got.log});
}

// --- descriptors that a fault makes fail

/// "3, 7: transport_error at 3.000 ms"; without the descriptors that were only flushed then.
void Checker::failed(const std::string& what, const std::optional<FailureExpectation>& expected,
                     const std::vector<SeenCompletion>& got) {
  if (!expected) return;
  std::vector<std::uint64_t> positions;
  std::string text;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i].error_bits == 0 || got[i].error_bits == vi::status::flushed) continue;
    positions.push_back(i + 1);
    text.append(text.empty() ? "" : "; ").append(std::to_string(i + 1)).append(": ");
    text.append(status_text(got[i].error_bits)).append(" at ").append(format_duration(got[i].at));
  }
  if (text.empty()) text = "none";
  if (!expected->positions)
    return expect(expected->count.holds(positions.size()), what, to_string(expected->count),
                  format_count(positions.size()) + " (" + text + ")");
  std::string wanted;
  for (const std::uint64_t position : *expected->positions)
    wanted.append(wanted.empty() ? "" : ", ").append(std::to_string(position));
  expect(positions == *expected->positions, what, wanted.empty() ? "none" : wanted, text);
}

void Checker::failures(const std::string& name, const WorkloadExpectation& expect, const WorkloadResult& got) {
  failed(name + ": failed sends of the client", expect.failed_client_sends, got.client_sends);
  failed(name + ": failed receives of the client", expect.failed_client_receives, got.client_receives);
  failed(name + ": failed sends of the server", expect.failed_server_sends, got.server_sends);
  failed(name + ": failed receives of the server", expect.failed_server_receives, got.server_receives);
}

// --- times of messages

/// Rates are those of `all` together, the rest that of those that must be well.
void Checker::messages(const std::string& name, const MessageExpectation& expected, const Logs& all,
                       const Logs& judged) {
  latencies(name, expected, judged);
  rates(name, expected, all);
  if (!expected.recovery) return;
  const Recovery recovery = recovery_of(judged, result_.fault_moments);
  const std::string none = recovery.had_fault              ? "no message that was due after the last fault"
                           : result_.fault_moments.empty() ? "no fault"
                                                           : "no fault while its messages were due";
  expect(recovery.time && expected.recovery->holds(*recovery.time), name + ": recovery", to_string(*expected.recovery),
         recovery.time ? format_duration(*recovery.time) : none);
}

void Checker::latencies(const std::string& name, const MessageExpectation& expected, const Logs& judged) {
  if (expected.latencies.empty()) return;
  const auto seen = statistics_of(judged);
  for (const MessageExpectation::Latency& latency : expected.latencies) {
    const runtime::TimeNs value = seen ? seen->latency(latency.point) : runtime::never;
    std::string got = seen ? latency_text(value) : "no message";
    if (seen && value == runtime::never) got.append(": ").append(missing_text(*seen));
    expect(value != runtime::never && latency.bound.holds(value),
           name + ": latency " + std::string(to_string(latency.point)), to_string(latency.bound), got);
  }
}

void Checker::rates(const std::string& name, const MessageExpectation& expected, const Logs& all) {
  if (!expected.bytes_per_second && !expected.messages_per_second) return;
  const auto seen = statistics_of(all);
  if (const auto& wanted = expected.bytes_per_second) {
    const std::uint64_t rate = seen ? seen->bytes_per_second() : 0;
    expect(wanted->holds(rate), name + ": throughput", to_string(*wanted) + " B/s", format_count(rate) + " B/s");
  }
  if (const auto& wanted = expected.messages_per_second)
    bound(name + ": messages per second", *wanted, seen ? seen->messages_per_second() : 0);
}

// --- groups

/// The members of a group of which some may fail are judged all the same, to see which survive.
void Checker::workloads() {
  std::vector<const WorkloadGroup*> of(scenario_.workloads.size());
  for (const WorkloadGroup& one : scenario_.workload_groups)
    if (one.expect.survivors) std::fill_n(of.begin() + static_cast<std::ptrdiff_t>(one.first), one.count, &one);
  for (std::size_t i = 0; i < scenario_.workloads.size(); ++i)
    if (of[i] == nullptr || scenario_.workloads[i].is_exception) workload(scenario_.workloads[i], result_.workloads[i]);
  for (const WorkloadGroup& one : scenario_.workload_groups) group(one);
}

void Checker::group(const WorkloadGroup& group) {
  const std::string name = "group " + group.name;
  const Logs all = logs_of(std::span(result_.workloads).subspan(group.first, group.count));
  if (group.expect.survivors) survivors(group);
  messages(name, group.expect.messages, all, judged_of(group));
  if (!group.expect.fairness) return;
  const auto fairness = fairness_of(all);
  const ShareBound& wanted = *group.expect.fairness;
  const bool held = fairness && wanted.holds(*fairness);
  std::string got = fairness ? format_share(*fairness) : "no message";
  if (!held && fairness && (got == format_share(wanted.min) || got == format_share(wanted.max)))
    got = precise_share(*fairness);
  expect(held, name + ": fairness", to_string(wanted), got);
}

/// Those that must do what the workload says: none that has an `expect` of its own, and where some may fail, those that
/// did not.
Logs Checker::judged_of(const WorkloadGroup& group) const {
  Logs logs;
  for (std::size_t i = group.first; i < group.first + group.count; ++i)
    if (!scenario_.workloads[i].is_exception && (!group.expect.survivors || survives(scenario_, result_, i)))
      logs.push_back(&result_.workloads[i].log);
  return logs;
}

void Checker::survivors(const WorkloadGroup& group) {
  const std::vector<std::string> names = survivors_of(scenario_, result_, group);
  expect(group.expect.survivors->holds(names.size()), "group " + group.name + ": survivors",
         to_string(*group.expect.survivors), format_count(names.size()) + " (" + joined(names) + ")");
}

void Checker::wire() {
  if (!scenario_.expectations.wire) return;
  const bool tcp = scenario_.topology == TopologyKind::Tcp;
  const auto difference = tcp ? compare_segments(scenario_, result_.segments) : compare_wire(scenario_, result_.wire);
  const std::size_t count = scenario_.expectations.wire->size();
  const std::string all = std::to_string(count) + (tcp ? " segments in order" : " IUs in order");
  if (difference)
    expect(false, difference->what, difference->expected, difference->got);
  else
    expect(true, "wire", all, all);
  verdicts_.all.back().conditions = std::max<std::size_t>(count, 1);
  verdicts_.checked += verdicts_.all.back().conditions - 1;
}

void Checker::errors() {
  const Expectations& expected = scenario_.expectations;
  if (!expected.errors) return bound("asynchronous errors", expected.asynchronous_errors, result_.asynchronous_errors);
  const auto text = [&](std::size_t port, vi::ErrorCode error) {
    return scenario_.ports[port].name + " " + std::string(to_string(error));
  };
  std::vector<std::string> wanted, got;
  for (const ErrorExpectation& error : *expected.errors) wanted.push_back(text(error.port, error.error));
  for (const SeenError& error : result_.errors) got.push_back(text(error.port, error.error));
  expect(wanted == got, "asynchronous errors", joined(wanted), joined(got));
  for (std::size_t i = 0; wanted == got && i < wanted.size(); ++i)
    time("asynchronous error " + wanted[i], (*expected.errors)[i].at, result_.errors[i].at);
}

void Checker::discards() {
  const Expectations& expected = scenario_.expectations;
  const bool other_fc4s = !scenario_.background.empty() && !expected.discards_given;
  const std::uint64_t discards = result_.discards - (other_fc4s ? result_.background_discards : 0);
  const std::string what =
      scenario_.topology == TopologyKind::Tcp ? "refused segments and streams" : "discarded frames";
  if (!expected.discard_list) return bound(what, expected.discards, discards);
  std::vector<std::string> wanted, got = result_.discard_reasons;
  for (const DiscardExpectation& discard : *expected.discard_list)
    wanted.push_back(discard_text(scenario_.ports[discard.port].name, discard.reason, discard.times));
  std::sort(wanted.begin(), wanted.end());
  std::sort(got.begin(), got.end());
  expect(wanted == got, what, joined(wanted), joined(got));
}

void Checker::kept() {
  for (const KeptExpectation& expected : scenario_.expectations.kept)
    bound("bytes kept at " + scenario_.ports[expected.port].name, expected.bytes,
          expected.port < result_.kept_bytes.size() ? result_.kept_bytes[expected.port] : 0);
}

// Where it did not happen: its place in the file, and how near it came.
void Checker::faults() {
  const std::string missed = scenario_.topology == TopologyKind::Tcp ? " segment" : " frame";
  for (std::size_t i = 0; i < scenario_.faults.size(); ++i) {
    const FaultSpec& fault = scenario_.faults[i];
    const std::uint64_t times = i < result_.faults.size() ? result_.faults[i] : 0;
    std::string got = format_count(times);
    if (times == 0 && !fault.times.holds(0) && !fault.at && i < result_.fault_matches.size())
      if (const std::string why = why_missed(result_.fault_matches[i], missed); !why.empty())
        got += " (" + fault.where + ": " + why + ")";
    expect(fault.times.holds(times), "fault " + std::to_string(i) + " (" + fault.rule.note + ")",
           to_string(fault.times), got);
  }
}

bool survives(const Scenario& scenario, const RunResult& result, std::size_t workload) {
  return Checker(scenario, result).check_workload(workload).failures.empty();
}

Verdicts Checker::check() {
  outcome();
  workloads();
  const Expectations& expected = scenario_.expectations;
  for (const auto& [name, expected_bound] : expected.ius) {
    const auto found = result_.ius.find(name);
    bound((scenario_.topology == TopologyKind::Tcp ? "segments " : "IUs ") + name, expected_bound,
          found == result_.ius.end() ? 0 : found->second);
  }
  discards();
  kept();
  errors();
  wire();
  faults();
  bound("events that a state machine had no row for", {0, 0}, result_.unexpected_events);
  if (!result_.inconsistent.empty())
    expect(false, "owners", "consistent after each event", "not so at " + result_.inconsistent);
  if (expected.max_duration)
    expect(result_.duration <= *expected.max_duration, "simulated time",
           "at most " + format_duration(*expected.max_duration), format_duration(result_.duration));
  return std::move(verdicts_);
}

}  // namespace

std::vector<std::string> survivors_of(const Scenario& scenario, const RunResult& result, const WorkloadGroup& group) {
  std::vector<std::string> names;
  for (std::size_t i = group.first; i < group.first + group.count; ++i)
    if (!scenario.workloads[i].is_exception && survives(scenario, result, i))
      names.push_back(scenario.workloads[i].name);
  return names;
}

Verdicts check_expectations(const Scenario& scenario, const RunResult& result) {
  return Checker(scenario, result).check();
}

}  // namespace sim
