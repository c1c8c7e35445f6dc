#include "fc2_fabric/fcoe/virtual_link.hpp"

namespace fc2::fcoe {

void LinkOutput::send(FramePtr frame) {
  if (faulty_ || channel_.in_flight() > 0)
    return channel_.send(std::move(frame));  // behind what arrives at the same time
  const TimeNs now = scheduler_.now();
  frame->arrival = now;
  if (sender_tap_ != nullptr) sender_tap_->frame_passed(now, *frame, true);
  if (receiver_tap_ != nullptr) receiver_tap_->frame_passed(now, *frame, false);
  receiver_.receive(std::move(frame));
}

void LinkOutput::tap_sender(FrameTap* tap) {
  sender_tap_ = tap;
  channel_.tap_sender(tap);
}

void LinkOutput::tap_receiver(FrameTap* tap) {
  receiver_tap_ = tap;
  channel_.tap_receiver(tap);
}

void LinkOutput::set_fault(FrameFault* fault) {
  faulty_ = fault != nullptr;
  channel_.set_fault(fault);
}

}  // namespace fc2::fcoe
