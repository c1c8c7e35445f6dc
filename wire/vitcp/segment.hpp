// A whole segment, for set-up, tools and tests. Who moves data takes the headers one by one as the octets come.
#pragma once
#include <boost/mp11/list.hpp>

#include "wire/vitcp/ce_header.hpp"
#include "wire/vitcp/crc.hpp"
#include "wire/vitcp/rdma_header.hpp"

namespace wire::vitcp {

/// VI Segment (VI-TCP 3.1): segment header, RDMA or CE header, payload, trailer.
struct Segment {
  SegmentHeader header{};
  RdmaHeader rdma{};     // of the types that have one
  CeHeader ce{};         // likewise
  Bytes payload{};       // not owned
  bool trailer = false;  // a CRC ends the segment; of ConnectRequest and ConnectAccept: as their option says

  /// The segment that begins at `octets`, and `agreed`: ConnectRequest and ConnectAccept both had the CRC option.
  /// Errors: those of SegmentHeader, RdmaHeader and CeHeader; truncated "segment" where fewer octets are there than it
  /// has; bad_crc "crc", after all others.
  [[nodiscard]] static Result<Segment> parse(Bytes octets, bool agreed);
  /// Octets: its Segment Length, at most 65,535. header.segment_length is not looked at.
  [[nodiscard]] std::size_t size() const;
  /// With the Segment Length and the CRC that it has to have.
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
};
[[nodiscard]] bool operator==(const Segment& left, const Segment& right);

/// Why segments are refused: all that Segment::parse says, but for truncated. A place in it can be that of a counter.
inline constexpr std::array<ParseError, 13> refusals{{
    {ParseCode::bad_value, "type"},
    {ParseCode::bad_value, "version"},
    {ParseCode::bad_length, "segment_length"},
    {ParseCode::bad_value, "data_offset"},
    {ParseCode::bad_value, "end_of_message"},
    {ParseCode::bad_length, "rdma_length"},
    {ParseCode::bad_value, "reliability_level"},
    {ParseCode::bad_length, "calling_discriminator_length"},
    {ParseCode::bad_length, "called_discriminator_length"},
    {ParseCode::bad_value, "mtu_size"},
    {ParseCode::bad_length, "option_length"},
    {ParseCode::bad_value, "end_of_option_list"},
    {ParseCode::bad_crc, "crc"},
}};

/// What the tests of every message also try; told apart by nothing.
using Parts = boost::mp11::mp_list<RemoteErrorCode, SegmentHeader, RdmaHeader, CeHeader, Options>;

}  // namespace wire::vitcp
