// Did the run do what the scenario expects?
#pragma once
#include <string>
#include <vector>

#include "tools/fcvi_sim/run/results.hpp"

namespace sim {

/// One expectation, and what was seen.
struct Verdict {
  bool held = true;
  std::string what, expected, got;
  std::size_t conditions = 1;  // the IUs that `wire` lists are judged together
};

struct Verdicts {
  std::size_t checked = 0;            // conditions of all
  std::vector<Verdict> all;           // in the order of the scenario
  std::vector<std::string> failures;  // "WHAT: expected X, got Y"
};

Verdicts check_expectations(const Scenario& scenario, const RunResult& result);
/// The members of the group that did what `expect` says of each, but those with an expectation of their own.
std::vector<std::string> survivors_of(const Scenario& scenario, const RunResult& result, const WorkloadGroup& group);

}  // namespace sim
