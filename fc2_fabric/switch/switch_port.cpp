#include "fc2_fabric/switch/switch_port.hpp"

#include <algorithm>
#include <utility>

#include "fc2_fabric/switch/switch.hpp"
#include "wire/bytes.hpp"
#include "fc2_fabric/frame/frame_header.hpp"

namespace fc2 {

Scheduler& SwitchPort::scheduler() const { return switch_.scheduler_; }

void SwitchPort::link_is_up(FrameOutput& output) {
  output_ = &output;
  output.set_listener(this);
  frames_in_ = frames_out_ = 0;
}

void SwitchPort::link_is_down() {
  if (output_ == nullptr) return;
  output_->set_listener(nullptr);
  output_ = nullptr;
  scheduler().cancel(hold_timer_);
  scheduler().cancel(pace_timer_);
  waiting_.clear();
  for_away_.clear();
  away_.clear();
  stalled_ = false;
  release_held();
  forget_flows();
  if (held_by_ == nullptr) return;
  std::erase(std::exchange(held_by_, nullptr)->held_, this);
  proceed();
}

bool SwitchPort::blocked() const {
  return output_->paused() || !waiting_.empty() || (pace_ == Pace::Wait && output_->free_at() > scheduler().now());
}

void SwitchPort::send(FramePtr frame, SwitchPort* ingress) {
  if (Flow* flow = flow_from(ingress)) return ingress->keep(*flow, std::move(frame));
  pass(std::move(frame), ingress);
}

void SwitchPort::pass(FramePtr frame, SwitchPort* ingress) {
  if (any_away() && is_away(d_id_of(*frame))) return keep_for_away(std::move(frame), ingress);
  put_out(std::move(frame), ingress);
}

void SwitchPort::put_out(FramePtr frame, SwitchPort* ingress) {
  if (output_ == nullptr) return;
  if (blocked()) return enqueue(std::move(frame), ingress);
  transmit(std::move(frame));
}

void SwitchPort::transmit(FramePtr frame) {
  ++frames_out_;
  if (tap_ != nullptr) tap_->frame_passed(scheduler().now(), *frame, false);
  output_->send(std::move(frame));
}

// The switch's own frames have a limit of their own, since no sender can be held back for them.
bool SwitchPort::has_room_for(const SwitchPort* ingress) const {
  return ingress != nullptr || waiting() < 2 * switch_.config_.egress_queue_frames;
}

void SwitchPort::enqueue(FramePtr frame, SwitchPort* ingress) {
  if (stalled_) return drop(*frame);
  if (!has_room_for(ingress)) return switch_.counters_.discard(Discard::NoResources);
  wait(std::move(frame));
  if (ingress != nullptr && waiting() >= switch_.config_.egress_queue_frames) hold_back(*ingress);
}

void SwitchPort::wait(FramePtr frame) {
  const TimeNs now = scheduler().now();
  if (waiting_.empty()) {
    last_progress_ = now;
    scheduler().schedule_after(hold_timer_, switch_.config_.hold_time);
    if (!output_->paused()) scheduler().schedule(pace_timer_, output_->free_at());
  }
  frame->arrival = now;
  waiting_.push(std::move(frame));
}

void SwitchPort::drop(const Frame& frame) {
  switch_.counters_.discard(Discard::HeldTooLong);
  switch_.answer_class_2(frame, wire::RCtl::f_bsy_data);
}

void SwitchPort::hold_back(SwitchPort& ingress) {
  if (!ingress.can_be_held()) {
    if (!std::exchange(ingress.flows_[this].held, true)) held_.push_back(&ingress);
    return;
  }
  if (ingress.held_by_ != nullptr) return;
  ingress.held_by_ = this;
  held_.push_back(&ingress);
  ingress.hold();
}

// In turn, and only while there is room for more: each gets the same share.
void SwitchPort::release_held() {
  while (!held_.empty() && waiting() <= switch_.config_.egress_queue_frames / 2) {
    SwitchPort& ingress = *held_.front();
    held_.pop_front();
    if (ingress.flows_.contains(this)) {
      let_go(ingress);
      continue;
    }
    ingress.held_by_ = nullptr;
    ingress.proceed();
  }
}

// --- flows of senders that cannot be held back -------------------------------------------------------------------

SwitchPort::Flow* SwitchPort::flow_from(SwitchPort* ingress) {
  if (held_.empty() || ingress == nullptr || ingress->can_be_held()) return nullptr;
  const auto found = ingress->flows_.find(this);
  return found == ingress->flows_.end() ? nullptr : &found->second;
}

// A flow may take half of what the others leave: any number of them that stand still leave room for one more.
void SwitchPort::keep(Flow& flow, FramePtr frame) {
  if (flow.frames.size() >= switch_.config_.flow_queue_frames - switch_.flow_frames_) {
    switch_.counters_.discard(Discard::NoResources);
    return switch_.answer_class_2(*frame, wire::RCtl::f_bsy_data);
  }
  ++switch_.flow_frames_;
  flow.frames.push(std::move(frame));
}

// Until too many wait again.
void SwitchPort::let_go(SwitchPort& ingress) {
  Flow& flow = ingress.flows_.at(this);
  flow.held = false;
  while (!flow.held && !flow.frames.empty()) {
    --switch_.flow_frames_;
    pass(flow.frames.pop(), &ingress);
  }
  if (!flow.held) ingress.flows_.erase(this);
}

void SwitchPort::forget_flows() {
  for (auto& [egress, flow] : flows_) {
    switch_.flow_frames_ -= flow.frames.size();
    std::erase(egress->held_, this);
  }
  flows_.clear();
}

void SwitchPort::output_resumed() {
  stalled_ = false;
  drain();
}

void SwitchPort::drain() {
  const TimeNs now = scheduler().now();
  last_progress_ = now;
  while (!waiting_.empty() && !output_->paused() && (pace_ == Pace::Queue || output_->free_at() <= now))
    transmit(waiting_.pop());
  if (waiting_.empty())
    scheduler().cancel(hold_timer_);
  else if (!output_->paused())
    scheduler().schedule(pace_timer_, output_->free_at());
  release_held();
}

// A port that takes nothing for this time gets nothing until it takes frames again: one that hangs cannot stop senders
// that also send to others.
void SwitchPort::hold_time_over() {
  const TimeNs hold_time = switch_.config_.hold_time, now = scheduler().now();
  stalled_ = now - last_progress_ >= hold_time;
  while (!waiting_.empty() && (stalled_ || now - waiting_.front()->arrival >= hold_time)) drop(*waiting_.pop());
  if (!waiting_.empty()) scheduler().schedule(hold_timer_, waiting_.front()->arrival + hold_time);
  release_held();
}

// --- N_Ports that are away ---------------------------------------------------------------------------------------

bool SwitchPort::is_away(wire::FcId id) const { return std::find(away_.begin(), away_.end(), id) != away_.end(); }

void SwitchPort::keep_for_away(FramePtr frame, SwitchPort* ingress) {
  if (!has_room_for(ingress)) return switch_.counters_.discard(Discard::NoResources);
  for_away_.push(std::move(frame));
  if (ingress != nullptr && waiting() >= switch_.config_.egress_queue_frames) hold_back(*ingress);
}

// What waited for the link waits for the N_Port now.
void SwitchPort::go_away(wire::FcId id) {
  away_.push_back(id);
  for (std::size_t left = waiting_.size(); left != 0; --left) {
    FramePtr frame = waiting_.pop();
    (d_id_of(*frame) == id ? for_away_ : waiting_).push(std::move(frame));
  }
  if (waiting_.empty()) scheduler().cancel(hold_timer_);
}

// In the order in which they came.
void SwitchPort::take_frames_for(wire::FcId id, FrameQueue& taken) {
  std::erase(away_, id);
  for (std::size_t left = for_away_.size(); left != 0; --left) {
    FramePtr frame = for_away_.pop();
    (d_id_of(*frame) == id ? taken : for_away_).push(std::move(frame));
  }
}

void SwitchPort::come_back(wire::FcId id) {
  FrameQueue frames;
  take_frames_for(id, frames);
  while (!frames.empty()) {
    if (blocked())
      wait(frames.pop());
    else
      transmit(frames.pop());
  }
  release_held();
}

void SwitchPort::stay_away(wire::FcId id) {
  FrameQueue frames;
  take_frames_for(id, frames);
  while (!frames.empty()) drop(*frames.pop());
  release_held();
}

}  // namespace fc2
