// The names under which frames are counted: those of wire::message_name.
#pragma once
#include <string_view>
#include <vector>

namespace sim {

/// Every name that an expectation may use.
std::vector<std::string_view> known_message_names();

}  // namespace sim
