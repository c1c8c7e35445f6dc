// MPA Request and Reply Frames, of revisions 0 to 2.
#pragma once
#include <optional>
#include <vector>

#include "wire/codec.hpp"

namespace wire::mpa {

/// The two values of Key (RFC 5044 7.1.1).
enum class FrameKind : std::uint8_t { request, reply };
/// "MPA Request Frame", "MPA Reply Frame".
[[nodiscard]] std::string_view to_string(FrameKind kind);

/// Enhanced RDMA connection establishment data (RFC 6581 9), the first 4 octets of the Private Data
/// octet | 0-1                      | 2-3
///  0    | 15 A, 14 B, 13-0 IRD     | 15 C, 14 D, 13-0 ORD
struct EnhancedData {
  bool peer_to_peer = false;    // A: the connection model
  bool send_rtr = false;        // B: a zero-length Send as ready-to-receive indication
  std::uint16_t ird = 0;        // inbound RDMA Reads that the sender of the frame can hold, at most 3FFFh
  bool rdma_write_rtr = false;  // C: a zero-length RDMA Write
  bool rdma_read_rtr = false;   // D: a zero-length RDMA Read
  std::uint16_t ord = 0;        // outbound RDMA Reads that it wants to have outstanding, at most 3FFFh

  /// Of ird and ord: the ULP sees to it (RFC 6581 9.1).
  static constexpr std::uint16_t not_negotiated = 0x3FFF;
  static constexpr std::string_view name = "ENHANCED";
  static constexpr auto layout =
      codec::layout<4>(codec::word<0, 2>(codec::part<15, 15>(&EnhancedData::peer_to_peer, "peer_to_peer"),
                                         codec::part<14, 14>(&EnhancedData::send_rtr, "send_rtr"),
                                         codec::part<13, 0>(&EnhancedData::ird, "ird")),
                       codec::word<2, 2>(codec::part<15, 15>(&EnhancedData::rdma_write_rtr, "rdma_write_rtr"),
                                         codec::part<14, 14>(&EnhancedData::rdma_read_rtr, "rdma_read_rtr"),
                                         codec::part<13, 0>(&EnhancedData::ord, "ord")));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  /// B, C and D are ignored where A is not set (RFC 6581 9.2).
  [[nodiscard]] static Result<EnhancedData> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const EnhancedData&, const EnhancedData&) = default;
};

/// MPA Request/Reply Frame (RFC 5044 7.1.1, RFC 6581 6), 20 octets and the Private Data
/// octet | 0-15
///  0    | Key: "MPA ID Req Frame" or "MPA ID Rep Frame"
///  16   | 7 M, 6 C, 5 R, 4 S, 3-0 reserved; octet 17 Rev; octets 18-19 PD_Length
///  20   | Private Data, PD_Length octets; with S it begins with the enhanced data
struct StartupFrame {
  FrameKind kind{};
  bool markers = false;   // M: the sender of the frame requires markers in what it receives
  bool crc = false;       // C: it prefers CRCs; one end is enough
  bool rejected = false;  // R, of a Reply only
  std::uint8_t revision = 2;
  std::optional<EnhancedData> enhanced{};    // S; never below revision 2
  std::vector<std::uint8_t> private_data{};  // of the ULP, at most max_private_data_bytes less the enhanced data

  static constexpr std::string_view name = "MPA";
  static constexpr std::size_t header_bytes = 20, max_private_data_bytes = 512;
  static constexpr std::size_t max_bytes = header_bytes + max_private_data_bytes;
  static constexpr std::uint8_t max_revision = 2;

  /// The frame that begins at `octets`; what lies behind is the caller's business, who compares with size(). Reserved
  /// bits, S below revision 2 and R of a Request are ignored. Memory: at most 512 octets. Errors, in this order: a
  /// "key" that is neither, as soon as its octets tell; truncated; a "revision" above 2; a "pd_length" above 512, or,
  /// with S, below 4; truncated "private_data". All but truncated: RFC 5044 8 error 4.
  [[nodiscard]] static Result<StartupFrame> parse(Bytes octets);
  /// Octets, at most max_bytes.
  [[nodiscard]] std::size_t size() const;
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const StartupFrame&, const StartupFrame&) = default;
};

}  // namespace wire::mpa
