// MPA: Request and Reply Frames of revisions 0 to 2, FPDUs with and without CRC and markers, markers in streams.
#include "expect.hpp"
#include "wire/iwarp/mpa/error.hpp"
#include "wire/iwarp/mpa/fpdu.hpp"
#include "wire/iwarp/mpa/startup_frame.hpp"

namespace wire::test {
namespace {

using Octets = std::vector<std::uint8_t>;
using mpa::Fpdu;
using mpa::StartupFrame;

const std::string request_key = "4D504120494420526571204672616D65", reply_key = "4D504120494420526570204672616D65";

StartupFrame frame_of(mpa::FrameKind kind, std::uint8_t revision, Octets private_data = {}) {
  StartupFrame frame;
  frame.kind = kind;
  frame.revision = revision;
  frame.private_data = std::move(private_data);
  return frame;
}

// RFC 5044 7.1.1: what siw and others of revision 1 send.
TEST(MpaStartup, request_of_revision_1) {
  StartupFrame frame = frame_of(mpa::FrameKind::request, 1, hex("CAFE01"));
  frame.crc = true;
  expect_known(hex(request_key +  // Key
                   "40"           // C
                   "01"           // Rev
                   "0003"         // PD_Length
                   "CAFE01"),     // Private Data
               frame);
}

// RFC 5044 7.1.1, Appendix C: revision 0 always has markers and CRC.
TEST(MpaStartup, request_of_revision_0) {
  StartupFrame frame = frame_of(mpa::FrameKind::request, 0);
  frame.markers = frame.crc = true;
  expect_known(hex(request_key + "C0 00 0000"), frame);
}

// RFC 5044 7.1.1: a Reply that rejects.
TEST(MpaStartup, reply_of_revision_1_rejects) {
  StartupFrame frame = frame_of(mpa::FrameKind::reply, 1, hex("07"));
  frame.rejected = true;
  expect_known(hex(reply_key + "20 01 0001 07"), frame);
}

// RFC 6581 6 and 9. RFC 6581 9.
TEST(MpaStartup, request_of_revision_2_with_enhanced_data) {
  StartupFrame frame = frame_of(mpa::FrameKind::request, 2, hex("AABB"));
  frame.markers = frame.crc = true;
  frame.enhanced = mpa::EnhancedData{true, false, 16, true, false, 0x3FFF};
  expect_known(hex(request_key +  // Key
                   "D0"           // M, C, S
                   "02"           // Rev
                   "0006"         // PD_Length: the enhanced data counts
                   "8010"         // A, IRD
                   "BFFF"         // C, ORD: not negotiated
                   "AABB"),       // Private Data of the ULP
               frame);
}

// RFC 6581 9: each control flag has its bit.
TEST(MpaStartup, each_control_flag_has_its_bit) {
  using mpa::EnhancedData;
  expect_known(hex("8000 0000"), EnhancedData{true, false, 0, false, false, 0});
  expect_known(hex("C000 0000"), EnhancedData{true, true, 0, false, false, 0});
  expect_known(hex("8000 8000"), EnhancedData{true, false, 0, true, false, 0});
  expect_known(hex("8000 4000"), EnhancedData{true, false, 0, false, true, 0});
  expect_known(hex("0001 0002"), EnhancedData{false, false, 1, false, false, 2});
  expect_known(hex("3FFF 3FFE"), EnhancedData{false, false, 0x3FFF, false, false, 0x3FFE});
}

// RFC 6581 9.2: without A, the flags B, C and D are ignored.
TEST(MpaStartup, rtr_flags_without_peer_to_peer_are_ignored) {
  EXPECT_EQ(*mpa::EnhancedData::parse(hex("4001 C002")), *mpa::EnhancedData::parse(hex("0001 0002")));
}

// RFC 5044 7.1.1, RFC 6581 6: R of a Request, the reserved bits, and S where it was reserved.
TEST(MpaStartup, ignored_bits) {
  EXPECT_EQ(*StartupFrame::parse(hex(request_key + "2F 02 0000")), frame_of(mpa::FrameKind::request, 2));
  EXPECT_EQ(*StartupFrame::parse(hex(request_key + "1F 01 0002 4001")),
            frame_of(mpa::FrameKind::request, 1, hex("4001")));
  EXPECT_EQ(*StartupFrame::parse(hex(reply_key + "1F 00 0000")), frame_of(mpa::FrameKind::reply, 0));
}

// RFC 5044 7.1.1: any other key is an error, and told with the first octet that differs.
TEST(MpaStartup, wrong_key_is_told_at_once) {
  const Octets octets = hex(request_key + "40 01 0000");
  for (std::size_t at = 0; at < 16; ++at) {
    Octets changed = octets;
    changed[at] ^= 0x20;
    expect_error<StartupFrame>(changed, ParseCode::bad_value, "key");
    changed.resize(at + 1);
    expect_error<StartupFrame>(changed, ParseCode::bad_value, "key");
  }
  expect_error<StartupFrame>(hex("4D504120494420526571204672616D70"), ParseCode::bad_value, "key");
}

// Ruling M-3: revisions 0 to 2. RFC 5044 7.1.1.
TEST(MpaStartup, later_revision_is_refused) {
  for (const std::string_view revision : {"03", "04", "80", "FF"})
    expect_error<StartupFrame>(hex(request_key + "40" + std::string(revision) + "0000"), ParseCode::bad_value,
                               "revision");
}

// RFC 5044 7.1.1: at most 512 octets; RFC 6581 6: S needs four.
TEST(MpaStartup, wrong_pd_length_is_refused) {
  for (const std::string_view length : {"0201", "8000", "FFFF"})
    expect_error<StartupFrame>(hex(request_key + "40 01" + std::string(length)), ParseCode::bad_length, "pd_length");
  for (const std::string_view length : {"0000", "0001", "0003"})
    expect_error<StartupFrame>(hex(request_key + "50 02" + std::string(length) + "00000000"), ParseCode::bad_length,
                               "pd_length");
}

// RFC 5044 7.1.1.
TEST(MpaStartup, longest_frame) {
  StartupFrame frame = frame_of(mpa::FrameKind::reply, 2, Noise(1).bytes(508));
  frame.enhanced = mpa::EnhancedData{true, true, 1, true, true, 1};
  EXPECT_EQ(frame.size(), StartupFrame::max_bytes);
  EXPECT_EQ(*StartupFrame::parse(written(frame)), frame);
  frame.enhanced.reset();
  frame.private_data = Noise(2).bytes(512);
  EXPECT_EQ(*StartupFrame::parse(written(frame)), frame);
}

// RFC 5044 7.1.2: octets behind the frame are left to the caller, who finds them by its size.
TEST(MpaStartup, octets_behind_are_left_alone) {
  const auto frame = StartupFrame::parse(hex(request_key + "40 01 0001 AA BB"));
  EXPECT_EQ(frame->private_data, hex("AA"));
  EXPECT_EQ(frame->size(), 21U);
}

TEST(MpaStartup, text_tells_what_the_frame_is) {
  EXPECT_EQ(StartupFrame::parse(hex(reply_key + "70 02 0006 E010 4001 AABB"))->to_string(),
            "MPA frame=MPA Reply Frame crc rejected revision=2 {ENHANCED peer_to_peer send_rtr rdma_read_rtr ird=8208 "
            "ord=1} private_data=AABB");
}

const mpa::Framing plain{false, false}, with_crc{false, true}, with_markers{true, true}, markers_only{true, false};

Octets written(const Fpdu& fpdu, const mpa::Framing& framing, mpa::Position position) {
  Octets octets(fpdu.size(framing, position), 0xA5);
  fpdu.write(octets, framing, position);
  return octets;
}

void expect_fpdu(const Octets& octets, const Fpdu& fpdu, const mpa::Framing& framing, mpa::Position position) {
  EXPECT_EQ(written(fpdu, framing, position), octets);
  const auto parsed = Fpdu::parse(octets, framing, position);
  ASSERT_TRUE(parsed.has_value()) << to_string(parsed.error());
  EXPECT_EQ(parsed->ulpdu, fpdu.ulpdu);
}

void expect_refused(const Octets& octets, const mpa::Framing& framing, mpa::Position position, ParseCode code,
                    std::string_view field) {
  const auto parsed = Fpdu::parse(octets, framing, position);
  ASSERT_FALSE(parsed.has_value());
  EXPECT_EQ(parsed.error().code, code);
  EXPECT_EQ(parsed.error().field, field);
}

const Octets send_1 = join(hex("41 43 00000000 00000000 00000001 00000000"), zeros(24));
const Octets send_2 = join(hex("41 43 00000000 00000000 00000002 00000000"), zeros(24));
const Octets figure_5 = join(hex("0000 0000  002A"), send_1, hex("52239983"));
const Octets figure_6 =
    join(hex("002A 41 43 00000000 00000000 00000002 00000000  0000 0014"), zeros(24), hex("84925898"));

// RFC 5044 Figure 5. RFC 5044 4.1.
TEST(MpaFpdu, figure_5) { expect_fpdu(figure_5, {send_1}, with_markers, 0); }

// RFC 5044 Figure 6: at octet 1ECh. RFC 5044 4.1, 4.3.
TEST(MpaFpdu, figure_6) {
  expect_fpdu(figure_6, {send_2}, with_markers, 0x1EC);
  expect_fpdu(figure_6, {send_2}, with_markers, 0x1EC + (std::uint64_t{1} << 40));
}

// RFC 5044 Figure 4: pad of two octets, a marker within the ULPDU.
TEST(MpaFpdu, figure_4) {
  const Octets ulpdu = Noise(3).bytes(16);
  const Octets octets =
      join(hex("0010"), Bytes(ulpdu).first(10), hex("0000 000C"), Bytes(ulpdu).subspan(10), hex("0000 00000000"));
  expect_fpdu(octets, {ulpdu}, markers_only, 500);
}

// RFC 5044 4.1: each length of pad; the field CRC is there without CRCs too.
TEST(MpaFpdu, pad_of_each_length) {
  expect_fpdu(hex("0002 0102 00000000"), {hex("0102")}, plain, 0);
  expect_fpdu(hex("0003 010203 000000 00000000"), {hex("010203")}, plain, 0);
  expect_fpdu(hex("0004 01020304 0000 00000000"), {hex("01020304")}, plain, 0);
  expect_fpdu(hex("0005 0102030405 00 00000000"), {hex("0102030405")}, plain, 0);
  expect_fpdu(hex("0000 0000 00000000"), {}, plain, 0);
}

// RFC 5044 4.3: a marker between FPDUs belongs to the second, one before the CRC field to its FPDU (4.4).
TEST(MpaFpdu, marker_before_the_crc_field_is_covered) {
  const Octets octets = written({hex("0102")}, with_markers, 508);
  EXPECT_EQ(octets.size(), 12U);
  EXPECT_EQ(Octets(octets.begin(), octets.begin() + 8), hex("0002 0102 0000 0004"));
  EXPECT_EQ(iwarp::load_crc(octets.data() + 8), iwarp::crc32c(Bytes(octets).first(8)));
  EXPECT_EQ(written({hex("0102")}, with_markers, 504).size(), 8U);  // ends where the marker begins
  expect_fpdu(octets, {hex("0102")}, with_markers, 508);
}

// RFC 5044 4.3: all markers of a FPDU point to its ULPDU_Length.
TEST(MpaFpdu, several_markers_point_to_one_place) {
  const Octets octets = written({Noise(4).bytes(1'400)}, with_markers, 100);
  for (const std::size_t at : {412U, 924U, 1'436U - 512U})
    EXPECT_EQ(mpa::Marker::parse(Bytes(octets).subspan(at))->fpduptr(), at);
  const Octets first = written({Noise(4).bytes(1'400)}, with_markers, 512);
  EXPECT_EQ(mpa::Marker::parse(first)->fpduptr(), 0);
  EXPECT_EQ(mpa::Marker::parse(Bytes(first).subspan(512))->fpduptr(), 508);
  EXPECT_EQ(mpa::Marker::parse(Bytes(first).subspan(1'024))->fpduptr(), 1'020);
}

// RFC 5044 4.2: reserved bits of a marker, and bits 1-0 of FPDUPTR, are ignored but under the CRC.
TEST(MpaFpdu, ignored_bits_of_markers) {
  for (const std::size_t at : {20U, 21U, 23U}) {
    Octets octets = figure_6;
    octets[at] ^= at == 23 ? 0x03 : 0xFF;
    expect_refused(octets, with_markers, 0x1EC, ParseCode::bad_crc, "crc");
    EXPECT_EQ(Fpdu::parse(octets, markers_only, 0x1EC)->ulpdu, send_2);
  }
}

// RFC 5044 8 error 3: the CRC is valid, the marker leads elsewhere.
TEST(MpaFpdu, marker_that_leads_elsewhere_is_refused) {
  for (const std::string_view pointer : {"0000", "0010", "0018", "8014"}) {
    Octets octets = figure_6;
    std::copy_n(hex(pointer).begin(), 2, octets.begin() + 22);
    iwarp::store_crc(octets.data() + octets.size() - 4, iwarp::crc32c(Bytes(octets).first(octets.size() - 4)));
    expect_refused(octets, with_markers, 0x1EC, ParseCode::bad_value, "fpduptr");
  }
  Octets octets = figure_5;
  octets[3] = 4;
  expect_refused(octets, markers_only, 0, ParseCode::bad_value, "fpduptr");
}

// RFC 5044 8 error 2: each octet is covered; nothing of it counts without CRCs but the length.
TEST(MpaFpdu, every_octet_is_under_the_crc) {
  for (const Octets& original : {figure_5, written({hex("010203")}, with_crc, 0)})
    for (std::size_t at = 0; at < original.size(); ++at) {
      const bool markers = original == figure_5;
      if (at == (markers ? 4U : 0U) || at == (markers ? 5U : 1U)) continue;  // ULPDU_Length
      Octets octets = original;
      octets[at] ^= 1;
      expect_refused(octets, markers ? with_markers : with_crc, 0, ParseCode::bad_crc, "crc");
    }
  Octets octets = written({hex("010203")}, with_crc, 0);
  octets[5] = octets[8] = 0x77;  // pad, CRC
  EXPECT_EQ(Fpdu::parse(octets, plain, 0)->ulpdu, hex("010203"));
}

TEST(MpaFpdu, every_prefix_is_truncated) {
  for (std::size_t length = 0; length < figure_6.size(); ++length)
    EXPECT_EQ(Fpdu::parse({figure_6.data(), length}, with_markers, 0x1EC).error().code, ParseCode::truncated);
  for (std::size_t length = 0; length < figure_5.size(); ++length) {
    const Octets prefix(figure_5.begin(), figure_5.begin() + static_cast<long>(length));
    const char* field = length < 4 ? "marker" : length < 6 ? "ulpdu_length" : "ulpdu";
    expect_refused(prefix, with_markers, 0, ParseCode::truncated, field);
  }
}

// RFC 5044 4.1 and 4.3: any ULPDU at any place, in each framing.
TEST(MpaFpdu, round_trip_of_any_length_at_any_place) {
  Noise noise(11);
  for (int round = 0; round < 3'000; ++round) {
    const Fpdu fpdu{noise.bytes(noise.below(round % 10 == 0 ? 3'000 : 100))};
    const mpa::Framing framing{noise.below(2) == 0, noise.below(2) == 0};
    const mpa::Position position = noise.below(4'096) * 4;
    const Octets octets = written(fpdu, framing, position);
    ASSERT_EQ(octets.size() % 4, 0U);
    ASSERT_EQ(*Fpdu::extent(octets, framing, position), octets.size());
    ASSERT_EQ(*Fpdu::parse(join(octets, hex("FFFFFFFF")), framing, position), fpdu);
  }
}

// RFC 5044 4.1: the length field's largest value; with markers as far as FPDUPTR leads.
TEST(MpaFpdu, longest) {
  for (const mpa::Framing& framing : {plain, with_crc}) {
    const Fpdu fpdu{Noise(1).bytes(mpa::max_ulpdu_length)};
    EXPECT_EQ(*Fpdu::parse(written(fpdu, framing, 0), framing, 0), fpdu);
  }
  for (const mpa::Position position : {0U, 4U, 508U, 512U}) {
    const Fpdu fpdu{Noise(2).bytes(mpa::mulpdu(65'535, true))};
    EXPECT_EQ(*Fpdu::parse(written(fpdu, with_markers, position), with_markers, position), fpdu);
  }
}

// A peer that announces more than FPDUPTR can tell is refused, not believed.
TEST(MpaFpdu, length_beyond_what_a_marker_can_tell) {
  Octets octets(70'000);
  octets[4] = octets[5] = 0xFF;
  const std::size_t extent = *Fpdu::extent(octets, markers_only, 0);
  ASSERT_LE(extent, octets.size());
  for (std::size_t at = 512; at < extent; at += 512)
    store_big<2>(octets.data() + at + 2, static_cast<std::uint16_t>(at - 4));
  expect_refused(octets, markers_only, 0, ParseCode::bad_value, "fpduptr");
}

// RFC 5044 4.5: the two formulas, and that a segment holds what they say.
TEST(MpaFpdu, mulpdu_fits_the_segment) {
  EXPECT_EQ(mpa::mulpdu(1'460, false), 1'454U);
  EXPECT_EQ(mpa::mulpdu(1'460, true), 1'442U);
  EXPECT_EQ(mpa::mulpdu(1'447, false), 1'438U);
  EXPECT_EQ(mpa::mulpdu(0, true), 0U);
  EXPECT_EQ(mpa::mulpdu(6, false), 0U);
  for (std::size_t emss = 16; emss < 3'000; ++emss) {
    const Fpdu fpdu{zeros(mpa::mulpdu(emss, true))};
    for (const mpa::Position position : {0U, 4U, 256U, 508U}) ASSERT_LE(fpdu.size(with_markers, position), emss);
    ASSERT_LE(mpa::fpdu_bytes(mpa::mulpdu(emss, false)), emss);
  }
}

// RFC 5044 4.3: every 512 octets from the first FPDU on, at any octet within.
TEST(MpaMarker, runs_from_any_octet) {
  EXPECT_EQ(mpa::run_at(0), (mpa::Run{true, 4}));
  EXPECT_EQ(mpa::run_at(3), (mpa::Run{true, 1}));
  EXPECT_EQ(mpa::run_at(4), (mpa::Run{false, 508}));
  EXPECT_EQ(mpa::run_at(511), (mpa::Run{false, 1}));
  EXPECT_EQ(mpa::run_at(1'024), (mpa::Run{true, 4}));
  EXPECT_EQ(mpa::position_after(0, 0), 0U);
  EXPECT_EQ(mpa::position_after(0, 1), 5U);
  EXPECT_EQ(mpa::position_after(0, 508), 512U);
  EXPECT_EQ(mpa::position_after(0, 509), 517U);
  EXPECT_EQ(mpa::position_after(511, 1), 512U);
}

TEST(MpaMarker, reserved_bits_are_ignored) {
  EXPECT_EQ(mpa::Marker::parse(hex("FFFF 0017"))->fpduptr(), 0x14);
  EXPECT_EQ(test::written(*mpa::Marker::parse(hex("FFFF FFFF"))), hex("0000 FFFC"));
  EXPECT_EQ(mpa::Marker::parse(hex("0000 0014"))->to_string(), "MARKER fpduptr=20");
  expect_error<mpa::Marker>(hex("000000"), ParseCode::truncated, "fpduptr");
}

// A stream of FPDUs, cut at every octet, is the same without its markers.
TEST(MpaMarker, removed_from_a_stream_cut_anywhere) {
  Octets stream, bare;
  for (const std::size_t length : {1U, 600U, 0U, 37U, 499U, 512U}) {
    const Fpdu fpdu{Noise(length).bytes(length)};
    stream = join(stream, written(fpdu, markers_only, stream.size()));
    bare = join(bare, written(fpdu, plain, 0));
  }
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    Octets left(bare.size(), 0xA5);
    const Bytes whole = stream;
    const std::size_t first = mpa::remove_markers(0, whole.first(cut), left);
    ASSERT_EQ(first + mpa::remove_markers(cut, whole.subspan(cut), MutableBytes(left).subspan(first)), bare.size());
    ASSERT_EQ(left, bare) << cut;
  }
}

TEST(MpaMarker, removed_in_place) {
  Octets octets = figure_6;
  octets.resize(mpa::remove_markers(0x1EC, octets, octets));
  EXPECT_EQ(octets, join(hex("002A"), send_2, hex("84925898")));
}

// RFC 5044 8, RFC 6581 8.
TEST(MpaError, codes) {
  EXPECT_EQ(static_cast<int>(mpa::ErrorCode::connection_lost), 1);
  EXPECT_EQ(static_cast<int>(mpa::ErrorCode::no_matching_rtr), 7);
  for (std::uint8_t code = 1; code <= 7; ++code) EXPECT_NE(to_string(static_cast<mpa::ErrorCode>(code)), text::unknown);
  EXPECT_EQ(to_string(static_cast<mpa::ErrorCode>(8)), text::unknown);
}

}  // namespace
}  // namespace wire::test
