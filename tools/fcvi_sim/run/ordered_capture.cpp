#include "tools/fcvi_sim/run/ordered_capture.hpp"

#include <algorithm>

namespace sim {

OrderedCapture::OrderedCapture(const runtime::Scheduler& clock, Maker make) : clock_(clock), make_(std::move(make)) {}

fc2::FrameTap& OrderedCapture::add_interface(fc2::FrameTap& behind) {
  behind_.push_back(&behind);
  return interfaces_.emplace_back(*this, interfaces_.size());
}

void OrderedCapture::Interface::frame_passed(fc2::TimeNs at, const fc2::Frame& frame, bool outbound) {
  if (capture_.clock_.now() != capture_.instant_) capture_.flush();
  fc2::FramePtr copy = frame.pool->copy(frame);
  capture_.passed_.push_back({id_, at, std::move(copy), outbound});
}

void OrderedCapture::flush() {
  std::stable_sort(passed_.begin(), passed_.end(),
                   [](const Passed& a, const Passed& b) { return a.interface_id < b.interface_id; });
  for (const Passed& one : passed_) behind_[one.interface_id]->frame_passed(one.at, *one.frame, one.outbound);
  passed_.clear();
  instant_ = clock_.now();
}

}  // namespace sim
