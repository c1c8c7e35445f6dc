#include "fc2_fabric/link/receive_queue.hpp"

namespace fc2 {

void ReceiveQueue::receive(FramePtr frame) {
  if (processing_ns_ == 0 && !paused_ && waiting_.empty()) return process(std::move(frame));
  waiting_.push(std::move(frame));
  start_next();
}

// The port may keep the frame; it is out of the link's buffers all the same.
void ReceiveQueue::process(FramePtr frame) {
  if (frame->buffers != nullptr) free_buffer(*frame);
  port_.receive(std::move(frame));
}

void ReceiveQueue::start_next() {
  if (!paused_ && !waiting_.empty() && !pending()) scheduler_.schedule_after(*this, processing_ns_);
}

void ReceiveQueue::fire(TimeNs) {
  FramePtr frame = waiting_.pop();
  start_next();
  process(std::move(frame));
}

void ReceiveQueue::pause() {
  paused_ = true;
  scheduler_.cancel(*this);
}

void ReceiveQueue::resume() {
  paused_ = false;
  start_next();
}

void ReceiveQueue::flush() {
  if (paused_) {
    lost_ += waiting_.size();
    return clear();
  }
  scheduler_.cancel(*this);
  while (!waiting_.empty()) process(waiting_.pop());
}

void ReceiveQueue::clear() {
  scheduler_.cancel(*this);
  waiting_.clear();
}

}  // namespace fc2
