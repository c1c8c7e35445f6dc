// FC frames in Ethernet frames (FC-BB-5 FCoE), and every reason for which a received one is discarded.
#pragma once
#include <cstdint>
#include <string_view>

#include "fc2_fabric/fcoe/ethernet_port.hpp"
#include "fc2_fabric/frame/discard_counts.hpp"
#include "fc2_fabric/frame/frame_header.hpp"

namespace fc2::fcoe {

/// The largest FCoE PDU (all after the Ethernet header) on an interface: at most that of a full FC frame.
[[nodiscard]] std::uint16_t max_fcoe_size(std::uint16_t mtu);
/// Largest data field that fits: 1452 bytes at an MTU of 1500, 2112 from 2158 on. What FLOGI and PLOGI announce.
[[nodiscard]] std::uint16_t data_field_bytes(std::uint16_t mtu);

enum class FcoeDiscard : std::uint8_t {
  NotFcoe,     // another EtherType, or no whole Ethernet header
  Truncated,   // too short for the smallest FC frame
  OverLong,    // more than a full FC frame, or than the MTU
  Misaligned,  // FC frames have a multiple of 4 bytes
  WrongVersion,
  UnknownSof,
  UnknownEof,
  Padded,  // bytes behind the trailer: no FCoE frame is so short that Ethernet pads it
  BadCrc,
  WrongDestination,  // not one of our addresses, or not that of the D_ID
  WrongSource,       // not the address of the FCF, or of a VN_Port that logged in
  ForgedSId,         // an S_ID that the sender's MAC does not have
  BadFip,            // a FIP message that does not parse, or lacks a descriptor that it needs
  UnexpectedFip,     // of an operation that this port does not serve, or in a state that does not wait for it
  NoResources,       // a table is full, or too many frames wait
  NotLoggedIn,       // to send: the VN_Port has no MAC address
  WrongVlan,         // of a VLAN that is not ours
  NotAllowed,        // a login by a station that is not on the allow list
  TooOften,          // solicitations or FLOGIs of one station, more than the limit
  TooManyLogins,     // of one ENode
  Count,
};
std::string_view to_string(FcoeDiscard reason);

struct FcoeCounters : DiscardCounts<FcoeDiscard> {
  std::uint64_t frames_in = 0, frames_out = 0;  // FCoE
  std::uint64_t fip_in = 0, fip_out = 0;
  std::uint64_t unexpected_events = 0;  // a machine had no row: a defect of ours
  std::uint64_t evicted = 0;            // neighbours evicted from full tables: FCFs, ENodes, VN2VN ports
};

/// Builds header and trailer around the frame, which stays where it is; computes the CRC. A frame with a fault's
/// crc_error gets a wrong one, so that the receiver sees it as on a bad link.
[[nodiscard]] EthernetFrame encapsulate(const wire::MacAddress& destination, const wire::MacAddress& source,
                                        FramePtr frame);

/// The reason why it is not an FCoE frame that a receiver may use; FcoeDiscard::Count: it is one.
[[nodiscard]] FcoeDiscard examine(const EthernetFrame& frame);
/// The FC frame of an Ethernet frame that examine() accepted; nothing is copied.
[[nodiscard]] FramePtr decapsulate(EthernetFrame frame);

}  // namespace fc2::fcoe
