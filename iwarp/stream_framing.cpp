#include "iwarp/stream_framing.hpp"

#include <algorithm>

namespace iwarp {

bool StreamFraming::parts_are_consistent() const {
  return batch_.is_consistent() && (payload_left_ == 0 || stage_ == Stage::payload) && (whole_ || kept_.empty());
}

Framing::Progress StreamFraming::read(streams::Stream& stream) {
  if (failed_) return drop(stream);
  return whole_ ? read_whole(stream) : read_straight(stream);
}

Framing::Progress StreamFraming::drop(streams::Stream& stream) {
  const streams::ReadResult result = stream.read(wire::MutableBytes(workspace_.in));
  return {result.octets == workspace_.in.size(), result.end};
}

void StreamFraming::fail(wire::mpa::ErrorCode error) {
  failed_ = true;
  kept_ = {};
  stage_ = Stage::header;
  collected_ = payload_left_ = 0;
  sink_.framing_failed(error);
}

Framing::Progress StreamFraming::read_whole(streams::Stream& stream) {
  std::copy(kept_.begin(), kept_.end(), workspace_.in.begin());
  const wire::MutableBytes room = wire::MutableBytes(workspace_.in).subspan(kept_.size());
  const streams::ReadResult result = stream.read(room);
  wire::MutableBytes octets = wire::MutableBytes(workspace_.in).first(kept_.size() + result.octets);
  while (!failed_) {
    const std::size_t here = take_whole(octets);
    if (here == 0) break;
    octets = octets.subspan(here);
  }
  // Memory is given back where nothing is kept.
  if (!failed_) octets.empty() ? static_cast<void>(kept_ = {}) : kept_.assign(octets.begin(), octets.end());
  return {result.octets == room.size(), result.end};
}

}  // namespace iwarp
