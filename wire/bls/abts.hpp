// Abort Sequence.
#pragma once
#include "wire/codec.hpp"

namespace wire::bls {

/// ABTS (FC-FS basic link service): no payload. SEQ_ID, SEQ_CNT, OX_ID and RX_ID stand in the frame header.
struct Abts {
  static constexpr std::string_view name = "ABTS";
  static constexpr auto layout = codec::layout<0>();
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<Abts> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const Abts&, const Abts&) = default;
};

/// Bit 0 of the Parameter field of an ABTS: abort the sequence only; otherwise the exchange.
inline constexpr std::uint32_t abts_sequence_only = 1;

}  // namespace wire::bls
