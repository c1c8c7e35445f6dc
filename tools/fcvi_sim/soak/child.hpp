// Work in a process of its own: what crashes there, or never ends, is an outcome.
#pragma once
#include <functional>
#include <string>

#include "tools/fcvi_sim/soak/trial.hpp"

namespace sim::soak {

/// As one text, for pipes.
std::string encoded(const Outcome& outcome);
Outcome decoded(const std::string& text);

/// What `work` returns, or how its process died. Its standard error goes to the file, if there is one.
Outcome in_child(const std::function<Outcome()>& work, const std::string& error_path = {});

}  // namespace sim::soak
