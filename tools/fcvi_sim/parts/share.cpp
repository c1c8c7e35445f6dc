#include "tools/fcvi_sim/parts/share.hpp"

#include <algorithm>

namespace sim {
namespace {

/// From the end of all programs until ports log out, at least: nobody needs to know sooner of the end.
constexpr runtime::TimeNs most_look_ahead = 100 * runtime::microsecond;

std::string why_not_for(const Scenario& scenario) {
  if (scenario.topology != TopologyKind::Fabric)
    return "topology: a fabric of several switches can be simulated in parts";
  if (!scenario.fabric.has_independent_switches())
    return "topology: directory_delay is needed for a run in parts: until then no switch knows what another one does";
  if (!scenario.loops.empty()) return "topology: loops cannot be simulated in parts";
  return {};
}

// --- faults ------------------------------------------------------------------------------------------------------

/// The ports on whose links a rule may match: those that it names, or whose connections it names, or all.
std::vector<std::size_t> ports_of(const Scenario& scenario, const faults::Match& match) {
  if (!match.links.empty()) return match.links;
  std::vector<std::size_t> ports;
  for (const std::size_t connection : match.connections) {
    ports.push_back(scenario.workloads[connection].client);
    ports.push_back(scenario.workloads[connection].server);
  }
  for (std::size_t port = 0; match.connections.empty() && port < scenario.ports.size(); ++port) ports.push_back(port);
  return ports;
}

/// What it does to a frame depends on that frame alone, and on what chance has for its link.
bool counts_nothing(const faults::Rule& rule) {
  return rule.turns.empty() && rule.every == 1 && rule.limit == faults::Rule::no_limit;
}

/// It happens at a time, which all parts know; or one part has all links whose frames count, and the port that it
/// happens to; or each part can judge the frames on its links by itself.
bool can_be_shared(const Scenario& scenario, const std::vector<std::size_t>& part_of_switch, const FaultSpec& fault) {
  if (fault.at) return true;
  if (fault.event && is_of_fabric(*fault.event)) return false;
  if (!fault.event && counts_nothing(fault.rule)) return true;
  std::vector<std::size_t> ports = ports_of(scenario, fault.rule.match);
  if (fault.event) ports.push_back(fault.event->port);
  const auto part = [&](std::size_t port) { return part_of_switch[scenario.ports[port].at_switch]; };
  return std::ranges::all_of(ports, [&](std::size_t port) { return part(port) == part(ports.front()); });
}

std::string why_not_with_faults(const Scenario& scenario, const std::vector<std::size_t>& part_of_switch) {
  for (const FaultSpec& fault : scenario.faults)
    if (!can_be_shared(scenario, part_of_switch, fault))
      return "faults: " + fault.where +
             (fault.event ? ": happens when a frame passes that another part may see; with at all parts know when"
                          : ": counts frames on links of several parts; with port it stands at one");
  return {};
}

}  // namespace

std::string why_not_in_parts(const Scenario& scenario, std::size_t parts) {
  if (parts > scenario.switches.size())
    return "topology: " + std::to_string(scenario.switches.size()) + " switches cannot be shared by " +
           std::to_string(parts) + " parts";
  const std::string why = why_not_for(scenario);
  return why.empty() ? why_not_with_faults(scenario, parts_of_switches(scenario, parts)) : why;
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

runtime::TimeNs time_to_know(const Scenario& scenario) {
  return std::min(scenario.fabric.directory_delay, most_look_ahead);
}

runtime::TimeNs look_ahead(const Scenario& scenario, const std::vector<std::size_t>& part_of_switch) {
  runtime::TimeNs least = time_to_know(scenario);
  for (const SwitchLinkSpec& link : scenario.switch_links)
    if (part_of_switch[link.from] != part_of_switch[link.to]) least = std::min(least, link.link.latency_ns);
  return least;
}

}  // namespace sim
