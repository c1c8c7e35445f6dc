// Error bits of a descriptor's status, as scenarios name them.
#pragma once
#include <cstdint>
#include <string>

namespace sim {

/// "success", "format_error", "length_error and partial_error".
std::string status_text(std::uint32_t error_bits);

}  // namespace sim
