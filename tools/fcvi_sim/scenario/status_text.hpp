// Error bits of a descriptor's status, as scenarios name them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sim {

/// "success", "format_error", "length_error and partial_error".
std::string status_text(std::uint32_t error_bits);
/// The bit of that name; "success": 0. nullopt: no such name.
std::optional<std::uint32_t> find_status(std::string_view name);
std::vector<std::string_view> status_names();

}  // namespace sim
