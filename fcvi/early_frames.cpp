#include "fcvi/early_frames.hpp"

#include <algorithm>
#include <utility>

namespace fcvi {
namespace {
/// Steps in the order of the stream from `entry` to what was received: negative, zero or positive.
std::int64_t steps(const EarlyFrames::Entry& entry, const fc2::ReceivedFrame& received, const wire::fcvi::DeviceHeader& header) {
  if (const std::int32_t messages = wire::serial_distance(entry.header.msg_id, header.msg_id); messages != 0) return messages;
  return std::int64_t{received.header.parameter} - std::int64_t{entry.received.header.parameter};
}
}  // namespace

EarlyFrames::Added EarlyFrames::add(const fc2::ReceivedFrame& received, const wire::fcvi::DeviceHeader& header, fc2::TimeNs now) {
  const auto is_before = [&](const Entry& entry) { return steps(entry, received, header) > 0; };
  const bool is_last = entries_.empty() || is_before(entries_.back());
  const auto place = is_last ? entries_.end() : std::partition_point(entries_.begin(), entries_.end(), is_before);
  if (!is_last && steps(*place, received, header) == 0) return Added::Duplicate;
  std::size_t& of_peer = budget_.of_peer[received.header.s_id.value];
  const bool full = entries_.size() == max_frames || budget_.frames == Budget::max_frames || of_peer == Budget::max_of_one_peer;
  if (full && (is_last || received.class_2)) return Added::NoRoom;  // what was acknowledged stays
  auto at = place - entries_.begin();
  const fc2::TimeNs known_since = is_last ? now : place->known_since;  // time does not go back
  if (full) drop_last();
  if (entries_.full()) entries_.set_capacity(std::max(first_capacity, 2 * entries_.capacity()));
  const auto added = entries_.insert(entries_.begin() + at, Entry{std::move(*received.owner), received, header, known_since});
  added->received.owner = nullptr;
  ++budget_.frames;
  ++of_peer;
  return full ? Added::Displaced : Added::Kept;
}

EarlyFrames::Entry EarlyFrames::take_first() {
  Entry first = std::move(entries_.front());
  entries_.pop_front();
  give_back(first.received.header.s_id, 1);
  return first;
}

void EarlyFrames::drop_last() {
  give_back(entries_.back().received.header.s_id, 1);
  entries_.pop_back();
}

void EarlyFrames::clear() {
  if (!entries_.empty()) give_back(entries_.front().received.header.s_id, entries_.size());  // all of one peer
  entries_.clear();
}

void EarlyFrames::give_back(wire::FcId peer, std::size_t frames) {
  budget_.frames -= frames;
  budget_.of_peer[peer.value] -= frames;
}

}  // namespace fcvi
