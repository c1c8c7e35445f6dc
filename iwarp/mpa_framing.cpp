#include "iwarp/mpa_framing.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace iwarp {
namespace mpa = wire::mpa;
using wire::mpa::Marker;

/// RFC 5044 3, 4.5: from 128 to 64768 octets.
std::size_t MpaFraming::mulpdu_of(std::size_t emss, bool markers) {
  return std::clamp<std::size_t>(mpa::mulpdu(emss, markers), 128, 64'768);
}

MpaFraming::MpaFraming(Workspace& workspace, UlpduSink& sink, const MpaTerms& terms)
    : StreamFraming(workspace, sink, mulpdu_of(terms.emss, terms.out.markers), terms.in.crc), terms_(terms) {
  batch_.set_segment(terms.emss);
}

bool MpaFraming::is_consistent() const { return parts_are_consistent() && collected_ < header_.size(); }

// --- what is sent --------------------------------------------------------------------------------------------------

void MpaFraming::set_emss(std::size_t emss) {
  set_mulpdu(mulpdu_of(emss, terms_.out.markers));
  batch_.set_segment(emss);
}

bool MpaFraming::has_room() const {
  const std::size_t markers = terms_.out.markers ? mulpdu() / mpa::marker_interval_bytes + 2 : 0;
  constexpr std::size_t around =
      mpa::ulpdu_length_bytes + wire::ddp::untagged_header_bytes + 3 + wire::iwarp::crc_bytes;
  return !is_blocked() &&
         batch_.has_room(around + markers * mpa::marker_bytes, 2 * (most_payload_pieces + markers) + 2);
}

void MpaFraming::put_marker_if_due() {
  if (!is_marker_due()) return;
  std::array<std::uint8_t, mpa::marker_bytes> octets;
  Marker::of(out_position_, out_fpdu_).write(octets);
  if (terms_.out.crc) out_crc_ = wire::iwarp::crc32c(octets, out_crc_);
  batch_.append(octets);
  out_position_ += octets.size();
}

/// With the markers that fall among them, and before them.
void MpaFraming::put(wire::Bytes octets, bool lent) {
  while (!octets.empty()) {
    put_marker_if_due();
    const std::size_t run = terms_.out.markers ? mpa::run_at(out_position_).octets : octets.size();
    const wire::Bytes here = octets.first(std::min(run, octets.size()));
    if (terms_.out.crc) out_crc_ = wire::iwarp::crc32c(here, out_crc_);
    lent ? batch_.lend(here) : batch_.append(here);
    out_position_ += here.size();
    octets = octets.subspan(here.size());
  }
}

void MpaFraming::add(wire::Bytes header, std::span<const wire::Bytes> payload) {
  const std::size_t octets = header.size() + octets_of(payload);
  assert(has_room() && octets <= mulpdu() && payload.size() <= most_payload_pieces);
  const std::size_t bare = mpa::fpdu_bytes(octets);
  batch_.begin_frame(terms_.out.markers ? bare + (bare / mpa::marker_interval_bytes + 1) * mpa::marker_bytes : bare);
  out_crc_ = 0;
  out_fpdu_ = out_position_ + (is_marker_due() ? mpa::marker_bytes : 0);
  std::array<std::uint8_t, mpa::ulpdu_length_bytes> length;
  wire::store_big<2>(length.data(), static_cast<std::uint16_t>(octets));
  put(length, false);
  put(header, false);
  for (const wire::Bytes piece : payload) put(piece, true);
  static constexpr std::array<std::uint8_t, 3> pad{};
  put(wire::Bytes(pad).first(mpa::pad_bytes(octets)), false);
  put_marker_if_due();
  std::array<std::uint8_t, wire::iwarp::crc_bytes> crc;
  wire::iwarp::store_crc(crc.data(), out_crc_);
  batch_.append(crc);
  out_position_ += crc.size();
  ++counts_.sent;
}

// --- what is received ----------------------------------------------------------------------------------------------

// --- without the CRC -----------------------------------------------------------------------------------------------

mpa::Run MpaFraming::run_here() const {
  return terms_.in.markers ? mpa::run_at(in_position_) : mpa::Run{false, mpa::max_ulpdu_length};
}

void MpaFraming::DirectRead::add(wire::MutableBytes piece, bool marker) {
  is_marker[count] = marker;
  pieces[count++] = piece;
  octets += piece.size();
}

/// What is left of a large payload goes to its place, the markers among it to theirs, and what follows behind, in one
/// call.
MpaFraming::Progress MpaFraming::read_straight(streams::Stream& stream) {
  DirectRead direct;
  prepare(direct);
  wire::MutableBytes behind = workspace_.in;
  if (direct.count != 0) behind = behind.first(std::min(behind.size(), payload_left_ + ahead_octets));
  direct.pieces[direct.count] = behind;
  const streams::ReadResult result =
      stream.read(std::span<const wire::MutableBytes>(direct.pieces).first(direct.count + 1));
  const std::size_t placed = std::min(direct.octets, result.octets);
  take_direct(direct, placed);
  take(behind.first(result.octets - placed));
  if (result.fault && !failed_ && !std::exchange(unplaced_, true)) sink_.payload_unplaced();
  return {result.octets == direct.octets + behind.size() || result.fault, result.end};
}

/// The sink's pieces, cut at the markers.
void MpaFraming::prepare(DirectRead& direct) {
  if (stage_ != Stage::payload || payload_left_ < direct_octets || unplaced_ || run_here().is_marker) return;
  std::array<wire::MutableBytes, 16> targets;
  const std::size_t target_count = sink_.payload_room(payload_left_, targets);
  mpa::Position at = in_position_;
  for (wire::MutableBytes target : std::span(targets).first(target_count)) {
    while (!target.empty()) {
      if (direct.is_full()) return;
      const mpa::Run run = terms_.in.markers ? mpa::run_at(at) : mpa::Run{false, target.size()};
      const wire::MutableBytes here = run.is_marker ? wire::MutableBytes(direct.markers[direct.marker_count++])
                                                    : target.first(std::min(run.octets, target.size()));
      direct.add(here, run.is_marker);
      if (!run.is_marker) target = target.subspan(here.size());
      at += here.size();
    }
  }
}

void MpaFraming::take_direct(const DirectRead& direct, std::size_t octets) {
  for (std::size_t i = 0; octets != 0 && !failed_; ++i) {
    const wire::Bytes here = direct.pieces[i].first(std::min(octets, direct.pieces[i].size()));
    if (direct.is_marker[i]) {
      take_marker(here);
    } else {
      sink_.payload_placed(here.size());
      payload_taken(here.size());
    }
    in_position_ += here.size();
    octets -= here.size();
  }
}

void MpaFraming::take(wire::Bytes octets) {
  while (!octets.empty() && !failed_) {
    const mpa::Run run = run_here();
    const wire::Bytes here = octets.first(std::min(run.octets, octets.size()));
    run.is_marker ? take_marker(here) : take_octets(here);
    in_position_ += here.size();
    octets = octets.subspan(here.size());
  }
}

void MpaFraming::take_marker(wire::Bytes octets) {
  const std::size_t within = in_position_ % mpa::marker_interval_bytes;
  std::copy(octets.begin(), octets.end(), marker_.begin() + static_cast<std::ptrdiff_t>(within));
  if (within + octets.size() < marker_.size()) return;
  const mpa::Position begin = in_position_ - within;
  const Marker expected = is_at_boundary() ? Marker{} : Marker::of(begin, in_fpdu_);
  if (*Marker::parse(marker_) != expected) fail(mpa::ErrorCode::marker_and_length_disagree);
}

/// No marker is among them.
void MpaFraming::take_octets(wire::Bytes octets) {
  for (std::size_t at = 0; at < octets.size() && !failed_;) {
    const wire::Bytes rest = octets.subspan(at);
    switch (stage_) {
      case Stage::header:
        if (collected_ == 0) in_fpdu_ = in_position_ + at;
        at += take_header(rest);
        break;
      case Stage::payload: {
        const wire::Bytes here = rest.first(std::min(rest.size(), payload_left_));
        sink_.payload_received(here);
        payload_taken(here.size());
        at += here.size();
        break;
      }
      case Stage::trailer: at += take_trailer(rest.size()); break;
    }
  }
}

std::size_t MpaFraming::take_header(wire::Bytes octets) {
  constexpr std::size_t known = mpa::ulpdu_length_bytes + 1;  // with the octet that has T
  const auto needed = [this] { return mpa::ulpdu_length_bytes + wire::ddp::header_bytes((header_[2] & 0x80) != 0); };
  const std::size_t wanted = collected_ < known ? known : needed();
  const std::size_t here = std::min(octets.size(), wanted - collected_);
  std::copy_n(octets.begin(), here, header_.begin() + static_cast<std::ptrdiff_t>(collected_));
  collected_ += here;
  if (collected_ == known && wire::load_big<2>(header_.data()) < needed() - mpa::ulpdu_length_bytes)
    fail(mpa::ErrorCode::marker_and_length_disagree);
  else if (collected_ > known && collected_ == needed())
    header_collected();
  return here;
}

void MpaFraming::header_collected() {
  const std::size_t ulpdu = wire::load_big<2>(header_.data());
  const wire::Bytes ddp = wire::Bytes(header_).subspan(mpa::ulpdu_length_bytes, collected_ - mpa::ulpdu_length_bytes);
  collected_ = 0;
  payload_left_ = ulpdu - ddp.size();
  trailer_left_ = mpa::pad_bytes(ulpdu) + wire::iwarp::crc_bytes;
  stage_ = payload_left_ == 0 ? Stage::trailer : Stage::payload;
  unplaced_ = false;
  sink_.ulpdu_begun(ddp, payload_left_);
}

void MpaFraming::payload_taken(std::size_t octets) {
  payload_left_ -= octets;
  if (payload_left_ == 0) stage_ = Stage::trailer;
}

std::size_t MpaFraming::take_trailer(std::size_t octets) {
  const std::size_t here = std::min(octets, trailer_left_);
  trailer_left_ -= here;
  if (trailer_left_ != 0) return here;
  stage_ = Stage::header;
  ++counts_.received;
  sink_.ulpdu_ended();
  return here;
}

// --- with the CRC --------------------------------------------------------------------------------------------------

/// Octets of the FPDU that begins there, its markers included; 0: it is not known yet.
std::size_t MpaFraming::frame_extent(wire::Bytes octets) const {
  const auto extent = mpa::Fpdu::extent(octets, terms_.in, in_position_);
  return extent ? *extent : 0;
}

/// The octets of the FPDU that begins there; 0: it is not whole yet.
std::size_t MpaFraming::take_whole(wire::MutableBytes octets) {
  const std::size_t extent = frame_extent(octets);
  if (extent == 0 || octets.size() < extent) return 0;
  const wire::MutableBytes fpdu = octets.first(extent);
  const wire::Bytes covered = fpdu.first(extent - wire::iwarp::crc_bytes);
  if (wire::iwarp::crc32c(covered) != wire::iwarp::load_crc(covered.data() + covered.size()))
    return fail(mpa::ErrorCode::crc_mismatch), 0;
  if (!markers_agree(fpdu)) return fail(mpa::ErrorCode::marker_and_length_disagree), 0;
  give(terms_.in.markers ? fpdu.first(mpa::remove_markers(in_position_, fpdu, fpdu)) : fpdu);
  in_position_ += extent;
  return failed_ ? 0 : extent;
}

bool MpaFraming::markers_agree(wire::Bytes fpdu) const {
  if (!terms_.in.markers) return true;
  const mpa::Position begin = in_position_ + (mpa::is_marker_at(in_position_) ? mpa::marker_bytes : 0);
  const std::size_t past = in_position_ % mpa::marker_interval_bytes;
  for (std::size_t at = past == 0 ? 0 : mpa::marker_interval_bytes - past; at < fpdu.size();
       at += mpa::marker_interval_bytes)
    if (*Marker::parse(fpdu.subspan(at)) != Marker::of(in_position_ + at, begin)) return false;
  return true;
}

void MpaFraming::give(wire::Bytes fpdu) {
  const std::size_t ulpdu = wire::load_big<2>(fpdu.data());
  const wire::Bytes octets = fpdu.subspan(mpa::ulpdu_length_bytes, ulpdu);
  const std::size_t header = ulpdu == 0 ? 1 : wire::ddp::header_bytes((octets[0] & 0x80) != 0);
  if (ulpdu < header) return fail(mpa::ErrorCode::marker_and_length_disagree);
  ++counts_.received;
  sink_.ulpdu_begun(octets.first(header), ulpdu - header);
  if (ulpdu > header) sink_.payload_received(octets.subspan(header));
  sink_.ulpdu_ended();
}

}  // namespace iwarp
