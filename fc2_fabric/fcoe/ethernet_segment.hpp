// An emulated Ethernet in virtual time: a switch with ports, latency, taps and faults. No frame is lost
// without a fault.
#pragma once
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "fc2_fabric/fcoe/ethernet_port.hpp"
#include "fc2_fabric/frame/time.hpp"

namespace fc2::fcoe {
class EthernetSegment;
class SegmentPort;

/// A fault of frames on the segment: lose one, or carry() it: later, changed, or more than once.
class EthernetFault {
 public:
  virtual void befall(EthernetSegment& segment, SegmentPort& from, EthernetFrame frame) = 0;

 protected:
  ~EthernetFault() = default;
};

class SegmentPort final : public EthernetPort {
 public:
  SegmentPort(EthernetSegment& segment, EthernetInterface interface);
  void send(EthernetFrame frame) override;
  void listen(const wire::MacAddress& address) override { ++wanted_[address]; }
  void ignore(const wire::MacAddress& address) override;

  /// The carrier; ports start with one.
  void set_carrier(bool up) { set_up(up); }
  /// As a NIC whose buffers are full, and then free again.
  void set_paused(bool paused) { paused ? pause() : resume(); }
  /// Receives frames to any destination: an interface in promiscuous mode.
  void set_promiscuous(bool promiscuous) { promiscuous_ = promiscuous; }
  void tap(EthernetTap* tap) { tap_ = tap; }
  [[nodiscard]] bool wants(const wire::MacAddress& address) const { return promiscuous_ || wanted_.contains(address); }

 private:
  friend class EthernetSegment;
  void arrived(EthernetFrame frame);

  EthernetSegment& segment_;
  std::map<wire::MacAddress, std::size_t> wanted_;
  bool promiscuous_ = false;
  EthernetTap* tap_ = nullptr;
};

class EthernetSegment final : private Event {
 public:
  EthernetSegment(Scheduler& scheduler, FramePool& pool, TimeNs latency = microsecond)
      : scheduler_(scheduler), pool_(pool), latency_(latency) {}
  /// Stays valid as long as the segment.
  SegmentPort& add_port(EthernetInterface interface);
  /// One at a time; nullptr removes it.
  void set_fault(EthernetFault* fault) { fault_ = fault; }
  /// Delivers to every port that wants it, except `from`, `delay` later than usual. Its source address is not checked.
  void carry(SegmentPort& from, EthernetFrame frame, TimeNs delay = 0);
  /// Delivers to one port, whatever the destination: for frames of hostile stations.
  void inject(SegmentPort& to, wire::Bytes bytes);
  [[nodiscard]] Scheduler& scheduler() { return scheduler_; }
  [[nodiscard]] FramePool& pool() { return pool_; }
  [[nodiscard]] std::size_t in_flight() const { return flying_.size(); }

 private:
  friend class SegmentPort;
  void sent(SegmentPort& from, EthernetFrame frame);
  void fire(TimeNs now) override;
  void land(SegmentPort& from, EthernetFrame frame);

  struct Flight {
    SegmentPort* from;
    EthernetFrame frame;
  };
  Scheduler& scheduler_;
  FramePool& pool_;
  const TimeNs latency_;
  EthernetFault* fault_ = nullptr;
  std::deque<std::unique_ptr<SegmentPort>> ports_;
  std::multimap<TimeNs, Flight> flying_;  // in order of arrival
};

}  // namespace fc2::fcoe
