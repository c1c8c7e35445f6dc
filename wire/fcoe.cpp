#include "wire/fcoe.hpp"

#include <boost/endian/conversion.hpp>

#include "wire/crc.hpp"
#include "wire/fc_header.hpp"

namespace wire::fcoe {
namespace {
constexpr std::size_t version_at = EthernetHeader::size();
constexpr std::size_t sof_at = EthernetHeader::size() + header_size - 1;
constexpr std::size_t frame_at = EthernetHeader::size() + header_size;
}  // namespace

Result<FcoeFrame> FcoeFrame::parse(Bytes bytes) {
  const auto ethernet = EthernetHeader::parse(bytes);
  if (!ethernet) return ethernet.error();
  if (ethernet->type != EtherType::fcoe) return ParseError{ParseCode::bad_value, "type"};
  if (bytes.size() < frame_size(FcHeader::size())) return ParseError{ParseCode::truncated, "fc_frame"};
  if (bytes[version_at] >> 4 != version) return ParseError{ParseCode::bad_value, "version"};
  FcoeFrame frame;
  frame.ethernet = *ethernet;
  frame.sof = static_cast<Sof>(bytes[sof_at]);
  frame.fc_frame = bytes.subspan(frame_at, bytes.size() - overhead);
  const std::uint8_t* const trailer = bytes.data() + bytes.size() - trailer_size;
  frame.crc = boost::endian::load_little_u32(trailer);
  frame.eof = static_cast<Eof>(trailer[4]);
  return frame;
}

bool FcoeFrame::crc_ok() const { return crc32(fc_frame) == crc; }

std::string FcoeFrame::to_string() const {
  std::string line = "FCOE";
  text::append(line, "destination", wire::to_string(ethernet.destination));
  text::append(line, "source", wire::to_string(ethernet.source));
  text::append(line, "sof", codec::text_of(sof, 8));
  text::append(line, "eof", codec::text_of(eof, 8));
  text::append(line, "fc_frame_bytes", std::to_string(fc_frame.size()));
  return line;
}

Result<FcoeFrame> decapsulate(Bytes ethernet_frame) {
  const auto frame = FcoeFrame::parse(ethernet_frame);
  if (!frame) return frame;
  if (!is_known(frame->sof)) return ParseError{ParseCode::bad_delimiter, "sof"};
  if (!is_known(frame->eof)) return ParseError{ParseCode::bad_delimiter, "eof"};
  if (!frame->crc_ok()) return ParseError{ParseCode::bad_crc, "crc"};
  return frame;
}

void write_header(const MacAddress& destination, const MacAddress& source, Sof sof, MutableBytes to) {
  assert(to.size() >= frame_at);
  EthernetHeader{destination, source, EtherType::fcoe}.write(to);
  std::memset(to.data() + version_at, 0, header_size);
  to[sof_at] = static_cast<std::uint8_t>(sof);
}

void write_trailer(std::uint32_t crc, Eof eof, MutableBytes to) {
  assert(to.size() >= trailer_size);
  boost::endian::store_little_u32(to.data(), crc);
  to[4] = static_cast<std::uint8_t>(eof);
  std::memset(to.data() + 5, 0, 3);
}

void encapsulate(const MacAddress& destination, const MacAddress& source, Sof sof, Bytes fc_frame, Eof eof,
                 MutableBytes to) {
  assert(to.size() >= frame_size(fc_frame.size()));
  write_header(destination, source, sof, to);
  std::memcpy(to.data() + frame_at, fc_frame.data(), fc_frame.size());
  write_trailer(crc32(fc_frame), eof, to.subspan(frame_at + fc_frame.size()));
}

}  // namespace wire::fcoe
