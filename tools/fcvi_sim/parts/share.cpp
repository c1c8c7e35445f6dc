#include "tools/fcvi_sim/parts/share.hpp"

#include <algorithm>
#include <numeric>
#include <set>

namespace sim {
namespace {

/// From the end of all programs until ports log out, at least: nobody needs to know sooner of the end.
constexpr runtime::TimeNs most_look_ahead = 100 * runtime::microsecond;

std::string why_not_for(const Scenario& scenario) {
  if (scenario.topology != TopologyKind::Fabric)
    return "topology: a fabric of several switches can be simulated in parts";
  if (!scenario.fabric.has_independent_switches())
    return "topology: directory_delay is needed for a run in parts: until then no switch knows what another one does";
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

using Switches = std::vector<std::size_t>;  // positions in the scenario, each once, in ascending order

Switches all_switches(const Scenario& scenario) {
  Switches all(scenario.switches.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// Which switches one part must have for a fault: those on whose links it counts frames or waits for one, with that of
/// the port that it happens to then. None where each part can judge its own frames, or all know the time.
Switches needed_by(const Scenario& scenario, const FaultSpec& fault) {
  if (fault.at || (!fault.event && counts_nothing(fault.rule))) return {};
  if (fault.event && is_of_fabric(*fault.event)) return all_switches(scenario);
  std::vector<std::size_t> ports = ports_of(scenario, fault.rule.match);
  if (fault.event) ports.push_back(fault.event->port);
  std::set<std::size_t> needed;
  for (const std::size_t port : ports) needed.insert(scenario.ports[port].at_switch);
  return {needed.begin(), needed.end()};
}

// --- groups ------------------------------------------------------------------------------------------------------

/// Switches that one part has together. A group is known by the first of its switches.
class Groups {
 public:
  explicit Groups(const Scenario& scenario) : first_(all_switches(scenario)) {
    for (const FaultSpec& fault : scenario.faults) join(needed_by(scenario, fault));
  }
  [[nodiscard]] std::size_t first_of(std::size_t index) const { return first_[index]; }

 private:
  void join(const Switches& switches) {
    for (const std::size_t other : switches) join(first_[switches.front()], first_[other]);
  }
  void join(std::size_t one, std::size_t other) {
    if (one != other) std::ranges::replace(first_, std::max(one, other), std::min(one, other));
  }
  std::vector<std::size_t> first_;  // by switch: the first of its group
};

/// By switch: the ports and switches of the group that it is the first of, else 0.
std::vector<std::size_t> weights_of(const Scenario& scenario, const Groups& groups) {
  std::vector<std::size_t> weights(scenario.switches.size());
  for (std::size_t i = 0; i < weights.size(); ++i) ++weights[groups.first_of(i)];
  for (const PortSpec& port : scenario.ports) ++weights[groups.first_of(port.at_switch)];
  return weights;
}

}  // namespace

std::string why_not_in_parts(const Scenario& scenario, std::size_t parts) {
  if (parts > scenario.switches.size())
    return "topology: " + std::to_string(scenario.switches.size()) + " switches cannot be shared by " +
           std::to_string(parts) + " parts";
  return why_not_for(scenario);
}

std::vector<std::string> why_together(const Scenario& scenario) {
  std::vector<std::string> reasons;
  for (const FaultSpec& fault : scenario.faults) {
    const std::size_t count = needed_by(scenario, fault).size();
    if (count < 2) continue;
    const std::string what = count == scenario.switches.size() ? "all switches" : std::to_string(count) + " switches";
    reasons.push_back(fault.where + (fault.event ? ": waits for" : ": counts") + " frames of " + what +
                      ": one part simulates them together");
  }
  return reasons;
}

std::vector<std::size_t> parts_of_switches(const Scenario& scenario, std::size_t parts) {
  const Groups groups(scenario);
  const std::vector<std::size_t> weights = weights_of(scenario, groups);
  std::vector<std::size_t> chosen(weights.size());
  std::size_t left = scenario.ports.size() + weights.size(), part = 0, taken = 0;
  auto groups_left = static_cast<std::size_t>(std::ranges::count_if(weights, [](std::size_t one) { return one != 0; }));
  for (std::size_t i = 0; i < weights.size(); ++i) {
    chosen[i] = chosen[groups.first_of(i)];
    if (groups.first_of(i) != i) continue;
    const std::size_t parts_left = parts - part;
    const bool enough = taken != 0 && (taken + weights[i] / 2) * parts_left > left;
    if (parts_left > 1 && taken != 0 && (enough || groups_left < parts_left)) {
      left -= taken;
      taken = 0;
      ++part;
    }
    taken += weights[i];
    chosen[i] = part;
    --groups_left;
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
