// TCP segments of emulated streams as packets of a capture: Ethernet, IPv4 or IPv6, and TCP around the octets, so that
// Wireshark follows the streams.
#pragma once
#include <map>
#include <vector>

#include "fc2_fabric/frame/capture.hpp"
#include "streams/emulated.hpp"

namespace sim {

class TcpCapture {
 public:
  /// Describes its interface at once. The capture outlives it.
  TcpCapture(fc2::Capture& capture, std::string_view name)
      : capture_(capture), interface_(capture.describe_interface(name)) {}

  void sent(runtime::TimeNs at, const streams::SegmentSeen& segment, std::string_view comment);
  /// See SegmentTap.
  void acknowledged(runtime::TimeNs at, const streams::SegmentSeen& segment);

 private:
  /// One direction.
  struct Direction {
    std::uint32_t first_sequence = 0;  // of the SYN
    bool end_sent = false;
  };
  using Ends = std::pair<streams::Address, streams::Address>;
  [[nodiscard]] Direction& direction(const streams::Address& from, const streams::Address& to) {
    return directions_[Ends{from, to}];
  }
  void begin(const streams::SegmentSeen& syn);
  void write(runtime::TimeNs at, const streams::SegmentSeen& segment, std::uint8_t flags, std::string_view comment);
  void add_tcp(const streams::SegmentSeen& segment, std::uint8_t flags);

  fc2::Capture& capture_;
  const std::uint32_t interface_;
  std::map<Ends, Direction> directions_;  // of the latest stream between these
  std::uint32_t streams_ = 0;
  std::uint16_t identification_ = 0;  // of IPv4
  std::vector<std::uint8_t> packet_;
};

}  // namespace sim
