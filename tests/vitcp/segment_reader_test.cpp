// How the stream of a connection is read: few calls, and large payload straight to its place.
#include <gtest/gtest.h>

#include <limits>

#include "vitcp/segment_reader.hpp"
#include "wire/vitcp/crc.hpp"

namespace vitcp::testing {
namespace {
using wire::vitcp::SegmentHeader;
using wire::vitcp::SegmentType;

/// Octets that are all there, and how often somebody read.
class ScriptedStream final : public streams::Stream {
 public:
  std::vector<std::uint8_t> octets;
  std::size_t reads = 0;
  bool crc = false;
  std::size_t cut = 0;  // octets that are there; more once these were read. 0: all
  std::size_t most = std::numeric_limits<std::size_t>::max();  // that one call gives

  void add(std::size_t payload_octets) {
    const std::size_t at = octets.size(), around = SegmentHeader::size() + (crc ? wire::vitcp::trailer_bytes : 0);
    const SegmentHeader header{.type = SegmentType::send,
                               .segment_length = static_cast<std::uint16_t>(around + payload_octets)};
    octets.resize(at + header.segment_length, static_cast<std::uint8_t>(payload_octets));
    header.write(wire::MutableBytes(octets).subspan(at));
    if (!crc) return;
    const wire::Bytes covered = wire::Bytes(octets).subspan(at, SegmentHeader::size() + payload_octets);
    wire::vitcp::store_crc(octets.data() + octets.size() - wire::vitcp::trailer_bytes, wire::vitcp::crc(covered));
  }
  [[nodiscard]] bool is_read() const { return read_ == octets.size(); }
  [[nodiscard]] std::size_t position() const { return read_; }
  void rewind() { read_ = reads = 0; }

  void set_user(streams::StreamUser&) override {}
  [[nodiscard]] streams::Address local() const override { return {}; }
  [[nodiscard]] streams::Address remote() const override { return {}; }
  std::size_t write(std::span<const wire::Bytes>) override { return 0; }
  streams::ReadResult read(std::span<const wire::MutableBytes> pieces) override {
    ++reads;
    streams::ReadResult result;
    const std::size_t there = (read_ < cut ? cut : octets.size()) - read_, given = std::min(there, most);
    for (const wire::MutableBytes piece : pieces) {
      const std::size_t here = std::min(piece.size(), given - result.octets);
      std::copy_n(octets.begin() + static_cast<std::ptrdiff_t>(read_), here, piece.begin());
      read_ += here;
      result.octets += here;
    }
    return result;
  }
  void ask_readable() override {}
  void ask_writable() override {}
  bool mark_urgent() override { return false; }
  void shut_down() override {}
  void reset() override {}

 private:
  std::size_t read_ = 0;
};

class NoStreams final : public streams::Streams {
 public:
  std::unique_ptr<streams::Stream> connect(const streams::Address&, const streams::Address&,
                                           streams::StreamUser&) override {
    return nullptr;
  }
  boost::system::result<std::unique_ptr<streams::Listener>, streams::Reason> listen(const streams::Address&,
                                                                                    streams::ListenerUser&) override {
    return streams::Reason::failed;
  }
};

/// Has a place for all payload, and counts what was put there and what has to be copied.
class CountingSink final : public SegmentSink {
 public:
  std::size_t segments = 0, placed = 0, copied = 0;
  std::vector<std::uint8_t> payload;

  [[nodiscard]] bool has_to_wait(const SegmentHeader&) const override { return false; }
  void segment_begun(const SegmentHeader&, const wire::vitcp::RdmaHeader&, std::size_t) override {}
  std::size_t payload_room(std::size_t octets, std::span<wire::MutableBytes> pieces) override {
    place_.resize(octets);
    pieces.front() = place_;
    return 1;
  }
  void payload_placed(std::size_t octets) override {
    placed += octets;
    payload.insert(payload.end(), place_.begin(), place_.begin() + static_cast<std::ptrdiff_t>(octets));
  }
  void payload_received(wire::Bytes octets) override {
    copied += octets.size();
    payload.insert(payload.end(), octets.begin(), octets.end());
  }
  void segment_ended() override { ++segments; }
  void segment_damaged(const SegmentHeader&) override { ADD_FAILURE(); }
  void refused(const wire::ParseError& error) override { ADD_FAILURE() << error.field; }

 private:
  std::vector<std::uint8_t> place_;
};

class SegmentReaderTest : public ::testing::Test, private ChannelListener {
 protected:
  explicit SegmentReaderTest(bool crc = false) : channel_{services_, *this, nullptr, {.crc = crc}} { stream.crc = crc; }
  void read_all() {
    while (reader.read(stream).more) {}
    EXPECT_TRUE(stream.is_read());
    EXPECT_TRUE(reader.is_at_boundary());
  }
  void wants_to_send() override {}
  void failed(Failure) override { ADD_FAILURE(); }

  NoStreams streams_;
  runtime::Scheduler scheduler_;
  ProviderConfig config_;
  ProviderCounters counters_;
  std::unique_ptr<Workspace> workspace_ = std::make_unique<Workspace>();
  NumberSource numbers_{1};
  Services services_{streams_, scheduler_, config_, counters_, *workspace_, numbers_};
  Channel channel_;
  CountingSink sink;
  ScriptedStream stream;
  SegmentReader reader{channel_, sink};
};

// Issue 18: many small messages in flight take one system call.
TEST_F(SegmentReaderTest, short_segments_are_read_with_one_call) {
  for (int i = 0; i < 1000; ++i) stream.add(8);
  read_all();
  EXPECT_EQ(sink.segments, 1000U);
  EXPECT_EQ(stream.reads, 1U);
}

// One call for each, which brings the next one's header, too; but for the first, nothing is known of.
TEST_F(SegmentReaderTest, large_payload_goes_straight_to_its_place) {
  constexpr std::size_t large = 65'000, count = 20;
  for (std::size_t i = 0; i < count; ++i) stream.add(large);
  read_all();
  EXPECT_EQ(sink.segments, count);
  EXPECT_LE(stream.reads, count + 2);
  EXPECT_LE(sink.copied, large + count * 512);
  EXPECT_EQ(sink.placed + sink.copied, count * large);
  EXPECT_EQ(sink.payload, std::vector<std::uint8_t>(count * large, static_cast<std::uint8_t>(large)));
}

// A message of 64 KiB: its second segment is short, and comes with the same call.
TEST_F(SegmentReaderTest, short_rest_of_a_large_message_costs_no_call) {
  constexpr std::size_t large = 65'511, rest = 25, count = 20;
  for (std::size_t i = 0; i < count; ++i) stream.add(large), stream.add(rest);
  read_all();
  EXPECT_EQ(sink.segments, 2 * count);
  EXPECT_LE(stream.reads, count + 2);
  EXPECT_LE(sink.copied, large + count * 1024);
}

// Behind a large message, small ones are soon read together again.
TEST_F(SegmentReaderTest, short_segments_behind_large_ones_are_read_together) {
  for (int i = 0; i < 3; ++i) stream.add(60'000);
  for (int i = 0; i < 1000; ++i) stream.add(8);
  read_all();
  EXPECT_EQ(sink.segments, 1003U);
  EXPECT_LE(stream.reads, 7U);
}

class SegmentReaderCrcTest : public SegmentReaderTest {
 protected:
  SegmentReaderCrcTest() : SegmentReaderTest(true) {}
};

// Behind large segments a read is limited to what is left and a little more: whatever of it comes with each call, the
// same segments come of it. Cut behind each octet; and so many octets with each call.
class SegmentReaderCutTest : public SegmentReaderTest, public ::testing::WithParamInterface<bool> {
 protected:
  SegmentReaderCutTest() : SegmentReaderTest(GetParam()) {
    for (const std::size_t payload : {4'200U, 4'096U, 8U, 600U, 4'095U, 4'300U, 0U, 1U, 2U, 3U, 4U, 5U})
      stream.add(payload);
    read_all();
    whole_ = sink.payload;
  }
  void read_anew() {
    stream.rewind();
    sink.segments = sink.placed = sink.copied = 0;
    sink.payload.clear();
    SegmentReader anew(channel_, sink);
    for (std::size_t before = 1; before != stream.position();) {
      before = stream.position();
      while (anew.read(stream).more) {}
      ASSERT_TRUE(anew.is_consistent());
    }
    ASSERT_TRUE(stream.is_read() && anew.is_at_boundary());
    ASSERT_EQ(sink.segments, 12U);
    ASSERT_EQ(sink.placed + sink.copied, whole_.size());
    ASSERT_TRUE(sink.payload == whole_);
  }
  std::vector<std::uint8_t> whole_;
};
INSTANTIATE_TEST_SUITE_P(Crc, SegmentReaderCutTest, ::testing::Bool(),
                         [](const auto& crc) { return crc.param ? "With" : "Without"; });

TEST_P(SegmentReaderCutTest, cut_behind_each_octet) {
  for (stream.cut = 1; stream.cut != stream.octets.size(); ++stream.cut) {
    SCOPED_TRACE(stream.cut);
    read_anew();
    if (HasFatalFailure()) return;
  }
}

TEST_P(SegmentReaderCutTest, some_octets_with_each_call) {
  for (const std::size_t most : {1U, 2U, 3U, 23U, 24U, 25U, 27U, 28U, 500U, 511U, 512U, 513U, 4'095U, 4'096U, 4'124U}) {
    SCOPED_TRACE(most);
    stream.most = most;
    read_anew();
    if (HasFatalFailure()) return;
  }
}

TEST_F(SegmentReaderCrcTest, short_segments_are_read_with_one_call) {
  for (int i = 0; i < 1000; ++i) stream.add(8);
  read_all();
  EXPECT_EQ(sink.segments, 1000U);
  EXPECT_EQ(stream.reads, 1U);
}

// VI-TCP 3.6: a segment is collected. What is read with it of the next one has to be moved, and is little.
TEST_F(SegmentReaderCrcTest, large_segments_are_read_each_with_one_call) {
  constexpr std::size_t large = 65'000, count = 20, length = SegmentHeader::size() + large + wire::vitcp::trailer_bytes;
  for (std::size_t i = 0; i < count; ++i) stream.add(large);
  while (reader.read(stream).more) EXPECT_LE(stream.position(), std::max<std::size_t>(2, sink.segments) * length + 512);
  EXPECT_TRUE(stream.is_read());
  EXPECT_EQ(sink.segments, count);
  EXPECT_LE(stream.reads, count + 2);
  EXPECT_EQ(sink.payload, std::vector<std::uint8_t>(count * large, static_cast<std::uint8_t>(large)));
}

// A message of 64 KiB: its second segment is short, and comes with the same call.
TEST_F(SegmentReaderCrcTest, short_rest_of_a_large_message_costs_no_call) {
  constexpr std::size_t large = 65'507, rest = 29, count = 20;
  for (std::size_t i = 0; i < count; ++i) stream.add(large), stream.add(rest);
  read_all();
  EXPECT_EQ(sink.segments, 2 * count);
  EXPECT_LE(stream.reads, count + 2);
}

// Behind a large message, small ones are soon read together again.
TEST_F(SegmentReaderCrcTest, short_segments_behind_large_ones_are_read_together) {
  for (int i = 0; i < 3; ++i) stream.add(60'000);
  for (int i = 0; i < 1000; ++i) stream.add(8);
  read_all();
  EXPECT_EQ(sink.segments, 1003U);
  EXPECT_LE(stream.reads, 7U);
}

}  // namespace
}  // namespace vitcp::testing
