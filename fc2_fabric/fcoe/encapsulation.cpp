#include "fc2_fabric/fcoe/encapsulation.hpp"

#include <algorithm>
#include <boost/endian/conversion.hpp>
#include <cassert>

#include "wire/crc.hpp"

namespace fc2::fcoe {
namespace {
constexpr std::size_t version_at = wire::EthernetHeader::size();
constexpr std::size_t sof_at = EthernetFrame::head_bytes - 1;
constexpr std::size_t smallest_frame = EthernetFrame::head_bytes + frame_header_bytes + EthernetFrame::tail_bytes;
using Trailer = std::array<std::uint8_t, EthernetFrame::tail_bytes>;

// A byte behind the head; the body's buffer ends where the tail begins.
std::uint8_t& at(EthernetFrame& frame, std::size_t offset) {
  return offset < EthernetFrame::body_bytes ? frame.body->bytes[offset]
                                            : frame.tail[offset - EthernetFrame::body_bytes];
}

// Of an FC frame of that size.
Trailer trailer_of(const EthernetFrame& frame, std::size_t fc_size) {
  Trailer trailer;
  for (std::size_t i = 0; i < trailer.size(); ++i) {
    const std::size_t offset = fc_size + i;
    trailer[i] =
        offset < EthernetFrame::body_bytes ? frame.body->bytes[offset] : frame.tail[offset - EthernetFrame::body_bytes];
  }
  return trailer;
}

bool crc_holds(const EthernetFrame& frame, std::size_t fc_size, const Trailer& trailer) {
  return wire::crc32(wire::Bytes(frame.body->bytes).first(fc_size)) == boost::endian::load_little_u32(trailer.data());
}

// Zeros behind a good trailer.
bool is_padded(const EthernetFrame& frame) {
  std::size_t end = frame.size_bytes - EthernetFrame::head_bytes;  // behind the latest byte that is not 0: the EOF
  const auto byte = [&](std::size_t offset) {
    return offset < EthernetFrame::body_bytes ? frame.body->bytes[offset]
                                              : frame.tail[offset - EthernetFrame::body_bytes];
  };
  while (end > 0 && byte(end - 1) == 0) --end;
  if (end < frame_header_bytes + 5) return false;
  const std::size_t fc_size = end - 5;
  const Trailer trailer = trailer_of(frame, fc_size);
  return wire::is_known(static_cast<wire::Eof>(trailer[4])) && crc_holds(frame, fc_size, trailer);
}

FcoeDiscard examine_trailer(const EthernetFrame& frame) {
  const std::size_t fc_size = frame.size_bytes - wire::fcoe::overhead;
  const Trailer trailer = trailer_of(frame, fc_size);
  if (!wire::is_known(static_cast<wire::Eof>(trailer[4]))) {
    return is_padded(frame) ? FcoeDiscard::Padded : FcoeDiscard::UnknownEof;
  }
  if (fc_size % 4 != 0) return FcoeDiscard::Misaligned;
  return crc_holds(frame, fc_size, trailer) ? FcoeDiscard::Count : FcoeDiscard::BadCrc;
}
}  // namespace

std::uint16_t max_fcoe_size(std::uint16_t mtu) {
  constexpr std::uint16_t full = EthernetFrame::max_bytes - wire::EthernetHeader::size();
  return std::min(mtu, full);
}

std::uint16_t data_field_bytes(std::uint16_t mtu) {
  constexpr std::size_t around = wire::fcoe::header_size + frame_header_bytes + wire::fcoe::trailer_size;
  const std::size_t room = max_fcoe_size(mtu);
  return room < around ? 0 : static_cast<std::uint16_t>((room - around) & ~std::size_t{3});
}

std::string_view to_string(FcoeDiscard reason) {
  switch (reason) {
    case FcoeDiscard::NotFcoe: return "not FCoE";
    case FcoeDiscard::Truncated: return "truncated";
    case FcoeDiscard::OverLong: return "over-long";
    case FcoeDiscard::Misaligned: return "not a multiple of 4 bytes";
    case FcoeDiscard::WrongVersion: return "wrong version";
    case FcoeDiscard::UnknownSof: return "unknown SOF";
    case FcoeDiscard::UnknownEof: return "unknown EOF";
    case FcoeDiscard::Padded: return "padded";
    case FcoeDiscard::BadCrc: return "bad CRC";
    case FcoeDiscard::WrongDestination: return "wrong destination MAC";
    case FcoeDiscard::WrongSource: return "wrong source MAC";
    case FcoeDiscard::ForgedSId: return "forged S_ID";
    case FcoeDiscard::BadFip: return "bad FIP message";
    case FcoeDiscard::UnexpectedFip: return "unexpected FIP message";
    case FcoeDiscard::NoResources: return "no resources";
    case FcoeDiscard::NotLoggedIn: return "not logged in";
    case FcoeDiscard::WrongVlan: return "another VLAN";
    case FcoeDiscard::NotAllowed: return "not allowed to log in";
    case FcoeDiscard::TooOften: return "asked too often";
    case FcoeDiscard::TooManyLogins: return "too many logins of one host";
    case FcoeDiscard::Count: break;
  }
  return "?";
}

EthernetFrame encapsulate(const wire::MacAddress& destination, const wire::MacAddress& source, FramePtr frame) {
  frame->leave_place();  // the trailer stands behind the content
  EthernetFrame ethernet;
  const std::size_t fc_size = frame->size_bytes;
  const std::uint32_t crc = wire::crc32(frame->content());
  wire::fcoe::write_header(destination, source, frame->sof, ethernet.head);
  Trailer trailer;
  wire::fcoe::write_trailer(frame->crc_error ? ~crc : crc, frame->eof, trailer);
  ethernet.size_bytes = static_cast<std::uint16_t>(wire::fcoe::frame_size(fc_size));
  ethernet.body = std::move(frame);
  for (std::size_t i = 0; i < trailer.size(); ++i) at(ethernet, fc_size + i) = trailer[i];
  return ethernet;
}

FcoeDiscard examine(const EthernetFrame& frame) {
  if (!frame.has_header() || frame.type() != wire::EtherType::fcoe) return FcoeDiscard::NotFcoe;
  if (frame.size_bytes < smallest_frame) return FcoeDiscard::Truncated;
  if (frame.head[version_at] >> 4 != wire::fcoe::version) return FcoeDiscard::WrongVersion;
  if (!wire::is_known(static_cast<wire::Sof>(frame.head[sof_at]))) return FcoeDiscard::UnknownSof;
  return examine_trailer(frame);
}

FramePtr decapsulate(EthernetFrame frame) {
  const std::size_t fc_size = frame.size_bytes - wire::fcoe::overhead;
  const Trailer trailer = trailer_of(frame, fc_size);
  frame.body->size_bytes = static_cast<std::uint16_t>(fc_size);
  frame.body->sof = static_cast<wire::Sof>(frame.head[sof_at]);
  frame.body->eof = static_cast<wire::Eof>(trailer[4]);
  return std::move(frame.body);
}

}  // namespace fc2::fcoe
