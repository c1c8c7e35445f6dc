#include "fcvi/early_frames.hpp"

#include <algorithm>
#include <utility>

namespace fcvi {

bool EarlyFrames::add(const fc2::ReceivedFrame& received, const wire::fcvi::DeviceHeader& header) {
  if (!share_.take(received.header.s_id, frame_bytes)) return false;
  if (entries_.full()) entries_.set_capacity(std::max(first_capacity, 2 * entries_.capacity()));
  entries_.push_back(Entry{std::move(*received.owner), received, header});
  Entry& kept = entries_.back();
  kept.received.data_field = kept.frame->leave_place(kept.received.data_field);
  kept.received.owner = nullptr;
  return true;
}

EarlyFrames::Entry EarlyFrames::take_first() {
  Entry first = std::move(entries_.front());
  entries_.pop_front();
  share_.give_back(frame_bytes);
  return first;
}

}  // namespace fcvi
