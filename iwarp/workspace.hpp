// Octets on their way between a stream and memory, for one call of one stream: nothing rests here.
#pragma once
#include <array>

#include "wire/bytes.hpp"

namespace iwarp {

/// One for all streams of a core.
struct Workspace {
  static constexpr std::size_t in_octets = 131'072;  // the largest FPDU, and as much again
  static constexpr std::size_t out_octets = 32'768;  // headers, markers, trailers
  static constexpr std::size_t out_pieces = 640;     // one ULPDU of 65,535 octets with markers has fewer than 400
  std::array<std::uint8_t, in_octets> in{};
  std::array<std::uint8_t, out_octets> out{};
  std::array<wire::Bytes, out_pieces> pieces{};
};

}  // namespace iwarp
