// The names under which frames are counted: those of wire::message_name.
#pragma once
#include <string_view>
#include <vector>

#include "tools/fcvi_sim/scenario/scenario.hpp"

namespace sim {

/// Every name that an expectation may use.
std::vector<std::string_view> known_message_names();
/// The same, and the segments of VI/TCP: what the schema allows.
std::vector<std::string_view> all_message_names();
/// Those of hosts on that topology.
std::vector<std::string_view> message_names_of(TopologyKind topology);

}  // namespace sim
