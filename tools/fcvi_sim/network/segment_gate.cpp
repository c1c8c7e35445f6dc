#include "tools/fcvi_sim/network/segment_gate.hpp"

#include <algorithm>
#include <cassert>

namespace sim {
namespace {

/// Octets from `offset` on, of two pieces, to or from `whole`.
template <class Piece, class Copy>
void for_pieces(std::size_t offset, std::size_t size, Piece first, Piece rest, Copy copy) {
  const std::size_t in_first = offset >= first.size() ? 0 : std::min(size, first.size() - offset);
  if (in_first != 0) copy(std::size_t{0}, first.subspan(offset, in_first));
  if (in_first != size) copy(in_first, rest.subspan(offset + in_first - first.size(), size - in_first));
}

void copy_out(wire::Bytes first, wire::Bytes rest, std::size_t offset, wire::MutableBytes to) {
  for_pieces(offset, to.size(), first, rest, [&](std::size_t at, wire::Bytes piece) {
    std::ranges::copy(piece, to.begin() + static_cast<std::ptrdiff_t>(at));
  });
}

void copy_in(wire::MutableBytes first, wire::MutableBytes rest, std::size_t offset, wire::Bytes from) {
  for_pieces(offset, from.size(), first, rest, [&](std::size_t at, wire::MutableBytes piece) {
    std::ranges::copy(from.subspan(at, piece.size()), piece.begin());
  });
}

streams::Cut cut_of(SegmentFate::Kind kind) {
  switch (kind) {
    case SegmentFate::Kind::Pass:
    case SegmentFate::Kind::Hold: return streams::Cut::none;
    case SegmentFate::Kind::Reset: return streams::Cut::reset;
    case SegmentFate::Kind::Close: return streams::Cut::end;
    case SegmentFate::Kind::Silence: return streams::Cut::silence;
  }
  return streams::Cut::none;
}

}  // namespace

streams::Passage SegmentGate::pass(runtime::TimeNs now, std::uint64_t at, wire::MutableBytes first,
                                   wire::MutableBytes rest) {
  if (!owner_.joins(from_, to_)) return {};
  if (held_from_ && (owner_.is_healed() || now >= held_until_)) held_from_.reset();
  judge(now, at, first, rest);
  if (ends_at_) return {static_cast<std::size_t>(*ends_at_ - at), end_};
  if (held_from_) return {static_cast<std::size_t>(std::max(*held_from_, at) - at), streams::Cut::none, held_until_};
  return {static_cast<std::size_t>(judged_ - at)};
}

void SegmentGate::judge(runtime::TimeNs now, std::uint64_t at, wire::MutableBytes first, wire::MutableBytes rest) {
  while (!held_from_ && !ends_at_) {
    const auto offset = static_cast<std::size_t>(judged_ - at);
    const auto size = whole_segment(offset, first, rest);
    if (!size) return;
    segment_.resize(*size);
    copy_out(first, rest, offset, segment_);
    obey(fate_of(now, offset, first, rest), now, *size);
  }
}

std::optional<std::size_t> SegmentGate::whole_segment(std::size_t offset, wire::Bytes first, wire::Bytes rest) const {
  const std::size_t available = first.size() + rest.size() - offset;
  if (available < wire::vitcp::segment_header_bytes) return std::nullopt;
  std::uint8_t length[2];
  copy_out(first, rest, offset + 2, length);
  const std::size_t size = wire::load_big<2>(length);
  assert(size >= wire::vitcp::segment_header_bytes && "providers write segments");
  return size <= available ? std::optional(size) : std::nullopt;
}

SegmentFate SegmentGate::fate_of(runtime::TimeNs now, std::size_t offset, wire::MutableBytes first,
                                 wire::MutableBytes rest) {
  const auto segment = wire::vitcp::Segment::parse(segment_, has_crc());
  assert(segment && "providers write right segments");
  SegmentWatch* const watch = owner_.watch();
  if (watch == nullptr) return learn(*segment), SegmentFate{};
  const SegmentFate fate = watch->segment_met({now, stream_->number, from_, to_, judged_, segment_, *segment});
  copy_in(first, rest, offset, segment_);
  learn(*segment);
  return fate;
}

bool SegmentGate::has_crc() const {
  return connects_ ? stream_->request.written && stream_->accept.sent
                   : stream_->request.sent && stream_->accept.written;
}

void SegmentGate::learn(const wire::vitcp::Segment& written) {
  if (info_of(written.header.type).following != wire::vitcp::FollowingHeader::ce) return;
  const auto sent = wire::vitcp::Segment::parse(segment_, false);
  TcpStream::Option& option =
      written.header.type == wire::vitcp::SegmentType::connect_request ? stream_->request : stream_->accept;
  option = {written.ce.options.crc, sent && sent->ce.options.crc};
}

void SegmentGate::obey(const SegmentFate& fate, runtime::TimeNs now, std::size_t size) {
  const std::uint64_t place = judged_ + std::min(fate.octets, size);
  judged_ += size;
  if (fate.kind == SegmentFate::Kind::Pass) return;
  if (fate.kind != SegmentFate::Kind::Hold) {
    ends_at_ = place;
    end_ = cut_of(fate.kind);
    return;
  }
  if (owner_.is_healed()) return;
  held_from_ = place;
  held_until_ = fate.hold == runtime::never ? runtime::never : now + fate.hold;
}

}  // namespace sim
