#include "fc2_fabric/link/channel.hpp"

#include <algorithm>
#include <string_view>

namespace fc2 {
namespace {

/// While a frame is received, which may fail for lack of memory.
class Passing {
 public:
  explicit Passing(bool& passing) : passing_(passing) { passing_ = true; }
  ~Passing() { passing_ = false; }
  Passing(const Passing&) = delete;
  Passing& operator=(const Passing&) = delete;

 private:
  bool& passing_;
};

// SOF, CRC, EOF and the six idle words that FC-FS asks for between frames.
constexpr std::size_t frame_overhead_bytes = 4 + 4 + 4 + 24;
}  // namespace

// Most frames are as long as the one before, and a division takes longer than all else here.
TimeNs Channel::transmission_time(std::size_t size_bytes) {
  if (size_bytes == timed_bytes_ || unlimited()) return timed_as_;
  const std::uint64_t bytes = size_bytes + frame_overhead_bytes;
  timed_bytes_ = size_bytes;
  timed_as_ = static_cast<TimeNs>((bytes * second + config_.bytes_per_second - 1) / config_.bytes_per_second);
  return timed_as_;
}

void Channel::send(FramePtr frame) {
  if (frame->buffers != nullptr) free_buffer(*frame);  // it leaves the switch that held it
  if (credit_ != nullptr) credit_->frame_sent();
  const TimeNs start = std::max(free_at_, scheduler_.now());
  free_at_ = start + transmission_time(frame->size_bytes);
  frame->arrival = free_at_ + config_.latency_ns;
  if (fault_ != nullptr) fault_->foresee(*frame);
  if (sender_tap_ != nullptr) sender_tap_->frame_passed(start, *frame, true);
  if (fault_ != nullptr) return fault_->carry(*this, std::move(frame));
  deliver(std::move(frame));
}

inline void Channel::pass(TimeNs now, FramePtr frame) {
  if (buffers_ != nullptr) buffers_->take(*frame);
  if (receiver_tap_ != nullptr) receiver_tap_->frame_passed(now, *frame, false);
  receiver_.receive(std::move(frame));
}

// No event, and the frame is still in the cache of who wrote it.
inline bool Channel::arrives_at_once(const Frame& frame) const {
  return config_.burst_frames > 1 && !passing_ && flying_.empty() && frame.arrival <= scheduler_.now();
}

/// After each change of what is asked here.
void Channel::look_again() {
  const bool plain = fault_ == nullptr && sender_tap_ == nullptr && receiver_tap_ == nullptr && credit_ == nullptr &&
                     buffers_ == nullptr;
  takes_runs_now_ = plain && config_.burst_frames > 1 && unlimited() && config_.latency_ns == 0;
}

std::size_t Channel::send_run(const FrameRun& run) {
  const TimeNs now = scheduler_.now();
  if (!takes_runs_now_ || passing_ || !flying_.empty() || free_at_ > now) return 0;
  const Passing passing(passing_);
  const std::size_t taken = receiver_.receive_run(run);
  if (taken == 0) return 0;
  free_at_ = now;
  scheduler_.count_more(taken);
  return taken;
}

inline void Channel::come_at(TimeNs arrival) {
  if (rank_ != 0) [[unlikely]]
    return scheduler_.schedule_first(*this, arrival, rank_);
  scheduler_.schedule(*this, arrival);
}

void Channel::deliver(FramePtr frame) {
  if (arrives_at_once(*frame)) {
    const Passing passing(passing_);
    scheduler_.count_more(1);
    return pass(scheduler_.now(), std::move(frame));
  }
  const bool first = flying_.empty() || frame->arrival < flying_.front()->arrival;
  if (first && pending()) scheduler_.cancel(*this);
  if (first) come_at(frame->arrival);
  flying_.insert_by_arrival(std::move(frame));
}

void Channel::clear() {
  scheduler_.cancel(*this);
  flying_.clear();
  if (fault_ != nullptr) fault_->link_broke();
  free_at_ = 0;
}

void Channel::hasten() {
  if (flying_.empty()) return;
  const TimeNs now = scheduler_.now();
  FrameQueue hastened;
  for (hastened.take(flying_); !hastened.empty();) {
    FramePtr frame = hastened.pop();
    frame->arrival = std::min(frame->arrival, now);
    flying_.push(std::move(frame));
  }
  if (pending()) scheduler_.cancel(*this);
  come_at(now);
}

inline void Channel::hand_over(TimeNs now) {
  FramePtr frame = flying_.pop();
  if (!flying_.empty()) come_at(flying_.front()->arrival);
  pass(now, std::move(frame));
}

// The next event stands before the frames are received: that may fail for lack of memory.
void Channel::hand_over_burst(TimeNs now) {
  const Passing passing(passing_);
  unsigned left = config_.burst_frames;
  for (; left != 0 && !flying_.empty() && flying_.front()->arrival <= now; --left) {
    FramePtr frame = flying_.pop();
    if (!flying_.empty() && !pending()) scheduler_.schedule(*this, flying_.front()->arrival);
    pass(now, std::move(frame));
  }
  scheduler_.count_more(config_.burst_frames - left - 1);
  if (flying_.empty()) scheduler_.cancel(*this);  // what came in meanwhile is gone, too
}

void Channel::fire(TimeNs now) {
  if (config_.burst_frames > 1) return hand_over_burst(now);
  hand_over(now);
}

}  // namespace fc2
