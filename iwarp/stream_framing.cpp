#include "iwarp/stream_framing.hpp"

#include <algorithm>
#include <array>

namespace iwarp {

bool StreamFraming::parts_are_consistent() const {
  return batch_.is_consistent() && (payload_left_ == 0 || stage_ == Stage::payload) &&
         (whole_ || (kept_.empty() && frame_octets_ == 0)) &&
         (frame_octets_ != 0) == (workspace_.frame_owner == this) &&
         (frame_octets_ == 0 || frame_octets_ < frame_extent_);
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
  release_frame();
  stage_ = Stage::header;
  collected_ = payload_left_ = 0;
  sink_.framing_failed(error);
}

Framing::Progress StreamFraming::read_whole(streams::Stream& stream) {
  if (frame_octets_ != 0) return read_rest_of_frame(stream);
  std::copy(kept_.begin(), kept_.end(), workspace_.in.begin());
  const wire::MutableBytes room = wire::MutableBytes(workspace_.in).subspan(kept_.size());
  const streams::ReadResult result = stream.read(room);
  take_frames(wire::MutableBytes(workspace_.in).first(kept_.size() + result.octets));
  return {result.octets == room.size(), result.end};
}

void StreamFraming::take_frames(wire::MutableBytes octets) {
  while (!failed_) {
    const std::size_t here = take_whole(octets);
    if (here == 0) break;
    octets = octets.subspan(here);
  }
  if (!failed_) keep(octets);
}

/// Memory is given back where nothing is kept.
void StreamFraming::keep(wire::Bytes octets) {
  const std::size_t extent = octets.empty() ? 0 : frame_extent(octets);
  const bool fits = extent >= direct_octets && extent <= Workspace::frame_octets;
  if (!fits || workspace_.frame_owner != nullptr)
    return octets.empty() ? static_cast<void>(kept_ = {}) : kept_.assign(octets.begin(), octets.end());
  kept_ = {};
  workspace_.frame_owner = this;
  frame_octets_ = octets.size();
  frame_extent_ = extent;
  std::copy(octets.begin(), octets.end(), workspace_.frame.begin());
}

void StreamFraming::release_frame() {
  if (workspace_.frame_owner == this) workspace_.frame_owner = nullptr;
  frame_octets_ = 0;
}

/// Each octet comes to its frame from the stream, and from there to its place. Little is read behind it, since that
/// would be copied once more.
Framing::Progress StreamFraming::read_rest_of_frame(streams::Stream& stream) {
  const wire::MutableBytes frame = wire::MutableBytes(workspace_.frame).first(frame_extent_);
  const wire::MutableBytes rest = frame.subspan(frame_octets_);
  const wire::MutableBytes behind = wire::MutableBytes(workspace_.in).first(ahead_octets);
  const std::array<wire::MutableBytes, 2> pieces{rest, behind};
  const streams::ReadResult result = stream.read(pieces);
  if (result.octets < rest.size()) {
    frame_octets_ += result.octets;
    return {false, result.end};
  }
  release_frame();
  const std::size_t taken = take_whole(frame);
  if (taken != 0) take_frames(behind.first(result.octets - rest.size()));
  return {result.octets == rest.size() + behind.size(), result.end};
}

}  // namespace iwarp
