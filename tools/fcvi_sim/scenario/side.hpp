// The two ends of a workload.
#pragma once
#include <cstdint>

namespace sim {

enum class Side : std::uint8_t { Client, Server };
constexpr Side other(Side side) { return side == Side::Client ? Side::Server : Side::Client; }

}  // namespace sim
