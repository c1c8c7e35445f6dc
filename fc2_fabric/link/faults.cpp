#include "fc2_fabric/link/faults.hpp"

#include <algorithm>
#include <utility>

namespace fc2 {
void rewrite(Frame& frame, const FramePatch& patch) {
  for (unsigned i = 0; i < patch.size && patch.offset + i < frame.size_bytes; ++i) {
    const unsigned shift = 8 * (patch.size - 1u - i);
    const auto mask = static_cast<std::uint8_t>(patch.mask >> shift),
               value = static_cast<std::uint8_t>(patch.value >> shift);
    std::uint8_t& byte = frame.bytes[patch.offset + i];
    byte = static_cast<std::uint8_t>((byte & ~mask) | (value & mask));
  }
}

namespace fault {

void drop(const FaultAction& /*action*/, FaultyDirection& /*direction*/, Channel& /*channel*/, FramePtr /*frame*/) {}

void duplicate(const FaultAction& action, FaultyDirection& direction, Channel& channel, FramePtr frame) {
  TimeNs arrival = frame->arrival;
  std::vector<FramePtr> copies;
  for (std::uint32_t i = 0; i < action.frames; ++i) {
    copies.push_back(frame->pool->copy(*frame));
    copies.back()->arrival = arrival += action.delay;
  }
  direction.pass(channel, std::move(frame));
  for (FramePtr& copy : copies) channel.deliver(std::move(copy));
}

void delay(const FaultAction& action, FaultyDirection& direction, Channel& channel, FramePtr frame) {
  frame->arrival += action.delay;
  direction.pass(channel, std::move(frame));
}

void reorder(const FaultAction& action, FaultyDirection& direction, Channel& channel, FramePtr frame) {
  if (action.frames == 0) return direction.pass(channel, std::move(frame));
  direction.hold(channel, std::move(frame), action.frames, action.longest_hold);
}

void corrupt(const FaultAction& action, FaultyDirection& direction, Channel& channel, FramePtr frame) {
  if (frame->size_bytes != 0) {
    const std::uint32_t bit = action.bit % (frame->size_bytes * 8u);
    frame->bytes[bit / 8] = static_cast<std::uint8_t>(frame->bytes[bit / 8] ^ 0x80u >> bit % 8);
    frame->crc_error = action.crc_error;
  }
  direction.pass(channel, std::move(frame));
}

void truncate(const FaultAction& action, FaultyDirection& direction, Channel& channel, FramePtr frame) {
  frame->size_bytes = std::min(frame->size_bytes, action.size_bytes);
  frame->crc_error = action.crc_error;
  direction.pass(channel, std::move(frame));
}

void rewrite(const FaultAction& action, FaultyDirection& direction, Channel& channel, FramePtr frame) {
  for (const FramePatch& patch : action.patches) fc2::rewrite(*frame, patch);
  direction.pass(channel, std::move(frame));
}

}  // namespace fault

std::string_view to_string(LinkDirection direction) { return direction == LinkDirection::Sent ? "sent" : "received"; }

void FaultyDirection::foresee(Frame& frame) {
  verdict_ = policy_.judge(link_, direction_, frame, scheduler_.now());
  if (verdict_.action != nullptr) frame.fault = verdict_.rule;
}

void FaultyDirection::carry(Channel& channel, FramePtr frame) {
  const FaultPolicy::Verdict verdict = std::exchange(verdict_, {});
  if (verdict.action == nullptr) return pass(channel, std::move(frame));
  policy_.befell(link_, direction_, *frame, verdict, scheduler_.now());
  verdict.action->apply(*verdict.action, *this, channel, std::move(frame));
}

// Who was held back for this one follows at the same moment, after it.
void FaultyDirection::pass(Channel& channel, FramePtr frame) {
  const TimeNs arrival = frame->arrival;
  channel.deliver(std::move(frame));
  if (held_.empty()) return;
  for (Held& held : held_) --held.frames_left;
  for (auto held = held_.begin(); held != held_.end();) {
    if (held->frames_left != 0) {
      ++held;
      continue;
    }
    held->frame->arrival = std::max(held->frame->arrival, arrival);
    channel.deliver(std::move(held->frame));
    held = held_.erase(held);
  }
  watch_held();
}

void FaultyDirection::hold(Channel& channel, FramePtr frame, std::uint32_t frames, TimeNs longest) {
  channel_ = &channel;
  const TimeNs until = frame->arrival + longest;
  held_.push_back({std::move(frame), frames, until});
  watch_held();
}

void FaultyDirection::watch_held() {
  TimeNs first = never;
  for (const Held& held : held_) first = std::min(first, held.until);
  scheduler_.cancel(*this);
  if (first != never) scheduler_.schedule(*this, first);
}

void FaultyDirection::fire(TimeNs now) {
  for (auto held = held_.begin(); held != held_.end();) {
    if (held->until > now) {
      ++held;
      continue;
    }
    held->frame->arrival = now;
    channel_->deliver(std::move(held->frame));
    held = held_.erase(held);
  }
  watch_held();
}

void FaultyDirection::release() {
  for (Held& held : held_) held.until = scheduler_.now();
  fire(scheduler_.now());
}

void FaultyDirection::link_broke() {
  held_.clear();
  scheduler_.cancel(*this);
}

}  // namespace fc2
