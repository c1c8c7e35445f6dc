// Delimiters, CRC, Ethernet and FCoE.
#include "wire/fcoe.hpp"

#include <zlib.h>

#include "expect.hpp"
#include "wire/crc.hpp"
#include "wire/fc_header.hpp"

namespace wire::test {
namespace {

constexpr MacAddress fcf{{0x02, 0xFC, 0xF0, 0x00, 0x00, 0x01}};

// tests/data/linux-fabric-login.pcap, frame 23: SCR.
const auto scr_frame =
    hex("22 FFFFFD 00 010100 01 290000 00 00 0000 0001 FFFF 00000000"  // FC header
        "62 000000 000000 03");                                        // SCR, full registration
const auto scr_ethernet = join(hex("02FCF0000001"                      // destination: the FCF
                                   "0EFC00010100"                      // source: fabric-provided, FC-MAP and N_Port_ID
                                   "8906"                              // FCoE
                                   "00 000000000000000000000000"       // version, reserved
                                   "2E"),                              // SOFi3
                               scr_frame,
                               hex("9EF082F9"   // CRC, little-endian
                                   "42"         // EOFt
                                   "000000"));  // reserved

TEST(Fcoe, captured_frame_decapsulates) {
  const auto frame = fcoe::decapsulate(scr_ethernet);
  ASSERT_TRUE(frame.has_value()) << to_string(frame.error());
  EXPECT_EQ(frame->ethernet, (EthernetHeader{fcf, mac_of(FcId{0x010100}), EtherType::fcoe}));
  EXPECT_EQ(frame->sof, Sof::i3);
  EXPECT_EQ(frame->eof, Eof::t);
  EXPECT_EQ(frame->crc, 0xF982F09EU);
  EXPECT_TRUE(std::equal(frame->fc_frame.begin(), frame->fc_frame.end(), scr_frame.begin(), scr_frame.end()));
}

TEST(Fcoe, encapsulate_makes_the_captured_frame) {
  std::vector<std::uint8_t> bytes(fcoe::frame_size(scr_frame.size()), 0xA5);
  fcoe::encapsulate(fcf, mac_of(FcId{0x010100}), Sof::i3, scr_frame, Eof::t, bytes);
  EXPECT_EQ(bytes, scr_ethernet);
}

// The smallest FC frame makes exactly the smallest Ethernet frame; the largest 2172 bytes.
TEST(Fcoe, sizes) {
  EXPECT_EQ(fcoe::frame_size(24), 60U);
  EXPECT_EQ(fcoe::frame_size(24 + max_data_field_size), 2172U);
}

TEST(Fcoe, every_flipped_bit_of_the_fc_frame_is_a_bad_crc) {
  for (std::size_t bit = 8 * 28; bit < 8 * (28 + scr_frame.size()); ++bit) {
    auto bytes = scr_ethernet;
    bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] ^ (1U << bit % 8));
    const auto frame = fcoe::decapsulate(bytes);
    ASSERT_FALSE(frame.has_value()) << bit;
    EXPECT_EQ(frame.error().code, ParseCode::bad_crc);
    EXPECT_TRUE(fcoe::FcoeFrame::parse(bytes).has_value()) << "the decoder still shows it";
  }
}

TEST(Fcoe, errors) {
  const auto error_of = [](std::size_t at, std::uint8_t value) {
    auto bytes = scr_ethernet;
    bytes[at] = value;
    return fcoe::decapsulate(bytes).error();
  };
  EXPECT_EQ(error_of(13, 0x14), (ParseError{ParseCode::bad_value, "type"}));
  EXPECT_EQ(error_of(14, 0x10), (ParseError{ParseCode::bad_value, "version"}));
  EXPECT_EQ(error_of(27, 0x2F), (ParseError{ParseCode::bad_delimiter, "sof"}));
  EXPECT_EQ(error_of(scr_ethernet.size() - 4, 0x43), (ParseError{ParseCode::bad_delimiter, "eof"}));
}

TEST(Fcoe, reserved_bits_are_ignored) {
  auto bytes = scr_ethernet;
  for (std::size_t at = 15; at < 27; ++at) bytes.at(at) = 0xFF;
  bytes[14] = 0x0F;
  for (std::size_t at = bytes.size() - 3; at < bytes.size(); ++at) bytes.at(at) = 0xFF;
  EXPECT_TRUE(fcoe::decapsulate(bytes).has_value());
}

TEST(Fcoe, every_prefix_is_an_error) {
  for (std::size_t length = 0; length < scr_ethernet.size(); ++length) {
    const std::vector<std::uint8_t> prefix(scr_ethernet.begin(), scr_ethernet.begin() + static_cast<long>(length));
    const auto frame = fcoe::decapsulate(prefix);
    ASSERT_FALSE(frame.has_value()) << length;
    if (length < 60) {
      EXPECT_EQ(frame.error().code, ParseCode::truncated);
    }
  }
}

TEST(Crc, equals_zlib) {
  Noise noise(3);
  for (std::size_t size = 0; size < 300; ++size) {
    const auto bytes = noise.bytes(size);
    EXPECT_EQ(crc32(bytes), ::crc32(0, bytes.data(), static_cast<uInt>(size)));
  }
  const auto frame = noise.bytes(2136);
  EXPECT_EQ(crc32(frame), ::crc32(0, frame.data(), 2136));
}

TEST(Crc, continues) {
  const auto bytes = Noise(4).bytes(100);
  EXPECT_EQ(crc32(Bytes(bytes).subspan(24), crc32(Bytes(bytes).first(24))), crc32(bytes));
}

TEST(Delimiters, codes_and_names) {
  EXPECT_EQ(static_cast<int>(Sof::i2), 0x2D);
  EXPECT_EQ(static_cast<int>(Sof::n2), 0x35);
  EXPECT_EQ(static_cast<int>(Sof::i3), 0x2E);
  EXPECT_EQ(static_cast<int>(Sof::n3), 0x36);
  EXPECT_EQ(static_cast<int>(Sof::f), 0x28);
  EXPECT_EQ(static_cast<int>(Eof::n), 0x41);
  EXPECT_EQ(static_cast<int>(Eof::t), 0x42);
  EXPECT_EQ(static_cast<int>(Eof::ni), 0x49);
  EXPECT_EQ(static_cast<int>(Eof::a), 0x50);
  int sofs = 0, eofs = 0;
  for (int code = 0; code < 256; ++code) {
    sofs += is_known(static_cast<Sof>(code)) ? 1 : 0;
    eofs += is_known(static_cast<Eof>(code)) ? 1 : 0;
  }
  EXPECT_EQ(sofs, 8);
  EXPECT_EQ(eofs, 8);
  EXPECT_EQ(class_of_service(Sof::i2), 2);
  EXPECT_EQ(class_of_service(Sof::n3), 3);
  EXPECT_EQ(class_of_service(Sof::f), 0);
}

TEST(MacAddress, texts) {
  EXPECT_EQ(to_string(fcf), "02:fc:f0:00:00:01");
  EXPECT_EQ(MacAddress::from_string("02:FC:f0:00:00:01"), fcf);
  for (const char* bad :
       {"", "02:fc:f0:00:00", "02:fc:f0:00:00:0g", "02-fc-f0-00-00-01", "02:fc:f0:00:00:011", "2:fc:f0:00:00:001"})
    EXPECT_FALSE(MacAddress::from_string(bad).has_value()) << bad;
  EXPECT_TRUE(group_mac::all_enode.is_group());
  EXPECT_FALSE(fcf.is_group());
}

TEST(MacAddress, of_an_n_port) {
  EXPECT_EQ(to_string(mac_of(FcId{0x010203})), "0e:fc:00:01:02:03");
  EXPECT_EQ(to_string(mac_of(FcId{0x000E01}, vn2vn_fc_map)), "0e:fd:00:00:0e:01");
}

TEST(EtherType, names) {
  for (const int type : {0x8906, 0x8914, 0x8100}) EXPECT_NE(to_string(static_cast<EtherType>(type)), text::unknown);
}

}  // namespace
}  // namespace wire::test
