// Many seeds, by several processes and ranks. What comes of it does not depend on how many there are.
#pragma once
#include <chrono>
#include <cstdint>
#include <csignal>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/fcvi_sim/share/hands.hpp"
#include "tools/fcvi_sim/soak/trial.hpp"

namespace sim::soak {

struct Failure {
  std::uint64_t seed = 0;
  std::string kind, what;  // as Outcome
  friend bool operator==(const Failure&, const Failure&) = default;
};

/// Of all seeds from the first to the one before `next`, in their order.
struct Totals {
  std::uint64_t next = 1;
  std::uint64_t runs = 0, frames = 0;
  std::uint64_t digest = 0;  // of the digests
  std::vector<Failure> failures;
  friend bool operator==(const Totals&, const Totals&) = default;
};

struct Plan {
  static constexpr std::uint64_t no_end = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t last = no_end;    // the last seed
  std::size_t most_failures = 1;  // ends it
  std::optional<std::chrono::steady_clock::time_point> until = {};
};

/// Called in processes of the campaign's own, which it may end.
using RunSeed = std::function<Outcome(std::uint64_t seed)>;
/// The seeds are pieces of a work that ranks share.
share::Run as_pieces(RunSeed run);

class Campaign {
 public:
  /// Goes on behind `done`.
  Campaign(Plan plan, Totals done, RunSeed run, const share::Team& team);
  Campaign(const Campaign&) = delete;
  Campaign& operator=(const Campaign&) = delete;

  /// Called now and then, and at the end.
  using Tell = std::function<void(const Totals& totals)>;
  /// Until the last seed, or enough failures, or the time is over, or `stop` is not 0: then what was begun is finished;
  /// from 2 on, it is not. The other ranks go at its end. Throws std::runtime_error where no process can be started.
  const Totals& carry_out(const Tell& tell, const volatile std::sig_atomic_t& stop);
  /// Who did how much, where ranks share the seeds; else empty.
  [[nodiscard]] std::string shares() const { return hands_.summary(); }
  /// Every seed was run, or there were enough failures.
  [[nodiscard]] bool is_complete() const { return is_enough() || totals_.next > plan_.last; }

 private:
  [[nodiscard]] bool is_enough() const { return totals_.failures.size() >= plan_.most_failures; }
  [[nodiscard]] bool has_work() const;
  [[nodiscard]] share::Pieces next_work();
  void hand_out();
  [[nodiscard]] bool wait_for_results();
  void merge();

  const Plan plan_;
  Totals totals_;
  share::Hands hands_;
  std::uint64_t fresh_;                     // the first that nobody was given
  std::map<std::uint64_t, Outcome> early_;  // by seed: some before them are missing
};

}  // namespace sim::soak
