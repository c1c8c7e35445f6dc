// Where frames arrive, taps that observe them, and who hears what becomes of them between two taps.
#pragma once
#include "fc2_fabric/frame/counters.hpp"
#include "fc2_fabric/frame/ethernet_frame.hpp"
#include "fc2_fabric/frame/frame.hpp"
#include "fc2_fabric/frame/frame_run.hpp"

namespace fc2 {

/// Where frames arrive.
class FrameReceiver {
 public:
  virtual void receive(FramePtr frame) = 0;
  /// Frames of the run that were received, from its first on; 0: nothing has happened.
  [[nodiscard]] virtual std::size_t receive_run(const FrameRun& /*run*/) { return 0; }

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

/// Hears, inside the core, what keeps a frame from going on at once; of frames that go on at once nothing. Must not
/// keep the reference.
class FrameWitness {
 public:
  /// The port that it goes to takes none now: it leaves, is discarded or is lost later.
  virtual void frame_waits(TimeNs at, const Frame& frame) = 0;
  /// For that reason, which was counted.
  virtual void frame_discarded(TimeNs at, const Frame& frame, Discard reason) = 0;
  /// The link that it waited for, or was about to leave on, is gone.
  virtual void frame_lost(TimeNs at, const Frame& frame) = 0;

 protected:
  ~FrameWitness() = default;
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
