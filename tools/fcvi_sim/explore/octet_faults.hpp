// The faults of an exploration over TCP. Octets are numbered from 1 in the order in which hosts write them, of all
// streams together: a fault befalls a stream in front of that octet, or the octet.
#pragma once
#include <functional>

#include "tools/fcvi_sim/explore/fault.hpp"
#include "tools/fcvi_sim/network/segment_watch.hpp"

namespace sim::explore {

/// A segment as it was written, with the number of its first octet; the fault that befalls it, or nullptr.
using SegmentWitness = std::function<void(std::uint32_t number, const SegmentMet& met, const Fault* fault)>;

/// Before begin() and after end() every segment passes unchanged.
class OctetFaults final : public SegmentWatch {
 public:
  explicit OctetFaults(FaultList faults) : faults_(std::move(faults)) {}
  void begin() { active_ = true; }
  void end() { active_ = false; }
  [[nodiscard]] std::uint32_t octets() const { return octets_; }
  [[nodiscard]] std::size_t applied() const { return applied_; }
  /// When the last octet that was held back goes on. In the past: the faults are over.
  [[nodiscard]] runtime::TimeNs last_arrival() const { return last_arrival_; }
  void set_witness(SegmentWitness witness) { witness_ = std::move(witness); }

  // SegmentWatch
  SegmentFate segment_met(const SegmentMet& met) override;

 private:
  const FaultList faults_;
  std::uint32_t octets_ = 0;
  std::size_t applied_ = 0;
  runtime::TimeNs last_arrival_ = 0;
  bool active_ = false;
  SegmentWitness witness_;
};

}  // namespace sim::explore
