// Scenarios of two ports, to which a test adds what it is about.
#pragma once
#include <string>

#include "tools/fcvi_sim/scenario/loader.hpp"

namespace sim::test {

inline constexpr const char* two_ports = R"(name: t
topology: {line_rate: 8GFC, latency: 1us}
ports:
  - {name: a, ulp_timeout: 10ms}
  - {name: b, ulp_timeout: 10ms}
)";
inline constexpr const char* connection = R"(workloads:
  - {name: w, client: a, server: b, transfers: [{operation: send, data: {random: 6KiB}, message_bytes: 2KiB}]}
)";

inline settings::Result<Scenario> read(const std::string& text) { return read_scenario(text, "s.yaml", "", {}); }
/// What is wrong with that fault.
inline std::string error_of(const std::string& fault) {
  const auto scenario = read(std::string(two_ports) + "faults:\n  - " + fault + "\n");
  return scenario ? "no error" : scenario.error().message;
}

}  // namespace sim::test
