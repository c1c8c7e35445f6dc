// ULPDUs through FPDUs: the same octets as wire/ writes, and the same ULPDUs however the stream is cut.
#include "iwarp/mpa_framing.hpp"
#include "tests/iwarp/scripted_stream.hpp"

namespace iwarp::testing {
namespace {
namespace mpa = wire::mpa;

struct Case {
  mpa::Framing framing;
  std::string name;
};

class MpaFramingTest : public ::testing::TestWithParam<Case> {
 protected:
  [[nodiscard]] MpaTerms terms(std::size_t emss = 0xFFFF) const {
    return {GetParam().framing, GetParam().framing, emss};
  }
  [[nodiscard]] std::vector<std::uint8_t> stream_of(std::span<const Ulpdu> ulpdus) const {
    std::vector<std::uint8_t> octets;
    for (const Ulpdu& ulpdu : ulpdus) {
      mpa::Fpdu fpdu{ulpdu.header};
      fpdu.ulpdu.insert(fpdu.ulpdu.end(), ulpdu.payload.begin(), ulpdu.payload.end());
      const std::size_t at = octets.size();
      octets.resize(at + fpdu.size(GetParam().framing, at));
      fpdu.write(wire::MutableBytes(octets).subspan(at), GetParam().framing, at);
    }
    return octets;
  }
  void add(Framing& framing, const Ulpdu& ulpdu) const {
    const wire::Bytes payload = ulpdu.payload;
    const std::size_t half = payload.size() / 2;
    const std::array<wire::Bytes, 2> pieces{payload.first(half), payload.subspan(half)};
    ASSERT_TRUE(framing.has_room());
    framing.add(ulpdu.header, pieces);
  }

  std::unique_ptr<Workspace> workspace = std::make_unique<Workspace>();
  RecordingSink sink;
  ScriptedStream stream;
};

class MpaFramingCrcTest : public MpaFramingTest {};
class MpaFramingMarkersTest : public MpaFramingTest {};

/// Every length of pad, and markers at every place of an FPDU.
std::vector<Ulpdu> some_ulpdus() {
  std::vector<Ulpdu> ulpdus;
  std::uint8_t seed = 1;
  for (const std::size_t payload : {0, 1, 2, 3, 4, 5, 300, 0, 481, 482, 483, 484, 485, 0, 490, 700, 28, 1200})
    ulpdus.push_back(ulpdu_of(seed % 3 == 0, payload, seed)), ++seed;
  return ulpdus;
}
std::vector<Ulpdu> few_ulpdus() {
  return {ulpdu_of(true, 470, 1), ulpdu_of(false, 3, 2), ulpdu_of(false, 0, 3), ulpdu_of(true, 530, 4)};
}
std::vector<Ulpdu> large_ulpdus() {
  return {ulpdu_of(true, 60'001, 1), ulpdu_of(false, 64'000, 2), ulpdu_of(true, 4096, 3), ulpdu_of(true, 20'000, 4)};
}

// The octets are those of RFC 5044 4, whatever the stream takes at once. RFC 5041 3; RFC 5044 3, 4.1, 4.3, 4.4.
TEST_P(MpaFramingTest, add_any_ulpdus) {
  MpaFraming framing(*workspace, sink, terms());
  std::vector<Ulpdu> ulpdus = some_ulpdus();
  for (const Ulpdu& ulpdu : large_ulpdus()) ulpdus.push_back(ulpdu);
  std::size_t drawn = 0;
  for (const Ulpdu& ulpdu : ulpdus) {
    add(framing, ulpdu);
    stream.room = drawn += 97;
    framing.flush(stream);
    EXPECT_TRUE(framing.is_consistent());
    while (framing.is_blocked()) {
      EXPECT_FALSE(framing.has_room());
      stream.room = 5000;
      framing.write_kept(stream);
    }
  }
  EXPECT_EQ(stream.outgoing, stream_of(ulpdus));
  EXPECT_EQ(framing.counts().sent, ulpdus.size());
}

// Many go out with one write.
TEST_P(MpaFramingTest, flush_many) {
  MpaFraming framing(*workspace, sink, terms());
  const std::vector<Ulpdu> ulpdus = few_ulpdus();
  for (const Ulpdu& ulpdu : ulpdus) add(framing, ulpdu);
  EXPECT_EQ(stream.writes, 0u);
  framing.flush(stream);
  EXPECT_EQ(stream.writes, 1u);
  EXPECT_EQ(stream.outgoing, stream_of(ulpdus));
}

// MULPDU: its FPDU fits the segment wherever it begins (RFC 5044 4.5). RFC 5044 3.
TEST_P(MpaFramingTest, mulpdu_fits) {
  for (const std::size_t emss : {140, 536, 1448, 1460, 8948, 65'483, 65'535}) {
    const MpaFraming framing(*workspace, sink, terms(emss));
    mpa::Fpdu fpdu;
    fpdu.ulpdu.resize(framing.mulpdu());
    for (mpa::Position at = 0; at < 1024; at += 4) ASSERT_LE(fpdu.size(GetParam().framing, at), emss) << emss;
    EXPECT_GE(framing.mulpdu() + 8 + 4 * (emss / 512 + 1) + 3, std::min<std::size_t>(emss, 64'768));
  }
}

// The stream is cut at every octet. RFC 5041 3; RFC 5044 3, 4.3, 5.1, 5.2, A.4; RFC 5044 6.
TEST_P(MpaFramingTest, read_cut_at_every_octet) {
  const std::vector<Ulpdu> ulpdus = few_ulpdus();
  const std::vector<std::uint8_t> octets = stream_of(ulpdus);
  for (std::size_t cut = 0; cut <= octets.size(); ++cut) {
    RecordingSink recorded;
    ScriptedStream cut_stream;
    cut_stream.incoming = octets;
    MpaFraming framing(*workspace, recorded, terms());
    for (const std::size_t limit : {cut, octets.size()}) {
      cut_stream.limit = limit;
      read_all(framing, cut_stream);
      ASSERT_TRUE(framing.is_consistent());
    }
    ASSERT_EQ(recorded.ulpdus, ulpdus) << cut;
    ASSERT_TRUE(recorded.errors.empty());
    ASSERT_TRUE(framing.is_at_boundary());
  }
}

// Large FPDUs of three streams, cut in turn, each in a place of the core's; one of them ends within one. RFC 5041 3;
// RFC 5044 5.2.
TEST_P(MpaFramingTest, read_large_cut_beside_another_stream) {
  const std::vector<Ulpdu> ulpdus = large_ulpdus();
  const std::vector<std::uint8_t> octets = stream_of(ulpdus);
  for (const std::size_t step : {997, 4096, 65'000, 70'000}) {
    std::array<RecordingSink, 2> sinks;
    std::array<ScriptedStream, 2> cut;
    RecordingSink of_leaver;
    ScriptedStream leaving;
    leaving.incoming = cut[0].incoming = cut[1].incoming = octets;
    leaving.limit = 5000;
    auto leaver = std::make_unique<MpaFraming>(*workspace, of_leaver, terms());
    std::array<MpaFraming, 2> framings{MpaFraming(*workspace, sinks[0], terms()),
                                       MpaFraming(*workspace, sinks[1], terms())};
    read_all(*leaver, leaving);
    for (std::size_t limit = 5000; limit < octets.size() + step; limit += step) {
      for (std::size_t i = 0; i < 2; ++i) {
        cut[i].limit = limit;
        read_all(framings[i], cut[i]);
        ASSERT_TRUE(framings[0].is_consistent() && framings[1].is_consistent());
      }
      leaver.reset();
    }
    EXPECT_EQ(sinks[0].ulpdus, ulpdus) << step;
    EXPECT_EQ(sinks[1].ulpdus, ulpdus) << step;
    EXPECT_TRUE(framings[0].is_at_boundary() && framings[1].is_at_boundary());
  }
}

// Each write begins a segment, and no FPDU that fits one lies in two; those that fill segments go out with one write.
// RFC 5044 5.1; ruling M-12.
TEST_P(MpaFramingTest, add_begins_segments) {
  constexpr std::size_t segment = 1000;
  MpaFraming framing(*workspace, sink, terms(segment));
  const std::size_t full = framing.mulpdu() - wire::ddp::tagged_header_bytes;
  std::vector<Ulpdu> ulpdus;
  for (const std::size_t payload : {full, full, full, full, full / 3, full / 3, full / 3, full / 2, full, full, full})
    ulpdus.push_back(ulpdu_of(true, payload, 1));
  for (const Ulpdu& ulpdu : ulpdus) add(framing, ulpdu);
  framing.flush(stream);
  EXPECT_EQ(stream.outgoing, stream_of(ulpdus));
  std::size_t begin = 0, in_write = 0, write = 0;
  for (const Ulpdu& ulpdu : ulpdus) {
    mpa::Fpdu fpdu{ulpdu.header};
    fpdu.ulpdu.insert(fpdu.ulpdu.end(), ulpdu.payload.begin(), ulpdu.payload.end());
    const std::size_t octets = fpdu.size(GetParam().framing, begin);
    ASSERT_LE(in_write % segment + octets, segment) << "FPDU at " << begin;
    begin += octets, in_write += octets;
    if (begin == stream.write_ends.at(write)) ++write, in_write = 0;
  }
  EXPECT_EQ(write, stream.writes) << "a write ends within an FPDU";
  if (!GetParam().framing.markers) {
    EXPECT_EQ(stream.writes, 3u);
  }
}

// Octet by octet. It is at a boundary between ULPDUs, and nowhere else. RFC 5044 6, 5.1.
TEST_P(MpaFramingTest, read_octet_by_octet) {
  const std::vector<Ulpdu> ulpdus = some_ulpdus();
  stream.incoming = stream_of(ulpdus);
  MpaFraming framing(*workspace, sink, terms());
  std::size_t boundaries = 0;
  for (stream.limit = 1; stream.limit <= stream.incoming.size(); ++stream.limit) {
    framing.read(stream);
    ASSERT_TRUE(framing.is_consistent());
    if (framing.is_at_boundary()) ++boundaries;
  }
  EXPECT_EQ(sink.ulpdus, ulpdus);
  EXPECT_EQ(framing.counts().received, ulpdus.size());
  EXPECT_GE(boundaries, ulpdus.size());
  EXPECT_LE(boundaries, ulpdus.size() + (GetParam().framing.markers ? 4 * (stream.incoming.size() / 512 + 1) : 0));
}

// Large payload: without the CRC it is read straight into its target, markers and all; with it, copied once.
// RFC 5044 4.3.
TEST_P(MpaFramingTest, read_large) {
  const std::vector<Ulpdu> ulpdus = large_ulpdus();
  stream.incoming = stream_of(ulpdus);
  MpaFraming framing(*workspace, sink, terms());
  for (stream.limit = 1000; stream.limit < stream.incoming.size() + 1000; stream.limit += 1000)
    read_all(framing, stream);
  EXPECT_EQ(sink.ulpdus, ulpdus);
  const std::size_t in_ten = sink.placed * 10 / (sink.placed + sink.copied);
  EXPECT_EQ(in_ten, GetParam().framing.crc ? 0u : 8u);
}

// Memory that cannot be had: the payload comes all the same.
TEST_P(MpaFramingTest, read_without_memory) {
  sink.has_memory = false;
  const std::vector<Ulpdu> ulpdus = large_ulpdus();
  stream.incoming = stream_of(ulpdus);
  MpaFraming framing(*workspace, sink, terms());
  read_all(framing, stream);
  EXPECT_EQ(sink.ulpdus, ulpdus);
  EXPECT_EQ(sink.placed, 0u);
}

// A damaged octet, anywhere: with the CRC error 2 or 3, and nothing of that FPDU and of those behind it is given. The
// end is still found. RFC 5041 3; RFC 5044 3, 4.4; RFC 5044 6; RFC 5044 8.
TEST_P(MpaFramingCrcTest, read_damaged_octet) {
  const std::vector<Ulpdu> ulpdus = few_ulpdus();
  const std::vector<std::uint8_t> octets = stream_of(ulpdus);
  for (std::size_t at = 0; at < octets.size(); ++at) {
    RecordingSink recorded;
    ScriptedStream damaged;
    damaged.incoming = octets;
    damaged.incoming[at] ^= 0x10;
    damaged.incoming.resize(octets.size() + 66'000);  // the length may be what was hit
    damaged.shut = true;
    MpaFraming framing(*workspace, recorded, terms());
    EXPECT_TRUE(read_all(framing, damaged).end);
    ASSERT_EQ(recorded.errors.size(), 1u) << at;
    ASSERT_LT(recorded.ulpdus.size(), ulpdus.size() + 1);
    ASSERT_TRUE(std::equal(recorded.ulpdus.begin(), recorded.ulpdus.end(), ulpdus.begin()));
    ASSERT_EQ(framing.counts().received, recorded.ulpdus.size());
  }
}

// An FPDUPTR that leads elsewhere: error 3 (RFC 5044 8). RFC 5044 6, 4.3.
TEST_P(MpaFramingMarkersTest, read_wrong_marker) {
  for (const std::size_t marker : {0, 512, 1024}) {
    RecordingSink recorded;
    ScriptedStream wrong;
    wrong.incoming = stream_of(few_ulpdus());
    wrong.incoming[marker + 3] ^= 0x04;
    // The CRC that the wrong marker has.
    const mpa::Framing framing_in{.markers = true, .crc = GetParam().framing.crc};
    for (std::size_t at = 0; at < wrong.incoming.size() && framing_in.crc;) {
      const std::size_t extent = *mpa::Fpdu::extent(wire::Bytes(wrong.incoming).subspan(at), framing_in, at);
      const wire::MutableBytes fpdu = wire::MutableBytes(wrong.incoming).subspan(at, extent);
      wire::iwarp::store_crc(fpdu.data() + extent - 4, wire::iwarp::crc32c(fpdu.first(extent - 4)));
      at += extent;
    }
    MpaFraming framing(*workspace, recorded, terms());
    read_all(framing, wrong);
    ASSERT_EQ(recorded.errors, std::vector{mpa::ErrorCode::marker_and_length_disagree}) << marker;
    ASSERT_LT(recorded.ulpdus.size(), few_ulpdus().size());
  }
}

// A ULPDU that is shorter than its DDP header: error 3. RFC 5041 4.4.
TEST_P(MpaFramingTest, read_short_ulpdu) {
  for (std::size_t length = 0; length < wire::ddp::untagged_header_bytes; ++length)
    for (const bool tagged : {false, true}) {
      if (tagged && length >= wire::ddp::tagged_header_bytes) continue;
      RecordingSink recorded;
      ScriptedStream brief;
      std::vector<std::uint8_t> header = ulpdu_of(tagged, 0, 1).header;
      header.resize(length);
      brief.incoming = stream_of(std::vector<Ulpdu>{{header, {}}, ulpdu_of(tagged, 100, 2)});
      MpaFraming framing(*workspace, recorded, terms());
      read_all(framing, brief);
      ASSERT_TRUE(recorded.ulpdus.empty()) << length;
      ASSERT_EQ(recorded.errors, std::vector{mpa::ErrorCode::marker_and_length_disagree}) << length;
    }
}

const Case bare{{.markers = false, .crc = false}, "bare"}, crc{{.markers = false, .crc = true}, "crc"},
    markers{{.markers = true, .crc = false}, "markers"}, both{{.markers = true, .crc = true}, "markers_and_crc"};
std::string name_of(const ::testing::TestParamInfo<Case>& parameter) { return parameter.param.name; }
INSTANTIATE_TEST_SUITE_P(Framings, MpaFramingTest, ::testing::Values(bare, crc, markers, both), name_of);
INSTANTIATE_TEST_SUITE_P(Framings, MpaFramingCrcTest, ::testing::Values(crc, both), name_of);
INSTANTIATE_TEST_SUITE_P(Framings, MpaFramingMarkersTest, ::testing::Values(markers, both), name_of);

}  // namespace
}  // namespace iwarp::testing
