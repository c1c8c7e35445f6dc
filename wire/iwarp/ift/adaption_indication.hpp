// The adaption indication, with which both ends agree on IFT (IFT 4).
#pragma once
#include "wire/codec.hpp"
#include "wire/iwarp/crc.hpp"

namespace wire::ift {

/// VTag of one receiver: all that is sent to it carries the value (IFT 4.2).
struct VTag {
  std::uint16_t value = 0;
  friend constexpr auto operator<=>(const VTag&, const VTag&) = default;
};
/// "002Ah"
[[nodiscard]] std::string to_string(VTag vtag);

inline constexpr std::size_t adaption_indication_bytes = 64;

/// Adaption Indication (draft-williams-iwarp-ift-01, IFT 4.1), 64 octets
/// octet | 0-1                                                | 2-3
///  0    | Magic number, 52444450h
///  4    | Version                                            | BcVersion
///  8    | Flags: 31 PH, 30 R, 29 HC, 28 PC, 27 IH, 26 IP, 25 SP, 24 SM, 23 RM, 22-0 reserved
///  12   | Sender's VTag                                      | Marker Interval
///  16   | reserved, 44 octets
///  60   | CRC of the 60 octets before it (ruling I-4)
struct AdaptionIndication {
  std::uint16_t version = 1;
  std::uint16_t bc_version = 1;        // the lowest version with which the sender gets on
  bool phase_1 = false;                // PH: the answer to a phase 0
  bool rdma_mode = true;               // R; else DDP mode
  bool header_crc = true;              // HC: the sender's frames have header CRCs
  bool payload_crc = true;             // PC
  bool ignores_header_crc = false;     // IH: the sender will not check those that it receives
  bool ignores_payload_crc = false;    // IP
  bool speculative_placement = false;  // SP: the receiver of this may place speculatively
  bool sends_markers = false;          // SM; never ours (ruling I-11)
  bool wants_markers = false;          // RM; likewise, and ignored of a peer
  VTag vtag{};                         // of the sender
  std::uint16_t marker_interval = 0;

  static constexpr std::string_view name = "IFT_ADAPTION";
  static constexpr std::uint32_t magic = 0x52444450;
  static constexpr std::uint16_t known_version = 1;
  /// Without the CRC, whose octets parse() and write() see to.
  static constexpr auto layout = codec::layout<adaption_indication_bytes>(
      codec::constant<0, 4>(magic, "magic"), codec::field<4, 2>(&AdaptionIndication::version, "version"),
      codec::field<6, 2>(&AdaptionIndication::bc_version, "bc_version"),
      codec::word<8, 4>(codec::part<31, 31>(&AdaptionIndication::phase_1, "flags"),
                        codec::part<30, 30>(&AdaptionIndication::rdma_mode, "rdma_mode"),
                        codec::part<29, 29>(&AdaptionIndication::header_crc, "header_crc"),
                        codec::part<28, 28>(&AdaptionIndication::payload_crc, "payload_crc"),
                        codec::part<27, 27>(&AdaptionIndication::ignores_header_crc, "ignores_header_crc"),
                        codec::part<26, 26>(&AdaptionIndication::ignores_payload_crc, "ignores_payload_crc"),
                        codec::part<25, 25>(&AdaptionIndication::speculative_placement, "speculative_placement"),
                        codec::part<24, 24>(&AdaptionIndication::sends_markers, "sends_markers"),
                        codec::part<23, 23>(&AdaptionIndication::wants_markers, "wants_markers")),
      codec::field<12, 2>(&AdaptionIndication::vtag, "vtag"),
      codec::field<14, 2>(&AdaptionIndication::marker_interval, "marker_interval"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  /// Reserved bits are ignored, but under the CRC. Errors, in this order (ruling I-15): a "magic" that is another, as
  /// soon as its octets tell; truncated; a "bc_version" above 1 (IFT 4.2: a "version" above is none); bad_crc "crc".
  [[nodiscard]] static Result<AdaptionIndication> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const AdaptionIndication&, const AdaptionIndication&) = default;
};

}  // namespace wire::ift
