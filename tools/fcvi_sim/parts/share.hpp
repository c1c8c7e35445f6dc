// Which part of a scenario's fabric is simulated here, where several share it: threads of a process, or processes.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "runtime/time.hpp"
#include "tools/fcvi_sim/scenario/scenario.hpp"

namespace sim {

/// The switches of one part, with the hosts at them. Every part has a Share of its own, made of the same scenario.
struct Share {
  std::size_t part = 0, parts = 1;
  std::vector<std::size_t> part_of_switch;  // by position in the scenario

  [[nodiscard]] std::size_t part_of(const PortSpec& port) const { return part_of_switch[port.at_switch]; }
  [[nodiscard]] bool has_switch(std::size_t index) const { return part_of_switch[index] == part; }
  [[nodiscard]] bool has(const PortSpec& port) const { return part_of(port) == part; }
};

/// Why the scenario cannot be simulated in so many parts: "topology: ...", to be read behind the file's name. Empty: it
/// can. No result depends on the number of parts.
[[nodiscard]] std::string why_not_in_parts(const Scenario& scenario, std::size_t parts);

/// Switches that must be in one part, since no part can know of the others' frames in time: a line of each fault that
/// makes it so ("FILE:LINE: counts frames of 2 switches: ..."). Empty: each switch may be in a part of its own.
[[nodiscard]] std::vector<std::string> why_together(const Scenario& scenario);

/// Switches in their order, so that all parts have about as many ports; those that must be together in the part of the
/// first of them. Parts may stay empty then, the last ones. Pre: why_not_in_parts() said nothing.
[[nodiscard]] std::vector<std::size_t> parts_of_switches(const Scenario& scenario, std::size_t parts);

/// Until all parts know that the programs of all have ended, after the last did: not shorter than the look-ahead of any
/// number of parts. Without independent switches of no use.
[[nodiscard]] runtime::TimeNs time_to_know(const Scenario& scenario);

/// The look-ahead: what one part does at a time concerns no other sooner than this later. The shortest latency of the
/// ISLs between parts, or of the directory; > 0.
[[nodiscard]] runtime::TimeNs look_ahead(const Scenario& scenario, const std::vector<std::size_t>& part_of_switch);

}  // namespace sim
