// The header behind the segment header of RdmaWrite and RdmaReadRequest.
#pragma once
#include "wire/vitcp/segment_header.hpp"

namespace wire::vitcp {

/// VI/TCP RDMA Header (VI-TCP 3.4), 16 octets, in every segment of an RdmaWrite and in an RdmaReadRequest (ruling V-2)
/// octet
///  0    | RDMA Address: the descriptor's remote address, the same in every segment (ruling V-3)
///  8    | Registered Memory Handle
///  12   | RDMA Length: octets of the whole message
struct RdmaHeader {
  std::uint64_t address = 0;
  MemHandle memory_handle{};
  std::uint32_t length_bytes = 0;

  static constexpr std::string_view name = "RDMA";
  static constexpr auto layout =
      codec::layout<rdma_header_bytes>(codec::field<0, 8>(&RdmaHeader::address, "rdma_address"),
                                       codec::field<8, 4>(&RdmaHeader::memory_handle, "memory_handle"),
                                       codec::field<12, 4>(&RdmaHeader::length_bytes, "rdma_length"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<RdmaHeader> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const RdmaHeader&, const RdmaHeader&) = default;

  /// Why a segment of an RdmaWrite with `payload` octets is none of a message of this length: it goes beyond it, or
  /// ends the message elsewhere. "rdma_length"; nothing if it fits.
  [[nodiscard]] std::optional<ParseError> extent_error(const SegmentHeader& header, std::size_t payload) const;
};

}  // namespace wire::vitcp
