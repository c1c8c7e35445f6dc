// The fault rules of the service, for programs and for people.
#pragma once
#include <boost/json.hpp>

#include <string>
#include <vector>

#include "tools/fabricd/live_faults.hpp"

namespace fabricd {

/// An array of objects: id, rule, matched, fired, miss (only where it never fired), any_port, links.
[[nodiscard]] boost::json::array to_array(const std::vector<LiveFaults::State>& states);
/// Some lines for each; throws where the array is not such a one.
[[nodiscard]] std::string text_of_faults(const boost::json::array& rules);

}  // namespace fabricd
