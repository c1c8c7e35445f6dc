// Fields of a frame by name, for rules and expectations: those of the FC header and of the FC-VI Device_Header.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "fc2_fabric/link/faults.hpp"

namespace faults {

struct FrameField {
  std::string_view name;
  std::uint16_t offset = 0;  // in the frame
  std::uint8_t size = 0;     // bytes
  bool fcvi = false;         // in FC-VI frames only

  /// The largest value.
  [[nodiscard]] std::uint64_t max() const { return size == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * size) - 1; }
  /// nullopt: the frame has no such field, or ends before it.
  [[nodiscard]] std::optional<std::uint64_t> read(std::span<const std::uint8_t> frame) const;
  [[nodiscard]] fc2::FramePatch patch(std::uint64_t value) const {
    return {.offset = offset, .size = size, .value = value};
  }
};

/// nullptr: no field of that name.
[[nodiscard]] const FrameField* find_field(std::string_view name);
[[nodiscard]] std::vector<std::string_view> field_names();

}  // namespace faults
