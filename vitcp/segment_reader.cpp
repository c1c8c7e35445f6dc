#include "vitcp/segment_reader.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

#include "wire/codec.hpp"

namespace vitcp {
using wire::vitcp::FollowingHeader;
using wire::vitcp::SegmentHeader;

SegmentReader::SegmentReader(Channel& channel, SegmentSink& sink) : channel_(channel), sink_(sink) {
  if (channel.terms.crc) whole_.resize(wire::vitcp::max_segment_bytes + ahead_octets);
}

bool SegmentReader::is_consistent() const {
  return collected_ <= (channel_.terms.crc ? whole_.size() : headers_.size()) &&
         (payload_left_ == 0 || stage_ == Stage::payload);
}

SegmentReader::Progress SegmentReader::read(streams::Stream& stream) {
  if (channel_.terms.crc) return read_whole(stream);
  streams::ReadResult result;
  const std::size_t asked = read_payload(stream, result);
  faulted_ = faulted_ || result.fault;
  return {(result.octets == asked || result.fault) && !waits_, result.end, result.octets != 0};
}

/// What is left of a large payload goes to its place, with what follows in one call.
std::size_t SegmentReader::read_payload(streams::Stream& stream, streams::ReadResult& result) {
  std::array<wire::MutableBytes, vi::DataCursor::Window::max_pieces + 1> pieces;
  std::size_t count = 0, direct = 0;
  if (stage_ == Stage::payload && payload_left_ >= direct_octets && !faulted_)
    count = sink_.payload_room(payload_left_, std::span(pieces).first(pieces.size() - 1));
  for (const wire::MutableBytes piece : std::span(pieces).first(count)) direct += piece.size();
  const wire::MutableBytes behind = pieces[count++] = room_behind(direct);
  result = stream.read(std::span<const wire::MutableBytes>(pieces).first(count));
  const std::size_t placed = std::min(direct, result.octets);
  if (placed != 0) {
    sink_.payload_placed(placed);
    payload_taken(placed);
  }
  take(behind.first(result.octets - placed));
  return direct + behind.size();
}

/// For what comes behind so many octets of the payload.
wire::MutableBytes SegmentReader::room_behind(std::size_t direct) const {
  const wire::MutableBytes all = channel_.services.workspace.in;
  if (large_lately_ == 0) return all;
  return all.first(std::min(all.size(), payload_left_ - direct + ahead_octets));
}

void SegmentReader::take(wire::Bytes octets) {
  while (!octets.empty() && !channel_.stopped && !waits_) octets = octets.subspan(take_some(octets));
  if (waits_) held_.assign(octets.begin(), octets.end());
}

void SegmentReader::go_on() {
  if (!std::exchange(waits_, false)) return;
  if (channel_.terms.crc) return take_collected();
  const std::vector<std::uint8_t> octets = std::exchange(held_, {});
  begin_headers();
  take(octets);
}

std::size_t SegmentReader::take_some(wire::Bytes octets) {
  wire::Bytes rest = octets;
  switch (stage_) {
    case Stage::header:
      if (collect(rest, wire::vitcp::segment_header_bytes)) header_collected();
      break;
    case Stage::rdma:
      if (collect(rest, wire::vitcp::rdma_header_bytes))
        headers_collected(wire::codec::read<wire::vitcp::RdmaHeader>(headers_.data()));
      break;
    case Stage::payload: {
      const std::size_t here = std::min(rest.size(), payload_left_);
      sink_.payload_received(rest.first(here));
      rest = rest.subspan(here);
      payload_taken(here);
      break;
    }
  }
  return octets.size() - rest.size();
}

bool SegmentReader::collect(wire::Bytes& octets, std::size_t needed) {
  const std::size_t here = std::min(octets.size(), needed - collected_);
  std::memcpy(headers_.data() + collected_, octets.data(), here);
  octets = octets.subspan(here);
  collected_ += here;
  if (collected_ < needed) return false;
  collected_ = 0;
  return true;
}

void SegmentReader::header_collected() {
  const auto parsed = SegmentHeader::parse(headers_);
  if (!parsed) return refuse(parsed.error());
  header_ = *parsed;
  waits_ = sink_.has_to_wait(header_);
  if (!waits_) begin_headers();
}

void SegmentReader::begin_headers() {
  switch (wire::vitcp::info_of(header_.type).following) {
    case FollowingHeader::none: return headers_collected({});
    case FollowingHeader::rdma: stage_ = Stage::rdma; return;
    case FollowingHeader::ce: break;
  }
  sink_.segment_begun(header_, {}, 0);
  assert(channel_.stopped && "no connection segment is taken any more");
}

void SegmentReader::headers_collected(const wire::vitcp::RdmaHeader& rdma) {
  const auto payload = header_.payload_bytes(false);
  if (!payload) return refuse(payload.error());
  if (header_.type == wire::vitcp::SegmentType::rdma_write)
    if (const auto error = rdma.extent_error(header_, *payload)) return refuse(*error);
  stage_ = Stage::payload;
  payload_left_ = *payload;
  note_size(payload_left_);
  ++channel_.services.counters.segments_received;
  sink_.segment_begun(header_, rdma, *payload);
  if (payload_left_ == 0) end_segment();
}

void SegmentReader::note_size(std::size_t octets) {
  if (octets >= direct_octets)
    large_lately_ = short_run;
  else if (large_lately_ != 0)
    --large_lately_;
}

void SegmentReader::payload_taken(std::size_t octets) {
  payload_left_ -= octets;
  channel_.services.counters.payload_octets_received += octets;
  if (payload_left_ == 0) end_segment();
}

void SegmentReader::end_segment() {
  stage_ = Stage::header;
  faulted_ = false;
  if (!channel_.stopped) sink_.segment_ended();
}

void SegmentReader::refuse(const wire::ParseError& error) {
  channel_.services.counters.refuse(error);
  sink_.refused(error);
}

// --- with the CRC --------------------------------------------------------------------------------------------------

SegmentReader::Progress SegmentReader::read_whole(streams::Stream& stream) {
  const wire::MutableBytes room = room_for_whole();
  const streams::ReadResult result = stream.read(room);
  collected_ += result.octets;
  take_collected();
  return {result.octets == room.size() && !waits_, result.end, result.octets != 0};
}

/// Of a large segment what is left, and what may follow it: more would be moved, whenever the segment is taken.
wire::MutableBytes SegmentReader::room_for_whole() {
  const wire::MutableBytes room = wire::MutableBytes(whole_).subspan(collected_);
  std::size_t left = 0;
  if (collected_ >= wire::vitcp::segment_header_bytes) {
    const std::size_t length = wire::codec::read<SegmentHeader>(whole_.data()).segment_length;
    left = length - std::min(length, collected_);
  }
  return large_lately_ == 0 ? room : room.first(std::min(room.size(), left + ahead_octets));
}

void SegmentReader::take_collected() {
  const wire::Bytes octets = wire::Bytes(whole_).first(collected_);
  std::size_t taken = 0;
  while (!channel_.stopped && !waits_) {
    const std::size_t here = take_whole(octets.subspan(taken));
    if (here == 0) break;
    taken += here;
  }
  std::memmove(whole_.data(), whole_.data() + taken, collected_ - taken);
  collected_ -= taken;
}

bool SegmentReader::awaits_rest() const { return !is_at_boundary() && !waits_ && !channel_.stopped; }

/// Ruling V-38: with the CRC its length is what was hit; else the peer has stalled.
void SegmentReader::give_up_rest() {
  channel_.services.counters.refuse(Refusal::segment_stalled);
  if (channel_.terms.crc && collected_ >= wire::vitcp::segment_header_bytes)
    sink_.segment_damaged(wire::codec::read<SegmentHeader>(whole_.data()));
  if (!channel_.stopped) sink_.refused({wire::ParseCode::bad_length, "segment_length"});
}

/// Ruling V-21: of a segment with a wrong CRC the length may have been what was hit; what stands behind it tells.
std::optional<wire::ParseError> SegmentReader::implausible(wire::Bytes octets) {
  const auto header = SegmentHeader::parse(octets);
  if (!header) return header.error();
  if (wire::vitcp::info_of(header->type).is_connection) return wire::ParseError{wire::ParseCode::bad_value, "type"};
  const auto payload = header->payload_bytes(true);
  return payload ? std::nullopt : std::optional(payload.error());
}

/// The octets of the segment that begins there; 0: it is not whole yet. Of its header the length alone is looked at.
std::size_t SegmentReader::take_whole(wire::Bytes octets) {
  if (octets.size() < wire::vitcp::segment_header_bytes) return 0;
  if (const auto error = damaged_ ? implausible(octets) : std::nullopt) return refuse(*error), 0;
  const auto header = wire::codec::read<SegmentHeader>(octets.data());
  const std::size_t length = header.segment_length;
  if (length < wire::vitcp::segment_header_bytes + wire::vitcp::trailer_bytes)
    return refuse({wire::ParseCode::bad_length, "segment_length"}), 0;
  if (octets.size() < length) return 0;
  waits_ = sink_.has_to_wait(header);
  if (waits_) return 0;
  ++channel_.services.counters.segments_received;
  note_size(length);
  judge(header, octets.first(length));
  return length;
}

/// Of a segment with a wrong CRC nothing else is judged: any of it may be what was hit.
void SegmentReader::judge(const SegmentHeader& header, wire::Bytes octets) {
  const wire::Bytes covered = octets.first(octets.size() - wire::vitcp::trailer_bytes);
  if (wire::vitcp::crc(covered) != wire::vitcp::load_crc(covered.data() + covered.size())) {
    channel_.services.counters.refuse({wire::ParseCode::bad_crc, "crc"});
    damaged_ = true;
    return sink_.segment_damaged(header);
  }
  damaged_ = false;
  const auto segment = wire::vitcp::Segment::parse(octets, true);
  return segment ? give(*segment) : refuse(segment.error());
}

void SegmentReader::give(const wire::vitcp::Segment& segment) {
  channel_.services.counters.payload_octets_received += segment.payload.size();
  sink_.segment_begun(segment.header, segment.rdma, segment.payload.size());
  if (!channel_.stopped && !segment.payload.empty()) sink_.payload_received(segment.payload);
  if (!channel_.stopped) sink_.segment_ended();
}

}  // namespace vitcp
