// Valid headers of VI/TCP, and which of their bits count.
#pragma once
#include "samples.hpp"
#include "wire/vitcp/segment.hpp"

namespace wire::test {

template <>
struct SampleOf<vitcp::SegmentHeader> {
  static Sample make() {  // Send with Immediate Data and all bits of Remote Error Code
    return {hex("01 E0 0040 00010000 CAFEF00D 00000007 00000009 0005 7F07"),
            hex("FF FF FFFF FFFFFFFF FFFFFFFF FFFFFFFF FFFFFFFF FFFF FF07")};
  }
};

/// An Urgent Marker, an option that nobody knows, End of Option List.
inline constexpr std::string_view vitcp_options = "0002 0004  0007 0006 ABCD  0000";
/// Lengths at which that list may end too.
inline bool vitcp_options_may_end_at(std::size_t length) { return length == 0 || length == 4 || length == 10; }

template <>
struct SampleOf<vitcp::Options> {
  static Sample make() { return all_used(hex(vitcp_options)); }
};
template <>
struct SampleOf<vitcp::CeHeader> {
  static Sample make() {
    const auto fixed = join(hex("0074 0040 00100000"), Noise(64).bytes(64), hex("0003 0040"), Noise(65).bytes(64));
    Sample sample = all_used(join(fixed, hex(vitcp_options)));
    sample.mask[0] = 0x00;
    sample.mask[1] = 0x7F;
    return sample;
  }
};

}  // namespace wire::test
