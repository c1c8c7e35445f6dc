// Pieces of the one-line texts that to_string and describe make.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "wire/bytes.hpp"

namespace wire::text {

/// `digits` upper-case hexadecimal digits, without prefix or suffix.
[[nodiscard]] std::string hex(std::uint64_t value, unsigned digits);
/// As hex, with the standard's "h": "0840h".
[[nodiscard]] std::string hex_h(std::uint64_t value, unsigned digits);
/// Two digits a byte; "0" where all bytes are zero; at most 32 bytes, then "...".
[[nodiscard]] std::string bytes(Bytes value);
/// Printable ASCII as it is, anything else as '.', within double quotes.
[[nodiscard]] std::string quoted(Bytes value);
/// Appends " name=value".
void append(std::string& line, std::string_view name, std::string_view value);
/// Appends " flag" if set.
void append_flag(std::string& line, bool set, std::string_view flag);
/// What enum to_string functions return for a value that the standard does not name.
inline constexpr std::string_view unknown = "unknown";

}  // namespace wire::text
