// A scenario for every number: each option that a scenario has is drawn from it.
#pragma once
#include <cstdint>
#include <string>

namespace sim::soak {

/// YAML, as `fcvi-sim run` reads it. The same number gives the same text, on every machine. Programs, faults and sizes
/// are such that explore::check_invariants() holds for every correct implementation: what fabrics may not do (a good
/// CRC over other bytes, a frame later than R_A_TOV) is not drawn.
std::string drawn_scenario(std::uint64_t seed);

}  // namespace sim::soak
