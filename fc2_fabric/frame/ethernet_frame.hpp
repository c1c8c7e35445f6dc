// An Ethernet frame whose FC frame stays in the pooled buffer in which an N_Port made it or receives it.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "fc2_fabric/frame/frame.hpp"
#include "wire/ethernet.hpp"
#include "wire/fcoe.hpp"

namespace fc2::fcoe {

/// Ethernet frame without FCS, in three consecutive parts: one sendmsg() or recvmsg() with three vectors carries it,
/// and the FC frame is never copied.
///   head  28 bytes: Ethernet header, FCoE version and SOF (of a FIP message: its first bytes)
///   body  up to 2136 bytes: the FC frame, and as much of its CRC and EOF as the buffer has room for
///   tail  up to 8 bytes: the rest
/// An 802.1Q tag is in none of them: drivers remove it, and insert it between the addresses and the type.
struct EthernetFrame {
  static constexpr std::size_t head_bytes = wire::EthernetHeader::size() + wire::fcoe::header_size;
  static constexpr std::size_t body_bytes = frame_header_bytes + max_data_field_bytes;
  static constexpr std::size_t tail_bytes = wire::fcoe::trailer_size;
  static constexpr std::size_t max_bytes = head_bytes + body_bytes + tail_bytes;  // 2172: a full FC frame

  std::array<std::uint8_t, head_bytes> head;
  std::array<std::uint8_t, tail_bytes> tail;
  std::uint16_t size_bytes = 0;  // of all three; those behind it are anything
  std::uint16_t vlan = 0;        // VID, 1 to 4094; 0: untagged, or a tag that has a priority only
  FramePtr body;                 // never null but after a move

  /// Room for max_bytes, for a receiver to fill.
  [[nodiscard]] static EthernetFrame take(FramePool& pool);
  /// A copy of at most max_bytes: for FIP messages, which are rare.
  [[nodiscard]] static EthernetFrame of(FramePool& pool, wire::Bytes bytes);
  [[nodiscard]] EthernetFrame copy() const;
  /// The first `size` bytes, part by part; parts may be empty.
  [[nodiscard]] std::array<wire::MutableBytes, 3> parts(std::size_t size);
  [[nodiscard]] std::array<wire::Bytes, 3> parts() const;
  /// All parts in one buffer.
  [[nodiscard]] std::vector<std::uint8_t> to_bytes() const;

  // Only for a frame that has a whole Ethernet header.
  [[nodiscard]] bool has_header() const { return size_bytes >= wire::EthernetHeader::size(); }
  [[nodiscard]] wire::MacAddress destination() const;
  [[nodiscard]] wire::MacAddress source() const;
  [[nodiscard]] wire::EtherType type() const {
    return static_cast<wire::EtherType>(wire::load_big<2>(head.data() + 12));
  }
};

}  // namespace fc2::fcoe
