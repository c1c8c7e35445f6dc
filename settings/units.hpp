// Numbers with units, as scenarios and configurations write them and as summaries show them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/scheduler.hpp"

namespace settings {

/// "65536", "0x10000": decimal or hexadecimal, nothing else.
std::optional<std::uint64_t> parse_number(std::string_view text);
/// "2048", "64KiB", "1.5 MiB", units B KiB MiB GiB; a number without unit is bytes. Whole bytes only.
std::optional<std::uint64_t> parse_bytes(std::string_view text);
/// "500ns", "1.5 ms", units ns us ms s; the unit is required except after 0. Whole nanoseconds only.
std::optional<runtime::TimeNs> parse_duration(std::string_view text);
/// "16GFC", "100MB/s", "425000000" (bytes per second; units B/s kB/s MB/s GB/s), "unlimited" (0).
std::optional<std::uint64_t> parse_line_rate(std::string_view text);

/// "0 B", "2047 B", "64 KiB", "6.5 MiB": exact if it is a whole number of the unit, else with one decimal.
std::string format_bytes(std::uint64_t bytes);
/// "0 ns", "850 ns", "12.345 us", "1.000 ms", "2.500 s".
std::string format_duration(runtime::TimeNs duration);
/// "1.58 GB/s" (decimal, as line rates); "-" if no time passed.
std::string format_rate(std::uint64_t bytes, runtime::TimeNs duration);
/// 1234567 as "1,234,567".
std::string format_count(std::uint64_t count);

}  // namespace settings
