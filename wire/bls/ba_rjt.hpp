// Basic Reject: the answer to an ABTS that was refused.
#pragma once
#include "wire/codec.hpp"

namespace wire::bls {

/// BA_RJT reason codes (FC-FS).
enum class RejectReason : std::uint8_t {
  invalid_command = 0x01,
  logical_error = 0x03,
  logical_busy = 0x05,
  protocol_error = 0x07,
  unable_to_perform = 0x09,
  vendor_unique = 0xFF,
};
[[nodiscard]] std::string_view to_string(RejectReason reason);

/// BA_RJT reason explanations (FC-FS).
enum class RejectExplanation : std::uint8_t {
  none = 0x00,
  invalid_ox_id_rx_id = 0x03,
  sequence_aborted = 0x05,
};
[[nodiscard]] std::string_view to_string(RejectExplanation explanation);

/// BA_RJT (FC-FS), 4 bytes
/// word | 31-24    | 23-16  | 15-8        | 7-0
///  0   | reserved | reason | explanation | vendor unique
struct BaRjt {
  RejectReason reason{};
  RejectExplanation explanation{};
  std::uint8_t vendor_unique = 0;

  static constexpr std::string_view name = "BA_RJT";
  static constexpr auto layout = codec::layout<4>(codec::field<1, 1>(&BaRjt::reason, "reason"),
                                                  codec::field<2, 1>(&BaRjt::explanation, "explanation"),
                                                  codec::field<3, 1>(&BaRjt::vendor_unique, "vendor_unique"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<BaRjt> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const BaRjt&, const BaRjt&) = default;
};

}  // namespace wire::bls
