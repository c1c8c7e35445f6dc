#include "fc2_fabric/switch/switch_port.hpp"

#include <algorithm>
#include <utility>

#include "wire/bytes.hpp"
#include "fc2_fabric/frame/frame_header.hpp"
#include "state_machines/consistency.hpp"

namespace fc2 {

Scheduler& SwitchPort::scheduler() const { return switch_.scheduler(); }

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
  lose(waiting_);
  lose(for_away_);
  away_.clear();
  stalled_ = false;
  release_held();
  forget_flows();
  if (held_by_ == nullptr) return;
  std::erase(held_by_->held_, this);
  end_whole_hold();
}

void SwitchPort::lose(FrameQueue& frames) {
  while (!frames.empty()) switch_.note_loss(*frames.pop());
}

inline bool SwitchPort::blocked() const {
  return output_->paused() || !waiting_.empty() || (pace_ == Pace::Wait && output_->free_at() > scheduler().now());
}

bool SwitchPort::holds(const SwitchPort* ingress) const {
  return std::find(held_.begin(), held_.end(), ingress) != held_.end();
}

/// Frames wait only where there is a link, and not for ever; who is held back stands in the row of the port that does
/// it.
bool SwitchPort::is_consistent() const {
  const bool empty = waiting_.empty() && for_away_.empty() && away_.empty() && !stalled_;
  const bool moves = waiting_.empty() ? !hold_timer_.pending() : hold_timer_.pending();
  const bool goes_on = waiting_.empty() || output_->paused() || pace_timer_.pending();
  const bool flows = std::all_of(flows_.begin(), flows_.end(),
                                 [&](const auto& entry) { return !entry.second.held || entry.first->holds(this); });
  return (is_up() || empty) && moves && goes_on && flows && (for_away_.empty() || any_away()) &&
         (held_by_ == nullptr || held_by_->holds(this));
}

/// Nothing waits or has to.
inline bool SwitchPort::goes_at_once() const {
  return output_ != nullptr && held_.empty() && away_.empty() && !blocked();
}

std::size_t SwitchPort::send_run(const FrameRun& run) {
  if (!goes_at_once() || tap_ != nullptr || output_->free_at() > scheduler().now()) return 0;
  const std::size_t taken = output_->send_run(run);
  frames_out_ += taken;
  return taken;
}

void SwitchPort::send(FramePtr frame, SwitchPort* ingress) {
  if (goes_at_once()) [[likely]]
    return transmit(std::move(frame));
  if (Flow* flow = flow_from(ingress)) return ingress->keep(*flow, std::move(frame), *this);
  pass(std::move(frame), ingress);
}

void SwitchPort::pass(FramePtr frame, SwitchPort* ingress) {
  if (any_away() && is_away(d_id_of(*frame))) return keep_for_away(std::move(frame), ingress);
  put_out(std::move(frame), ingress);
}

void SwitchPort::put_out(FramePtr frame, SwitchPort* ingress) {
  if (output_ == nullptr) return switch_.note_loss(*frame);
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
  return ingress != nullptr || waiting() < 2 * switch_.config().egress_queue_frames;
}

void SwitchPort::enqueue(FramePtr frame, SwitchPort* ingress) {
  if (stalled_) return drop(*frame);
  if (!has_room_for(ingress)) return switch_.discard(*frame, Discard::NoResources);
  const wire::FcId d_id = d_id_of(*frame);
  wait(std::move(frame));
  if (ingress != nullptr && waiting() >= switch_.config().egress_queue_frames) hold_back(*ingress, d_id);
}

void SwitchPort::wait(FramePtr frame) {
  const TimeNs now = scheduler().now();
  if (waiting_.empty()) {
    last_progress_ = now;
    scheduler().schedule_after(hold_timer_, switch_.config().hold_time);
    if (!output_->paused()) scheduler().schedule(pace_timer_, output_->free_at());
  }
  switch_.note_wait(*frame);
  frame->arrival = now;
  waiting_.push(std::move(frame));
}

void SwitchPort::drop(const Frame& frame) {
  switch_.discard(frame, Discard::HeldTooLong);
  switch_.answer_class_2(frame, wire::RCtl::f_bsy_data);
}

void SwitchPort::hold_back(SwitchPort& ingress, wire::FcId d_id) {
  if (ingress.hold_kind() != Hold::Whole) return begin_flow(ingress, d_id);
  if (ingress.held_by_ != nullptr) return;
  ingress.held_by_ = this;
  held_.push_back(&ingress);
  ingress.hold();
}

// In turn, and only while there is room for more: each gets the same share.
void SwitchPort::release_held() {
  while (!held_.empty() && waiting() <= switch_.config().egress_queue_frames / 2) {
    SwitchPort& ingress = *held_.front();
    held_.pop_front();
    if (ingress.flows_.contains(this)) {
      let_go(ingress);
      continue;
    }
    ingress.end_whole_hold();
  }
}

void SwitchPort::end_whole_hold() {
  held_by_ = nullptr;
  proceed();
}

// --- flows of those who are not held back as a whole -------------------------------------------------------------

SwitchPort::Flow* SwitchPort::flow_from(SwitchPort* ingress) {
  if (held_.empty() || ingress == nullptr || ingress->flows_.empty()) return nullptr;
  const auto found = ingress->flows_.find(this);
  return found == ingress->flows_.end() ? nullptr : &found->second;
}

void SwitchPort::begin_flow(SwitchPort& ingress, wire::FcId d_id) {
  Flow& flow = ingress.flows_[this];
  if (!std::exchange(flow.held, true)) held_.push_back(&ingress);
  ingress.keep_back(flow, d_id);
}

// A flow may take half of what the others leave: any number of them that stand still leave room for one more.
std::size_t SwitchPort::flow_room() const {
  return switch_.config().flow_queue_frames - std::min(switch_.flow_frames(), switch_.config().flow_queue_frames);
}

// What is still under way when the sender keeps frames back waits here. It may be more than the flow may take: then
// nothing more comes at all, but from one that does not listen.
void SwitchPort::keep(Flow& flow, FramePtr frame, SwitchPort& egress) {
  const bool full = flow.frames.size() >= flow_room();
  if (full && (hold_kind() == Hold::Never || held_by_ != nullptr)) {
    switch_.discard(*frame, Discard::NoResources);
    return switch_.answer_class_2(*frame, wire::RCtl::f_bsy_data);
  }
  keep_back(flow, d_id_of(*frame));
  ++switch_.flow_frames();
  switch_.note_wait(*frame);
  flow.frames.push(std::move(frame));
  if (!full) return;
  held_by_ = &egress;
  hold();
}

void SwitchPort::keep_back(Flow& flow, wire::FcId d_id) {
  std::vector<wire::FcId>& told = flow.kept_back;
  if (hold_kind() != Hold::ForOne || told.size() == max_kept_back) return;
  if (std::find(told.begin(), told.end(), d_id) != told.end()) return;
  told.push_back(d_id);
  hold_for(d_id);
}

// The flow is over. Where paths changed, another may be held for the same address.
void SwitchPort::keep_back_no_more(const Flow& flow) {
  for (const wire::FcId id : flow.kept_back) {
    const bool still = std::any_of(flows_.begin(), flows_.end(), [&](const auto& entry) {
      const std::vector<wire::FcId>& others = entry.second.kept_back;
      return std::find(others.begin(), others.end(), id) != others.end();
    });
    if (!still) proceed_for(id);
  }
}

// Until too many wait again.
void SwitchPort::let_go(SwitchPort& ingress) {
  Flow& flow = ingress.flows_.at(this);
  flow.held = false;
  while (!flow.held && !flow.frames.empty()) {
    --switch_.flow_frames();
    pass(flow.frames.pop(), &ingress);
  }
  const bool relieved = !flow.held || 2 * flow.frames.size() <= flow_room();
  if (!flow.held) {
    const auto over = ingress.flows_.extract(this);
    ingress.keep_back_no_more(over.mapped());
  }
  if (relieved && ingress.held_by_ == this) ingress.end_whole_hold();
}

void SwitchPort::forget_flows() {
  for (auto& [egress, flow] : flows_) {
    switch_.flow_frames() -= flow.frames.size();
    lose(flow.frames);
    std::erase(egress->held_, this);
  }
  for (const auto& [egress, flow] : std::exchange(flows_, {})) keep_back_no_more(flow);
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
  FCVI_ASSERT_CONSISTENT(*this);
}

// A port that takes nothing for this time gets nothing until it takes frames again: one that hangs cannot stop senders
// that also send to others.
void SwitchPort::hold_time_over() {
  const TimeNs hold_time = switch_.config().hold_time, now = scheduler().now();
  stalled_ = now - last_progress_ >= hold_time;
  while (!waiting_.empty() && (stalled_ || now - waiting_.front()->arrival >= hold_time)) drop(*waiting_.pop());
  if (!waiting_.empty()) scheduler().schedule(hold_timer_, waiting_.front()->arrival + hold_time);
  release_held();
  FCVI_ASSERT_CONSISTENT(*this);
}

// --- N_Ports that are away ---------------------------------------------------------------------------------------

bool SwitchPort::is_away(wire::FcId id) const { return std::find(away_.begin(), away_.end(), id) != away_.end(); }

void SwitchPort::keep_for_away(FramePtr frame, SwitchPort* ingress) {
  if (!has_room_for(ingress)) return switch_.discard(*frame, Discard::NoResources);
  const wire::FcId d_id = d_id_of(*frame);
  switch_.note_wait(*frame);
  for_away_.push(std::move(frame));
  if (ingress != nullptr && waiting() >= switch_.config().egress_queue_frames) hold_back(*ingress, d_id);
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
