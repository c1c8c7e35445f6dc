// Octets on their way between a stream and memory, for one call of one stream. Nothing rests here but in `places`.
#pragma once
#include <array>

#include "iwarp/octet_places.hpp"
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
  static constexpr std::size_t out_cuts = 128;
  std::array<std::size_t, out_cuts> cuts{};  // of `pieces`, the first of each that begins a segment
  OctetPlaces places;                        // of frames that are not whole, and of batches that streams have not taken
};

}  // namespace iwarp
