// The header that every VI/TCP segment begins with.
#pragma once
#include "wire/codec.hpp"
#include "wire/vitcp/message_number.hpp"
#include "wire/vitcp/segment_type.hpp"

namespace wire::vitcp {

inline constexpr std::size_t segment_header_bytes = 24, rdma_header_bytes = 16, trailer_bytes = 4;
/// CE header without its options.
inline constexpr std::size_t ce_header_bytes = 140;
/// Segment Length is a field of 16 bits.
inline constexpr std::size_t max_segment_bytes = 0xFFFF;

/// Octets of the header behind the segment header; of a CE header those that are always there.
[[nodiscard]] constexpr std::size_t following_bytes(SegmentType type) {
  switch (info_of(type).following) {
    case FollowingHeader::none: return 0;
    case FollowingHeader::rdma: return rdma_header_bytes;
    case FollowingHeader::ce: return ce_header_bytes;
  }
  return 0;
}

/// Remote Error Code (VI-TCP 3.2): what became of the message that Message ACK names. All clear: received without
/// error.
/// bits | 15-8          | 7-3      | 2   | 1   | 0
///      | IS error code | reserved | UTE | VDE | MPE
struct RemoteErrorCode {
  std::uint8_t implementation_specific = 0;    // IS error code; 0: none
  bool unrecoverable_transport_error = false;  // UTE
  bool vi_descriptor_error = false;            // VDE
  bool rdma_memory_protection_error = false;   // MPE

  static constexpr std::string_view name = "REMOTE_ERROR";
  static constexpr auto layout = codec::layout<2>(
      codec::word<0, 2>(codec::part<15, 8>(&RemoteErrorCode::implementation_specific, "implementation_specific"),
                        codec::part<2, 2>(&RemoteErrorCode::unrecoverable_transport_error, "transport_error"),
                        codec::part<1, 1>(&RemoteErrorCode::vi_descriptor_error, "descriptor_error"),
                        codec::part<0, 0>(&RemoteErrorCode::rdma_memory_protection_error, "protection_error")));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<RemoteErrorCode> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const RemoteErrorCode&, const RemoteErrorCode&) = default;

  /// VI Error Type is not "No Error": Message ACK then names the message in error.
  [[nodiscard]] constexpr bool is_vi_error() const {
    return unrecoverable_transport_error || vi_descriptor_error || rdma_memory_protection_error;
  }
};

/// VI Segment Header (draft-dicecco-vitcp-01, VI-TCP 3.2), 24 octets
/// octet | 0             | 1 (7, 6, 5, 4-0)                                       | 2-3
///  0    | Version (01h) | End of Message, Immediate Data Valid, Tx Error, type   | Segment Length
///  4    | Data Offset
///  8    | Immediate Data
///  12   | Message Number
///  16   | Message ACK
///  20   | Rx Descriptors Posted                                                  | Remote Error Code (octets 22-23)
struct SegmentHeader {
  bool end_of_message = true;
  bool immediate_data_valid = false;
  bool transmit_error = false;
  SegmentType type{};
  std::uint16_t segment_length = segment_header_bytes;  // octets, headers and trailer included (ruling V-1)
  std::uint32_t data_offset = 0;                        // octets of the message's payload in earlier segments
  std::uint32_t immediate_data = 0;                     // 0 unless valid (ruling V-26)
  MessageNumber message_number{};
  MessageNumber message_ack{};
  std::uint16_t rx_descriptors_posted = 0;  // modulo 2^16
  RemoteErrorCode remote_error{};

  static constexpr std::string_view name = "VITCP";
  static constexpr std::uint8_t version = 1;
  static constexpr auto layout = codec::layout<segment_header_bytes>(
      codec::constant<0, 1>(version, "version"),
      codec::word<1, 1>(codec::part<7, 7>(&SegmentHeader::end_of_message, "end_of_message"),
                        codec::part<6, 6>(&SegmentHeader::immediate_data_valid, "immediate_data_valid"),
                        codec::part<5, 5>(&SegmentHeader::transmit_error, "transmit_error"),
                        codec::part<4, 0>(&SegmentHeader::type, "type")),
      codec::field<2, 2>(&SegmentHeader::segment_length, "segment_length"),
      codec::field<4, 4>(&SegmentHeader::data_offset, "data_offset"),
      codec::field<8, 4>(&SegmentHeader::immediate_data, "immediate_data"),
      codec::field<12, 4>(&SegmentHeader::message_number, "message_number"),
      codec::field<16, 4>(&SegmentHeader::message_ack, "message_ack"),
      codec::field<20, 2>(&SegmentHeader::rx_descriptors_posted, "rx_descriptors_posted"),
      codec::field<22, 2>(&SegmentHeader::remote_error, "remote_error"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }

  /// What a receiver must ignore is as a sender writes it: Immediate Data and its flag where they do not apply, the End
  /// of Message of a NOP and of connection segments (ruling V-25), the Data Offset of a NOP. Errors, in this order:
  /// truncated; "type" unknown; "version" not 1 (so a known type of another version can be told: ruling V-16);
  /// "segment_length" shorter than the headers, or longer than all that a type without payload may have; a message of
  /// one segment with a "data_offset" or, an RdmaReadRequest, without "end_of_message".
  [[nodiscard]] static Result<SegmentHeader> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const SegmentHeader&, const SegmentHeader&) = default;

  /// Octets of payload, of a segment of a type that has some or could; `crc`: the connection's segments have trailers.
  /// Errors: "segment_length" does not fit the headers and the trailer; "data_offset" beyond 4 GiB - 1 octets of
  /// message. Not for ConnectRequest and ConnectAccept, whose options tell (CeHeader).
  [[nodiscard]] Result<std::size_t> payload_bytes(bool crc) const;
  /// ConnectReject and ConnectNoMatch: a trailer is there (VI-TCP 3.6).
  [[nodiscard]] bool has_trailer_by_length() const { return segment_length == segment_header_bytes + trailer_bytes; }
};

}  // namespace wire::vitcp
