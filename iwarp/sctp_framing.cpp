#include "iwarp/sctp_framing.hpp"

#include <algorithm>

#include "wire/iwarp/sctp/adaptation.hpp"

namespace iwarp {
namespace {
constexpr std::size_t ssn_octets = wire::sctp::ChunkHeader::size();
}

std::size_t SctpFraming::mulpdu() const {
  const std::size_t chunk = std::min(channel_.max_chunk(), workspace_.in.size());
  return chunk > ssn_octets + most_header_bytes ? chunk - ssn_octets : most_header_bytes;
}

/// Gathered where streams would be read to: SCTP takes one piece.
void SctpFraming::add(wire::Bytes header, std::span<const wire::Bytes> payload) {
  auto at = std::copy(header.begin(), header.end(), workspace_.in.begin() + ssn_octets);
  for (const wire::Bytes piece : payload) at = std::copy(piece.begin(), piece.end(), at);
  ++counts_.sent;
  channel_.send_segment({workspace_.in.data(), static_cast<std::size_t>(at - workspace_.in.begin())});
}

Framing::Progress SctpFraming::read(streams::Stream&) {
  const wire::Bytes segment = channel_.take_segment();
  if (segment.empty()) return {.end = channel_.has_ended()};
  give(segment);
  return {.more = true};
}

void SctpFraming::give(wire::Bytes segment) {
  const std::size_t header = wire::ddp::header_bytes((segment[0] & 0x80) != 0);
  at_boundary_ = (segment[0] & 0x40) != 0;  // L
  ++counts_.received;
  sink_.ulpdu_begun(segment.first(header), segment.size() - header);
  if (segment.size() > header) sink_.payload_received(segment.subspan(header));
  sink_.ulpdu_ended();
}

}  // namespace iwarp
