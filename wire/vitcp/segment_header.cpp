#include "wire/vitcp/segment_header.hpp"

#include "wire/define_coded.hpp"

namespace wire::vitcp {
namespace {

constexpr std::size_t type_at = 1;
constexpr std::uint8_t type_mask = 0x1F;

/// The longest that a segment of the type can be by its header alone.
std::size_t longest(SegmentType type) {
  const TypeInfo& info = info_of(type);
  if (info.has_payload || info.following == FollowingHeader::ce) return max_segment_bytes;
  return segment_header_bytes + following_bytes(type) + trailer_bytes;
}

std::optional<ParseError> length_error(const SegmentHeader& header) {
  const std::size_t shortest = segment_header_bytes + following_bytes(header.type);
  // Between the two nothing but a whole trailer can be where there is no payload and no list of options.
  const bool odd = longest(header.type) != max_segment_bytes && header.segment_length != shortest &&
                   header.segment_length != shortest + trailer_bytes;
  if (header.segment_length >= shortest && header.segment_length <= longest(header.type) && !odd) return std::nullopt;
  return ParseError{ParseCode::bad_length, "segment_length"};
}

/// VI-TCP 3.2: all messages without payload are one segment.
std::optional<ParseError> one_segment_error(const SegmentHeader& header) {
  if (info_of(header.type).has_payload) return std::nullopt;
  if (header.data_offset != 0) return ParseError{ParseCode::bad_value, "data_offset"};
  if (!header.end_of_message) return ParseError{ParseCode::bad_value, "end_of_message"};
  return std::nullopt;
}

/// What a receiver ignores (VI-TCP 3.2, rulings V-25 and V-26).
void clear_ignored(SegmentHeader& header) {
  const TypeInfo& info = info_of(header.type);
  if (!info.has_immediate_data) header.immediate_data_valid = false;
  if (!header.immediate_data_valid) header.immediate_data = 0;
  if (header.type == SegmentType::nop) header.data_offset = 0;
  if (header.type == SegmentType::nop || info.is_connection) header.end_of_message = true;
}

}  // namespace

WIRE_DEFINE_CODED(RemoteErrorCode)

std::string to_string(MessageNumber number) { return text::hex_h(number.value, 8); }

Result<SegmentHeader> SegmentHeader::parse(Bytes bytes) {
  if (bytes.size() < size()) return ParseError{ParseCode::truncated, layout.field_at(bytes.size())};
  if (!is_known(static_cast<SegmentType>(bytes[type_at] & type_mask))) return ParseError{ParseCode::bad_value, "type"};
  auto header = codec::parse<SegmentHeader>(bytes);
  if (!header) return header;
  clear_ignored(*header);
  if (const auto error = length_error(*header)) return *error;
  if (const auto error = one_segment_error(*header)) return *error;
  return header;
}

void SegmentHeader::write(MutableBytes to) const { codec::write(*this, to); }

std::string SegmentHeader::to_string() const {
  std::string line(name);
  text::append(line, "type", vitcp::to_string(type));
  text::append(line, "length", std::to_string(segment_length));
  text::append(line, "number", vitcp::to_string(message_number));
  if (info_of(type).has_payload) {
    text::append(line, "offset", std::to_string(data_offset));
    text::append_flag(line, end_of_message, "end_of_message");
  }
  if (immediate_data_valid) text::append(line, "immediate_data", text::hex_h(immediate_data, 8));
  text::append_flag(line, transmit_error, "transmit_error");
  text::append(line, "ack", vitcp::to_string(message_ack));
  text::append(line, "rx_posted", std::to_string(rx_descriptors_posted));
  if (remote_error != RemoteErrorCode{}) text::append(line, "remote_error", "{" + remote_error.to_string() + "}");
  return line;
}

Result<std::size_t> SegmentHeader::payload_bytes(bool crc) const {
  assert(info_of(type).following != FollowingHeader::ce);
  const bool trailer = info_of(type).trailer == TrailerRule::by_length ? has_trailer_by_length() : crc;
  const std::size_t around = segment_header_bytes + following_bytes(type) + (trailer ? trailer_bytes : 0);
  if (segment_length < around || (segment_length > around && !info_of(type).has_payload))
    return ParseError{ParseCode::bad_length, "segment_length"};
  const std::size_t payload = segment_length - around;
  if (std::uint64_t{data_offset} + payload > 0xFFFFFFFFU) return ParseError{ParseCode::bad_value, "data_offset"};
  return payload;
}

}  // namespace wire::vitcp
