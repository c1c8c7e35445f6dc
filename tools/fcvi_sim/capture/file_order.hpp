// Integers in the byte order of the machine that wrote a capture.
#pragma once
#include <cstdint>

namespace sim::capture {

struct FileOrder {
  bool little = true;

  [[nodiscard]] std::uint16_t u16(const std::uint8_t* at) const {
    return static_cast<std::uint16_t>(little ? at[0] | at[1] << 8 : at[0] << 8 | at[1]);
  }
  [[nodiscard]] std::uint32_t u32(const std::uint8_t* at) const {
    const std::uint32_t first = u16(at), second = u16(at + 2);
    return little ? first | second << 16 : first << 16 | second;
  }
  [[nodiscard]] std::uint64_t u64(const std::uint8_t* at) const {
    const std::uint64_t first = u32(at), second = u32(at + 4);
    return little ? first | second << 32 : first << 32 | second;
  }
};

}  // namespace sim::capture
