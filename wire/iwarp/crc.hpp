// The CRC of MPA, IFT and SCTP.
#pragma once
#include "wire/bytes.hpp"

namespace wire::iwarp {

inline constexpr std::size_t crc_bytes = 4;

/// CRC-32C as iSCSI's digests have it (RFC 5044 4.4, IFT 5.1, ruling I-4): of `octets`, or of more octets after those
/// whose CRC is `before`. Of nothing: 0 (ruling I-6).
[[nodiscard]] std::uint32_t crc32c(Bytes octets, std::uint32_t before = 0) noexcept;
/// The same over several pieces, in order.
[[nodiscard]] std::uint32_t crc32c(std::span<const Bytes> pieces, std::uint32_t before = 0) noexcept;

/// The four octets on the wire, the register's lowest first. The caller has bounded `to` and `from`.
void store_crc(std::uint8_t* to, std::uint32_t crc) noexcept;
[[nodiscard]] std::uint32_t load_crc(const std::uint8_t* from) noexcept;

}  // namespace wire::iwarp
