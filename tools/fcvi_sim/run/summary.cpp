#include "tools/fcvi_sim/run/summary.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <map>
#include <set>

#include "tools/fcvi_sim/run/rdma_check.hpp"
#include "tools/fcvi_sim/run/statistics.hpp"
#include "tools/fcvi_sim/scenario/status_text.hpp"
#include "settings/units.hpp"

namespace sim {
using namespace settings;
namespace {

[[gnu::format(printf, 2, 3)]] void line(std::string& to, const char* format, ...) {
  char text[512];
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  to.append(text).append("\n");
}

std::string direction(const TransferSpec& transfer) { return transfer.initiator == Side::Client ? "->" : "<-"; }

std::string kind_text(const TransferSpec& transfer) {
  std::string text(to_string(transfer.operation));
  return transfer.immediate ? text + " + imm" : text;
}

std::string verdict_text(const TransferSpec& spec, const TransferResult& got) {
  if (got.begun == 0) return "not run";
  if (got.unexpected_status) return status_text(*got.unexpected_status);
  if (got.different != 0) return "DIFFERENT";
  if (got.ended != spec.repeat) return "not done";
  if (got.lost != 0) return "equal but " + format_count(got.lost) + " lost";
  return spec.expected_status == 0 ? "equal" : status_text(spec.expected_status);
}

constexpr const char* row_format = "  %-16s %2s %10s %9s %9s %9s %11s %10s  %s";

/// What a network carries: its messages, and what they travel in.
struct Units {
  const char *messages, *all_messages, *carriers, *all_carriers;
};
Units units_of(const Scenario& scenario) {
  if (scenario.topology == TopologyKind::Tcp) return {"segments", "segments of messages", "TCP", "TCP segments"};
  return {"IUs", "IUs and sequences", "frames", "frames"};
}

void transfers(std::string& to, const Scenario& scenario, const WorkloadSpec& spec, const WorkloadResult& got) {
  const Units units = units_of(scenario);
  line(to, row_format, "operation", "", "bytes", "messages", units.messages, units.carriers, "time", "goodput",
       "SHA-256");
  for (std::size_t i = 0; i < spec.transfers.size(); ++i) {
    const TransferSpec& transfer = spec.transfers[i];
    const TransferResult& result = got.transfers[i];
    line(to, row_format, kind_text(transfer).c_str(), direction(transfer).c_str(), format_bytes(result.bytes).c_str(),
         format_count(result.messages).c_str(), format_count(result.traffic.ius).c_str(),
         format_count(result.traffic.frames).c_str(), format_duration(result.duration).c_str(),
         format_rate(result.bytes, result.duration).c_str(), verdict_text(transfer, result).c_str());
  }
}

void rdma_end(std::string& to, std::string_view name, const RdmaEndResult& end) {
  std::string text = end.start;
  if (end.ending != RdmaEnding::None) text.append(", ").append(to_string(end.ending));
  if (end.found) text.append(", found ").append(cause_text(*end.found));
  if (end.told) text.append(", was told ").append(cause_text(*end.told));
  line(to, "  %-6s %s; FPDUs: %s sent, %s received; %s completions", std::string(name).c_str(), text.c_str(),
       format_count(end.fpdus_sent).c_str(), format_count(end.fpdus_received).c_str(),
       format_count(end.completions.size()).c_str());
}

void rdma(std::string& to, const Scenario& scenario, const WorkloadSpec& spec, const WorkloadResult& got) {
  line(to, "\nRDMA stream %s: %s -> %s, %s, start-up in %s", spec.name.c_str(),
       scenario.ports[spec.client].name.c_str(), scenario.ports[spec.server].name.c_str(),
       spec.rdma->framing == RdmaFraming::Ift ? "IFT" : "MPA", format_duration(got.rdma.startup_duration).c_str());
  rdma_end(to, "client", got.rdma.ends.client);
  rdma_end(to, "server", got.rdma.ends.server);
}

void workload(std::string& to, const Scenario& scenario, const WorkloadSpec& spec, const WorkloadResult& got) {
  if (spec.rdma) return rdma(to, scenario, spec, got);
  const std::string level(to_string(spec.attributes.reliability));
  const std::string connect(got.connect ? to_string(*got.connect) : "no answer");
  line(to, "\nconnection %s: %s -> %s, %s, set-up %s in %s", spec.name.c_str(),
       scenario.ports[spec.client].name.c_str(), scenario.ports[spec.server].name.c_str(), level.c_str(),
       connect.c_str(), format_duration(got.setup_duration).c_str());
  if (got.connect == vi::Return::Success && !spec.transfers.empty()) transfers(to, scenario, spec, got);
  if (const auto seen = statistics_of({&got.log}))
    line(to, "  latency%s %s", spec.has_unseen_arrivals() ? " (RDMA Write: until it is complete at its sender)" : "",
         describe(*seen).c_str());
  if (!got.broken.empty()) line(to, "  a program gave up: %s", got.broken.c_str());
}

/// Of the group whose first member that is: what its expectations ask for, and who survived.
void together(std::string& to, const Scenario& scenario, const RunResult& result, std::size_t first) {
  const auto found = std::ranges::find(scenario.workload_groups, first, &WorkloadGroup::first);
  if (found == scenario.workload_groups.end()) return;
  const Logs all = logs_of(std::span(result.workloads).subspan(first, found->count));
  const bool unseen = scenario.workloads[first].has_unseen_arrivals();
  if (const auto seen = statistics_of(all))
    line(to, "  latency%s %s", unseen ? " (RDMA Write: until it is complete at its sender)" : "",
         describe(*seen).c_str());
  const auto fairness = fairness_of(all);
  if (fairness) line(to, "  fairness %s", format_share(*fairness).c_str());
  if (!found->expect.survivors) return;
  std::string names;
  for (const std::string& name : survivors_of(scenario, result, *found))
    names.append(names.empty() ? "" : ", ").append(name);
  to.append("  survivors: ").append(names.empty() ? "none" : names).append("\n");
}

/// Of those that one entry made, by what became of them. Returns the position behind the last.
std::size_t group(std::string& to, const Scenario& scenario, const RunResult& result, std::size_t first) {
  std::map<std::string, std::size_t> outcomes;
  runtime::TimeNs least = runtime::never, most = 0;
  std::size_t end = first;
  for (; end < scenario.workloads.size() && scenario.workloads[end].group == scenario.workloads[first].group; ++end) {
    const WorkloadResult& got = result.workloads[end];
    std::string outcome(got.connect ? to_string(*got.connect) : "no answer");
    ++outcomes[outcome.append(got.broken.empty() ? "" : ", a program gave up")];
    least = std::min(least, got.setup_duration);
    most = std::max(most, got.setup_duration);
  }
  line(to, "\n%zu connections %s to %s, set-up in %s to %s:", end - first, scenario.workloads[first].name.c_str(),
       scenario.workloads[end - 1].name.c_str(), format_duration(least).c_str(), format_duration(most).c_str());
  for (const auto& [outcome, count] : outcomes) line(to, "  %s: %s", outcome.c_str(), format_count(count).c_str());
  together(to, scenario, result, first);
  return end;
}

void background(std::string& to, const Scenario& scenario, const RunResult& result) {
  for (std::size_t i = 0; i < result.background.size(); ++i) {
    const BackgroundSpec& spec = scenario.background[i];
    const BackgroundResult& got = result.background[i];
    std::string not_sent;
    if (got.without_login != 0) not_sent += "; without login: " + format_count(got.without_login) + " not sent";
    if (got.behind != 0) not_sent += "; behind: " + format_count(got.behind) + " not sent";
    line(to, "\nbackground %s: %s -> %s, TYPE %02Xh, %s frames, %s%s", spec.name.c_str(),
         scenario.ports[spec.from].name.c_str(), scenario.ports[spec.to].name.c_str(), spec.type,
         format_count(got.sent).c_str(), format_bytes(got.sent * spec.data_bytes).c_str(), not_sent.c_str());
  }
}

/// Each file once, with its digest: what sha256sum prints for it.
void files(std::string& to, const Scenario& scenario, const RunResult& result) {
  std::set<std::string> named;
  for (std::size_t i = 0; i < scenario.workloads.size(); ++i) {
    for (std::size_t j = 0; j < scenario.workloads[i].transfers.size(); ++j) {
      const DataSpec& data = scenario.workloads[i].transfers[j].data;
      const TransferResult& got = result.workloads[i].transfers[j];
      if (data.path.empty() || got.ended == 0 || !named.insert(data.path).second) continue;
      line(to, "file %s, %s bytes, SHA-256 at the far side %s", data.path.c_str(),
           format_count(data.size_bytes).c_str(), to_string(got.digest).c_str());
    }
  }
}

}  // namespace

std::string summary(const Scenario& scenario, const RunResult& result) {
  std::string text;
  line(text, "scenario %s, seed %llu, %zu ports", scenario.name.c_str(), static_cast<unsigned long long>(scenario.seed),
       scenario.ports.size());
  files(text, scenario, result);
  std::uint64_t bytes = 0, messages = 0;
  for (std::size_t i = 0; i < scenario.workloads.size();) {
    if (!scenario.workloads[i].group.empty()) {
      i = group(text, scenario, result, i);
      continue;
    }
    workload(text, scenario, scenario.workloads[i], result.workloads[i]);
    ++i;
  }
  for (const WorkloadResult& got : result.workloads) {
    for (const TransferResult& transfer : got.transfers) {
      bytes += transfer.bytes;
      messages += transfer.messages;
    }
  }
  for (std::size_t i = 0; i < scenario.workloads.size(); ++i) {
    const auto& rdma = result.workloads[i].rdma.operations;
    for (std::size_t j = 0; j < rdma.size(); ++j) {
      bytes += std::uint64_t{rdma[j].ended} * scenario.workloads[i].rdma->operations[j].size_bytes;
      messages += rdma[j].ended;
    }
  }
  background(text, scenario, result);
  const Units units = units_of(scenario);
  line(text, "\ntotal: %s in %s messages; %s %s, %s %s; %s of simulated time", format_bytes(bytes).c_str(),
       format_count(messages).c_str(), format_count(result.iu_count).c_str(), units.all_messages,
       format_count(result.frame_count).c_str(), units.all_carriers, format_duration(result.duration).c_str());
  for (std::size_t i = 0; i < result.kept_bytes.size(); ++i)
    if (result.kept_bytes[i] != 0)
      line(text, "kept at %s of what overtook other frames: %s at most", scenario.ports[i].name.c_str(),
           format_bytes(result.kept_bytes[i]).c_str());
  for (std::size_t i = 0; i < result.pool_refusals.size(); ++i)
    if (result.pool_refusals[i] != 0)
      line(text, "found no room at %s (reorder_pool: %s): %s frames", scenario.ports[i].name.c_str(),
           format_bytes(scenario.ports[i].reorder_pool_bytes).c_str(), format_count(result.pool_refusals[i]).c_str());
  for (const std::string& reason : result.discard_reasons)
    line(text, "%s at %s", scenario.topology == TopologyKind::Tcp ? "refused" : "discarded", reason.c_str());
  return text;
}

std::string summary(const Verdicts& verdicts) {
  if (verdicts.failures.empty()) return "all " + std::to_string(verdicts.checked) + " expectations held\n";
  std::string text;
  for (const std::string& failure : verdicts.failures) text.append("FAILED ").append(failure).append("\n");
  line(text, "%zu of %zu expectations failed", verdicts.failures.size(), verdicts.checked);
  return text;
}

}  // namespace sim
