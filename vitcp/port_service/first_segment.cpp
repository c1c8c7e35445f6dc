#include "vitcp/port_service/first_segment.hpp"

namespace vitcp::port_service {
using wire::ParseError;
using wire::vitcp::Segment;
using wire::vitcp::SegmentHeader;
using wire::vitcp::SegmentType;

namespace {
// SegmentHeader::parse looks at the type first, then at the version.
Finding of_bad_header(const ParseError& error) {
  if (std::string_view(error.field) == "type") return Finding::no_segment;
  return std::string_view(error.field) == "version" ? Finding::other_version : Finding::other_segment;
}
}  // namespace

std::string_view to_string(Finding finding) {
  switch (finding) {
    case Finding::incomplete: return "incomplete";
    case Finding::connect_request: return "connect_request";
    case Finding::other_version: return "other_version";
    case Finding::bad_request: return "bad_request";
    case Finding::other_segment: return "other_segment";
    case Finding::no_segment: return "no_segment";
    case Finding::bad_crc: return "bad_crc";
  }
  return wire::text::unknown;
}

std::optional<SegmentType> answer_to(Finding finding) {
  const bool rejected = finding == Finding::other_version || finding == Finding::bad_request;
  return rejected ? std::optional(SegmentType::connect_reject) : std::nullopt;
}

FirstSegment examine(wire::Bytes so_far) {
  if (so_far.size() < wire::vitcp::segment_header_bytes)
    return {Finding::incomplete, wire::vitcp::segment_header_bytes};
  const auto header = SegmentHeader::parse(so_far);
  if (!header) return {of_bad_header(header.error())};
  if (header->type != SegmentType::connect_request) return {Finding::other_segment};
  if (so_far.size() < header->segment_length) return {Finding::incomplete, header->segment_length};
  auto segment = Segment::parse(so_far, false);
  if (segment) return {Finding::connect_request, 0, std::move(*segment)};
  return {segment.error().code == wire::ParseCode::bad_crc ? Finding::bad_crc : Finding::bad_request};
}

std::array<std::uint8_t, wire::vitcp::segment_header_bytes> refusal_segment(SegmentType type, wire::Bytes so_far) {
  std::array<std::uint8_t, wire::vitcp::segment_header_bytes> octets{};
  SegmentHeader header{.type = type};
  if (const FirstSegment first = examine(so_far); first.finding == Finding::connect_request)
    header.message_ack = first.request.header.message_number;
  header.write(octets);
  return octets;
}

}  // namespace vitcp::port_service
