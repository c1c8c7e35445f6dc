#include "fc2_fabric/frame/frame_history.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "fc2_fabric/frame/frame_header.hpp"

namespace fc2 {
namespace {
constexpr std::size_t addresses_bytes = 2 * sizeof(wire::MacAddress);

// Of the routing bits, which are its upper half, 0 says: device data, of an FC-4.
bool is_of_fc4(const Frame& frame) { return static_cast<unsigned>(r_ctl_of(frame)) >> 4 == 0; }

// Puts the parts one behind the other, as much of them as there is room for.
void gather(const std::array<wire::Bytes, 3>& parts, std::span<std::uint8_t> to) {
  for (const wire::Bytes part : parts) {
    const std::size_t count = std::min(part.size(), to.size());
    std::copy_n(part.begin(), count, to.begin());
    to = to.subspan(count);
  }
}
}  // namespace

FrameHistory::FrameHistory(HistoryLimits limits, Number origin)
    : limits_(limits), bytes_(std::make_unique_for_overwrite<std::uint8_t[]>(limits.bytes)), origin_(origin),
      first_(origin_), end_(origin_) {
  frames_.reserve(limits.frames);
}

FrameHistory::FrameHistory(HistoryLimits limits) : FrameHistory(limits, 1) {
  assert(limits.frames >= 1 && limits.bytes >= fcoe::EthernetFrame::max_bytes + 4);
}

void FrameHistory::forget_oldest() { held_bytes_ -= slot(first_++).kept_bytes; }

PassedFrame& FrameHistory::next_slot() {
  const Number number = end_++;
  if (index_of(number) == frames_.size()) return frames_.emplace_back();
  return slot(number) = PassedFrame{};
}

// Contents lie one behind the other, none across the end: what is behind the place of the next one is the oldest.
PassedFrame& FrameHistory::make_room(TimeNs at, std::size_t kept_bytes) {
  if (end_ - first_ == limits_.frames) forget_oldest();
  if (next_offset_ + kept_bytes > limits_.bytes) {
    while (!empty() && slot(first_).offset >= next_offset_) forget_oldest();
    next_offset_ = 0;
  }
  const std::size_t begin = next_offset_, end = begin + kept_bytes;
  while (!empty() && slot(first_).offset >= begin && slot(first_).offset < end) forget_oldest();
  PassedFrame& kept = next_slot();
  if (kept_bytes != 0) last_with_bytes_ = end_ - 1;
  held_bytes_ += kept_bytes;
  kept.at = at;
  kept.offset = static_cast<std::uint32_t>(begin);
  kept.kept_bytes = static_cast<std::uint16_t>(kept_bytes);
  next_offset_ = end;
  return kept;
}

std::size_t FrameHistory::kept_of(const Frame& frame) const {
  const bool cut = !whole_ && frame.size_bytes > limits_.long_frame_bytes && is_of_fc4(frame);
  return cut ? limits_.kept_of_long_frame : frame.size_bytes;
}

PassedFrame& FrameHistory::add(TimeNs at, const Frame& frame) {
  PassedFrame& kept = make_room(at, kept_of(frame));
  std::memcpy(bytes_.get() + kept.offset, frame.bytes.data(), kept.kept_bytes);
  kept.size_bytes = frame.size_bytes;
  kept.sof = frame.sof;
  kept.eof = frame.eof;
  kept.crc_error = frame.crc_error;
  frame.record = end_ - 1;
  return kept;
}

PassedFrame& FrameHistory::add_end(TimeNs at, Number first_end) {
  PassedFrame& kept = make_room(at, 0);
  kept.first_end = first_end;
  return kept;
}

std::size_t FrameHistory::kept_of(const fcoe::EthernetFrame& frame) const {
  const bool cut = !whole_ && frame.size_bytes > limits_.long_frame_bytes && frame.has_header() &&
                   frame.type() == wire::EtherType::fcoe && is_of_fc4(*frame.body);
  return cut ? fcoe::EthernetFrame::head_bytes + limits_.kept_of_long_frame : frame.size_bytes;
}

// 802.1Q: the tag stands between the addresses and the type. Which priority it had is not known.
PassedFrame& FrameHistory::add(TimeNs at, const fcoe::EthernetFrame& frame) {
  const std::array<std::uint8_t, 4> tag{0x81, 0x00, static_cast<std::uint8_t>(frame.vlan >> 8),
                                        static_cast<std::uint8_t>(frame.vlan)};
  const std::size_t tagged = frame.vlan != 0 && frame.has_header() ? tag.size() : 0;
  PassedFrame& kept = make_room(at, kept_of(frame) + tagged);
  const std::span<std::uint8_t> place(bytes_.get() + kept.offset, kept.kept_bytes);
  gather(frame.parts(), place.first(place.size() - tagged));
  if (tagged != 0) {
    const auto type = place.begin() + addresses_bytes;
    std::copy_backward(type, place.end() - tag.size(), place.end());
    std::copy(tag.begin(), tag.end(), type);
  }
  kept.size_bytes = static_cast<std::uint16_t>(frame.size_bytes + tagged);
  kept.ethernet = true;
  frame.body->record = end_ - 1;
  return kept;
}

FrameHistory::Number FrameHistory::first_since(TimeNs time) const {
  Number begin = first_, end = end_;
  while (begin != end) {
    const Number middle = begin + (end - begin) / 2;
    if (at(middle).at < time)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

// The next one has the place of `number`: nothing was kept since, or so much that the ring is full.
bool FrameHistory::is_half_way_out(Number number) const {
  if (!holds(number)) return true;
  const std::size_t offset = at(number).offset;
  const bool wrapped = next_offset_ < offset || (next_offset_ == offset && last_with_bytes_ >= number);
  const std::size_t bytes = next_offset_ + (wrapped ? limits_.bytes : 0) - offset;
  return end_ - number > limits_.frames / 2 || bytes > limits_.bytes / 2;
}

// --- copies ------------------------------------------------------------------------------------------------------

// Behind its last one; there is room.
void FrameHistory::append(const FrameHistory& other, Number number) {
  PassedFrame& frame = next_slot() = other.at(number);
  const auto bytes = other.bytes_of(frame);
  frame.offset = static_cast<std::uint32_t>(next_offset_);
  std::copy(bytes.begin(), bytes.end(), bytes_.get() + next_offset_);
  next_offset_ += bytes.size();
}

void FrameHistory::restart(Number origin) {
  frames_.clear();
  origin_ = first_ = end_ = origin;
  next_offset_ = 0;
}

HistoryCopy::HistoryCopy(const FrameHistory& original)
    : original_(original), end_(original.end_),
      copy_(
          new FrameHistory({.bytes = original.held_bytes_, .frames = std::max<std::size_t>(end_ - original.first_, 1)},
                           original.first_)) {}

bool HistoryCopy::step() {
  if (copy_->end_ < original_.first_) copy_->restart(std::min(original_.first_, end_));  // displaced: too few steps
  const std::size_t bytes_before = copy_->next_offset_;
  for (std::size_t i = 0; i < frames_a_step && !is_complete(); ++i) {
    if (copy_->next_offset_ - bytes_before >= bytes_a_step) break;
    copy_->append(original_, copy_->end_);
  }
  return !is_complete();
}

}  // namespace fc2
