#include "wire/vitcp/segment.hpp"

namespace wire::vitcp {
namespace {

bool ends_in_trailer(const Segment& segment) {
  const TrailerRule rule = info_of(segment.header.type).trailer;
  return rule == TrailerRule::by_option ? segment.ce.options.crc : segment.trailer;
}

constexpr std::size_t most_options_tried = 4;  // a CRC of all octets for each

/// What ends it is the right CRC if one of its options is the CRC option, whose type was damaged (ruling V-39).
bool has_lost_its_option(const Options& options, Bytes whole) {
  constexpr std::uint16_t length = Options::option_header_bytes;
  constexpr std::array<std::uint8_t, 2> type{0, static_cast<std::uint8_t>(OptionType::crc)};
  if (options.crc || options.padding_bytes < trailer_bytes) return false;
  const Bytes covered = whole.first(whole.size() - trailer_bytes);
  std::size_t at = segment_header_bytes + ce_header_bytes;
  for (std::size_t tried = 0; tried != most_options_tried && at + length <= covered.size(); ++tried) {
    const std::size_t length_there = load_big<2>(covered, at + type.size());
    if (length_there == length && crc(covered.subspan(at + type.size()), crc(type, crc(covered.first(at)))) ==
                                      load_crc(whole.data() + covered.size()))
      return true;
    if (load_big<2>(covered, at) == 0) break;  // End of Option List
    at += length_there;
  }
  return false;
}

std::optional<ParseError> read_ce(Segment& segment, Bytes whole) {
  const Bytes behind = whole.subspan(segment_header_bytes);
  auto ce = CeHeader::parse(behind);
  if (!ce) return ce.error();
  segment.ce = std::move(*ce);
  Options& options = segment.ce.options;
  segment.trailer = options.crc;
  if (has_lost_its_option(options, whole)) return ParseError{ParseCode::bad_crc, "crc"};
  if (!options.crc) return std::nullopt;
  if (options.padding_bytes < trailer_bytes) return ParseError{ParseCode::truncated, "crc"};
  options.padding_bytes = static_cast<std::uint16_t>(options.padding_bytes - trailer_bytes);
  return std::nullopt;
}

std::optional<ParseError> read_rest(Segment& segment, Bytes behind, bool agreed) {
  const SegmentHeader& header = segment.header;
  const auto payload = header.payload_bytes(agreed);
  if (!payload) return payload.error();
  segment.trailer = info_of(header.type).trailer == TrailerRule::by_length ? header.has_trailer_by_length() : agreed;
  segment.payload = behind.subspan(following_bytes(header.type), *payload);
  if (info_of(header.type).following != FollowingHeader::rdma) return std::nullopt;
  segment.rdma = codec::read<RdmaHeader>(behind.data());
  if (header.type != SegmentType::rdma_write) return std::nullopt;
  return segment.rdma.extent_error(header, *payload);
}

}  // namespace

Result<Segment> Segment::parse(Bytes octets, bool agreed) {
  const auto header = SegmentHeader::parse(octets);
  if (!header) return header.error();
  if (octets.size() < header->segment_length) return ParseError{ParseCode::truncated, "segment"};
  const Bytes whole = octets.first(header->segment_length);
  const Bytes behind = whole.subspan(segment_header_bytes);
  Segment segment;
  segment.header = *header;
  const bool is_ce = info_of(header->type).following == FollowingHeader::ce;
  if (const auto error = is_ce ? read_ce(segment, whole) : read_rest(segment, behind, agreed)) return *error;
  if (segment.trailer) {
    const Bytes covered = whole.first(whole.size() - trailer_bytes);
    if (crc(covered) != load_crc(covered.data() + covered.size())) return ParseError{ParseCode::bad_crc, "crc"};
  }
  return segment;
}

std::size_t Segment::size() const {
  const FollowingHeader following = info_of(header.type).following;
  return segment_header_bytes + (following == FollowingHeader::ce ? ce.size() : following_bytes(header.type)) +
         payload.size() + (ends_in_trailer(*this) ? trailer_bytes : 0);
}

void Segment::write(MutableBytes to) const {
  assert(size() <= max_segment_bytes && to.size() >= size());
  SegmentHeader first = header;
  first.segment_length = static_cast<std::uint16_t>(size());
  first.write(to);
  const FollowingHeader following = info_of(header.type).following;
  const MutableBytes behind = to.subspan(segment_header_bytes);
  if (following == FollowingHeader::rdma) rdma.write(behind);
  if (following == FollowingHeader::ce) ce.write(behind);
  std::copy(payload.begin(), payload.end(), behind.begin() + static_cast<std::ptrdiff_t>(following_bytes(header.type)));
  if (!ends_in_trailer(*this)) return;
  const std::size_t covered = size() - trailer_bytes;
  store_crc(to.data() + covered, crc(to.first(covered)));
}

std::string Segment::to_string() const {
  std::string line = header.to_string();
  const FollowingHeader following = info_of(header.type).following;
  if (following == FollowingHeader::rdma) line += " {" + rdma.to_string() + "}";
  if (following == FollowingHeader::ce) line += " {" + ce.to_string() + "}";
  if (info_of(header.type).has_payload) text::append(line, "data_bytes", std::to_string(payload.size()));
  text::append_flag(line, ends_in_trailer(*this), "crc");
  return line;
}

bool operator==(const Segment& left, const Segment& right) {
  return left.header == right.header && left.rdma == right.rdma && left.ce == right.ce &&
         left.trailer == right.trailer &&
         std::equal(left.payload.begin(), left.payload.end(), right.payload.begin(), right.payload.end());
}

}  // namespace wire::vitcp
