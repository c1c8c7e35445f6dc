// The DDP header, of both buffer models (RFC 5041 4).
#pragma once
#include "wire/codec.hpp"

namespace wire::ddp {

/// Steering Tag (RFC 5041 4.2).
struct STag {
  std::uint32_t value = 0;
  friend constexpr auto operator<=>(const STag&, const STag&) = default;
};
/// "0000002Ah"
[[nodiscard]] std::string to_string(STag stag);

/// Message Sequence Number of a queue: the first is 1, FFFFFFFFh is followed by 0 (RFC 5041 4.3). Order across the
/// wrap: serial_less.
struct Msn {
  std::uint32_t value = 1;
  friend constexpr auto operator<=>(const Msn&, const Msn&) = default;
};
/// "00000001h"
[[nodiscard]] std::string to_string(Msn msn);
/// `left` comes before `right` in serial-number arithmetic (RFC 1982); false where they are half the circle apart.
[[nodiscard]] constexpr bool serial_less(Msn left, Msn right) {
  const std::uint32_t ahead = right.value - left.value;
  return ahead != 0 && ahead < 0x80000000U;
}
/// The number `steps` further on, across the wrap.
[[nodiscard]] constexpr Msn advance(Msn msn, std::uint32_t steps = 1) { return {msn.value + steps}; }

inline constexpr std::size_t tagged_header_bytes = 14, untagged_header_bytes = 18;
[[nodiscard]] constexpr std::size_t header_bytes(bool tagged) {
  return tagged ? tagged_header_bytes : untagged_header_bytes;
}

/// DDP header (RFC 5041 4.1 to 4.3), 14 octets in the Tagged Buffer Model, 18 in the Untagged
/// octet | 0                           | 1
///  0    | 7 T, 6 L, 5-2 reserved, 1-0 DV | RsvdULP: RDMAP's control
/// Tagged:   octet 2 STag, octet 6 TO
/// Untagged: octet 2 RsvdULP (RDMAP: Invalidate STag), octet 6 QN, octet 10 MSN, octet 14 MO
struct Header {
  bool tagged = false;       // T
  bool last = false;         // L
  std::uint8_t version = 1;  // DV, 0 to 3: the same for all segments of a stream, which the caller compares
  std::uint8_t rsvd_ulp = 0;
  // Tagged; 0 otherwise.
  STag stag{};
  std::uint64_t tagged_offset = 0;
  // Untagged; 0 otherwise.
  std::uint32_t rsvd_ulp_untagged = 0;  // the other four octets of RsvdULP
  std::uint32_t queue_number = 0;
  Msn msn{0};
  std::uint32_t message_offset = 0;  // octets

  static constexpr std::string_view name = "DDP";
  static constexpr auto control =
      codec::word<0, 1>(codec::part<7, 7>(&Header::tagged, "ddp_control"), codec::part<6, 6>(&Header::last, "last"),
                        codec::part<1, 0>(&Header::version, "version"));
  static constexpr auto tagged_layout = codec::layout<tagged_header_bytes>(
      control, codec::field<1, 1>(&Header::rsvd_ulp, "rsvd_ulp"), codec::field<2, 4>(&Header::stag, "stag"),
      codec::field<6, 8>(&Header::tagged_offset, "tagged_offset"));
  static constexpr auto untagged_layout = codec::layout<untagged_header_bytes>(
      control, codec::field<1, 1>(&Header::rsvd_ulp, "rsvd_ulp"),
      codec::field<2, 4>(&Header::rsvd_ulp_untagged, "rsvd_ulp_untagged"),
      codec::field<6, 4>(&Header::queue_number, "queue_number"), codec::field<10, 4>(&Header::msn, "msn"),
      codec::field<14, 4>(&Header::message_offset, "message_offset"));

  /// Any octets are a header if there are enough: the only error is truncated, with the field that is cut.
  [[nodiscard]] static Result<Header> parse(Bytes bytes);
  [[nodiscard]] constexpr std::size_t size() const { return header_bytes(tagged); }
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const Header&, const Header&) = default;
};

}  // namespace wire::ddp
