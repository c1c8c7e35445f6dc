// What is left of a failure: the scenario that was drawn, one as small as can be, its capture, ladder and report.
#pragma once
#include <csignal>
#include <functional>
#include <string>

#include "tools/fcvi_sim/soak/trial.hpp"

namespace sim::soak {

struct Found {
  std::string text;     // of the scenario that fails
  Outcome outcome;      // its failure
  std::string command;  // that runs it again, for the file that says what happened
};

struct Left {
  std::string text = {};   // of the smallest scenario that fails in the same way
  std::size_t trials = 0;  // how many others were run for it
  bool again = true;       // it failed again, in the same way; else nothing was shrunk
  std::string cut = {};    // why there may be a smaller one; else empty
  std::string what = {};   // that happens in it
  std::string files = {};  // that are there: "scenario.yaml, minimal.yaml, ..."
  std::string error = {};  // what could not be written; else empty
};

/// For whoever waits: how many runs there were.
using TellTrials = std::function<void(std::size_t trials)>;

/// Shrinks it and writes into `folder`, which is made: scenario.yaml, minimal.yaml, failure.txt, and of the minimal one
/// capture.pcapng, ladder.svg, report.html as far as its process came. `stop` not 0: it stays as it is by then, and
/// after 10 minutes. What does not fail again is left as it is.
/// Each run is a process of its own.
Left shrink_and_leave(const Found& found, const std::string& folder, const volatile std::sig_atomic_t& stop,
                      const TellTrials& tell);

}  // namespace sim::soak
