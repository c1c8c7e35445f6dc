// IFT: adaption indications of both phases, frames with and without each CRC, every field wrong.
#include "expect.hpp"
#include "wire/iwarp/ift/frame.hpp"

namespace wire::test {
namespace {

using Octets = std::vector<std::uint8_t>;
using ift::AdaptionIndication;
using ift::CrcUse;
using ift::Frame;
using ift::FrameHeaders;
using ift::Framing;

/// With the CRC that it has to have.
Octets mended(Octets octets) {
  iwarp::store_crc(octets.data() + 60, iwarp::crc32c(Bytes(octets).first(60)));
  return octets;
}
Octets indication_octets(std::string_view first_16) { return mended(join(hex(first_16), zeros(48))); }

// IFT 4.1, 4.2: what we send to begin with (rulings I-7, I-11).
TEST(IftAdaption, phase_0) {
  AdaptionIndication indication;
  indication.vtag = {0x1234};
  const Octets octets = join(hex("52444450"     // Magic number
                                 "0001 0001"    // Version, BcVersion
                                 "70000000"     // R, HC, PC
                                 "1234 0000"),  // VTag, Marker Interval
                             zeros(44),         // reserved
                             hex("00000000"));  // CRC
  expect_known(mended(octets), indication);
}

// IFT 4.2: all flags, and a marker interval.
TEST(IftAdaption, phase_1_with_all_flags) {
  AdaptionIndication indication;
  indication.phase_1 = indication.ignores_header_crc = indication.ignores_payload_crc = true;
  indication.speculative_placement = indication.sends_markers = indication.wants_markers = true;
  indication.vtag = {0xFFFF};
  indication.marker_interval = 512;
  expect_known(indication_octets("52444450 0001 0001 FF800000 FFFF 0200"), indication);
}

// IFT 4.2: the flags from the most significant bit on.
TEST(IftAdaption, each_flag_has_its_bit) {
  const auto with = [](std::string_view flags) {
    return *AdaptionIndication::parse(indication_octets("52444450 0001 0001" + std::string(flags) + "0000 0000"));
  };
  EXPECT_TRUE(with("80000000").phase_1);
  EXPECT_TRUE(with("40000000").rdma_mode);
  EXPECT_TRUE(with("20000000").header_crc);
  EXPECT_TRUE(with("10000000").payload_crc);
  EXPECT_TRUE(with("08000000").ignores_header_crc);
  EXPECT_TRUE(with("04000000").ignores_payload_crc);
  EXPECT_TRUE(with("02000000").speculative_placement);
  EXPECT_TRUE(with("01000000").sends_markers);
  EXPECT_TRUE(with("00800000").wants_markers);
  EXPECT_EQ(with("007FFFFF"), with("00000000"));  // reserved
  for (unsigned bit = 23; bit < 32; ++bit) EXPECT_FALSE(with(text::hex(1U << bit, 8)) == with("00000000")) << bit;
}

// IFT 4.2: reserved octets are ignored by the receiver.
TEST(IftAdaption, reserved_octets_are_ignored) {
  const Octets original = indication_octets("52444450 0001 0001 70000000 1234 0000");
  Octets octets = original;
  octets[16] = octets[59] = 0xFF;
  EXPECT_EQ(written(*AdaptionIndication::parse(mended(octets))), original);
}

// IFT 4.2: BcVersion above ours is refused, a Version above is not.
TEST(IftAdaption, later_versions) {
  EXPECT_EQ(AdaptionIndication::parse(indication_octets("52444450 0007 0001 70000000 1234 0000"))->version, 7);
  for (const std::string_view version : {"0002", "0100", "FFFF"})
    expect_error<AdaptionIndication>(indication_octets("52444450 FFFF" + std::string(version) + "70000000 1234 0000"),
                                     ParseCode::bad_value, "bc_version");
}

// Ruling I-15: another magic number is told with the first octet that differs.
TEST(IftAdaption, wrong_magic_is_told_at_once) {
  const Octets original = indication_octets("52444450 0001 0001 70000000 1234 0000");
  for (std::size_t at = 0; at < 4; ++at) {
    Octets octets = original;
    octets[at] ^= 1;
    expect_error<AdaptionIndication>(octets, ParseCode::bad_value, "magic");
    octets.resize(at + 1);
    expect_error<AdaptionIndication>(octets, ParseCode::bad_value, "magic");
  }
}

// IFT 4.2: the CRC is required, and over all.
TEST(IftAdaption, every_bit_is_under_the_crc) {
  const Octets original = indication_octets("52444450 0001 0001 70000000 1234 0000");
  for (std::size_t bit = 8 * 8; bit < 8 * original.size(); ++bit) {
    Octets octets = original;
    octets[bit / 8] = static_cast<std::uint8_t>(octets[bit / 8] ^ 1U << bit % 8);
    expect_error<AdaptionIndication>(octets, ParseCode::bad_crc, "crc");
  }
}

TEST(IftAdaption, every_prefix_is_truncated) {
  const Octets octets = indication_octets("52444450 0001 0001 70000000 1234 0000");
  for (std::size_t length = 0; length < octets.size(); ++length) {
    const auto parsed = AdaptionIndication::parse(Octets(octets.begin(), octets.begin() + static_cast<long>(length)));
    ASSERT_FALSE(parsed.has_value());
    EXPECT_EQ(parsed.error().code, ParseCode::truncated) << length;
  }
}

TEST(IftAdaption, text_tells_what_it_asks_for) {
  EXPECT_EQ(AdaptionIndication::parse(indication_octets("52444450 0001 0001 F2000000 1234 0000"))->to_string(),
            "IFT_ADAPTION phase=1 version=1 bc_version=1 rdma_mode header_crc payload_crc speculative_placement "
            "vtag=1234h marker_interval=0");
}

ddp::Header write_header() {
  ddp::Header header;
  header.tagged = header.last = true;
  header.rsvd_ulp = 0x40;
  header.stag = {0x0BADCAFE};
  header.tagged_offset = 0x1000;
  return header;
}
const std::string write_octets = "C1 40 0BADCAFE 0000000000001000";
ddp::Header send_header() {
  ddp::Header header;
  header.last = true;
  header.rsvd_ulp = 0x43;
  header.msn = {1};
  return header;
}
const std::string send_octets = "41 43 00000000 00000000 00000001 00000000";
const Framing both{{0x1234}, CrcUse::checked, CrcUse::checked};

Octets crc_of(const Octets& octets) {
  Octets crc(4);
  iwarp::store_crc(crc.data(), iwarp::crc32c(octets));
  return crc;
}

Octets written(const Frame& frame, const Framing& framing) {
  Octets octets(frame.size(framing), 0xA5);
  frame.write(octets, framing);
  return octets;
}

void expect_frame(const Octets& octets, const Frame& frame, const Framing& framing) {
  EXPECT_EQ(written(frame, framing), octets);
  const auto parsed = Frame::parse(octets, framing);
  ASSERT_TRUE(parsed.has_value()) << to_string(parsed.error());
  EXPECT_EQ(*parsed, frame);
}

void expect_refused(const Octets& octets, const Framing& framing, ParseCode code, std::string_view field) {
  const auto parsed = Frame::parse(octets, framing);
  ASSERT_FALSE(parsed.has_value());
  EXPECT_EQ(parsed.error().code, code) << to_string(parsed.error());
  EXPECT_EQ(parsed.error().field, field);
}

const Octets payload = hex("AABBCC");

// IFT 5.1, rulings I-4 and I-5: a Tagged segment with both CRCs; neither is aligned.
TEST(IftFrame, rdma_write_with_both_crcs) {
  const Octets headers = join(hex("000E"    // header_size
                                  "0003"    // payload_size
                                  "1234"),  // receiver's VTag
                              hex(write_octets));
  expect_frame(join(headers, crc_of(headers), payload, crc_of(payload)), {write_header(), payload}, both);
}

// IFT 5.1: HC and PC of the sender say which are there (ruling I-6).
TEST(IftFrame, send_with_each_choice_of_crcs) {
  const Octets headers = join(hex("0012 0003 1234"), hex(send_octets));
  const Frame frame{send_header(), payload};
  expect_frame(join(headers, payload), frame, {{0x1234}, CrcUse::absent, CrcUse::absent});
  expect_frame(join(headers, crc_of(headers), payload), frame, {{0x1234}, CrcUse::checked, CrcUse::absent});
  expect_frame(join(headers, payload, crc_of(payload)), frame, {{0x1234}, CrcUse::absent, CrcUse::checked});
}

// Ruling I-6: the payload CRC of an empty payload.
TEST(IftFrame, empty_payload_has_a_crc_of_zero) {
  const Octets headers = join(hex("0012 0000 1234"), hex(send_octets));
  expect_frame(join(headers, crc_of(headers), hex("00000000")), {send_header(), {}}, both);
  expect_refused(join(headers, crc_of(headers), hex("00000001")), both, ParseCode::bad_crc, "payload_crc");
}

// IFT 4.2 IH, IP: a CRC that is there, and not checked.
TEST(IftFrame, ignored_crcs) {
  const Framing ignoring{{0x1234}, CrcUse::ignored, CrcUse::ignored};
  const Octets headers = join(hex("0012 0003 1234"), hex(send_octets));
  const Octets octets = join(headers, hex("11111111"), payload, hex("22222222"));
  EXPECT_EQ(*Frame::parse(octets, ignoring), (Frame{send_header(), payload}));
  EXPECT_EQ(written(Frame{send_header(), payload}, ignoring), written(Frame{send_header(), payload}, both));
  expect_refused(octets, both, ParseCode::bad_crc, "header_crc");
}

// IFT 7.1: the headers are verified before the payload is there.
TEST(IftFrame, headers_by_themselves) {
  const Octets headers = join(hex("000E FFFF 1234"), hex(write_octets));
  EXPECT_EQ(*FrameHeaders::parse(join(headers, crc_of(headers)), both), (FrameHeaders{write_header(), 0xFFFF, 24}));
}

// Ruling I-8: 14 and 18, and the one that T says.
TEST(IftFrame, wrong_header_size_is_refused) {
  const Framing none{{0x1234}, CrcUse::absent, CrcUse::absent};
  for (const std::string_view size : {"0000", "000D", "000F", "0011", "0013", "FFFF"})
    expect_refused(join(hex(size), hex("0003 1234"), hex(send_octets), payload), none, ParseCode::bad_value,
                   "header_size");
  expect_refused(join(hex("000E 0003 1234"), hex(send_octets), payload), none, ParseCode::bad_value, "header_size");
  expect_refused(join(hex("0012 0000 1234"), hex(write_octets), payload, hex("00")), none, ParseCode::bad_value,
                 "header_size");
}

// Ruling I-9; under the header CRC, which is told first.
TEST(IftFrame, wrong_vtag_is_refused) {
  const Octets octets = written(Frame{send_header(), payload}, both);
  expect_refused(octets, {{0x1235}, CrcUse::checked, CrcUse::checked}, ParseCode::bad_value, "vtag");
  Octets changed = octets;
  changed[5] ^= 1;
  expect_refused(changed, both, ParseCode::bad_crc, "header_crc");
}

// IFT 5.1: each octet is under one CRC. The sizes say where the CRCs are: a changed payload_size is told all the same.
TEST(IftFrame, every_octet_is_under_a_crc) {
  const Octets original = written(Frame{write_header(), payload}, both);
  for (std::size_t at = 2; at < original.size(); ++at) {
    Octets octets = original;
    octets[at] ^= 1;
    expect_refused(octets, both, ParseCode::bad_crc, at < 24 ? "header_crc" : "payload_crc");
  }
}

TEST(IftFrame, every_prefix_is_truncated) {
  for (const Framing& framing : {both, Framing{{0x1234}, CrcUse::absent, CrcUse::absent}}) {
    const Octets octets = written(Frame{send_header(), payload}, framing);
    for (std::size_t length = 0; length < octets.size(); ++length) {
      const auto parsed = Frame::parse(Octets(octets.begin(), octets.begin() + static_cast<long>(length)), framing);
      ASSERT_FALSE(parsed.has_value()) << length;
      ASSERT_EQ(parsed.error().code, ParseCode::truncated) << length;
      ASSERT_STRNE(parsed.error().field, "");
    }
  }
}

TEST(IftFrame, longest) {
  const Octets data = Noise(1).bytes(0xFFFF);
  EXPECT_EQ(*Frame::parse(written(Frame{send_header(), data}, both), both), (Frame{send_header(), data}));
}

TEST(IftFrame, round_trip_of_any_frame) {
  Noise noise(12);
  for (int round = 0; round < 1'000; ++round) {
    const Octets data = noise.bytes(noise.below(200));
    Frame frame{*ddp::Header::parse(noise.bytes(18)), data};
    const Framing framing{{static_cast<std::uint16_t>(noise.next())},
                          static_cast<CrcUse>(noise.below(3)),
                          static_cast<CrcUse>(noise.below(3))};
    ASSERT_EQ(*Frame::parse(join(written(frame, framing), hex("FF")), framing), frame);
  }
}

TEST(IftFrame, text_tells_what_the_frame_is) {
  EXPECT_EQ((Frame{send_header(), payload}).to_string(),
            "IFT {DDP untagged last version=1 rsvd_ulp=43h rsvd_ulp_untagged=00000000h queue=0 msn=00000001h "
            "message_offset=0} payload_bytes=3");
  EXPECT_EQ(ift::FrameHeader::parse(hex("000E 0003 1234"))->to_string(),
            "IFT header_size=000Eh payload_size=0003h vtag=1234h");
  EXPECT_EQ(to_string(CrcUse::ignored), "ignored");
}

}  // namespace
}  // namespace wire::test
