// The names of the reasons for which a port or a switch discards a frame: those of fc2::Discard and fcvi::Discard; and
// for which a host refuses a VI segment or a stream: those of vitcp::Refusal, and the fields of wire::vitcp::refusals.
#pragma once
#include <string_view>
#include <vector>

namespace sim {

/// Every name that an expectation may use; each is good for ever.
std::vector<std::string_view> known_discard_names();

}  // namespace sim
