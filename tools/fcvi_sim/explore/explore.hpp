// Runs a scenario with every way to lose, duplicate, delay or reorder up to K of its frames, each in one run. Or, for
// long messages and many connections, with blocks of hundreds of frames at sampled positions.
#pragma once
#include <csignal>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/fcvi_sim/explore/world.hpp"
#include "tools/fcvi_sim/share/hands.hpp"
#include "tools/fcvi_sim/explore/invariants.hpp"

namespace sim::explore {

struct Options {
  std::size_t faults = 2;      // K
  std::uint64_t max_runs = 0;  // 0: all
  bool disorder = false;       // disorder_of_frames() instead of faults_of_frame()
  std::size_t positions =
      0;  // frames at which a fault begins: the first, the last, and as far apart as can be between; 0: every one
  std::uint64_t owners_every = 1;  // of so many runs one asks all owners after each event, the others at their end
  Sabotage sabotage = {};          // tests
};

/// The faults of one frame: every kind once, delays past each timer of the scenario.
std::vector<Fault> faults_of_frame(const Scenario& scenario);

/// The faults of a block of frames within R_A_TOV (FC-VI 8.1, 8.4.1): reversed, shuffled, seconds late, or every other
/// frame late. And those of a single frame: seconds late, overtaken by hundreds, or lost. `frame` is 0 in each.
std::vector<Fault> disorder_of_frames();

/// Over TCP, of one octet: each way to end the stream in front of it, and to hold it back past each timer of the
/// scenario; and, where both connection segments have the CRC, to change it. `frame` is 0 in each.
std::vector<Fault> faults_of_octet(const Scenario& scenario);

/// The positions among so many frames, ascending.
std::vector<std::uint32_t> positions_among(std::uint32_t frames, std::size_t positions);

struct Failure {
  FaultList faults;
  std::vector<Violation> violations;
};

/// A run that ended the process that it was in.
struct Death {
  std::string faults;  // " --fault lose:7 --fault delay:9+2s"
  std::string how;     // "died of Aborted"
};

struct Findings {
  std::uint64_t runs = 0;
  std::vector<std::uint64_t> runs_by_depth;          // [k]: with k faults
  std::uint64_t distinct_courses = 0;                // in which frames or results differ
  std::uint32_t frames = 0, most_frames = 0;         // that faults can hit: without a fault; at most
  std::uint64_t not_extended = 0;                    // runs that failed: no further fault was added
  std::uint64_t judged_for_order = 0;                // runs with faults that the invariant "order" speaks of
  bool complete = true, interrupted = false;         // neither max_runs nor somebody ended it; somebody did
  std::map<std::string, std::uint64_t> failed_runs;  // by invariant
  std::vector<Failure> failures;                     // for each invariant the shortest, then first
  std::vector<Death> deaths;                         // by piece; what else was found in the piece is lost with it
  [[nodiscard]] bool all_held() const { return failures.empty() && deaths.empty(); }
};

/// A piece of the work that ranks share: what it returns is for explore().
share::Run as_pieces(const Scenario& scenario, const Options& options);

/// Who explores, and until when.
struct Sharing {
  share::Team team = {};
  const volatile std::sig_atomic_t* stop = nullptr;  // if it is there and not 0: enough
  std::string* shares = nullptr;                     // if it is there, gets Hands::summary()
};

/// All of it; pre: this is rank 0. A run that ends its process, by an assertion or because it does not end by itself,
/// is found as a death. Throws std::runtime_error where no process can be started.
Findings explore(const Scenario& scenario, const Options& options, const Sharing& sharing = {});

}  // namespace sim::explore
