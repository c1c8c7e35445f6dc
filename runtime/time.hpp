// The one clock of everything above: nanoseconds. A driver decides how time passes (virtual, or real).
#pragma once
#include <cstdint>
#include <limits>

namespace runtime {

/// Nanoseconds of the runtime's clock. Never negative, never starts at zero (a zero shows an uninitialised time).
using TimeNs = std::int64_t;
inline constexpr TimeNs never = std::numeric_limits<TimeNs>::max();
inline constexpr TimeNs microsecond = 1'000, millisecond = 1'000'000, second = 1'000'000'000;

}  // namespace runtime
