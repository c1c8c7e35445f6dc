#include "iwarp/mpa_startup.hpp"

#include <algorithm>

namespace iwarp {
using wire::mpa::EnhancedData;
using wire::mpa::StartupFrame;

MpaTerms terms_of(const StartupFrame& ours, const StartupFrame& theirs, std::size_t emss) {
  const bool crc = ours.crc || theirs.crc;
  return {.out = {.markers = theirs.markers, .crc = crc}, .in = {.markers = ours.markers, .crc = crc}, .emss = emss};
}

PeerOffer offer_of(const StartupFrame& frame) { return {frame.revision, frame.enhanced, frame.private_data}; }

std::size_t depth_of(std::size_t ours, std::uint16_t theirs) {
  return theirs == EnhancedData::not_negotiated ? ours : std::min<std::size_t>(ours, theirs);
}

std::uint16_t depth_on_wire(std::size_t depth) {
  return static_cast<std::uint16_t>(std::min<std::size_t>(depth, EnhancedData::not_negotiated - 1));
}

}  // namespace iwarp
