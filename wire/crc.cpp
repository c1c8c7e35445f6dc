#include "wire/crc.hpp"

#include <isa-l/crc.h>

namespace wire {

std::uint32_t crc32(Bytes bytes, std::uint32_t before) noexcept {
  return crc32_gzip_refl(before, bytes.data(), bytes.size());
}

}  // namespace wire
