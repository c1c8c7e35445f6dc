#include "iwarp/stream_framing.hpp"

#include <algorithm>
#include <array>

namespace iwarp {

bool StreamFraming::parts_are_consistent() const {
  return batch_.is_consistent() && (payload_left_ == 0 || stage_ == Stage::payload) && (whole_ || kept_ == 0) &&
         (kept_ == 0) == place_.is_empty() && kept_ <= place_.octets().size() &&
         (rest_extent_ == 0 || (kept_ < rest_extent_ && rest_extent_ <= place_.octets().size()));
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
  release_frame();
  stage_ = Stage::header;
  collected_ = payload_left_ = 0;
  sink_.framing_failed(error);
}

Framing::Progress StreamFraming::read_whole(streams::Stream& stream) {
  if (rest_extent_ != 0) return read_rest_of_frame(stream);
  std::copy_n(place_.octets().begin(), kept_, workspace_.in.begin());
  const wire::MutableBytes room = wire::MutableBytes(workspace_.in).subspan(kept_);
  const streams::ReadResult result = stream.read(room);
  take_frames(wire::MutableBytes(workspace_.in).first(kept_ + result.octets));
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

/// A large frame of which much is there gets a place of its size, where the rest is read to; a few octets, however
/// large their frame may be, a small one: a peer that stops there makes nobody hold more.
void StreamFraming::keep(wire::Bytes octets) {
  if (octets.empty()) return release_frame();
  kept_ = octets.size();
  rest_extent_ = kept_ <= OctetPlaces::small_octets ? 0 : frame_extent(octets);
  workspace_.places.need(place_, std::max(kept_, rest_extent_));
  std::copy(octets.begin(), octets.end(), place_.octets().begin());
}

void StreamFraming::release_frame() {
  workspace_.places.give_back(place_);
  kept_ = rest_extent_ = 0;
}

/// Each octet comes to its frame from the stream, and from there to its place. Little is read behind it, since that
/// would be copied once more.
Framing::Progress StreamFraming::read_rest_of_frame(streams::Stream& stream) {
  const wire::MutableBytes frame = place_.octets().first(rest_extent_);
  const wire::MutableBytes rest = frame.subspan(kept_);
  const wire::MutableBytes behind = wire::MutableBytes(workspace_.in).first(ahead_octets);
  const std::array<wire::MutableBytes, 2> pieces{rest, behind};
  const streams::ReadResult result = stream.read(pieces);
  if (result.octets < rest.size()) {
    kept_ += result.octets;
    return {false, result.end};
  }
  const std::size_t taken = take_whole(frame);
  release_frame();
  if (taken != 0) take_frames(behind.first(result.octets - rest.size()));
  return {result.octets == rest.size() + behind.size(), result.end};
}

}  // namespace iwarp
