// FCoE encapsulation (FC-BB): Ethernet header, version and SOF, frame, CRC (little-endian), EOF, 3 zero
// bytes. No padding: the smallest frame makes exactly 60 bytes.
#pragma once
#include "wire/delimiters.hpp"
#include "wire/ethernet.hpp"

namespace wire::fcoe {

inline constexpr std::size_t header_size = 14;  // version (4 bits), 100 reserved bits, SOF
inline constexpr std::size_t trailer_size = 8;  // CRC, EOF, 3 reserved bytes
inline constexpr std::size_t overhead = EthernetHeader::size() + header_size + trailer_size;
inline constexpr std::uint8_t version = 0;

/// Bytes of the Ethernet frame (without FCS) that carries an FC frame of `fc_frame_size` bytes.
[[nodiscard]] constexpr std::size_t frame_size(std::size_t fc_frame_size) { return fc_frame_size + overhead; }

/// An Ethernet frame taken apart. The views refer to the bytes that were parsed.
struct FcoeFrame {
  EthernetHeader ethernet{};
  Sof sof{};
  Bytes fc_frame;         // header and data field with fill bytes
  std::uint32_t crc = 0;  // as received
  Eof eof{};

  /// The structure only: a wrong CRC, or an SOF or EOF code without a name, parses. Version and type must be FCoE's.
  [[nodiscard]] static Result<FcoeFrame> parse(Bytes ethernet_frame);
  [[nodiscard]] bool crc_ok() const;
  [[nodiscard]] std::string to_string() const;
};

/// As FcoeFrame::parse, and bad_crc or bad_delimiter where a receiver discards the frame.
[[nodiscard]] Result<FcoeFrame> decapsulate(Bytes ethernet_frame);

/// Writes the whole Ethernet frame; `to` has at least frame_size(fc_frame.size()) bytes. Computes the CRC.
void encapsulate(const MacAddress& destination, const MacAddress& source, Sof sof, Bytes fc_frame, Eof eof,
                 MutableBytes to);

/// The parts around an FC frame that already stands in place: first 28 bytes, last 8 bytes.
void write_header(const MacAddress& destination, const MacAddress& source, Sof sof, MutableBytes to);
void write_trailer(std::uint32_t crc, Eof eof, MutableBytes to);

}  // namespace wire::fcoe
