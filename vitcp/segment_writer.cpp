#include "vitcp/segment_writer.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>

#include "vi/nic.hpp"
#include "wire/vitcp/crc.hpp"

namespace vitcp {
using wire::vitcp::SegmentType;

bool SegmentWriter::is_consistent() const {
  return tail_begin_ <= tail_.size() && piece_begin_ <= used_ && used_ <= Workspace::out_octets &&
         piece_count_ <= pieces_.size();
}

wire::MutableBytes SegmentWriter::room() const {
  return wire::MutableBytes(channel_.services.workspace.out).subspan(used_);
}

std::optional<std::size_t> SegmentWriter::payload_room(SegmentType type) const {
  const std::size_t around = wire::vitcp::segment_header_bytes + wire::vitcp::following_bytes(type) +
                             (channel_.terms.crc ? wire::vitcp::trailer_bytes : 0);
  const std::size_t most = channel_.services.config.segment_bytes - around;
  if (!can_lend(vi::DataCursor::Window::max_pieces) || lent_octets_ >= lent_octets_at_once) return std::nullopt;
  const std::size_t here = room().size();
  if (here < around + copied_payload_octets) return std::nullopt;
  if (!copies_all()) return most;
  return here - around >= most ? std::optional(most) : std::nullopt;
}

void SegmentWriter::begin(const wire::vitcp::SegmentHeader& header, const wire::vitcp::RdmaHeader* rdma,
                          std::size_t payload_octets) {
  segment_begin_ = covered_ = used_;
  crc_ = 0;
  payload_octets_ = payload_octets;
  type_ = header.type;
  const std::size_t around = wire::vitcp::segment_header_bytes + wire::vitcp::following_bytes(header.type) +
                             (channel_.terms.crc ? wire::vitcp::trailer_bytes : 0);
  wire::vitcp::SegmentHeader whole = header;
  whole.segment_length = static_cast<std::uint16_t>(around + payload_octets);
  whole.write(room());
  used_ += wire::vitcp::segment_header_bytes;
  if (rdma == nullptr) return;
  rdma->write(room());
  used_ += wire::vitcp::rdma_header_bytes;
}

wire::MutableBytes SegmentWriter::copied_payload(std::size_t octets) {
  if (channel_.terms.crc) cover();
  const wire::MutableBytes part = room().first(octets);
  used_ += octets;
  return part;
}

void SegmentWriter::cover() {
  const wire::Bytes octets = wire::Bytes(channel_.services.workspace.out).subspan(covered_, used_ - covered_);
  crc_ = wire::vitcp::crc(octets, crc_);
  covered_ = used_;
}

void SegmentWriter::close_piece() {
  if (used_ == piece_begin_) return;
  assert(piece_count_ < pieces_.size());
  pieces_[piece_count_++] = {wire::Bytes(channel_.services.workspace.out).subspan(piece_begin_, used_ - piece_begin_)};
  piece_begin_ = used_;
}

void SegmentWriter::lend(std::span<const std::byte> memory) {
  close_piece();
  pieces_[piece_count_++] = {{reinterpret_cast<const std::uint8_t*>(memory.data()), memory.size()}, true, type_};
  lent_octets_ += memory.size();
}

void SegmentWriter::pad() {
  static constexpr std::array<std::byte, most_padding_octets> zeros{};
  if (!copies(payload_octets_)) return lend(std::span(zeros).first(payload_octets_));
  const wire::MutableBytes octets = copied_payload(payload_octets_);
  std::fill(octets.begin(), octets.end(), std::uint8_t{0});
}

void SegmentWriter::drop() {
  assert(segment_begin_ >= piece_begin_ && "nothing of it was lent");
  used_ = segment_begin_;
}

void SegmentWriter::end() {
  ProviderCounters& counters = channel_.services.counters;
  ++counters.segments_sent;
  counters.payload_octets_sent += payload_octets_;
  if (!channel_.terms.crc) return;
  cover();
  wire::vitcp::store_crc(room().data(), crc_);
  used_ += wire::vitcp::trailer_bytes;
}

void SegmentWriter::flush(streams::Stream& stream) {
  close_piece();
  if (piece_count_ != 0) {
    std::array<wire::Bytes, 64> octets;
    std::transform(pieces_.begin(), pieces_.begin() + static_cast<std::ptrdiff_t>(piece_count_), octets.begin(),
                   [](const Piece& piece) { return piece.octets; });
    if (channel_.terms.urgent_marks && channel_.services.config.send_urgent_marks)
      static_cast<void>(stream.mark_urgent());
    ++channel_.services.counters.writes;
    keep(stream.write(std::span(octets).first(piece_count_)));
  }
  piece_count_ = used_ = piece_begin_ = lent_octets_ = 0;
}

void SegmentWriter::keep(std::size_t taken) {
  assert(!is_blocked());
  tail_.clear();
  tail_begin_ = 0;
  const std::span<const Piece> pieces = std::span(pieces_).first(piece_count_);
  const auto add = [](std::size_t sum, const Piece& piece) { return sum + piece.octets.size(); };
  tail_.reserve(std::accumulate(pieces.begin(), pieces.end(), std::size_t{0}, add) - taken);  // no more than that
  for (const Piece& piece : pieces) {
    const std::size_t here = std::min(taken, piece.octets.size());
    taken -= here;
    if (here != piece.octets.size() && !keep_piece(piece, here)) return static_cast<void>(cut_ = piece.type);
  }
}

/// False: its memory has gone since it was lent. Its header is out, and cannot say Transmit Error any more.
bool SegmentWriter::keep_piece(const Piece& piece, std::size_t from) {
  const wire::Bytes rest = piece.octets.subspan(from);
  const std::size_t at = tail_.size();
  tail_.resize(at + rest.size());
  const wire::MutableBytes to = wire::MutableBytes(tail_).subspan(at);
  if (!piece.lent) return std::copy(rest.begin(), rest.end(), to.begin()), true;
  const bool there = channel_.vi->nic().memory().read(to, reinterpret_cast<const std::byte*>(rest.data()));
  if (!there) tail_.resize(at);
  return there;
}

void SegmentWriter::write_kept(streams::Stream& stream) {
  ++channel_.services.counters.writes;
  tail_begin_ += stream.write(wire::Bytes(tail_).subspan(tail_begin_));
  if (is_blocked()) return;
  tail_begin_ = 0;
  tail_.clear();
}

void SegmentWriter::rest() {
  if (!is_blocked()) tail_ = {};
}

}  // namespace vitcp
