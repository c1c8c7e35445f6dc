#include "fc2_fabric/link/buffer_credit.hpp"

#include <utility>

namespace fc2 {

// --- sender ------------------------------------------------------------------------------------------------------

void BufferCredit::set_limit(std::uint16_t frames) {
  if (frames == 0) return;  // FC-LS: a login without credit could never be answered
  limit_ = frames;
  if (outstanding_ < limit_)
    renew();
  else
    use_up();
}

void BufferCredit::use_up() {
  output_.pause(FrameOutput::Pause::Credit);
  if (used_up_since_ != never) return;
  used_up_since_ = scheduler_.now();
  if (!pending()) scheduler_.schedule_after(*this, link_timeout_);
}

void BufferCredit::renew() {
  used_up_since_ = never;
  output_.resume(FrameOutput::Pause::Credit);
}

void BufferCredit::r_rdy_received() {
  if (outstanding_ == 0) {
    ++surplus_;
    return;
  }
  used_up_since_ = never;  // it moves: even if there is no more than this one
  if (--outstanding_ < limit_)
    renew();
  else
    use_up();
}

void BufferCredit::reset() {
  outstanding_ = 0;
  renew();
}

void BufferCredit::fire(TimeNs now) {
  if (used_up_since_ == never) return;
  const TimeNs due = used_up_since_ + link_timeout_;
  if (now < due) return scheduler_.schedule(*this, due);
  used_up_since_ = now;  // should nothing come of it, again after as long
  scheduler_.schedule_after(*this, link_timeout_);
  listener_.link_timed_out();
}

// --- receiver ----------------------------------------------------------------------------------------------------

void ReceiveBuffers::give_back(std::uint32_t epoch) noexcept {
  --taken_;
  if (signal_ != nullptr) {
    if (epoch == epoch_) signal_->send_r_rdy();
  } else if (taken_ == 0) {
    delete this;
  }
}

void ReceiveBuffers::Abandon::operator()(ReceiveBuffers* buffers) const noexcept {
  buffers->signal_ = nullptr;
  if (buffers->taken_ == 0) delete buffers;
}

void free_buffer(Frame& frame) noexcept { std::exchange(frame.buffers, nullptr)->give_back(frame.buffer_epoch); }

}  // namespace fc2
