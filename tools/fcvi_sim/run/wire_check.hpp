// Are the IUs on the wire those that the scenario expects, in its order?
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/fcvi_sim/run/results.hpp"

namespace sim {

/// What `wire` is about: wire_messages; none named: IUs of FC-VI and basic link services. `bytes`: the frame's.
bool counts_on_wire(const Expectations& expectations, const faults::FrameFacts& facts,
                    std::span<const std::uint8_t> bytes);

struct WireDifference {
  std::string what, expected, got;
};
/// The first difference. Pre: expectations.wire is set.
std::optional<WireDifference> compare_wire(const Scenario& scenario, const std::vector<WireIu>& seen);

/// "12.345 us client -> server FCVI_CONNECT_RESP1 [RETRY CONN_STS] Connect Timeout, lost"
std::string describe_iu(const Scenario& scenario, const WireIu& iu);

}  // namespace sim
