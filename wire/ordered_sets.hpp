// The delimiters of a frame as ordered sets of four bytes (FC-FS), as link type 225 of captures has them.
#pragma once
#include <optional>

#include "wire/bytes.hpp"
#include "wire/delimiters.hpp"

namespace wire {

/// nullopt: no SOF, or no EOF, of either running disparity.
[[nodiscard]] std::optional<Sof> sof_of_ordered_set(std::span<const std::uint8_t, 4> set);
[[nodiscard]] std::optional<Eof> eof_of_ordered_set(std::span<const std::uint8_t, 4> set);
/// The link marked the frame as invalid: no port takes it.
[[nodiscard]] constexpr bool is_invalid(Eof eof) {
  return eof == Eof::ni || eof == Eof::dti || eof == Eof::rti || eof == Eof::a;
}

}  // namespace wire
