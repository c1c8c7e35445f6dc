// A valid message of every type in wire/messages.hpp, and which of its bits count.
#pragma once
#include "hex.hpp"
#include "wire/messages.hpp"

namespace wire::test {

/// `mask`: 1 for bits that the message uses; the others are reserved.
struct Sample {
  std::vector<std::uint8_t> bytes;
  std::vector<std::uint8_t> mask;
};

/// Noise in every field, the constants where they belong.
template <class Message>
struct SampleOf {
  static Sample make() {
    constexpr std::size_t size = Message::layout.size();
    Sample sample{Noise(size).bytes(size), zeros(size)};
    Message::layout.cover(sample.mask.data());
    for (std::size_t i = 0; i < size; ++i) sample.bytes[i] &= sample.mask[i];
    Message::layout.store_constants(sample.bytes.data());
    return sample;
  }
};

inline Sample all_used(std::vector<std::uint8_t> bytes) {
  return {bytes, std::vector<std::uint8_t>(bytes.size(), 0xFF)};
}

template <>
struct SampleOf<els::Prli> {
  static Sample make() {
    return all_used(hex("20 10 0024 08 01 2000 11223344 55667788 000001A2  58 00 2000 00000001 00000002 00000003"));
  }
};
template <>
struct SampleOf<els::Rscn> {
  static Sample make() { return {hex("61 04 000C 05 010200 02 020000"), hex("FF FF FFFF 3F FFFFFF 3F FFFFFF")}; }
};
template <>
struct SampleOf<els::Echo> {
  static Sample make() { return {hex("10 000000 DEADBEEF 01"), hex("FF 000000 FFFFFFFF FF")}; }
};

inline std::vector<std::uint8_t> ct_bytes(std::uint16_t command) {
  auto bytes = hex("01 000000 FC 02 00 00 0000 0000 00 00 00 00");
  store_big<2>(bytes.data() + 8, command);
  return bytes;
}
inline std::vector<std::uint8_t> ct_mask() { return hex("FF FFFFFF FF FF FF 00 FFFF FFFF FF FF FF FF"); }
inline Sample ct_sample(std::uint16_t command, std::string_view body, std::string_view mask) {
  return {join(ct_bytes(command), hex(body)), join(ct_mask(), hex(mask))};
}

template <>
struct SampleOf<ct::RspnId> {
  static Sample make() { return ct_sample(0x0218, "00 010100 04 66636F65", "00 FFFFFF FF FFFFFFFF"); }
};
template <>
struct SampleOf<ct::RsnnNn> {
  static Sample make() { return ct_sample(0x0239, "10005254 00FC0E01 04 66636F65", "FFFFFFFF FFFFFFFF FF FFFFFFFF"); }
};
template <>
struct SampleOf<ct::SymbolicNameAccept> {
  static Sample make() { return ct_sample(0x8002, "04 66636F65", "FF FFFFFFFF"); }
};
template <>
struct SampleOf<ct::PortIdListAccept> {
  static Sample make() { return ct_sample(0x8002, "00 010100 00 010200 80 020300", "80 FFFFFF 80 FFFFFF 80 FFFFFF"); }
};
template <>
struct SampleOf<ct::IpAddressListAccept> {
  static Sample make() {
    const std::string all(64, 'F');
    return ct_sample(0x8002, "00000000000000000000FFFF0A000001 FDFC76690000000001020304050607FF", all);
  }
};
template <>
struct SampleOf<ct::GpnFtAccept> {
  static Sample make() {
    return ct_sample(0x8002, "00 010100 00000000 2000525400FC0E01  80 010200 00000000 2000525400FC0E02",
                     "FF FFFFFF 00000000 FFFFFFFFFFFFFFFF  FF FFFFFF 00000000 FFFFFFFFFFFFFFFF");
  }
};

// FC-VI IUs: handle, opcode, flags, reserved, message ID, parameter, RMT_VA, RMT_VA_HANDLE, TOT_LEN or CONNECTION_ID.
template <>
struct SampleOf<fcvi::SendRqst> {
  static Sample make() {
    return {hex("0000002A 00 01 0000 00000007 CAFEF00D 00000000 00000000 00000000 00010000"),
            hex("FFFFFFFF FF 01 0000 FFFFFFFF FFFFFFFF 00000000 00000000 00000000 FFFFFFFF")};
  }
};
template <>
struct SampleOf<fcvi::WriteRqst> {
  static Sample make() {
    return {hex("0000002A 01 01 0000 00000007 CAFEF00D 00007F12 34567890 0BADCAFE 00010000"),
            hex("FFFFFFFF FF 01 0000 FFFFFFFF FFFFFFFF FFFFFFFF FFFFFFFF FFFFFFFF FFFFFFFF")};
  }
};
template <>
struct SampleOf<fcvi::ReadRqst> {
  static Sample make() {
    return {hex("0000002A 02 00 0000 00000007 00000000 00007F12 34567890 0BADCAFE 00010000"),
            hex("FFFFFFFF FF 00 0000 FFFFFFFF 00000000 FFFFFFFF FFFFFFFF FFFFFFFF FFFFFFFF")};
  }
};
template <>
struct SampleOf<fcvi::SendResp> {
  static Sample make() {
    return {hex("0000002A 08 09 0000 00000007 00000000"), hex("FFFFFFFF FF 0F 0000 FFFFFFFF 00000000")};
  }
};
template <>
struct SampleOf<fcvi::WriteResp> {
  static Sample make() {
    return {hex("0000002A 09 05 0000 00000007 00000000"), hex("FFFFFFFF FF 0F 0000 FFFFFFFF 00000000")};
  }
};
template <>
struct SampleOf<fcvi::ReadResp> {
  static Sample make() {
    return {hex("0000002A 0A 03 0000 00000007 00000000 00007F12 34567890 0BADCAFE 00010000"),
            hex("FFFFFFFF FF 0F 0000 FFFFFFFF 00000000 FFFFFFFF FFFFFFFF FFFFFFFF FFFFFFFF")};
  }
};
template <>
struct SampleOf<fcvi::ConnectResp2> {
  static Sample make() {
    return {hex("0000002A 19 05 0000 00000000 00040012 00000000 00000000 00000000 00000063"),
            hex("FFFFFFFF FF 05 0000 00000000 00FFFFFF 00000000 00000000 00000000 FFFFFFFF")};
  }
};
template <>
struct SampleOf<fcvi::ConnectResp3> {
  static Sample make() {
    Sample sample = SampleOf<fcvi::ConnectResp2>::make();
    sample.bytes[4] = 0x1A;
    return sample;
  }
};
template <>
struct SampleOf<fcvi::DisconnectRqst> {
  static Sample make() {
    return {hex("0000002A 12 07 0000 00000005 00480012 00000000 00000000 00000000 00000063"),
            hex("FFFFFFFF FF 07 0000 FFFFFFFF 00FFFFFF 00000000 00000000 00000000 FFFFFFFF")};
  }
};
template <>
struct SampleOf<fcvi::DisconnectResp> {
  static Sample make() {
    Sample sample = SampleOf<fcvi::DisconnectRqst>::make();
    sample.bytes[4] = 0x1B;
    return sample;
  }
};
template <>
struct SampleOf<fcvi::ConnectPayload> {
  static Sample make() {
    Sample sample{Noise(340).bytes(340), zeros(340)};
    fcvi::ConnectPayload::layout.cover(sample.mask.data());
    for (std::size_t i = 0; i < sample.bytes.size(); ++i) sample.bytes[i] &= sample.mask[i];
    return sample;
  }
};
inline Sample with_payload(std::string_view header, std::string_view header_mask) {
  const Sample payload = SampleOf<fcvi::ConnectPayload>::make();
  return {join(hex(header), payload.bytes, Noise(1).bytes(256)),
          join(hex(header_mask), payload.mask, std::vector<std::uint8_t>(256, 0xFF))};
}
template <>
struct SampleOf<fcvi::ConnectRqst> {
  static Sample make() {
    return with_payload("FFFFFFFF 10 1A 0000 00000000 00000000 00000000 00000000 00000000 00000063",
                        "00000000 FF 1F 0000 00000000 00000000 00000000 00000000 00000000 FFFFFFFF");
  }
};
template <>
struct SampleOf<fcvi::ConnectResp1> {
  static Sample make() {
    return with_payload("FFFFFFFF 18 07 0000 00000000 00210034 00000000 00000000 00000000 00000063",
                        "00000000 FF 07 0000 00000000 00FFFFFF 00000000 00000000 00000000 FFFFFFFF");
  }
};
template <>
struct SampleOf<fcvi::DeviceHeader> {
  static Sample make() {
    return {hex("0000002A 01 81 0000 00000007 CAFEF00D 00007F12 34567890 0BADCAFE 00010000"),
            hex("FFFFFFFF FF FF 0000 FFFFFFFF FFFFFFFF FFFFFFFF FFFFFFFF FFFFFFFF FFFFFFFF")};
  }
};

template <>
struct SampleOf<fip::EncapsulatedFrame> {
  static Sample make() {
    Sample sample{join(hex("07 24 0000"), Noise(7).bytes(140)), std::vector<std::uint8_t>(144, 0xFF)};
    sample.mask[2] = sample.mask[3] = 0;
    return sample;
  }
};
template <>
struct SampleOf<fip::UnknownDescriptor> {
  static Sample make() { return all_used(hex("F1 02 A1B2 C3D4E5F6")); }
};
template <>
struct SampleOf<fip::FipMessage> {
  static Sample make() {  // solicitation: header, MAC, NAME, MAX_SIZE
    return {hex("10 00 0001 00 01 0006 8000  0202 525400FC0E01  0403 0000 1000525400FC0E01  0601 086E"),
            hex("F0 00 FFFF 00 FF FFFF FFFF  FFFF FFFFFFFFFFFF  FFFF 0000 FFFFFFFFFFFFFFFF  FFFF FFFF")};
  }
};

}  // namespace wire::test
