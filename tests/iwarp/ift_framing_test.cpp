// ULPDUs through IFT frames: the same octets as wire/ writes, and the same ULPDUs however the stream is cut.
#include "iwarp/ift_framing.hpp"
#include "tests/iwarp/scripted_stream.hpp"

namespace iwarp::testing {
namespace {
using wire::ift::CrcUse;

struct IftCase {
  CrcUse header_crc, payload_crc;
};

class IftFramingTest : public ::testing::TestWithParam<IftCase> {
 protected:
  [[nodiscard]] static wire::ift::Framing agreed() {
    return {.vtag = {0x1234}, .header_crc = GetParam().header_crc, .payload_crc = GetParam().payload_crc};
  }
  [[nodiscard]] static IftTerms terms() { return {agreed(), agreed(), 65'535}; }
  [[nodiscard]] static std::vector<std::uint8_t> stream_of(std::span<const Ulpdu> ulpdus) {
    std::vector<std::uint8_t> octets;
    for (const Ulpdu& ulpdu : ulpdus) {
      const wire::ift::Frame frame{*wire::ddp::Header::parse(ulpdu.header), ulpdu.payload};
      const std::size_t at = octets.size();
      octets.resize(at + frame.size(agreed()));
      frame.write(wire::MutableBytes(octets).subspan(at), agreed());
    }
    return octets;
  }
  [[nodiscard]] static std::vector<Ulpdu> ulpdus() {
    return {ulpdu_of(true, 200, 1), ulpdu_of(false, 0, 2), ulpdu_of(false, 3, 3), ulpdu_of(true, 0, 4),
            ulpdu_of(false, 50, 5)};
  }
  [[nodiscard]] static std::vector<Ulpdu> large_ulpdus() {
    return {ulpdu_of(true, 60'001, 1), ulpdu_of(false, 64'000, 2), ulpdu_of(true, 20'000, 4)};
  }

  std::unique_ptr<Workspace> workspace = std::make_unique<Workspace>();
  RecordingSink sink;
  ScriptedStream stream;
};

// The octets are those of IFT 5.1, with an RDMA header under the payload CRC (ruling I-7). RFC 5041 3.
TEST_P(IftFramingTest, add_any_ulpdus) {
  IftFraming framing(*workspace, sink, terms());
  std::vector<Ulpdu> all = ulpdus();
  for (const Ulpdu& ulpdu : large_ulpdus()) all.push_back(ulpdu);
  for (const Ulpdu& ulpdu : all) {
    // The first octets of a short payload stand with the header, as an RDMA header does.
    std::vector<std::uint8_t> header = ulpdu.header;
    const std::size_t with_header = ulpdu.payload.size() <= 50 ? ulpdu.payload.size() / 2 : 0;
    header.insert(header.end(), ulpdu.payload.begin(),
                  ulpdu.payload.begin() + static_cast<std::ptrdiff_t>(with_header));
    const wire::Bytes rest = wire::Bytes(ulpdu.payload).subspan(with_header);
    framing.add(header, std::span(&rest, 1));
    stream.room = 1000;
    framing.flush(stream);
    while (framing.is_blocked()) {
      stream.room = 5000;
      framing.write_kept(stream);
    }
  }
  EXPECT_EQ(stream.outgoing, stream_of(all));
  EXPECT_EQ(framing.counts().sent, all.size());
}

// The stream is cut at every octet. IFT 6, 4.2; RFC 5041 3.
TEST_P(IftFramingTest, read_cut_at_every_octet) {
  const std::vector<std::uint8_t> octets = stream_of(ulpdus());
  for (std::size_t cut = 0; cut <= octets.size(); ++cut) {
    RecordingSink recorded;
    ScriptedStream cut_stream;
    cut_stream.incoming = octets;
    IftFraming framing(*workspace, recorded, terms());
    for (const std::size_t limit : {cut, octets.size()}) {
      cut_stream.limit = limit;
      read_all(framing, cut_stream);
      ASSERT_TRUE(framing.is_consistent());
    }
    ASSERT_EQ(recorded.ulpdus, ulpdus()) << cut;
    ASSERT_TRUE(recorded.errors.empty());
    ASSERT_TRUE(framing.is_at_boundary());
  }
}

// Octet by octet; between frames, and nowhere else, it is at a boundary.
TEST_P(IftFramingTest, read_octet_by_octet) {
  stream.incoming = stream_of(ulpdus());
  IftFraming framing(*workspace, sink, terms());
  std::size_t boundaries = 0;
  for (stream.limit = 1; stream.limit <= stream.incoming.size(); ++stream.limit) {
    framing.read(stream);
    if (framing.is_at_boundary()) ++boundaries;
  }
  EXPECT_EQ(sink.ulpdus, ulpdus());
  EXPECT_EQ(boundaries, ulpdus().size());
}

// Large payload is read straight into its target, unless its CRC is checked.
TEST_P(IftFramingTest, read_large) {
  stream.incoming = stream_of(large_ulpdus());
  IftFraming framing(*workspace, sink, terms());
  for (stream.limit = 1000; stream.limit < stream.incoming.size() + 1000; stream.limit += 1000)
    read_all(framing, stream);
  EXPECT_EQ(sink.ulpdus, large_ulpdus());
  const std::size_t in_ten = sink.placed * 10 / (sink.placed + sink.copied);
  EXPECT_EQ(in_ten, GetParam().payload_crc == CrcUse::checked ? 0u : 8u);
}

// A wrong VTag, a header_size that is none, one that is not that of T: error 3 (rulings I-8, I-9). With the header CRC
// as it should be. IFT 4.2.
TEST_P(IftFramingTest, read_wrong_header) {
  const std::size_t covered = 6 + 14;
  for (const auto& [at, value] : {std::pair<std::size_t, std::uint8_t>{1, 15}, {1, 18}, {5, 0x35}, {6, 0x41}}) {
    RecordingSink recorded;
    ScriptedStream wrong;
    wrong.incoming = stream_of(ulpdus());
    wrong.incoming[at] = value;
    const std::size_t now_covered = value == 18 ? covered + 4 : covered;
    if (GetParam().header_crc != CrcUse::absent)
      wire::iwarp::store_crc(wrong.incoming.data() + now_covered,
                             wire::iwarp::crc32c(wire::Bytes(wrong.incoming).first(now_covered)));
    IftFraming framing(*workspace, recorded, terms());
    read_all(framing, wrong);
    EXPECT_TRUE(recorded.ulpdus.empty());
    EXPECT_EQ(recorded.errors, std::vector{wire::mpa::ErrorCode::marker_and_length_disagree}) << int{value};
  }
}

// A damaged octet of a header: error 2 or 3 where the header CRC is checked; of payload, where that one is.
// IFT 7, 5.1; RFC 5041 3.
TEST_P(IftFramingTest, read_damaged_octet) {
  const std::vector<std::uint8_t> octets = stream_of(ulpdus());
  const bool both = GetParam().header_crc == CrcUse::checked && GetParam().payload_crc == CrcUse::checked;
  std::size_t found = 0;
  for (std::size_t at = 0; at < octets.size(); ++at) {
    RecordingSink recorded;
    ScriptedStream damaged;
    damaged.incoming = octets;
    damaged.incoming[at] ^= 0x10;
    damaged.incoming.resize(octets.size() + 70'000);
    IftFraming framing(*workspace, recorded, terms());
    read_all(framing, damaged);
    ASSERT_EQ(recorded.errors.size(), 1u) << at << ": zeros are no frame";
    if (both) {
      ASSERT_LT(recorded.ulpdus.size(), ulpdus().size() + 1);
      const std::vector<Ulpdu> good = ulpdus();
      ASSERT_TRUE(std::equal(recorded.ulpdus.begin(), recorded.ulpdus.end(), good.begin())) << at;
    }
    found += recorded.ulpdus.size() < ulpdus().size() ? 1 : 0;
  }
  EXPECT_GE(found, both ? octets.size() : std::size_t{10});
}

INSTANTIATE_TEST_SUITE_P(
    Crcs, IftFramingTest,
    ::testing::Values(IftCase{CrcUse::checked, CrcUse::checked}, IftCase{CrcUse::absent, CrcUse::absent},
                      IftCase{CrcUse::checked, CrcUse::absent}, IftCase{CrcUse::checked, CrcUse::ignored},
                      IftCase{CrcUse::ignored, CrcUse::checked}, IftCase{CrcUse::absent, CrcUse::checked}));

}  // namespace
}  // namespace iwarp::testing
