// MPA Markers: their format, and where in the stream they stand (RFC 5044 4.2, 4.3).
#pragma once
#include "wire/codec.hpp"

namespace wire::mpa {

inline constexpr std::size_t marker_bytes = 4, marker_interval_bytes = 512;

/// Where an octet stands in one direction of a stream with markers: octets, markers included, from the first octet of
/// the first marker, which stands before the first FPDU. FPDUs and markers begin at multiples of 4.
using Position = std::uint64_t;

/// Marker (RFC 5044 4.2), 4 octets
/// octet | 0-1      | 2-3
///  0    | reserved | FPDUPTR; its bits 1-0 are 0, and taken for 0
struct Marker {
  std::uint16_t fpduptr_words = 0;  // FPDUPTR without its two bits

  static constexpr std::string_view name = "MARKER";
  static constexpr auto layout =
      codec::layout<4>(codec::word<2, 2>(codec::part<15, 2>(&Marker::fpduptr_words, "fpduptr")));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<Marker> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const Marker&, const Marker&) = default;

  /// Octets from the FPDU's ULPDU_Length to the marker; 0: the FPDU begins behind the marker.
  [[nodiscard]] constexpr std::uint16_t fpduptr() const { return static_cast<std::uint16_t>(fpduptr_words * 4); }
  /// What the marker at `marker` says that belongs to the FPDU whose ULPDU_Length is at `fpdu`: before the marker, by
  /// at most 65,532 octets (mulpdu() sees to it), or directly behind it.
  [[nodiscard]] static constexpr Marker of(Position marker, Position fpdu) {
    return {static_cast<std::uint16_t>(fpdu < marker ? (marker - fpdu) / 4 : 0)};
  }
};

/// A marker begins here.
[[nodiscard]] constexpr bool is_marker_at(Position position) { return position % marker_interval_bytes == 0; }

/// Octets of one kind, as they follow one another in the stream.
struct Run {
  bool is_marker = false;  // what is left of a marker; else octets of FPDUs
  std::size_t octets = 0;
  friend bool operator==(const Run&, const Run&) = default;
};
/// What stands at `position`, which may lie within a marker: the marker's octets, or as many octets of FPDUs as come
/// before the next marker.
[[nodiscard]] constexpr Run run_at(Position position) {
  const std::size_t within = position % marker_interval_bytes;
  return within < marker_bytes ? Run{true, marker_bytes - within} : Run{false, marker_interval_bytes - within};
}

/// The position behind `octets` of FPDUs that begin at `position`, the markers before and among them counted. A marker
/// that would begin there belongs to what comes next.
[[nodiscard]] constexpr Position position_after(Position position, std::uint64_t octets) {
  while (octets > 0) {
    const Run run = run_at(position);
    const std::uint64_t taken = run.is_marker ? run.octets : std::min<std::uint64_t>(run.octets, octets);
    position += taken;
    if (!run.is_marker) octets -= taken;
  }
  return position;
}

/// Takes the markers out of `stream`, which begins at `position`; both may be cut anywhere. Gives the number of octets
/// that are left, written to the beginning of `to`, which has room for them: it may be `stream` itself.
std::size_t remove_markers(Position position, Bytes stream, MutableBytes to);

}  // namespace wire::mpa
