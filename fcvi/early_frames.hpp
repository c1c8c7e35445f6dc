// Frames of one stream that overtook others on an out-of-order fabric, until those come (FC-VI B.2.5 rules 4c, 5b, 6e).
#pragma once
#include <vector>

#include "fc2_fabric/exchange.hpp"
#include "fc2_fabric/frame.hpp"
#include "wire/fcvi/device_header.hpp"

namespace fcvi {

/// In order of FCVI_MSG_ID and relative offset, which no two frames of a stream share (5.2.1). The frames are taken over, not
/// copied.
class EarlyFrames {
 public:
  struct Entry {
    fc2::FramePtr frame;          // what `received` looks at
    fc2::ReceivedFrame received;
    wire::fcvi::DeviceHeader header;
    fc2::TimeNs arrived_at = 0;
    [[nodiscard]] std::span<const std::uint8_t> payload() const { return received.data_field.subspan(header.size()); }
  };

  /// False: it is here already, or there are as many as may be. What has no room is missed, and R_A_TOV tells (rule 7).
  bool add(const fc2::ReceivedFrame& received, const wire::fcvi::DeviceHeader& header, fc2::TimeNs now);
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] const Entry& first() const { return entries_.back(); }
  Entry take_first();
  void clear() { entries_.clear(); }
  /// Since when it is known that frames before the first one are missing: all that came after them, and still wait, are here.
  [[nodiscard]] fc2::TimeNs known_since() const;

 private:
  static constexpr std::size_t max_frames = 1024;  // 2 MiB: what links of 16GFC bring in a millisecond
  std::vector<Entry> entries_;                     // the first is the last, where it is cheap to take
};

}  // namespace fcvi
