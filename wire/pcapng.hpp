// Numbers of pcapng (draft-ietf-opsawg-pcapng): blocks and options, as captures are written and read.
#pragma once
#include <cstdint>

namespace wire::pcapng {

enum class Block : std::uint32_t {
  section_header = 0x0A0D0D0A,
  interface_description = 1,
  old_packet = 2,
  simple_packet = 3,
  interface_statistics = 5,
  enhanced_packet = 6
};

/// What a number means depends on the block, but for the first two.
namespace option {
inline constexpr std::uint16_t end_of_options = 0, comment = 1;
inline constexpr std::uint16_t if_name = 2, if_tsresol = 9, if_tsoffset = 14;
/// epb_dropcount, 64 bits: frames of the interface that are missing since its frame before.
inline constexpr std::uint16_t epb_flags = 2, epb_dropcount = 4;
/// A time as a packet has it (high, then low word): when the capture of the interface ended.
inline constexpr std::uint16_t isb_endtime = 3;
/// 64 bits: frames of the interface that are missing until now, in all.
inline constexpr std::uint16_t isb_ifdrop = 5;
}  // namespace option

/// In the byte order of who wrote the section.
inline constexpr std::uint32_t byte_order_magic = 0x1A2B3C4D;
/// epb_flags: the lowest two bits.
inline constexpr std::uint32_t direction_mask = 3, inbound = 1, outbound = 2;
/// if_tsresol: a power of 10.
inline constexpr std::uint8_t nanoseconds = 9;
inline constexpr std::uint16_t linktype_ethernet = 1;

}  // namespace wire::pcapng
