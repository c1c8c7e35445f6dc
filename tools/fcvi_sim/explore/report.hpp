// The output of an exploration.
#pragma once
#include <string>

#include "tools/fcvi_sim/explore/explore.hpp"

namespace sim::explore {

/// How many runs of which kind; for each broken invariant the shortest list of faults, its diagram, and the command
/// that runs it again. `path`: the scenario's, as given on the command line.
std::string report(const Scenario& scenario, const std::string& path, const Findings& findings);
/// The same for one run with the given faults.
std::string report_run(const Record& record, const std::vector<Violation>& violations, const Ladder& ladder,
                       runtime::TimeNs start);
/// "fcvi-sim explore quick.yaml --fault lose:3".
std::string replay_command(const std::string& path, const FaultList& faults);
/// A ladder diagram as text: a line for each message, fault and change of state.
std::string to_text(const Ladder& ladder, runtime::TimeNs start);

}  // namespace sim::explore
