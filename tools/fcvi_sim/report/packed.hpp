// Data of a page as it carries them: pieces that the browser takes apart one by one, when they are asked for.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sim::report {

/// DEFLATE (RFC 1951), then base64. The same bytes give the same text.
[[nodiscard]] std::string packed(std::string_view data);

/// Lists of fields in each piece, and frames in each piece of what frames have.
inline constexpr std::size_t lists_in_a_piece = 4000, frames_in_a_piece = 1000;

/// A list of fields: the number of its shape and its values, each as JSON, with separators between them.
inline constexpr char list_separator = '\x1f';
/// A line for each piece, which is JSON: {"shapes": of each list, "columns": by shape, of each field its values}.
[[nodiscard]] std::string packed_lists(const std::vector<std::string>& lists);

/// A line for each piece: what the number of the next new list is, then of each frame its lists: a number, or nothing
/// where it is the next new one.
[[nodiscard]] std::string packed_numbers(const std::vector<std::vector<std::uint32_t>>& lists_of_frames);

/// A line for each piece: the bytes of its frames, one behind the other. From the first ones of a frame, which are
/// headers, those of the frame before it in the piece that is as long are subtracted.
inline constexpr std::size_t header_bytes = 64;
[[nodiscard]] std::string packed_frames(std::span<const std::uint8_t> bytes, std::span<const std::uint32_t> lengths);

}  // namespace sim::report
