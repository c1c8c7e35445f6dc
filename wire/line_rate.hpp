// Line rates of Fibre Channel (FC-PI), by the names that people write.
#pragma once
#include <cstdint>
#include <string_view>

namespace wire {

/// In bytes per second of frame data: "1GFC" to "128GFC"; 0 for an unknown name.
std::uint64_t line_rate_bytes_per_second(std::string_view name);

}  // namespace wire
