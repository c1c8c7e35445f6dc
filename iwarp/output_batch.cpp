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
  keep(stream.write(std::span<const wire::Bytes>(workspace_.pieces).first(piece_count_)));
  used_ = piece_begin_ = piece_count_ = lent_ = 0;
}

void OutputBatch::keep(std::size_t taken) {
  std::size_t octets = 0;
  for (const wire::Bytes piece : std::span(workspace_.pieces).first(piece_count_)) octets += piece.size();
  kept_.reserve(kept_.size() + octets - taken);
  for (const wire::Bytes piece : std::span(workspace_.pieces).first(piece_count_)) {
    const std::size_t here = std::min(taken, piece.size());
    kept_.insert(kept_.end(), piece.begin() + static_cast<std::ptrdiff_t>(here), piece.end());
    taken -= here;
  }
}

void OutputBatch::write_kept(streams::Stream& stream) {
  kept_begin_ += stream.write(wire::Bytes(kept_).subspan(kept_begin_));
  if (is_blocked()) return;
  kept_begin_ = 0;
  kept_ = {};
}

}  // namespace iwarp
