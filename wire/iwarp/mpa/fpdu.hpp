// FPDUs: one ULPDU in the stream, with length, pad, CRC, and the markers that fall into it (RFC 5044 4).
#pragma once
#include <vector>

#include "wire/iwarp/crc.hpp"
#include "wire/iwarp/mpa/marker.hpp"

namespace wire::mpa {

inline constexpr std::size_t ulpdu_length_bytes = 2, max_ulpdu_length = 0xFFFF;

/// What Request and Reply agreed, for one direction.
struct Framing {
  bool markers = false;
  bool crc = true;  // else the CRC field is there all the same, 0 from us and not checked
};

/// Octets of PAD: 0 to 3 (RFC 5044 4.1).
[[nodiscard]] constexpr std::size_t pad_bytes(std::size_t ulpdu_bytes) {
  return (word_size - (ulpdu_length_bytes + ulpdu_bytes) % word_size) % word_size;
}
/// Octets of an FPDU without markers.
[[nodiscard]] constexpr std::size_t fpdu_bytes(std::size_t ulpdu_bytes) {
  return ulpdu_length_bytes + ulpdu_bytes + pad_bytes(ulpdu_bytes) + iwarp::crc_bytes;
}
/// MULPDU, the octets of the largest ULPDU whose FPDU fits a TCP segment of `emss` octets (RFC 5044 4.5). 0 where none
/// does. Never more than what ULPDU_Length and FPDUPTR can tell.
[[nodiscard]] constexpr std::size_t mulpdu(std::size_t emss, bool markers) {
  emss = std::min<std::size_t>(emss, 0xFFFF);
  const std::size_t intervals = (emss + marker_interval_bytes - 1) / marker_interval_bytes;
  const std::size_t around =
      ulpdu_length_bytes + iwarp::crc_bytes + (markers ? marker_bytes * intervals : 0) + emss % word_size;
  return emss > around ? emss - around : 0;
}

/// FPDU (RFC 5044 4.1), a multiple of 4 octets
/// octet
///  0    | ULPDU_Length, octets of the ULPDU alone
///  2    | ULPDU; PAD, 0 to 3 octets, ignored but under the CRC; CRC, 4 octets
/// A marker that stands directly before ULPDU_Length, or before the CRC, belongs to the FPDU and is under its CRC
/// (RFC 5044 4.3, 4.4). For set-up, tools and tests: who moves data goes from run to run and copies no ULPDU.
struct Fpdu {
  std::vector<std::uint8_t> ulpdu{};

  /// Octets in the stream of the FPDU that begins at `octets`, its markers included; `position` is that of octets[0],
  /// a multiple of 4, and only matters with markers. Errors: truncated "marker" and "ulpdu_length".
  [[nodiscard]] static Result<std::size_t> extent(Bytes octets, const Framing& framing, Position position);
  /// The FPDU that begins at `octets`. Memory: the octets of the FPDU, at most 66 KiB. Errors: those of extent();
  /// truncated "ulpdu"; bad_crc "crc" (RFC 5044 8 error 2), unless framing.crc is off; a "fpduptr" that does not lead
  /// to the ULPDU_Length (error 3).
  [[nodiscard]] static Result<Fpdu> parse(Bytes octets, const Framing& framing, Position position);
  /// Octets in the stream. With markers, the ULPDU is at most mulpdu(65535, true) octets: FPDUPTR leads no further.
  [[nodiscard]] std::size_t size(const Framing& framing, Position position) const;
  void write(MutableBytes to, const Framing& framing, Position position) const;
  friend bool operator==(const Fpdu&, const Fpdu&) = default;
};

}  // namespace wire::mpa
