// What became of speculative placement (IFT 8; ift_speculation.hpp).
#pragma once
#include <cstdint>

namespace iwarp {

/// Frames that were found in early segments, by what became of them.
struct SpeculationCounts {
  std::uint64_t placed = 0;
  // Each of these becomes, in its turn:
  std::uint64_t right = 0;
  std::uint64_t misaligned = 0;   // no frame begins there
  std::uint64_t overwritten = 0;  // something was placed there in order meanwhile, or the buffer was given away anew
  std::uint64_t elsewhere = 0;    // it belongs somewhere else now, or nowhere
  // Not placed early, by the first reason:
  std::uint64_t no_frame = 0;      // the IFT header or its VTag is none, or a CRC is wrong
  std::uint64_t not_whole = 0;     // part of it is missing yet
  std::uint64_t refused = 0;       // a field of the DDP header, or what follows from it
  std::uint64_t written = 0;       // memory there was written, or track of it was lost
  std::uint64_t without_room = 0;  // too many are placed already
};

}  // namespace iwarp
