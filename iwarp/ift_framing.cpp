#include "iwarp/ift_framing.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

namespace iwarp {
namespace ift = wire::ift;
using wire::ift::CrcUse;

namespace {

constexpr std::size_t crc_bytes_of(CrcUse use) { return use == CrcUse::absent ? 0 : wire::iwarp::crc_bytes; }
/// Octets of a frame besides its ULPDU.
constexpr std::size_t octets_around(const ift::Framing& framing) {
  return ift::FrameHeader::size() + crc_bytes_of(framing.header_crc) + crc_bytes_of(framing.payload_crc);
}
constexpr std::size_t least_mulpdu = 2 * Framing::most_header_bytes;
constexpr std::size_t most_mulpdu = std::numeric_limits<std::uint16_t>::max();  // payload_size alone can tell it

}  // namespace

std::size_t IftFraming::mulpdu_of(std::size_t emss, const ift::Framing& out) {
  return std::clamp(emss, least_mulpdu + octets_around(out), most_mulpdu + octets_around(out)) - octets_around(out);
}

IftFraming::IftFraming(Workspace& workspace, UlpduSink& sink, const IftTerms& terms)
    : StreamFraming(workspace, sink, mulpdu_of(terms.emss, terms.out), terms.in.payload_crc == CrcUse::checked),
      terms_(terms) {
  batch_.set_segment(terms.emss);
}

void IftFraming::set_emss(std::size_t emss) {
  set_mulpdu(mulpdu_of(emss, terms_.out));
  batch_.set_segment(emss);
}

bool IftFraming::is_consistent() const {
  return parts_are_consistent() && collected_ <= headers_.size() &&
         (speculation_ == nullptr || speculation_->is_consistent());
}

void IftFraming::place_speculatively(WrittenOctets& written, SpeculationCounts& counts) {
  speculation_ = std::make_unique<IftSpeculation>(workspace_, sink_, written, counts, terms_.in);
}

/// The stream gives octets in order, as far as a frame that was placed early: that one has its turn then.
IftFraming::Progress IftFraming::read(streams::Stream& stream) {
  streams::EarlyOctets* const early = speculation_ == nullptr ? nullptr : stream.early_octets();
  if (early == nullptr) return StreamFraming::read(stream);
  if (!failed_) speculation_->look(*early);
  Progress progress = StreamFraming::read(stream);
  if (failed_) speculation_->call_back(*early);
  if (!speculation_->is_next(*early)) return progress;
  if (speculation_->take_turn(*early, is_at_boundary())) ++counts_.received;
  return {.more = true};
}

// --- what is sent --------------------------------------------------------------------------------------------------

bool IftFraming::has_room() const {
  return !is_blocked() && batch_.has_room(octets_around(terms_.out) + most_header_bytes, most_payload_pieces + 3);
}

void IftFraming::add(wire::Bytes header, std::span<const wire::Bytes> payload) {
  const wire::Bytes ddp = header.first(wire::ddp::header_bytes((header[0] & 0x80) != 0));
  const wire::Bytes rdma = header.subspan(ddp.size());  // part of IFT's payload (ruling I-7)
  std::size_t octets = rdma.size();
  for (const wire::Bytes piece : payload) octets += piece.size();
  assert(has_room() && ddp.size() + octets <= mulpdu() && payload.size() <= most_payload_pieces);
  batch_.begin_frame(octets_around(terms_.out) + ddp.size() + octets);
  const ift::FrameHeader first{static_cast<std::uint16_t>(ddp.size()), static_cast<std::uint16_t>(octets),
                               terms_.out.vtag};
  std::array<std::uint8_t, most_headers> headers;
  first.write(headers);
  std::copy(ddp.begin(), ddp.end(), headers.begin() + ift::FrameHeader::size());
  const std::size_t covered = ift::FrameHeader::size() + ddp.size();
  if (terms_.out.header_crc != CrcUse::absent)
    wire::iwarp::store_crc(headers.data() + covered, wire::iwarp::crc32c(wire::Bytes(headers).first(covered)));
  batch_.append(wire::Bytes(headers).first(covered + crc_bytes_of(terms_.out.header_crc)));
  batch_.append(rdma);
  for (const wire::Bytes piece : payload) batch_.lend(piece);
  if (terms_.out.payload_crc != CrcUse::absent) {
    std::array<std::uint8_t, wire::iwarp::crc_bytes> crc;
    wire::iwarp::store_crc(crc.data(), wire::iwarp::crc32c(payload, wire::iwarp::crc32c(rdma)));
    batch_.append(crc);
  }
  ++counts_.sent;
}

// --- what is received ----------------------------------------------------------------------------------------------

/// MPA's numbers (ruling I-10).
void IftFraming::refuse(const wire::ParseError& error) {
  fail(error.code == wire::ParseCode::bad_crc ? wire::mpa::ErrorCode::crc_mismatch
                                              : wire::mpa::ErrorCode::marker_and_length_disagree);
}

IftFraming::Progress IftFraming::read_straight(streams::Stream& stream) {
  std::array<wire::MutableBytes, 17> pieces;
  std::size_t count = 0, direct = 0;
  if (stage_ == Stage::payload && payload_left_ >= direct_octets && !unplaced_)
    count = sink_.payload_room(payload_left_, std::span(pieces).first(pieces.size() - 1));
  for (const wire::MutableBytes piece : std::span(pieces).first(count)) direct += piece.size();
  wire::MutableBytes behind = workspace_.in;
  if (direct != 0) behind = behind.first(std::min(behind.size(), payload_left_ - direct + ahead_octets));
  pieces[count] = behind;
  const streams::ReadResult result = stream.read(std::span<const wire::MutableBytes>(pieces).first(count + 1));
  const std::size_t placed = std::min(direct, result.octets);
  if (placed != 0) {
    sink_.payload_placed(placed);
    payload_taken(placed);
  }
  take(behind.first(result.octets - placed));
  if (result.fault && !failed_ && !std::exchange(unplaced_, true)) sink_.payload_unplaced();
  return {result.octets == direct + behind.size() || result.fault, result.end};
}

void IftFraming::take(wire::Bytes octets) {
  while (!octets.empty() && !failed_) {
    std::size_t here = 0;
    switch (stage_) {
      case Stage::header: here = take_headers(octets); break;
      case Stage::payload:
        here = std::min(octets.size(), payload_left_);
        sink_.payload_received(octets.first(here));
        payload_taken(here);
        break;
      case Stage::trailer:
        here = std::min(octets.size(), trailer_left_);
        trailer_left_ -= here;
        if (trailer_left_ == 0) end_frame();
        break;
    }
    octets = octets.subspan(here);
  }
}

/// Octets of the headers, as far as it is known how many there are.
std::size_t IftFraming::headers_wanted() const {
  if (collected_ < ift::FrameHeader::size()) return ift::FrameHeader::size();
  return ift::FrameHeader::size() + wire::load_big<2>(headers_.data()) + crc_bytes_of(terms_.in.header_crc);
}

std::size_t IftFraming::take_headers(wire::Bytes octets) {
  const std::size_t here = std::min(octets.size(), headers_wanted() - collected_);
  std::copy_n(octets.begin(), here, headers_.begin() + static_cast<std::ptrdiff_t>(collected_));
  collected_ += here;
  const auto first = ift::FrameHeader::parse(wire::Bytes(headers_).first(collected_));
  if (!first && first.error().code != wire::ParseCode::truncated) return refuse(first.error()), here;
  if (first && collected_ == headers_wanted()) headers_collected();
  return here;
}

void IftFraming::headers_collected() {
  const auto headers = ift::FrameHeaders::parse(wire::Bytes(headers_).first(collected_), terms_.in);
  if (!headers) return refuse(headers.error());
  collected_ = 0;
  payload_left_ = headers->payload_size;
  trailer_left_ = crc_bytes_of(terms_.in.payload_crc);
  unplaced_ = false;
  sink_.ulpdu_begun(wire::Bytes(headers_).subspan(ift::FrameHeader::size(), headers->header.size()), payload_left_);
  stage_ = Stage::payload;
  payload_taken(0);
}

void IftFraming::payload_taken(std::size_t octets) {
  payload_left_ -= octets;
  if (payload_left_ != 0) return;
  stage_ = Stage::trailer;
  if (trailer_left_ == 0) end_frame();
}

void IftFraming::end_frame() {
  stage_ = Stage::header;
  ++counts_.received;
  sink_.ulpdu_ended();
}

// --- with a payload CRC that is checked ----------------------------------------------------------------------------

/// Known where the headers are whole: take_whole() has found them to be right.
std::size_t IftFraming::frame_extent(wire::Bytes octets) const {
  const auto first = ift::FrameHeader::parse(octets.first(std::min(octets.size(), ift::FrameHeader::size())));
  if (!first) return 0;
  const std::size_t headers = ift::FrameHeader::size() + first->header_size + crc_bytes_of(terms_.in.header_crc);
  if (octets.size() < headers) return 0;
  return headers + first->payload_size + crc_bytes_of(terms_.in.payload_crc);
}

std::size_t IftFraming::take_whole(wire::MutableBytes received) {
  const wire::Bytes octets = received;
  const auto frame = ift::Frame::parse(octets, terms_.in);
  if (!frame) {
    if (frame.error().code != wire::ParseCode::truncated) refuse(frame.error());
    return 0;
  }
  ++counts_.received;
  sink_.ulpdu_begun(octets.subspan(ift::FrameHeader::size(), frame->header.size()), frame->payload.size());
  if (!frame->payload.empty()) sink_.payload_received(frame->payload);
  sink_.ulpdu_ended();
  return failed_ ? 0 : frame->size(terms_.in);
}

}  // namespace iwarp
