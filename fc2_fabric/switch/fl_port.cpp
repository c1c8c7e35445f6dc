#include "fc2_fabric/switch/fl_port.hpp"

#include <utility>

#include "fc2_fabric/switch/f_port.hpp"
#include "fc2_fabric/link/loop.hpp"

namespace fc2 {

void FlPort::join() {
  if (loop_ != nullptr && station_ == nullptr) station_ = &loop_->attach(*this, place_);
}

void FlPort::leave() {
  if (LoopStation* station = std::exchange(station_, nullptr)) loop_->detach(*station);
}

void FlPort::hold() {
  if (station_ != nullptr) station_->refuse();
}

void FlPort::proceed() {
  if (station_ != nullptr) station_->proceed();
}

FrameReceiver& FlPort::receiver() { return port_; }
wire::Wwn FlPort::loop_name() const { return port_.name(); }
bool FlPort::requires_login() const { return !port_.is_up(); }

// Frames wait, logins stand: the loop will be the same, or the map of LIFA tells.
void FlPort::loop_interrupted(FramePtr&) {}

void FlPort::loop_active(LoopStation& station, const LoopState& state) {
  station_ = &station;
  if (port_.is_up())
    port_.loop_initialized(state.assigned);
  else
    port_.link_begins(station);
}

void FlPort::frame_returned(FramePtr frame) { port_.frame_returned(*frame); }

// Where the loop itself goes; else leave() has seen to it.
void FlPort::loop_gone() {
  if (std::exchange(station_, nullptr) == nullptr) return;
  loop_ = nullptr;
  port_.link_is_over();
}

fsm::RowListener* FlPort::row_listener() const { return port_.switch_.config().rows; }

}  // namespace fc2
