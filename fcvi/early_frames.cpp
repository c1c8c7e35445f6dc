#include "fcvi/early_frames.hpp"

#include <algorithm>
#include <utility>

namespace fcvi {
namespace {
/// Steps in the order of the stream: negative, zero or positive.
std::int64_t steps(const EarlyFrames::Entry& entry, const fc2::ReceivedFrame& received, const wire::fcvi::DeviceHeader& header) {
  if (const std::int32_t messages = wire::serial_distance(entry.header.msg_id, header.msg_id); messages != 0) return messages;
  return std::int64_t{received.header.parameter} - std::int64_t{entry.received.header.parameter};
}
}  // namespace

bool EarlyFrames::add(const fc2::ReceivedFrame& received, const wire::fcvi::DeviceHeader& header, fc2::TimeNs now) {
  if (entries_.size() == max_frames) return false;
  const auto place = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return steps(entry, received, header) >= 0; });
  if (place != entries_.end() && steps(*place, received, header) == 0) return false;
  const auto added = entries_.insert(place, Entry{std::move(*received.owner), received, header, now});
  added->received.owner = nullptr;
  return true;
}

EarlyFrames::Entry EarlyFrames::take_first() {
  Entry first = std::move(entries_.back());
  entries_.pop_back();
  return first;
}

fc2::TimeNs EarlyFrames::known_since() const {
  const auto oldest = std::min_element(entries_.begin(), entries_.end(),
                                       [](const Entry& a, const Entry& b) { return a.arrived_at < b.arrived_at; });
  return oldest->arrived_at;
}

}  // namespace fcvi
