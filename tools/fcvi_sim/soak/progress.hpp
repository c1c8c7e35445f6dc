// How far a campaign is: on a terminal a bar that changes, else a line now and then.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "tools/fcvi_sim/soak/campaign.hpp"

namespace sim::soak {

/// "[#####.....] 50 of 100 runs, 1,234 frames, 0 failures, 25 runs/s, 2 s left". `share` of all, 0 to 1.
std::string progress_line(const Totals& totals, std::optional<std::uint64_t> of_runs, double share,
                          double runs_per_second, std::optional<double> seconds_left);

class Progress {
 public:
  /// `before`: what an earlier process did. `terminal`: of standard error, to which it writes.
  Progress(const Plan& plan, const Totals& before, bool terminal);
  /// Cheap: writes only when it is time.
  void show(const Totals& totals);
  /// The bar goes away.
  void end();

 private:
  using Clock = std::chrono::steady_clock;
  [[nodiscard]] std::string line(const Totals& totals, Clock::time_point now) const;
  const Plan plan_;
  const std::uint64_t first_, runs_before_;
  const bool terminal_;
  const Clock::time_point began_ = Clock::now();
  Clock::time_point shown_ = began_;
  bool visible_ = false;
};

}  // namespace sim::soak
