// What a run notes for a report besides frames.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "runtime/time.hpp"

namespace sim {

/// An endpoint's state, as VI-ARCH 5 and FC-VI 8.2 name them.
struct StateChange {
  runtime::TimeNs at = 0;  // of the simulation's clock
  std::size_t port = 0;
  std::string connection;
  std::string_view from, to;
};

struct RunRecord {
  std::vector<StateChange> states;
};

}  // namespace sim
