// The nine types of segment, and what follows the segment header in each (VI-TCP 3.1, 3.2).
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace wire::vitcp {

/// VI-TCP 3.2, the five low bits of Type/Flags.
enum class SegmentType : std::uint8_t {
  send = 0,
  rdma_write = 1,
  rdma_read_request = 2,
  rdma_read_response = 3,
  nop = 4,
  connect_request = 5,
  connect_accept = 6,
  connect_reject = 7,
  connect_no_match = 8,
};
/// The draft's name: "RdmaReadRequest".
[[nodiscard]] std::string_view to_string(SegmentType type);

/// The header behind the segment header (VI-TCP 3.1, ruling V-2).
enum class FollowingHeader : std::uint8_t { none, rdma, ce };
[[nodiscard]] std::string_view to_string(FollowingHeader header);

/// Whether a segment of the type ends in a CRC (VI-TCP 3.5).
enum class TrailerRule : std::uint8_t {
  as_agreed,  // if and only if ConnectRequest and ConnectAccept both had the CRC option
  by_option,  // if and only if this segment has the CRC option
  by_length,  // as its sender likes: the Segment Length tells
};
[[nodiscard]] std::string_view to_string(TrailerRule rule);

/// One row of the table.
struct TypeInfo {
  SegmentType type;
  std::string_view name;
  FollowingHeader following;
  bool has_payload;         // data of the VI consumer, 0 octets or more; such a message may have several segments
  bool has_immediate_data;  // Immediate Data Valid applies (VI-TCP 3.2)
  bool is_connection;       // of the set-up: comes once, before any other
  TrailerRule trailer;
};

// clang-format off
inline constexpr std::array<TypeInfo, 9> segment_types{{
  TypeInfo{SegmentType::send,               "Send",             FollowingHeader::none, true,  true,  false, TrailerRule::as_agreed},
  TypeInfo{SegmentType::rdma_write,         "RdmaWrite",        FollowingHeader::rdma, true,  true,  false, TrailerRule::as_agreed},
  TypeInfo{SegmentType::rdma_read_request,  "RdmaReadRequest",  FollowingHeader::rdma, false, false, false, TrailerRule::as_agreed},
  TypeInfo{SegmentType::rdma_read_response, "RdmaReadResponse", FollowingHeader::none, true,  false, false, TrailerRule::as_agreed},
  TypeInfo{SegmentType::nop,                "NOP",              FollowingHeader::none, false, false, false, TrailerRule::as_agreed},
  TypeInfo{SegmentType::connect_request,    "ConnectRequest",   FollowingHeader::ce,   false, false, true,  TrailerRule::by_option},
  TypeInfo{SegmentType::connect_accept,     "ConnectAccept",    FollowingHeader::ce,   false, false, true,  TrailerRule::by_option},
  TypeInfo{SegmentType::connect_reject,     "ConnectReject",    FollowingHeader::none, false, false, true,  TrailerRule::by_length},
  TypeInfo{SegmentType::connect_no_match,   "ConnectNoMatch",   FollowingHeader::none, false, false, true,  TrailerRule::by_length},
}};
// clang-format on

/// Of the draft's nine types.
[[nodiscard]] constexpr bool is_known(SegmentType type) {
  return static_cast<std::size_t>(type) < segment_types.size();
}
/// The row of a known type.
[[nodiscard]] constexpr const TypeInfo& info_of(SegmentType type) {
  return segment_types[static_cast<std::size_t>(type)];
}

}  // namespace wire::vitcp
