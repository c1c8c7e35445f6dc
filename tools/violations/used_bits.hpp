// Which bits of a Device_Header an IU uses: those that survive a parse and a write by wire/. All others are reserved.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "wire/messages.hpp"

namespace violations {

namespace detail {
inline constexpr std::size_t most_bytes = 32 + wire::fcvi::ConnectPayload::size_with_info;
using IuBytes = std::array<std::uint8_t, most_bytes>;

/// Sets what `flags` allows, so that its fields count.
template <class Iu>
IuBytes base_of(std::uint8_t flags) {
  IuBytes bytes{};
  bytes[4] = static_cast<std::uint8_t>(Iu::opcode);
  bytes[5] = flags;
  return bytes;
}

template <class Iu>
IuBytes rewritten(const IuBytes& bytes) {
  IuBytes out{};
  if (const auto iu = Iu::parse(bytes)) iu->write(out);
  return out;
}
}  // namespace detail

/// The bits of the Device_Header that an IU with these flags uses, byte by byte. FCVI_HANDLE and FCVI_OPCODE always
/// count.
template <class Iu>
[[nodiscard]] std::vector<std::uint8_t> used_bits(std::uint8_t flags) {
  const std::size_t size = wire::fcvi::device_header_size(Iu::opcode);
  std::vector<std::uint8_t> mask(size);
  const detail::IuBytes base = detail::base_of<Iu>(flags);
  const detail::IuBytes written = detail::rewritten<Iu>(base);
  for (std::size_t byte = 0; byte < size; ++byte) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      detail::IuBytes changed = base;
      changed[byte] = static_cast<std::uint8_t>(changed[byte] ^ 1U << bit);
      const bool counts = byte <= 4 || detail::rewritten<Iu>(changed)[byte] != written[byte];
      mask[byte] = static_cast<std::uint8_t>(mask[byte] | (counts ? 1U << bit : 0U));
    }
  }
  return mask;
}

/// The flag with which FCVI_PARAMETER counts; 0: it never does.
template <class Iu>
[[nodiscard]] std::uint8_t parameter_flag() {
  constexpr std::size_t parameter_at = 13;  // its second byte: all that a connection status uses too
  for (unsigned bit = 0; bit < 8; ++bit) {
    const auto flag = static_cast<std::uint8_t>(1U << bit);
    if (used_bits<Iu>(flag)[parameter_at] != 0 && used_bits<Iu>(0)[parameter_at] == 0) return flag;
  }
  return 0;
}

}  // namespace violations
