#include "iwarp/output_batch.hpp"

#include <algorithm>
#include <cassert>

namespace iwarp {

void OutputBatch::append(wire::Bytes own) {
  assert(used_ + own.size() <= Workspace::out_octets);
  std::copy(own.begin(), own.end(), workspace_.out.begin() + static_cast<std::ptrdiff_t>(used_));
  used_ += own.size();
}

void OutputBatch::close_piece() {
  if (used_ == piece_begin_) return;
  workspace_.pieces[piece_count_++] = wire::Bytes(workspace_.out).subspan(piece_begin_, used_ - piece_begin_);
  piece_begin_ = used_;
}

void OutputBatch::begin_frame(std::size_t octets) {
  if (segment_ == 0) return;
  const std::size_t in_segment = (used_ + lent_ - run_begin_) % segment_;
  if (in_segment == 0 || in_segment + octets <= segment_) return;
  close_piece();
  workspace_.cuts[cut_count_++] = piece_count_;
  run_begin_ = used_ + lent_;
}

void OutputBatch::lend(wire::Bytes memory) {
  if (memory.empty()) return;
  close_piece();
  lent_ += memory.size();
  workspace_.pieces[piece_count_++] = memory;
}

void OutputBatch::flush(streams::Stream& stream) {
  assert(!is_blocked());
  close_piece();
  if (piece_count_ == 0) return;
  keep(write(stream));
  used_ = piece_begin_ = piece_count_ = lent_ = cut_count_ = run_begin_ = 0;
}

/// The octets that the stream has taken.
std::size_t OutputBatch::write(streams::Stream& stream) {
  std::size_t taken = 0;
  for (std::size_t cut = 0, begin = 0; cut <= cut_count_; ++cut) {
    const std::size_t end = cut == cut_count_ ? piece_count_ : workspace_.cuts[cut];
    const auto run = std::span<const wire::Bytes>(workspace_.pieces).subspan(begin, end - begin);
    const std::size_t here = stream.write(run);
    taken += here;
    if (here < octets_of(run)) break;
    begin = end;
  }
  return taken;
}

void OutputBatch::keep(std::size_t taken) {
  const std::size_t octets = used_ + lent_;
  if (taken == octets) return;
  workspace_.places.need(kept_, octets - taken);
  for (const wire::Bytes piece : std::span(workspace_.pieces).first(piece_count_)) {
    const std::size_t here = std::min(taken, piece.size());
    const wire::Bytes rest = piece.subspan(here);
    std::copy(rest.begin(), rest.end(), kept_.octets().subspan(kept_end_).begin());
    kept_end_ += rest.size();
    taken -= here;
  }
}

void OutputBatch::keep_first(wire::Bytes octets) {
  if (octets.empty()) return;
  workspace_.places.need(kept_, octets.size());
  std::copy(octets.begin(), octets.end(), kept_.octets().begin());
  kept_end_ = octets.size();
}

void OutputBatch::write_kept(streams::Stream& stream) {
  kept_begin_ += stream.write(wire::Bytes(kept_.octets()).subspan(kept_begin_, kept_end_ - kept_begin_));
  if (is_blocked()) return;
  kept_begin_ = kept_end_ = 0;
  workspace_.places.give_back(kept_);
}

}  // namespace iwarp
