// What an expectation allows: a number or a time between two limits, both included.
#pragma once
#include <cstdint>
#include <limits>
#include <string>

#include "runtime/time.hpp"

namespace sim {

/// Of a number.
struct Bound {
  std::uint64_t min = 0;
  std::uint64_t max = std::numeric_limits<std::uint64_t>::max();
  [[nodiscard]] bool holds(std::uint64_t value) const { return value >= min && value <= max; }
};
/// "exactly 3", "at least 3", "at most 3", "3 to 5".
std::string to_string(const Bound& bound);

/// Of a time.
struct TimeBound {
  runtime::TimeNs min = 0, max = runtime::never;
  [[nodiscard]] bool holds(runtime::TimeNs value) const { return value >= min && value <= max; }
};
std::string to_string(const TimeBound& bound);

/// Of a share from 0 to 1.
struct ShareBound {
  double min = 0, max = 1;
  [[nodiscard]] bool holds(double value) const { return value >= min && value <= max; }
};
/// "at least 0.900".
std::string to_string(const ShareBound& bound);
/// "0.987"
std::string format_share(double share);

}  // namespace sim
