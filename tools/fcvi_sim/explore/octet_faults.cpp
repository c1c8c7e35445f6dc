#include "tools/fcvi_sim/explore/octet_faults.hpp"

#include <algorithm>

namespace sim::explore {
namespace {

SegmentFate::Kind fate_of(Fault::Kind kind) {
  if (kind == Fault::Kind::Reset) return SegmentFate::Kind::Reset;
  if (kind == Fault::Kind::Close) return SegmentFate::Kind::Close;
  return kind == Fault::Kind::Silence ? SegmentFate::Kind::Silence : SegmentFate::Kind::Hold;
}

}  // namespace

// What ends a stream hides what comes behind it.
SegmentFate OctetFaults::segment_met(const SegmentMet& met) {
  const std::uint32_t before = octets_;
  if (active_) octets_ += static_cast<std::uint32_t>(met.stream_octets);
  SegmentFate fate;
  const Fault* shown = nullptr;
  for (const Fault& fault : faults_) {
    if (fault.frame <= before || fault.frame > octets_ || fate.kind != SegmentFate::Kind::Pass) continue;
    shown = &fault;
    ++applied_;
    const std::size_t octet = fault.frame - before - 1;
    if (fault.kind == Fault::Kind::Invert) {
      met.octets[std::min(octet, met.octets.size() - 1)] ^= 0xFF;  // markers are not among them
      continue;
    }
    fate = {fate_of(fault.kind), octet, fault.delay};
    if (fault.kind == Fault::Kind::Delay) last_arrival_ = std::max(last_arrival_, met.at + fault.delay);
  }
  if (witness_) witness_(before + 1, met, shown);
  return fate;
}

}  // namespace sim::explore
