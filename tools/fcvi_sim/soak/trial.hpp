// One scenario, run and judged: a safety phase under its own faults with the checker of `explore`, healing, then a
// deadline for liveness.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "fc2_fabric/frame/capture.hpp"
#include "fc2_fabric/frame/frame.hpp"
#include "tools/fcvi_sim/scenario/scenario.hpp"

namespace sim::soak {

struct Outcome {
  std::uint64_t frames = 0;
  std::uint64_t digest = 0;  // of all frames and results: the same run, the same number
  std::string kind = {};     // of its failure, the invariant that broke first or how the process died; empty: it passed
  std::string what = {};     // a line for each thing that was wrong
  /// By position in the scenario's faults: of the frames that matched those that it befell, from 1.
  std::vector<std::vector<std::uint64_t>> turns = {};
  [[nodiscard]] bool passed() const { return kind.empty(); }
};

/// The same of two runs whose first failure is the same: the invariant, the side and the words, without numbers, units
/// and the name of the connection.
std::string signature(const Outcome& outcome);

/// What a scenario must be to be judged; empty: it is. The programs of an exploration keep all that they receive, and
/// its faults come to an end, as those do that are drawn: so that sound code passes.
std::string unsuitable(const Scenario& scenario);

/// `pool` serves one run after another; `capture` may be nullptr. Pre: unsuitable() is empty. An assertion ends the
/// process: see in_child().
Outcome judged(const Scenario& scenario, fc2::FramePool& pool, fc2::Capture* capture = nullptr);
/// Of a scenario's text. What cannot be read fails, of kind "bad scenario".
Outcome judged(const std::string& text, fc2::FramePool& pool, fc2::Capture* capture = nullptr);

}  // namespace sim::soak
