// Octets on their way between a stream and memory, for one call of one stream. Nothing rests here but one frame.
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
  /// A large frame of one stream that is not whole yet; the streams that find it taken keep theirs themselves. So a
  /// peer that sends a few octets of a large frame makes nobody hold its size.
  static constexpr std::size_t frame_octets = 68'608;  // the largest one, with markers
  std::array<std::uint8_t, frame_octets> frame{};
  const void* frame_owner = nullptr;
};

}  // namespace iwarp
