// How long to sleep between two looks at MPI, which has nothing to wait for with poll().
#pragma once
#include <algorithm>

namespace sim::share {

/// Short while things come, longer while nothing does: who waits should take no processor from those who work.
class Pause {
 public:
  static constexpr int shortest_ms = 1, longest_ms = 8;
  /// Something came since the last one, or nothing did.
  int after(bool something_came) {
    next_ms_ = something_came ? shortest_ms : std::min(2 * next_ms_, longest_ms);
    return next_ms_;
  }

 private:
  int next_ms_ = shortest_ms;
};

}  // namespace sim::share
