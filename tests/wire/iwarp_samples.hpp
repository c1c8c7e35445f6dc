// Valid headers of RDMA over TCP, and which of their bits count.
#pragma once
#include "samples.hpp"
#include "wire/iwarp/messages.hpp"

namespace wire::test {

template <>
struct SampleOf<mpa::EnhancedData> {
  static Sample make() { return all_used(hex("E010 8001")); }  // all flags but D
};
template <>
struct SampleOf<mpa::StartupFrame> {
  static Sample make() {  // Reply with M, C, R, S
    return {hex("4D504120494420526570204672616D65 F0 02 0006 C010C001 AABB"),
            hex("FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF F0 FF FFFF FFFFFFFF FFFF")};
  }
};
template <>
struct SampleOf<ddp::Header> {
  static Sample make() {
    return {hex("41 43 01020304 00000001 00000002 00000003"), hex("C3 FF FFFFFFFF FFFFFFFF FFFFFFFF FFFFFFFF")};
  }
};
template <>
struct SampleOf<rdmap::Terminate> {
  static Sample make() {  // M, D, R
    const auto read_request = SampleOf<rdmap::ReadRequest>::make();
    return {join(hex("01 01 E000 002E 41 41 00000000 00000001 00000003 00000000"), read_request.bytes),
            join(hex("FF FF E000 FFFF C3 FF FFFFFFFF FFFFFFFF FFFFFFFF FFFFFFFF"), read_request.mask)};
  }
};
/// Its reserved bits are under the CRC: none can change alone.
template <>
struct SampleOf<ift::AdaptionIndication> {
  static Sample make() {
    auto octets = join(hex("52444450 0001 0001 FF800000 1234 0200"), zeros(48));
    iwarp::store_crc(octets.data() + 60, iwarp::crc32c(Bytes(octets).first(60)));
    return all_used(octets);
  }
};

}  // namespace wire::test
