// What DDP over SCTP says at the association's set-up, and how its chunks are told apart (RFC 5043 5.1, 5.2).
#pragma once
#include "wire/codec.hpp"

namespace wire::sctp {

/// Payload Protocol Identifiers of DATA chunks; all are sent unordered (RFC 5043 5.2).
inline constexpr std::uint32_t segment_chunk = 16, session_control_chunk = 17;

/// Adaptation Layer Indication of INIT and INIT-ACK (RFC 5043 5.1, RFC 5061 4.2.6), 8 octets
/// octet | 0-1         | 2-3      | 4-7
///  0    | type C006h  | length 8 | indication: 1 is DDP's
struct AdaptationIndication {
  std::uint16_t type = 0xC006, length = 8;  // octets
  std::uint32_t indication = ddp;

  static constexpr std::uint32_t ddp = 1;
  static constexpr std::string_view name = "ADAPTATION_INDICATION";
  static constexpr auto layout =
      codec::layout<8>(codec::choice<0, 2>(&AdaptationIndication::type, "type", std::uint16_t{0xC006}),
                       codec::choice<2, 2>(&AdaptationIndication::length, "length", std::uint16_t{8}),
                       codec::field<4, 4>(&AdaptationIndication::indication, "indication"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  /// Errors: truncated; another "type" or "length". Any indication is taken: the caller compares it with `ddp`.
  [[nodiscard]] static Result<AdaptationIndication> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const AdaptationIndication&, const AdaptationIndication&) = default;
};

/// What both kinds of chunks begin with (RFC 5043 5.2.1), 2 octets: DDP-SSN, by which they are ordered within a stream.
/// Of a DDP Segment Chunk the rest is the segment (5.2.2).
struct ChunkHeader {
  std::uint16_t ssn = 0;

  static constexpr std::string_view name = "DDP_CHUNK";
  static constexpr auto layout = codec::layout<2>(codec::field<0, 2>(&ChunkHeader::ssn, "ddp_ssn"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  /// The only error is truncated.
  [[nodiscard]] static Result<ChunkHeader> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const ChunkHeader&, const ChunkHeader&) = default;
};
/// The first DDP-SSN comes before the second one (RFC 5043 6.1: from 0 on, modulo 2^16).
[[nodiscard]] constexpr bool ssn_less(std::uint16_t left, std::uint16_t right) {
  const auto ahead = static_cast<std::uint16_t>(right - left);
  return ahead != 0 && ahead < 0x8000U;
}

}  // namespace wire::sctp
