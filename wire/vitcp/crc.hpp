// The CRC of VI/TCP segments (VI-TCP 3.6).
#pragma once
#include "wire/bytes.hpp"

namespace wire::vitcp {

/// CRC-32 as Ethernet computes it, the least significant bit of each octet first, but with the generator DB710641h,
/// which is Ethernet's from right to left (ruling V-20). Of `octets`, or of more octets after those whose CRC is
/// `before`. The segment's CRC is that of all octets before its trailer; store_crc() gives the trailer its order.
[[nodiscard]] std::uint32_t crc(Bytes octets, std::uint32_t before = 0) noexcept;

/// How it is computed, from the narrowest on: crc() takes the widest that the processor has.
enum class CrcWay : std::uint8_t { tables, folding, wide_folding };
[[nodiscard]] CrcWay widest_crc_way() noexcept;
/// The same CRC by a way at most as wide as `widest`: for tests of the others where there is a wider one.
[[nodiscard]] std::uint32_t crc_by(CrcWay widest, Bytes octets, std::uint32_t before = 0) noexcept;

/// The trailer's four octets. The caller has bounded `to` and `from`.
void store_crc(std::uint8_t* to, std::uint32_t crc) noexcept;
[[nodiscard]] std::uint32_t load_crc(const std::uint8_t* from) noexcept;

}  // namespace wire::vitcp
