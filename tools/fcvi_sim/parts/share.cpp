#include "tools/fcvi_sim/parts/share.hpp"

#include <algorithm>

namespace sim {
namespace {

/// From the end of all programs until ports log out, at least: nobody needs to know sooner of the end.
constexpr runtime::TimeNs most_look_ahead = 100 * runtime::microsecond;

bool names_states(const WorkloadSpec& workload) {
  return workload.expect.client_states || workload.expect.server_states;
}

bool has_concurrent_transfers(const WorkloadSpec& workload) {
  return std::any_of(workload.transfers.begin(), workload.transfers.end(),
                     [](const TransferSpec& transfer) { return transfer.concurrent; });
}

std::string why_not_for(const Scenario& scenario) {
  if (scenario.topology != TopologyKind::Fabric)
    return "topology: a fabric of several switches can be simulated in parts";
  if (!scenario.fabric.has_independent_switches())
    return "topology: directory_delay is needed for a run in parts: until then no switch knows what another one does";
  if (!scenario.loops.empty()) return "topology: loops cannot be simulated in parts";
  if (!scenario.faults.empty()) return "faults: a run in parts has none";
  if (!scenario.background.empty()) return "background: a run in parts has none";
  if (scenario.expectations.wire) return "expect: wire: in a run in parts nobody sees all IUs";
  if (std::any_of(scenario.workloads.begin(), scenario.workloads.end(), names_states))
    return "expect: states cannot be watched in a run in parts";
  if (std::any_of(scenario.workloads.begin(), scenario.workloads.end(), has_concurrent_transfers))
    return "workloads: concurrent transfers cannot be measured in a run in parts";
  return {};
}

}  // namespace

std::string why_not_in_parts(const Scenario& scenario, std::size_t parts) {
  if (parts > scenario.switches.size())
    return "topology: " + std::to_string(scenario.switches.size()) + " switches cannot be shared by " +
           std::to_string(parts) + " parts";
  return why_not_for(scenario);
}

std::vector<std::size_t> parts_of_switches(const Scenario& scenario, std::size_t parts) {
  const std::size_t switches = scenario.switches.size();
  std::vector<std::size_t> weights(switches, 1), chosen(switches);
  for (const PortSpec& port : scenario.ports) ++weights[port.at_switch];
  std::size_t left = scenario.ports.size() + switches, part = 0, taken = 0;
  for (std::size_t i = 0; i < switches; ++i) {
    const std::size_t parts_left = parts - part, switches_left = switches - i;
    const bool enough = taken != 0 && (taken + weights[i] / 2) * parts_left > left;
    if (parts_left > 1 && (enough || switches_left < parts_left)) {
      left -= taken;
      taken = 0;
      ++part;
    }
    taken += weights[i];
    chosen[i] = part;
  }
  return chosen;
}

runtime::TimeNs look_ahead(const Scenario& scenario, const std::vector<std::size_t>& part_of_switch) {
  runtime::TimeNs least = std::min(scenario.fabric.directory_delay, most_look_ahead);
  for (const SwitchLinkSpec& link : scenario.switch_links)
    if (part_of_switch[link.from] != part_of_switch[link.to]) least = std::min(least, link.link.latency_ns);
  return least;
}

}  // namespace sim
