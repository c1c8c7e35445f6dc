// A frame as a line, as a tree of all its fields, or as a line of JSON.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "tools/fcvi_sim/capture/reading.hpp"

namespace sim::capture {

enum class Style : std::uint8_t { line, tree, json };

inline constexpr std::size_t line_columns = 120;

/// At most line_columns characters, without a line end: number, seconds since the first frame, interface and direction,
/// addresses, message, and behind a bar what is unusual: "client >" was sent there, "client <" received.
[[nodiscard]] std::string line_of(const Seen& seen, const std::vector<Interface>& interfaces);
/// Several lines.
[[nodiscard]] std::string tree_of(const Seen& seen, const std::vector<Interface>& interfaces);
/// One line, RFC 8259. docs/decode.md lists its members.
[[nodiscard]] std::string json_of(const Seen& seen, const std::vector<Interface>& interfaces);
/// With dots for control characters and for what is no UTF-8: they would break the line, or do worse to a terminal.
[[nodiscard]] std::string printable(std::string_view text);
/// In quotes, with what JSON wants escaped; bytes that are no UTF-8 as U+FFFD.
[[nodiscard]] std::string json_text(std::string_view text);

}  // namespace sim::capture
