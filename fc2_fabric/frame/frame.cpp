#include "fc2_fabric/frame/frame.hpp"

#include <cassert>
#include <cstring>

namespace fc2 {

void FrameLender::lend(FrameBytes place, Frame& frame) {
  assert(borrower_ == nullptr && frame.lender == nullptr);
  borrower_ = &frame;
  frame.lender = this;
  frame.bytes = place;
}

void FrameLender::take_back() {
  if (borrower_ != nullptr) borrower_->leave_place();
}

void Frame::move_out() {
  std::memcpy(own.data(), bytes.data(), size_bytes);
  forget_place();
}

void FramePool::grow() {
  auto& slab = slabs_.emplace_back(std::make_unique_for_overwrite<std::array<Frame, frames_per_slab>>());
  for (Frame& frame : *slab) {
    frame.pool = this;
    frame.next = std::exchange(free_, &frame);
  }
}

FramePtr FramePool::copy(const Frame& original) {
  FramePtr frame = take();
  frame->size_bytes = original.size_bytes;
  frame->sof = original.sof;
  frame->eof = original.eof;
  frame->fault = original.fault;
  frame->crc_error = original.crc_error;
  frame->path_age = original.path_age;
  frame->entered = original.entered;
  frame->record = original.record;
  std::memcpy(frame->bytes.data(), original.bytes.data(), original.size_bytes);
  return frame;
}

}  // namespace fc2
