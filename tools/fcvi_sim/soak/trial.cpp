#include "tools/fcvi_sim/soak/trial.hpp"

#include <algorithm>

#include "fc2_fabric/switch/switch_config.hpp"
#include "tools/fcvi_sim/explore/invariants.hpp"
#include "tools/fcvi_sim/explore/world.hpp"
#include "tools/fcvi_sim/scenario/loader.hpp"

namespace sim::soak {
namespace {

Outcome bad(const std::string& why) { return {.kind = "bad scenario", .what = why + "\n"}; }

/// Programs that meet, with time enough for a retry on a fabric without faults, and memory for all messages.
std::string unsuitable(const Scenario& scenario, const WorkloadSpec& workload) {
  constexpr std::uint64_t most_bytes = 1u << 20, most_messages = 1000;
  constexpr runtime::TimeNs least_connect_timeout = 5 * runtime::second;
  std::uint64_t bytes = 0, messages = 0;
  for (const TransferSpec& transfer : workload.transfers) {
    if (!transfer.data.path.empty()) return "data of {random: SIZE}, not of a file";
    if (transfer.is_paced()) return "no pace and no reply: all messages are posted at once";
    bytes += transfer.data.size_bytes * transfer.repeat;
    messages += transfer.message_count() * transfer.repeat;
  }
  if (bytes > most_bytes || messages > most_messages) return "at most 1 MiB, in no more than 1,000 messages";
  if (workload.connect_timeout < least_connect_timeout) return "a connect_timeout of 5 s at least";
  if (!workload.peer_to_peer && workload.server_start != 0)
    return "no server_start: a client that comes first finds nobody";
  if (scenario.topology == TopologyKind::PointToPoint && workload.client == workload.server)
    return "two ports: point-to-point nobody sends back what a port sends to itself";
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

std::string unsuitable(const Scenario& scenario) {
  if (scenario.workloads.empty()) return "has no workload";
  if (!scenario.background.empty()) return "has background traffic, which a soak does not make";
  if (!are_joined(scenario)) return "has switches that no ISL joins to the others";
  for (const PortSpec& port : scenario.ports)
    if (port.ulp_timeout != 0 && port.ulp_timeout < fc2::SwitchConfig().r_a_tov)
      return "port " + port.name + ": expected an ulp_timeout of R_A_TOV at least";
  for (const WorkloadSpec& workload : scenario.workloads)
    if (std::string why = unsuitable(scenario, workload); !why.empty())
      return "workload " + workload.name + ": expected " + why;
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
