// The Fibre Channel side of a virtual link over Ethernet, with taps and faults as on other links. It has no rate and no
// latency of its own.
#pragma once
#include "fc2_fabric/link/channel.hpp"

namespace fc2::fcoe {

/// One direction. A frame passes at once, or, if a fault is set, through a channel to which the fault is applied.
class LinkOutput final : public FrameOutput {
 public:
  LinkOutput(Scheduler& scheduler, FrameReceiver& receiver)
      : scheduler_(scheduler), receiver_(receiver), channel_(scheduler, LinkConfig{}, receiver) {}
  void send(FramePtr frame) override;
  void tap_sender(FrameTap* tap);
  void tap_receiver(FrameTap* tap);
  void set_fault(FrameFault* fault);
  /// Frames that a fault has delayed, and that are still to be handed over.
  [[nodiscard]] std::size_t in_flight() const { return channel_.in_flight(); }
  /// Frames that a fault holds back are lost.
  void clear() { channel_.clear(); }
  /// Frames that a fault has delayed arrive now, in their order.
  void hasten() { channel_.hasten(); }

 private:
  Scheduler& scheduler_;
  FrameReceiver& receiver_;
  FrameTap* sender_tap_ = nullptr;
  FrameTap* receiver_tap_ = nullptr;
  bool faulty_ = false;
  Channel channel_;
};

struct VirtualLink {
  /// `wire` gets the port's frames, `port` gets frames for it.
  VirtualLink(Scheduler& scheduler, FrameReceiver& wire, FrameReceiver& port)
      : to_wire(scheduler, wire), from_wire(scheduler, port) {}
  /// Both directions as the port sees them. nullptr removes it.
  void tap(FrameTap* tap) {
    to_wire.tap_sender(tap);
    from_wire.tap_receiver(tap);
  }
  void set_faults(FrameFault* sent, FrameFault* received) {
    to_wire.set_fault(sent);
    from_wire.set_fault(received);
  }
  void clear() {
    to_wire.clear();
    from_wire.clear();
  }
  void hasten() {
    to_wire.hasten();
    from_wire.hasten();
  }
  LinkOutput to_wire, from_wire;
};

}  // namespace fc2::fcoe
