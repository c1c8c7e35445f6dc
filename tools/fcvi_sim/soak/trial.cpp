#include "tools/fcvi_sim/soak/trial.hpp"

#include <algorithm>
#include <regex>

#include "fc2_fabric/switch/switch_config.hpp"
#include "tools/fcvi_sim/explore/invariants.hpp"
#include "tools/fcvi_sim/explore/world.hpp"
#include "tools/fcvi_sim/scenario/loader.hpp"

namespace sim::soak {
namespace {

Outcome bad(const std::string& why) { return {.kind = "bad scenario", .what = why + "\n"}; }

/// Other programs lose their patience meanwhile.
bool takes_long(const TransferSpec& transfer) {
  constexpr std::uint64_t longest = 10 * runtime::second;
  const std::uint64_t bursts = transfer.message_count() * transfer.repeat / transfer.pace.burst;
  return transfer.pace.gap / PaceSpec::gap_units > longest / (bursts + 1);
}

/// Programs that meet, with time enough for a retry on a fabric without faults, and memory for all messages.
std::string unsuitable(const Scenario& scenario, const WorkloadSpec& workload) {
  constexpr std::uint64_t most_bytes = 1u << 20, most_messages = 1000;
  constexpr runtime::TimeNs least_connect_timeout = 5 * runtime::second;
  std::uint64_t bytes = 0, messages = 0;
  for (const TransferSpec& transfer : workload.transfers) {
    if (!transfer.data.path.empty()) return "data of {random: SIZE}, not of a file";
    if (takes_long(transfer)) return "a pace that ends within 10 s";
    const std::uint64_t count = transfer.message_count() * transfer.repeat;
    bytes += transfer.data.size_bytes * transfer.repeat + count * transfer.reply_bytes.value_or(0);
    messages += count * (transfer.reply_bytes ? 2 : 1);
  }
  if (bytes > most_bytes || messages > most_messages) return "at most 1 MiB, in no more than 1,000 messages";
  if (workload.connect_timeout < least_connect_timeout) return "a connect_timeout of 5 s at least";
  if (!workload.peer_to_peer && workload.server_start != 0)
    return "no server_start: a client that comes first finds nobody";
  if (scenario.topology == TopologyKind::PointToPoint && workload.client == workload.server)
    return "two ports: point-to-point nobody sends back what a port sends to itself";
  return {};
}

constexpr std::uint64_t most_background_frames = 1000;

std::uint64_t frames_of(const BackgroundSpec& background) {
  const runtime::TimeNs lasts = std::max<runtime::TimeNs>(background.until - background.start, 0);
  const std::uint64_t bursts = static_cast<std::uint64_t>(lasts) * PaceSpec::gap_units / background.pace.gap + 1;
  return bursts > most_background_frames ? bursts : bursts * background.pace.burst;
}

/// For one of the longest frames after the other, with the wait for its credit; on a loop from each port to the next.
runtime::TimeNs time_of_frame(const fc2::LinkConfig& link, std::size_t hops) {
  const auto bytes = static_cast<runtime::TimeNs>(fc2::max_frame_bytes);
  const auto rate = static_cast<runtime::TimeNs>(link.bytes_per_second);
  runtime::TimeNs time = link.processing_ns + (rate == 0 ? 0 : bytes * runtime::second / rate);
  if (link.bb_credit != 0) time += 2 * static_cast<runtime::TimeNs>(hops) * link.latency_ns / link.bb_credit;
  return time;
}

runtime::TimeNs slowest_frame(const Scenario& scenario) {
  const bool all_on_a_loop = scenario.topology == TopologyKind::PrivateLoop;
  runtime::TimeNs slowest = 0;
  for (const PortSpec& port : scenario.ports)
    slowest = std::max(slowest, time_of_frame(port.link, all_on_a_loop ? scenario.ports.size() : 1));
  for (const LoopSpec& loop : scenario.loops)
    slowest = std::max(slowest, time_of_frame(loop.link, scenario.ports.size() + 1));
  for (const SwitchLinkSpec& isl : scenario.switch_links) slowest = std::max(slowest, time_of_frame(isl.link, 1));
  return slowest;
}

/// Frames that come to an end, so few that a run is short, and that keep no program waiting until it gives up.
std::string unsuitable_background(const Scenario& scenario) {
  constexpr runtime::TimeNs longest = 30 * runtime::second, most_delay = 3 * runtime::second;
  const runtime::TimeNs each = scenario.background.empty() ? 0 : slowest_frame(scenario);
  runtime::TimeNs all = 0;
  for (const BackgroundSpec& background : scenario.background) {
    const std::string expected = "background " + background.name + ": expected ";
    if (background.until > longest) return expected + "until: 30 s at most";
    const std::uint64_t frames = frames_of(background);
    if (frames > most_background_frames) return expected + "no more than 1,000 frames";
    all += static_cast<runtime::TimeNs>(frames) * each;
    if (all > most_delay) return expected + "frames that the slowest link takes within 3 s";
  }
  return {};
}

/// The same of segments, and no stream stands still for longer than timers last, but for good.
std::string unsuitable(const SegmentFault& fault, bool all_checked) {
  using Kind = SegmentFault::Kind;
  constexpr runtime::TimeNs longest = 10 * runtime::second;
  switch (fault.kind) {
    case Kind::Rewrite: return "no rewrite: nobody can know what comes of it";
    case Kind::Corrupt:
      return !fault.crc_error || !all_checked ? "crc: ask at each host, and a bad one: else nobody notices" : "";
    case Kind::Stall:
      return fault.hold >= longest && fault.hold != runtime::never ? "by, for: less than 10 s, or for ever" : "";
    case Kind::Reset:
    case Kind::Close:
    case Kind::BadCrc: break;
  }
  return {};
}

bool all_have_crc(const Scenario& scenario) {
  return std::ranges::all_of(scenario.ports,
                             [](const PortSpec& port) { return port.tcp.asks_for_crc && port.tcp.grants_crc; });
}

/// As those that are drawn: they come to an end, and no frame is late by R_A_TOV. What is down for good is not: it
/// comes up when the programs have ended, which begin when all ports have logged in.
std::string unsuitable(const Scenario& scenario, const FaultSpec& fault) {
  constexpr runtime::TimeNs longest = 30 * runtime::second;
  constexpr std::uint64_t most_frames = 20, most_frames_at_any_time = 5;
  const faults::Rule& rule = fault.rule;
  if (fault.event && fault.event->duration > longest) return "for: 30 s at most, or none";
  if (fault.at) return {};
  const bool on_tcp = scenario.topology == TopologyKind::Tcp;
  if (on_tcp && fault.segment && !fault.event)
    if (std::string why = unsuitable(*fault.segment, all_have_crc(scenario)); !why.empty()) return why;
  const bool at_login = rule.match.from == faults::Match::always && !rule.match.message.starts_with("FCVI_");
  if (fault.event && fault.event->lasts && fault.event->duration == 0 && at_login && !on_tcp)
    return "for, or from: else the port may never log in";
  const std::uint64_t frames = rule.turns.empty() ? rule.limit : std::min<std::uint64_t>(rule.turns.size(), rule.limit);
  if (frames > most_frames_at_any_time && rule.match.until > longest) return "until: 30 s at most";
  const bool any_frame = rule.note == "lost: silence" || rule.note == "lost: partition";
  if (frames > most_frames && !any_frame) return "nth, or a limit: 20 frames at most";
  if (!rule.action) return {};
  if (!rule.action->patches.empty()) return "no rewrite: nobody can know what comes of it";
  if (rule.action->delay >= fc2::SwitchConfig().r_a_tov) return "by: less than R_A_TOV";
  return {};
}

bool are_joined(const Scenario& scenario) {
  std::vector<bool> reached(scenario.switches.size());
  reached.front() = true;
  for (std::size_t round = 1; round < reached.size(); ++round)
    for (const SwitchLinkSpec& link : scenario.switch_links)
      reached[link.from] = reached[link.to] = reached[link.from] || reached[link.to];
  return std::find(reached.begin(), reached.end(), false) == reached.end();
}

// Of so many runs one asks all owners after each event, the others at their end: which is twice as quick.
constexpr std::uint64_t owners_every = 16;

}  // namespace

std::string signature(const Outcome& outcome) {
  static const std::regex connection("^([^:]*: )[^,]*, (client|server): "), number("[0-9][0-9,.]*( (ns|us|ms|s)\\b)?");
  const std::string line = outcome.what.substr(0, outcome.what.find('\n'));
  return outcome.kind + "|" + std::regex_replace(std::regex_replace(line, connection, "$1$2: "), number, "#");
}

std::string unsuitable(const Scenario& scenario) {
  if (scenario.workloads.empty()) return "has no workload";
  if (!are_joined(scenario)) return "has switches that no ISL joins to the others";
  for (const PortSpec& port : scenario.ports)
    if (scenario.topology == TopologyKind::Tcp && port.tcp.request_timeout < 10 * runtime::second)
      return "port " + port.name + ": expected a request_timeout of 10 s at least";
  for (const PortSpec& port : scenario.ports)
    if (port.ulp_timeout != 0 && port.ulp_timeout < fc2::SwitchConfig().r_a_tov)
      return "port " + port.name + ": expected an ulp_timeout of R_A_TOV at least";
  for (const WorkloadSpec& workload : scenario.workloads)
    if (std::string why = unsuitable(scenario, workload); !why.empty())
      return "workload " + workload.name + ": expected " + why;
  if (std::string why = unsuitable_background(scenario); !why.empty()) return why;
  for (const FaultSpec& fault : scenario.faults)
    if (std::string why = unsuitable(scenario, fault); !why.empty()) return fault.where + ": fault: expected " + why;
  return {};
}

Outcome judged(const Scenario& scenario, fc2::FramePool& pool, fc2::Capture* capture) {
  explore::World world(scenario, pool, capture);
  if (scenario.seed % owners_every != 0) world.ask_owners_at_the_end();
  const explore::Record& record = world.run();
  Outcome outcome{.frames = record.frames, .digest = record.digest, .turns = world.turns()};
  for (const explore::Violation& violation : explore::check_invariants(record)) {
    if (outcome.kind.empty()) outcome.kind = violation.invariant;
    outcome.what += std::string(violation.invariant) + ": " + violation.what + "\n";
  }
  return outcome;
}

Outcome judged(const std::string& text, fc2::FramePool& pool, fc2::Capture* capture) {
  const auto scenario = read_scenario(text, "scenario", "", {});
  if (!scenario) return bad(scenario.error().message);
  if (const std::string why = unsuitable(*scenario); !why.empty()) return bad(why);
  return judged(*scenario, pool, capture);
}

}  // namespace sim::soak
