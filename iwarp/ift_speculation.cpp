#include "iwarp/ift_speculation.hpp"

#include <algorithm>

namespace iwarp {
namespace ift = wire::ift;

IftSpeculation::~IftSpeculation() {
  for (const auto& [at, frame] : waiting_) written_.end_early(frame.placement);
}

/// A segment may also bring what an earlier guess still lacked.
void IftSpeculation::look(streams::EarlyOctets& early) {
  while (const auto segment = early.next_segment()) {
    guesses_.erase(guesses_.begin(), guesses_.upper_bound(early.position()));
    guess_later(*segment);
    for (const std::uint64_t guess : std::exchange(guesses_, {})) place_from(early, guess);
  }
}

/// One frame after the other, as far as there are any.
void IftSpeculation::place_from(streams::EarlyOctets& early, std::uint64_t at) {
  while (const std::size_t octets = place_one(early, at)) at += octets;
}

/// Octets of the frame that begins there, placed or not; 0: none begins there, or it is not whole.
std::size_t IftSpeculation::place_one(streams::EarlyOctets& early, std::uint64_t at) {
  if (const auto known = waiting_.find(at); known != waiting_.end()) return known->second.octets;
  const std::size_t extent = extent_at(early, at);
  if (extent == 0) return 0;
  const wire::Bytes octets =
      wire::Bytes(workspace_.in).first(early.peek(at, wire::MutableBytes(workspace_.in).first(extent)));
  const auto frame = ift::Frame::parse(octets, in_);
  if (!frame && frame.error().code == wire::ParseCode::truncated) {
    ++counts_.not_whole;
    return guess_later(at), 0;
  }
  if (!frame) return ++counts_.no_frame, 0;
  place(early, at, octets, *frame);
  return extent;
}

/// As its sizes say; 0: they are not there, or are none.
std::size_t IftSpeculation::extent_at(streams::EarlyOctets& early, std::uint64_t at) {
  const wire::MutableBytes room = wire::MutableBytes(workspace_.in).first(ift::FrameHeader::size());
  const auto sizes = ift::FrameHeader::parse(room.first(early.peek(at, room)));
  if (sizes && sizes->vtag == in_.vtag) return sizes->frame_bytes(in_);
  if (!sizes && sizes.error().code == wire::ParseCode::truncated)
    guess_later(at);
  else
    ++counts_.no_frame;
  return 0;
}

void IftSpeculation::guess_later(std::uint64_t at) {
  if (guesses_.size() < most_guesses) guesses_.insert(at);
}

void IftSpeculation::place(streams::EarlyOctets& early, std::uint64_t at, wire::Bytes octets, const ift::Frame& frame) {
  Waiting waiting{
      .octets = octets.size(), .header_octets = frame.header.size(), .payload_octets = frame.payload.size()};
  std::copy_n(octets.begin() + ift::FrameHeader::size(), waiting.header_octets, waiting.header.begin());
  const WrittenOctets::Pieces pieces = room_for(waiting.ddp_header(), waiting.payload_octets);
  if (pieces.empty()) return ++counts_.refused, void();
  if (!written_.may_place_early(pieces)) return ++counts_.written, void();
  if (waiting_.size() >= most_frames) return ++counts_.without_room, void();
  wire::Bytes payload = frame.payload;
  for (const wire::MutableBytes piece : pieces) {
    std::copy_n(payload.begin(), piece.size(), piece.begin());
    payload = payload.subspan(piece.size());
  }
  waiting.placement = written_.place_early(pieces);
  early.let_go(at, waiting.octets);
  waiting_.emplace(at, waiting);
  ++counts_.placed;
}

WrittenOctets::Pieces IftSpeculation::room_for(wire::Bytes ddp_header, std::size_t payload_octets) const {
  std::array<wire::MutableBytes, most_local_pieces> pieces;
  const std::size_t count = sink_.early_room(ddp_header, payload_octets, pieces);
  return {pieces.begin(), pieces.begin() + count};
}

bool IftSpeculation::is_next(const streams::EarlyOctets& early) const {
  return !waiting_.empty() && waiting_.begin()->first == early.position();
}

bool IftSpeculation::is_right(const Waiting& frame, bool at_boundary) {
  if (!at_boundary) return ++counts_.misaligned, false;
  const WrittenOctets::Pieces pieces = room_for(frame.ddp_header(), frame.payload_octets);
  if (!written_.is_whole(frame.placement)) return ++counts_.overwritten, false;
  if (!written_.is_at(frame.placement, pieces)) return ++counts_.elsewhere, false;
  return ++counts_.right, true;
}

bool IftSpeculation::take_turn(streams::EarlyOctets& early, bool at_boundary) {
  const auto [at, frame] = *waiting_.begin();
  waiting_.erase(waiting_.begin());
  const bool right = is_right(frame, at_boundary);
  written_.end_early(frame.placement);
  if (!right) return early.call_back(at, frame.octets), false;
  early.pass_over(frame.octets);
  sink_.ulpdu_begun(frame.ddp_header(), frame.payload_octets);
  sink_.payload_placed(frame.payload_octets);
  sink_.ulpdu_ended();
  return true;
}

void IftSpeculation::call_back(streams::EarlyOctets& early) {
  for (const auto& [at, frame] : waiting_) {
    written_.end_early(frame.placement);
    early.call_back(at, frame.octets);
  }
  waiting_.clear();
  guesses_.clear();
}

}  // namespace iwarp
