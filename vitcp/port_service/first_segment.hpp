// What the first segment of an accepted stream is, and so what becomes of the stream (VI-TCP 4.3, Incoming).
#pragma once
#include <optional>

#include "wire/vitcp/segment.hpp"

namespace vitcp::port_service {

/// A ConnectRequest of version 1 is the only one that goes on (ruling V-16).
enum class Finding : std::uint8_t {
  incomplete,       // more octets are needed
  connect_request,  // a whole one
  other_version,    // a known type of another version: ConnectReject (ruling V-16)
  bad_request,      // a ConnectRequest whose CE header is wrong: ConnectReject (rulings V-8, V-9, V-23)
  other_segment,    // a known type that is not ConnectRequest, or a wrong segment header: closed
  no_segment,       // no type of the draft: closed
  bad_crc,          // a ConnectRequest that was damaged: closed, so that it comes again (ruling V-15)
};
[[nodiscard]] std::string_view to_string(Finding finding);

/// The type of the segment that answers it before the stream is closed; none: it is closed without a word. Not of
/// incomplete and connect_request.
[[nodiscard]] std::optional<wire::vitcp::SegmentType> answer_to(Finding finding);

struct FirstSegment {
  Finding finding = Finding::incomplete;
  std::size_t needed_octets = 0;   // incomplete: of the stream, before it is worth looking again
  wire::vitcp::Segment request{};  // connect_request
};

/// `so_far`: the octets of the stream from its first on, at least as far as they have come; those behind the first
/// segment are not looked at.
[[nodiscard]] FirstSegment examine(wire::Bytes so_far);

/// ConnectReject or ConnectNoMatch as whole octets, without a trailer (VI-TCP 3.5: at the option of the sender).
/// `so_far`: what it answers; of a whole ConnectRequest Message ACK is the number (ruling V-5), else 0.
[[nodiscard]] std::array<std::uint8_t, wire::vitcp::segment_header_bytes> refusal_segment(wire::vitcp::SegmentType type,
                                                                                          wire::Bytes so_far);

}  // namespace vitcp::port_service
