// One run in parts that go on in step: conservative windows. A window is as long as the look-ahead: what a part does in
// it concerns no other part before it is over. Between two windows the parts exchange what concerns them in the next.
#pragma once
#include <cstdint>
#include <string>

#include "fc2_fabric/frame/capture.hpp"
#include "tools/fcvi_sim/host/content.hpp"
#include "tools/fcvi_sim/parts/exchange.hpp"
#include "tools/fcvi_sim/picture/ladder.hpp"
#include "tools/fcvi_sim/run/record.hpp"
#include "tools/fcvi_sim/run/results.hpp"

namespace sim {

struct PartOptions {
  bool captures = false;            // the same in all parts
  fc2::Capture* capture = nullptr;  // at part 0: gets the frames of all parts
  bool ladders = false;             // the same in all parts
  Ladder* ladder = nullptr;         // at part 0: draws what all parts saw
  bool check = false;               // see Outputs
  bool reports = false;             // the same in all parts; with captures
  RunRecord* record = nullptr;      // at part 0: gets what all parts noted
};

struct PartedResult {
  RunResult result;  // at part 0: of the whole run, as if it had been in one part. Elsewhere of no use
  std::uint64_t windows = 0;
  runtime::TimeNs look_ahead = 0;
  runtime::TimeNs start = 0;  // Simulation::start()
  /// The run cannot be used: "frames: no room for a temporary file".
  std::string error = {};
};

/// Simulates this part, by the exchange, from the beginning to the end. Pre: why_not_in_parts() said nothing, to all
/// parts, of the same scenario. Throws PartLost.
PartedResult run_part(const Scenario& scenario, const ContentStore& contents, Exchange& exchange,
                      const PartOptions& options);

/// The same, all parts: each a thread of this process. Throws what a part throws.
PartedResult run_in_threads(const Scenario& scenario, const ContentStore& contents, std::size_t parts,
                            const PartOptions& options);

}  // namespace sim
