#include "wire/iwarp/ift/frame.hpp"

#include "wire/define_coded.hpp"

namespace wire::ift {
namespace {

std::size_t bytes_of(CrcUse use) { return use == CrcUse::absent ? 0 : iwarp::crc_bytes; }

/// `octets` end in the CRC of those before it; so if nobody looks at it, or it is absent.
bool ends_in_crc(Bytes octets, CrcUse use) {
  if (use != CrcUse::checked) return true;
  const std::size_t covered = octets.size() - iwarp::crc_bytes;
  return iwarp::crc32c(octets.first(covered)) == iwarp::load_crc(octets.data() + covered);
}

std::optional<ParseError> cut_in_headers(Bytes octets, const FrameHeader& header, std::size_t bytes) {
  if (octets.size() < FrameHeader::size() + header.header_size) return ParseError{ParseCode::truncated, "ddp_header"};
  if (octets.size() < bytes) return ParseError{ParseCode::truncated, "header_crc"};
  return std::nullopt;
}

}  // namespace

WIRE_DEFINE_CODED(FrameHeader)

std::size_t FrameHeader::frame_bytes(const Framing& framing) const {
  return size() + header_size + bytes_of(framing.header_crc) + payload_size + bytes_of(framing.payload_crc);
}

std::string_view to_string(CrcUse use) {
  switch (use) {
    case CrcUse::absent: return "absent";
    case CrcUse::ignored: return "ignored";
    case CrcUse::checked: return "checked";
  }
  return text::unknown;
}

Result<FrameHeaders> FrameHeaders::parse(Bytes octets, const Framing& framing) {
  const auto first = FrameHeader::parse(octets);
  if (!first) return first.error();
  const std::size_t bytes = FrameHeader::size() + first->header_size + bytes_of(framing.header_crc);
  if (const auto cut = cut_in_headers(octets, *first, bytes)) return *cut;
  if (!ends_in_crc(octets.first(bytes), framing.header_crc)) return ParseError{ParseCode::bad_crc, "header_crc"};
  if (first->vtag != framing.vtag) return ParseError{ParseCode::bad_value, "vtag"};
  const auto header = ddp::Header::parse(octets.subspan(FrameHeader::size(), first->header_size));
  if (!header || header->size() != first->header_size) return ParseError{ParseCode::bad_value, "header_size"};
  return FrameHeaders{*header, first->payload_size, bytes};
}

Result<Frame> Frame::parse(Bytes octets, const Framing& framing) {
  const auto headers = FrameHeaders::parse(octets, framing);
  if (!headers) return headers.error();
  const Bytes behind = octets.subspan(headers->bytes);
  if (behind.size() < headers->payload_size) return ParseError{ParseCode::truncated, "payload"};
  const std::size_t bytes = headers->payload_size + bytes_of(framing.payload_crc);
  if (behind.size() < bytes) return ParseError{ParseCode::truncated, "payload_crc"};
  if (!ends_in_crc(behind.first(bytes), framing.payload_crc)) return ParseError{ParseCode::bad_crc, "payload_crc"};
  return Frame{headers->header, behind.first(headers->payload_size)};
}

std::size_t Frame::size(const Framing& framing) const {
  return FrameHeader::size() + header.size() + bytes_of(framing.header_crc) + payload.size() +
         bytes_of(framing.payload_crc);
}

void Frame::write(MutableBytes to, const Framing& framing) const {
  assert(payload.size() <= 0xFFFF && to.size() >= size(framing));
  const FrameHeader first{static_cast<std::uint16_t>(header.size()), static_cast<std::uint16_t>(payload.size()),
                          framing.vtag};
  first.write(to);
  header.write(to.subspan(FrameHeader::size()));
  const std::size_t covered = FrameHeader::size() + header.size();
  if (framing.header_crc != CrcUse::absent) iwarp::store_crc(to.data() + covered, iwarp::crc32c(to.first(covered)));
  const MutableBytes behind = to.subspan(covered + bytes_of(framing.header_crc));
  std::copy(payload.begin(), payload.end(), behind.begin());
  if (framing.payload_crc != CrcUse::absent) iwarp::store_crc(behind.data() + payload.size(), iwarp::crc32c(payload));
}

std::string Frame::to_string() const {
  std::string line(FrameHeader::name);
  line += " {" + header.to_string() + "}";
  text::append(line, "payload_bytes", std::to_string(payload.size()));
  return line;
}

bool operator==(const Frame& left, const Frame& right) {
  return left.header == right.header &&
         std::equal(left.payload.begin(), left.payload.end(), right.payload.begin(), right.payload.end());
}

}  // namespace wire::ift
