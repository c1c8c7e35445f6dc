#include "tools/fcvi_sim/network/segment_gate.hpp"

#include <algorithm>

namespace sim {
namespace {

/// Octets from `offset` on, of two pieces, to or from `whole`.
template <class Piece, class Copy>
void for_pieces(std::size_t offset, std::size_t size, Piece first, Piece rest, Copy copy) {
  const std::size_t in_first = offset >= first.size() ? 0 : std::min(size, first.size() - offset);
  if (in_first != 0) copy(std::size_t{0}, first.subspan(offset, in_first));
  if (in_first != size) copy(in_first, rest.subspan(offset + in_first - first.size(), size - in_first));
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

void WaitingOctets::copy(wire::MutableBytes to) const {
  for_pieces(offset, to.size(), first, rest, [&](std::size_t at, wire::Bytes piece) {
    std::ranges::copy(piece, to.begin() + static_cast<std::ptrdiff_t>(at));
  });
}

streams::Passage SegmentGate::pass(runtime::TimeNs now, std::uint64_t at, wire::MutableBytes first,
                                   wire::MutableBytes rest) {
  if (!owner_.joins(from_, to_)) return {};
  if (held_from_ && (owner_.is_healed() || now >= held_until_)) held_from_.reset();
  judge(now, at, first, rest);
  if (ends_at_) return {static_cast<std::size_t>(*ends_at_ - at), end_};
  if (held_from_) return {static_cast<std::size_t>(std::max(*held_from_, at) - at), streams::Cut::none, held_until_};
  return {static_cast<std::size_t>(judged_ - at)};
}

std::size_t SegmentGate::together(std::uint64_t at, std::size_t most) {
  while (!ends_.empty() && ends_.front() <= at) ends_.pop_front();
  return ends_.empty() ? most : static_cast<std::size_t>(std::min<std::uint64_t>(most, ends_.front() - at));
}

void SegmentGate::judge(runtime::TimeNs now, std::uint64_t at, wire::MutableBytes first, wire::MutableBytes rest) {
  while (!held_from_ && !ends_at_) {
    const auto offset = static_cast<std::size_t>(judged_ - at);
    const WaitingOctets waiting{first, rest, offset};
    const auto size = waiting.size() == 0 ? std::nullopt : codec_->size_of(waiting);
    if (!size || *size > waiting.size()) return;
    segment_.resize(*size);
    waiting.copy(segment_);
    const SegmentFate fate = fate_of(now);
    copy_in(first, rest, offset, segment_);
    obey(fate, now, *size);
  }
}

SegmentFate SegmentGate::fate_of(runtime::TimeNs now) {
  SegmentMet met{codec_->read(segment_), now, stream_, from_, to_, judged_, segment_.size()};
  SegmentWatch* const watch = owner_.watch();
  const SegmentFate fate = watch == nullptr ? SegmentFate{} : watch->segment_met(met);
  codec_->write(fate.seal);
  return fate;
}

void SegmentGate::obey(const SegmentFate& fate, runtime::TimeNs now, std::size_t size) {
  const std::uint64_t place = judged_ + std::min(fate.octets, size);
  judged_ += size;
  if (codec_->is_aligned()) ends_.push_back(judged_);
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
