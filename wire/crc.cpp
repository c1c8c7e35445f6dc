#include "wire/crc.hpp"

#include <isa-l/crc.h>

#include "wire/vector_registers.hpp"

namespace wire {

std::uint32_t crc32(Bytes bytes, std::uint32_t before) noexcept {
  const std::uint32_t crc = crc32_gzip_refl(before, bytes.data(), bytes.size());
  clear_upper_halves();
  return crc;
}

}  // namespace wire
