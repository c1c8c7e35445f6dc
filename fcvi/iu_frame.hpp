// One frame of a message as it came, with its Device_Header parsed.
#pragma once
#include <cstdint>
#include <span>

#include "fc2_fabric/node/exchange.hpp"
#include "wire/fcvi/device_header.hpp"

namespace fcvi {

/// References to what lives while the frame is processed, or is kept (EarlyFrames).
struct IuFrame {
  const fc2::ReceivedFrame& frame;
  const wire::fcvi::DeviceHeader& header;
  std::span<const std::uint8_t> payload;  // behind the Device_Header

  [[nodiscard]] wire::OxId ox_id() const { return frame.header.ox_id; }
  [[nodiscard]] std::uint16_t seq_cnt() const { return frame.header.seq_cnt.value; }
  /// Relative offset of the payload in its message (FC-VI 5.8.7).
  [[nodiscard]] std::uint32_t offset() const { return frame.header.parameter; }
  /// Bytes of the message up to the end of this frame.
  [[nodiscard]] std::uint64_t end() const { return std::uint64_t{offset()} + payload.size(); }
};

}  // namespace fcvi
