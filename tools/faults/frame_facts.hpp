// What rules and expectations know of a frame.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fc2_fabric/frame/frame.hpp"
#include "wire/fc_header.hpp"
#include "wire/fcvi/device_header.hpp"
#include "wire/fcvi/reason.hpp"

namespace faults {

struct FrameFacts {
  /// wire::message_name; of later frames of an ELS or CT sequence only the protocol: what they carry, the first says.
  std::string_view message;
  bool first = false;  // of its sequence
  bool last = false;
  wire::FcHeader header;
  std::optional<wire::fcvi::DeviceHeader> device_header;  // of a FC-VI frame that parses

  [[nodiscard]] std::vector<std::string> flags() const;  // names, FC-VI only
  [[nodiscard]] std::optional<wire::fcvi::Reason> reason() const;
};

/// None: too short for a frame header.
[[nodiscard]] std::optional<FrameFacts> facts_of(const fc2::Frame& frame);

}  // namespace faults
