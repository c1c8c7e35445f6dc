// The Fibre Channel side of a virtual link over Ethernet: its two directions are channels like those of any other link, so
// that the same taps and faults work on it. No rate and no latency of their own: the Ethernet has them.
#pragma once
#include "fc2_fabric/channel.hpp"

namespace fc2::fcoe {

struct VirtualLink {
  /// `wire` gets what the port sends, `port` what came for it.
  VirtualLink(Scheduler& scheduler, FrameReceiver& wire, FrameReceiver& port)
      : to_wire(scheduler, LinkConfig{}, wire), from_wire(scheduler, LinkConfig{}, port) {}
  /// Both directions as the port sees them. nullptr takes it off.
  void tap(FrameTap* tap) {
    to_wire.tap_sender(tap);
    from_wire.tap_receiver(tap);
  }
  void set_faults(FrameFault* sent, FrameFault* received) {
    to_wire.set_fault(sent);
    from_wire.set_fault(received);
  }
  /// What is under way is lost.
  void clear() {
    to_wire.clear();
    from_wire.clear();
  }
  Channel to_wire, from_wire;
};

}  // namespace fc2::fcoe
