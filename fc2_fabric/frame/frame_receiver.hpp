// Where frames arrive, and taps that observe them.
#pragma once
#include "fc2_fabric/frame/ethernet_frame.hpp"
#include "fc2_fabric/frame/frame.hpp"

namespace fc2 {

/// Where frames arrive.
class FrameReceiver {
 public:
  virtual void receive(FramePtr frame) = 0;

 protected:
  ~FrameReceiver() = default;
};

/// Sees every frame at one end of a channel; must not keep the reference.
class FrameTap {
 public:
  /// `outbound`: the tapped port sent it, else received it.
  virtual void frame_passed(TimeNs at, const Frame& frame, bool outbound) = 0;

 protected:
  ~FrameTap() = default;
};

}  // namespace fc2

namespace fc2::fcoe {

/// Sees every Ethernet frame at one port; must not keep the reference.
class EthernetTap {
 public:
  /// `outbound`: the tapped port sent it, else received it.
  virtual void ethernet_passed(TimeNs at, const EthernetFrame& frame, bool outbound) = 0;

 protected:
  ~EthernetTap() = default;
};

}  // namespace fc2::fcoe
