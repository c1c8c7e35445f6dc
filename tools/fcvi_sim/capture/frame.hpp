// A packet taken apart: what carries the Fibre Channel frame, its header and its data field; or FIP, or why it is
// neither.
#pragma once
#include <optional>
#include <string>

#include "tools/fcvi_sim/capture/packet.hpp"
#include "wire/ethernet.hpp"
#include "wire/fc_header.hpp"
#include "wire/fip/message.hpp"
#include "wire/ordered_sets.hpp"

namespace sim::capture {

struct VlanTag {
  unsigned id = 0, priority = 0;
};
/// FC-FS: in front of the frame header where a link carries several virtual fabrics.
struct VftHeader {
  unsigned vf_id = 0, hops = 0;
};

/// Views refer to the packet's bytes. Moved, not copied.
struct Frame {
  Frame() = default;
  Frame(Frame&&) = default;
  Frame& operator=(Frame&&) = default;

  std::optional<wire::EthernetHeader> ethernet;
  std::optional<VlanTag> vlan;  // the outer one
  std::optional<VftHeader> vft;
  std::optional<wire::Sof> sof;
  std::optional<wire::Eof> eof;
  std::optional<bool> crc_ok;  // not set: the capture has no CRC, or not all that it covers
  bool is_cut = false;         // the end of the frame was not captured

  std::optional<wire::FcHeader> header;  // of a Fibre Channel frame
  wire::Bytes fc;                        // that frame as far as it was captured: header, data field, fill bytes
  wire::Bytes data_field;                // without fill bytes
  std::size_t data_field_bytes = 0;      // on the wire, without fill bytes
  std::optional<wire::fip::FipMessage> fip;
  /// The packet without its VLAN tag, or with an Ethernet header in place of Linux' own; the views refer to it.
  std::vector<std::uint8_t> untagged;
  std::string trouble;  // why it is neither, or what is wrong with the header: "FCoE malformed: truncated: version"

  /// A port takes it: its CRC is right, and it was not marked as invalid on its way.
  [[nodiscard]] bool counts() const { return crc_ok.value_or(true) && (!eof || !wire::is_invalid(*eof)); }
  [[nodiscard]] bool is_fc_vi() const {
    return header && header->type == wire::Type::fc_vi && (static_cast<unsigned>(header->r_ctl) & 0xF0) == 0;
  }
  [[nodiscard]] bool by_responder() const { return header->has(wire::f_ctl::exchange_responder); }
};

[[nodiscard]] Frame take_apart(const Packet& packet);

}  // namespace sim::capture
