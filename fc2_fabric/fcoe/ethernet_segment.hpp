// An emulated Ethernet in virtual time: a switch with ports, latency, taps and faults. Lossless unless a fault says
// else.
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

/// What befalls frames on the segment. Lose one; or carry() it: later, changed, more than once.
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

  /// The carrier; ports begin with one.
  void set_carrier(bool up) { set_up(up); }
  /// As a NIC whose buffers are full, and again has some.
  void set_paused(bool paused) { paused ? pause() : resume(); }
  /// Takes frames to anybody: an interface in promiscuous mode.
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
  /// One at a time; nullptr takes it off.
  void set_fault(EthernetFault* fault) { fault_ = fault; }
  /// To everybody but `from` who wants it, `delay` later than others. What `from` says of itself is not checked.
  void carry(SegmentPort& from, EthernetFrame frame, TimeNs delay = 0);
  /// Arrives at one port, whatever its destination: for what hostile stations send.
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
