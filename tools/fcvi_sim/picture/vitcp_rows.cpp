#include "tools/fcvi_sim/picture/vitcp_rows.hpp"

#include "settings/units.hpp"

namespace sim {
using wire::vitcp::SegmentType;

namespace {

void add(std::string& text, const std::string& word) { text.append(text.empty() ? "" : ", ").append(word); }

std::string ce_fields(const wire::vitcp::CeHeader& ce) {
  std::string text(to_string(ce.level));
  add(text, "MTU " + settings::format_count(ce.mtu_size_bytes));
  if (ce.descriptor_flow_control) add(text, "flow control");
  if (ce.options.crc) add(text, "CRC");
  if (ce.options.urgent_marker) add(text, "urgent marker");
  return text;
}

}  // namespace

RowKind kind_of(SegmentType type) {
  switch (type) {
    case SegmentType::send:
    case SegmentType::rdma_write:
    case SegmentType::rdma_read_request: return RowKind::Data;
    case SegmentType::rdma_read_response: return RowKind::Response;
    case SegmentType::nop: return RowKind::Acknowledge;
    case SegmentType::connect_request:
    case SegmentType::connect_accept:
    case SegmentType::connect_reject:
    case SegmentType::connect_no_match: return RowKind::Setup;
  }
  return RowKind::Other;
}

std::string short_fields(const wire::vitcp::Segment& segment) {
  const wire::vitcp::SegmentHeader& header = segment.header;
  const wire::vitcp::TypeInfo& type = info_of(header.type);
  if (type.following == wire::vitcp::FollowingHeader::ce) return ce_fields(segment.ce);
  if (type.is_connection) return {};
  std::string text;
  if (header.type != SegmentType::nop) add(text, "message " + to_string(header.message_number));
  if (type.has_payload)
    add(text,
        settings::format_count(segment.payload.size()) + " octets at " + settings::format_count(header.data_offset));
  if (header.type == SegmentType::rdma_read_request)
    add(text, settings::format_count(segment.rdma.length_bytes) + " octets");
  if (header.immediate_data_valid) add(text, "immediate");
  if (type.has_payload && header.end_of_message) add(text, "end");
  if (header.transmit_error) add(text, "Tx Error");
  add(text, "ack " + to_string(header.message_ack));
  if (header.remote_error.is_vi_error()) add(text, "error " + header.remote_error.to_string());
  add(text, "receives " + settings::format_count(header.rx_descriptors_posted));
  return text;
}

LadderRow row_of(const wire::vitcp::Segment& segment, runtime::TimeNs at, std::size_t from, std::size_t to) {
  std::string text(to_string(segment.header.type));
  const std::string fields = short_fields(segment);
  if (!fields.empty()) text.append(" ").append(fields);
  return {.row_kind = kind_of(segment.header.type),
          .at = at,
          .from = from,
          .to = to,
          .text = std::move(text),
          .frames = 1,
          .bytes = segment.payload.size()};
}

}  // namespace sim
