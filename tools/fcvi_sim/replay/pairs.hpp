// A capture of both ends that tells no directions: which record is a frame's departure, and which its arrival.
#pragma once
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>

#include "tools/fcvi_sim/capture/reading.hpp"

namespace sim::replay {

/// Fed with all frames in order. Of two records between ports with the same bytes the second is the arrival of the
/// first. What a service of the fabric sends or receives is captured at the port only.
class Pairs {
 public:
  enum class End : std::uint8_t { only, departure, arrival };
  End add(const capture::Seen& seen, const wire::FcHeader& header, wire::Bytes frame);
  /// Most frames between ports came twice.
  [[nodiscard]] bool are_usual() const { return 4 * arrivals_ > frames_; }

 private:
  std::uint64_t frames_ = 0, arrivals_ = 0;
  boost::unordered_flat_map<std::size_t, capture::Time> departed_;  // by a hash of the bytes; did not arrive yet
};

}  // namespace sim::replay
