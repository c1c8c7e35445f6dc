// Did the run do what the scenario expects?
#pragma once
#include <string>
#include <vector>

#include "tools/fcvi_sim/run/results.hpp"

namespace sim {

struct Verdicts {
  std::size_t checked = 0;
  std::vector<std::string> failures;  // "WHAT: expected X, got Y"
};

Verdicts check_expectations(const Scenario& scenario, const RunResult& result);

}  // namespace sim
