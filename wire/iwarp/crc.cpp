#include "wire/iwarp/crc.hpp"

#include <isa-l/crc.h>

#include <algorithm>
#include <limits>

#include "wire/vector_registers.hpp"

namespace wire::iwarp {

// ISA-L takes and gives the register as it is, complemented neither at the beginning nor at the end, writes to no octet
// though its buffer is not const, and counts with an int.
std::uint32_t crc32c(Bytes octets, std::uint32_t before) noexcept {
  constexpr std::size_t most = std::numeric_limits<int>::max();
  std::uint32_t state = ~before;
  while (!octets.empty()) {
    const Bytes now = octets.first(std::min(octets.size(), most));
    state = crc32_iscsi(const_cast<std::uint8_t*>(now.data()), static_cast<int>(now.size()), state);
    octets = octets.subspan(now.size());
  }
  clear_upper_halves();
  return ~state;
}

std::uint32_t crc32c(std::span<const Bytes> pieces, std::uint32_t before) noexcept {
  for (const Bytes piece : pieces) before = crc32c(piece, before);
  return before;
}

void store_crc(std::uint8_t* to, std::uint32_t crc) noexcept {
  boost::endian::endian_store<std::uint32_t, crc_bytes, boost::endian::order::little>(to, crc);
}

std::uint32_t load_crc(const std::uint8_t* from) noexcept {
  return boost::endian::endian_load<std::uint32_t, crc_bytes, boost::endian::order::little>(from);
}

}  // namespace wire::iwarp
