// The headers of RDMA Read Request and Immediate Data, which stand behind the DDP header.
#pragma once
#include "wire/iwarp/ddp/header.hpp"

namespace wire::rdmap {

/// RDMA Read Request Header (RFC 5040 4.4), 28 octets
/// octet
///  0    | Data Sink STag
///  4    | Data Sink Tagged Offset
///  12   | RDMA Read Message Size, octets
///  16   | Data Source STag
///  20   | Data Source Tagged Offset
struct ReadRequest {
  ddp::STag sink_stag{};
  std::uint64_t sink_offset = 0;
  std::uint32_t size_bytes = 0;
  ddp::STag source_stag{};
  std::uint64_t source_offset = 0;

  static constexpr std::string_view name = "READ_REQUEST";
  static constexpr auto layout = codec::layout<28>(codec::field<0, 4>(&ReadRequest::sink_stag, "sink_stag"),
                                                   codec::field<4, 8>(&ReadRequest::sink_offset, "sink_to"),
                                                   codec::field<12, 4>(&ReadRequest::size_bytes, "rdmardsz"),
                                                   codec::field<16, 4>(&ReadRequest::source_stag, "src_stag"),
                                                   codec::field<20, 8>(&ReadRequest::source_offset, "src_to"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  /// The only error is truncated.
  [[nodiscard]] static Result<ReadRequest> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const ReadRequest&, const ReadRequest&) = default;
};

/// Immediate Data Header (RFC 7306 6.2), 8 octets.
struct ImmediateData {
  std::uint64_t data = 0;

  static constexpr std::string_view name = "IMMEDIATE_DATA";
  static constexpr auto layout = codec::layout<8>(codec::field<0, 8>(&ImmediateData::data, "immediate_data"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  /// The only error is truncated.
  [[nodiscard]] static Result<ImmediateData> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const ImmediateData&, const ImmediateData&) = default;
};

}  // namespace wire::rdmap
