#include "tools/fcvi_sim/capture/frame.hpp"

#include <algorithm>

#include "wire/crc.hpp"
#include "wire/fcoe.hpp"
#include "wire/text.hpp"

namespace sim::capture {
namespace {

constexpr std::size_t delimiter_bytes = 4, crc_bytes = 4;
// FC-FS: extended headers stand in front of the frame header and have an R_CTL of their own.
constexpr std::uint8_t vft_r_ctl = 0x50, ifr_r_ctl = 0x51, enc_r_ctl = 0x52;
constexpr std::size_t extended_header_bytes = 8;

/// As it was received: the first byte is the lowest.
std::uint32_t crc_of(wire::Bytes bytes) {
  std::uint32_t crc = 0;
  for (std::size_t i = crc_bytes; i > 0; --i) crc = crc << 8 | bytes[i - 1];
  return crc;
}

/// `missing`: bytes of the frame behind those that were captured.
void read_header(Frame& frame, wire::Bytes fc, std::size_t missing) {
  const auto header = wire::FcHeader::parse(fc);
  if (!header) {
    frame.trouble = frame.is_cut ? "FC" : "malformed: " + to_string(header.error());
    return;
  }
  frame.header = *header;
  frame.fc = fc;
  const std::size_t captured = fc.size() - wire::FcHeader::size(), on_wire = captured + missing;
  const std::size_t fill = header->fill_bytes();
  if (fill > on_wire) frame.trouble = "malformed: bad_length: fill_bytes";
  frame.data_field_bytes = on_wire - std::min(fill, on_wire);
  frame.data_field = fc.subspan(wire::FcHeader::size(), std::min(captured, frame.data_field_bytes));
}

/// Behind an encryption header nothing can be read.
void read_fc(Frame& frame, wire::Bytes fc, std::size_t missing) {
  const std::uint8_t r_ctl = fc.empty() ? 0 : fc[0];
  const bool vft = r_ctl == vft_r_ctl, has_room = fc.size() >= extended_header_bytes;
  if (r_ctl == enc_r_ctl || (r_ctl == ifr_r_ctl && !has_room)) {
    frame.trouble =
        "extended header " + wire::text::hex_h(r_ctl, 2) + " data_bytes=" + std::to_string(fc.size() + missing);
    return;
  }
  if (!has_room || (!vft && r_ctl != ifr_r_ctl)) return read_header(frame, fc, missing);
  if (vft) frame.vft = VftHeader{wire::load_big<2>(fc.data() + 2) >> 1 & 0xFFFU, fc[4]};
  read_header(frame, fc.subspan(extended_header_bytes), missing);
}

void read_cut_fcoe(Frame& frame, wire::Bytes bytes, std::size_t missing) {
  constexpr std::size_t before = wire::EthernetHeader::size() + wire::fcoe::header_size;
  if (bytes.size() < before) {
    frame.trouble = "FCoE";
    return;
  }
  frame.sof = static_cast<wire::Sof>(bytes[before - 1]);
  const wire::Bytes rest = bytes.subspan(before);
  // What is captured of CRC and EOF is not the frame's.
  const std::size_t length = rest.size() + missing;
  const std::size_t fc = length > wire::fcoe::trailer_size ? length - wire::fcoe::trailer_size : 0;
  const std::size_t kept = std::min(rest.size(), fc);
  read_fc(frame, rest.first(kept), fc - kept);
}

void read_fcoe(Frame& frame, wire::Bytes bytes, std::size_t missing) {
  if (missing > 0) return read_cut_fcoe(frame, bytes, missing);
  const auto fcoe = wire::fcoe::FcoeFrame::parse(bytes);
  if (!fcoe) {
    frame.trouble = "FCoE malformed: " + to_string(fcoe.error());
    return;
  }
  frame.sof = fcoe->sof;
  frame.eof = fcoe->eof;
  frame.crc_ok = fcoe->crc_ok();
  read_fc(frame, fcoe->fc_frame, 0);
}

void read_fip(Frame& frame, wire::Bytes payload) {
  auto fip = wire::fip::FipMessage::parse(payload);
  if (fip)
    frame.fip = std::move(*fip);
  else
    frame.trouble = frame.is_cut ? "FIP" : "FIP malformed: " + to_string(fip.error());
}

void read_untagged(Frame& frame, wire::Bytes bytes, std::size_t missing) {
  switch (frame.ethernet->type) {
    case wire::EtherType::fcoe: return read_fcoe(frame, bytes, missing);
    case wire::EtherType::fip: return read_fip(frame, bytes.subspan(wire::EthernetHeader::size()));
    case wire::EtherType::vlan: break;
  }
  frame.trouble = "Ethernet " + wire::codec::text_of(frame.ethernet->type, 16);
}

/// What a second tag holds is not read.
void read_ethernet(Frame& frame, wire::Bytes bytes, std::size_t missing) {
  constexpr std::size_t tag_at = wire::EthernetHeader::size() - 2, tag_bytes = 4;
  const auto ethernet = wire::EthernetHeader::parse(bytes);
  if (!ethernet) {
    frame.trouble = "malformed: " + to_string(ethernet.error());
    return;
  }
  frame.ethernet = *ethernet;
  if (ethernet->type != wire::EtherType::vlan || bytes.size() < wire::EthernetHeader::size() + tag_bytes)
    return read_untagged(frame, bytes, missing);
  const unsigned tag = wire::load_big<2>(bytes.data() + wire::EthernetHeader::size());
  frame.vlan = VlanTag{tag & 0xFFF, tag >> 13};
  frame.ethernet->type = static_cast<wire::EtherType>(wire::load_big<2>(bytes.data() + tag_at + tag_bytes));
  // FCoE looks at its type, and at nothing in front of it: the addresses stand in the tag's place.
  std::vector<std::uint8_t>& untagged = frame.untagged;
  untagged.resize(bytes.size() - tag_bytes);
  frame.ethernet->write(untagged);
  std::copy(bytes.begin() + wire::EthernetHeader::size() + tag_bytes, bytes.end(),
            untagged.begin() + wire::EthernetHeader::size());
  read_untagged(frame, untagged, missing);
}

/// Linux' own header of a capture of all interfaces (LINKTYPE_LINUX_SLL, _SLL2): the sender's address and the type
/// stand there, the destination does not.
void read_cooked(Frame& frame, wire::Bytes bytes, bool second_form, std::size_t missing) {
  const std::size_t header_bytes = second_form ? 20 : 16, type_at = second_form ? 0 : 14;
  const std::size_t address_at = second_form ? 12 : 6;
  if (bytes.size() < header_bytes) {
    frame.trouble = "cooked capture truncated: header";
    return;
  }
  wire::EthernetHeader header{};
  std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(address_at), header.source.bytes.size(),
              header.source.bytes.begin());
  header.type = static_cast<wire::EtherType>(wire::load_big<2>(bytes.data() + type_at));
  frame.ethernet = header;
  frame.untagged.resize(wire::EthernetHeader::size());
  header.write(frame.untagged);
  frame.untagged.insert(frame.untagged.end(), bytes.begin() + static_cast<std::ptrdiff_t>(header_bytes), bytes.end());
  read_untagged(frame, frame.untagged, missing);
}

/// Ordered sets of four bytes around the frame, the CRC before EOF.
void read_delimited(Frame& frame, wire::Bytes bytes, std::size_t missing) {
  if (bytes.size() < delimiter_bytes) {
    frame.trouble = "FC truncated: sof";
    return;
  }
  frame.sof = wire::sof_of_ordered_set(bytes.first<delimiter_bytes>());
  const wire::Bytes rest = bytes.subspan(delimiter_bytes);
  const std::size_t length = rest.size() + missing;
  if (length < crc_bytes + delimiter_bytes) {
    frame.trouble = "FC truncated: crc";
    return;
  }
  const std::size_t fc_bytes = length - crc_bytes - delimiter_bytes, kept = std::min(rest.size(), fc_bytes);
  const wire::Bytes fc = rest.first(kept);
  if (missing == 0) {
    frame.crc_ok = crc_of(rest.subspan(fc_bytes)) == wire::crc32(fc);
    frame.eof = wire::eof_of_ordered_set(rest.last<delimiter_bytes>());
  }
  read_fc(frame, fc, fc_bytes - kept);
}

}  // namespace

Frame take_apart(const Packet& packet) {
  Frame frame;
  frame.is_cut = packet.is_cut();
  const wire::Bytes bytes = packet.data;
  const std::size_t missing = packet.original_bytes - std::min(packet.original_bytes, bytes.size());
  switch (packet.link_type) {
    case LinkType::ethernet: read_ethernet(frame, bytes, missing); return frame;
    case LinkType::linux_cooked: read_cooked(frame, bytes, false, missing); return frame;
    case LinkType::linux_cooked_2: read_cooked(frame, bytes, true, missing); return frame;
    case LinkType::fc: read_fc(frame, bytes, missing); return frame;
    case LinkType::fc_with_delimiters: read_delimited(frame, bytes, missing); return frame;
  }
  frame.trouble = "link type " + std::to_string(static_cast<std::uint32_t>(packet.link_type));
  return frame;
}

}  // namespace sim::capture
