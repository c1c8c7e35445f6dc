// The Fibre Channel CRC: CRC-32 as in zlib, over frame header and data field (FC-FS).
#pragma once
#include "wire/bytes.hpp"

namespace wire {

/// CRC of `bytes`, or of more bytes after those whose CRC is `before`. FCoE stores it little-endian.
[[nodiscard]] std::uint32_t crc32(Bytes bytes, std::uint32_t before = 0) noexcept;

}  // namespace wire
