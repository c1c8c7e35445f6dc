#include "tools/fabricd/local_line.hpp"

#include <utility>

namespace fabricd {

LocalLine::LocalLine(runtime::Scheduler& scheduler, std::shared_ptr<fc2::drivers::FrameStream> stream)
    : stream_(std::move(stream)), to_process_(scheduler, *this), from_process_(scheduler, ingress_) {
  fc2::OutputListener& listener = *this;
  stream_->set_listener(&listener);
}

LocalLine::~LocalLine() { stream_->set_listener(nullptr); }

void LocalLine::tap(fc2::FrameTap* tap) {
  from_process_.tap_sender(tap);
  to_process_.tap_receiver(tap);
}

void LocalLine::set_faults(fc2::FrameFault* sent, fc2::FrameFault* received) {
  from_process_.set_fault(sent);
  to_process_.set_fault(received);
}

void LocalLine::clear() {
  to_process_.clear();
  from_process_.clear();
  waiting_.clear();
}

bool LocalLine::is_damaged(const fc2::Frame& frame) {
  return frame.crc_error || frame.size_bytes < fc2::frame_header_bytes || frame.size_bytes % 4 != 0;
}

void LocalLine::pass(fc2::FramePtr frame) {
  if (is_damaged(*frame)) {
    if (ingress_.port != nullptr) ingress_.port->count_bad_crc();
    return;
  }
  stream_->send(std::move(frame));
  if (stream_->paused()) to_process_.pause();
}

void LocalLine::receive(fc2::FramePtr frame) {
  if (!stream_->paused() && waiting_.empty()) return pass(std::move(frame));
  waiting_.push(std::move(frame));
}

void LocalLine::output_resumed() {
  while (!waiting_.empty() && !stream_->paused()) pass(waiting_.pop());
  if (!stream_->paused()) to_process_.resume();
}

}  // namespace fabricd
