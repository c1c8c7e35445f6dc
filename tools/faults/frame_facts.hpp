// The facts about a frame that rules and expectations use.
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
  /// wire::message_name; of later frames of an ELS or CT sequence only the protocol, since the first frame
  /// names the message.
  std::string_view message;
  bool first = false;  // of its sequence
  bool last = false;
  wire::FcHeader header;
  std::optional<wire::fcvi::DeviceHeader> device_header;  // of a FC-VI frame that parses

  [[nodiscard]] std::vector<std::string> flags() const;  // names, FC-VI only
  [[nodiscard]] std::optional<wire::fcvi::Reason> reason() const;
};

/// nullopt: too short for a frame header.
[[nodiscard]] std::optional<FrameFacts> facts_of(const fc2::Frame& frame);

}  // namespace faults
