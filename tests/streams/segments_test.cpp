// TCP segments that overtake each other, are lost and come twice: the stream is in order all the same, and who looks
// at what came early sees it.
#include <random>

#include "streams/segment_order.hpp"
#include "tests/streams/worlds.hpp"

namespace streams::test {
namespace {

// Random segments against a set of octet numbers: what can be read is what came without a gap. RFC 9293 3.10.7.4.
TEST(SegmentOrderTest, random_segments) {
  for (unsigned seed = 1; seed <= 15; ++seed) {
    std::mt19937 random(seed);
    const auto draw = [&random](std::uint64_t below) { return random() % below; };
    SegmentOrder order;
    constexpr std::uint64_t size = 300;
    enum : std::uint8_t { missing, there, gone };
    std::vector<std::uint8_t> octets(size + 1, missing);
    const auto front = [&octets] {
      std::uint64_t at = 0;
      while (octets[at] == there) ++at;
      return at;
    };
    std::vector<std::pair<std::uint64_t, std::uint64_t>> let_go;
    for (int i = 0; i < 120; ++i) {
      const std::uint64_t at = draw(size), end = std::min(size, at + 1 + draw(40));
      EXPECT_EQ(order.arrive(at, end), end > front());
      for (std::uint64_t here = at; here < end; ++here)
        if (octets[here] != gone) octets[here] = there;
      const std::uint64_t run = draw(size), behind = order.end_of_run(run);
      if (run > front() && behind > run && draw(3) == 0) {
        order.let_go(run, behind);
        std::fill(octets.begin() + static_cast<std::ptrdiff_t>(run),
                  octets.begin() + static_cast<std::ptrdiff_t>(behind), gone);
        let_go.emplace_back(run, behind);
      }
      for (auto one = let_go.begin(); one != let_go.end();) {
        const auto [first, last] = *one;
        const bool due = first == front();
        if (!due && draw(30) != 0) {
          ++one;
          continue;
        }
        const bool right = due && draw(2) == 0;
        right ? order.pass_over(first, last) : order.call_back(first, last);
        std::fill(octets.begin() + static_cast<std::ptrdiff_t>(first),
                  octets.begin() + static_cast<std::ptrdiff_t>(last), right ? there : missing);
        one = let_go.erase(one);
      }
      ASSERT_EQ(order.front(), front()) << seed;
      for (std::uint64_t here = front(); here < size; ++here)
        ASSERT_EQ(order.end_of_run(here) > here, octets[here] == there) << seed << ' ' << here;
    }
  }
}

/// Both ways with these trips.
class SegmentsTest : public ::testing::Test {
 protected:
  void meet(const Trips& trips, std::size_t most = 1460) {
    meeting_ = std::make_unique<Meeting<EmulatedWorld>>();
    meeting_->world.network.set_rules([trips, most](const Address&, const Address&) {
      StreamRules rules;
      for (Way* const way : {&rules.to_acceptor, &rules.to_connector}) {
        way->trips = trips;
        way->segmentation = drawn_segments(5, most);
        way->send_buffer_bytes = 9000;
        way->receive_buffer_bytes = 7000;
      }
      return rules;
    });
    meeting_->meet();
  }
  void write_all(Hearer& writer, const std::vector<std::uint8_t>& octets) {
    auto written = std::make_shared<std::size_t>(0);
    writer.on_writable = [&writer, octets, written] {
      *written += writer.stream->write(wire::Bytes(octets).subspan(*written));
      *written < octets.size() ? writer.stream->ask_writable() : writer.stream->shut_down();
    };
    writer.on_writable();
  }
  std::unique_ptr<Meeting<EmulatedWorld>> meeting_;
};

// A quarter is lost, a quarter comes twice, all in any order: octets and the end come in order, both ways at once.
TEST_F(SegmentsTest, octets_come_in_order) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    meet(drawn_trips(seed, 25, 25, 3 * runtime::millisecond));
    const auto there = pattern(60'000, 1), back = pattern(40'000, 2);
    write_all(meeting_->client, there);
    write_all(meeting_->server, back);
    EXPECT_EQ(meeting_->read(meeting_->server, there.size()), there);
    EXPECT_EQ(meeting_->read(meeting_->client, back.size()), back);
    EXPECT_TRUE(meeting_->reads_end(meeting_->server));
    EXPECT_TRUE(meeting_->reads_end(meeting_->client));
    meeting_->client.stream.reset();
    meeting_->server.stream.reset();
    meeting_->world.settle();
    EXPECT_EQ(meeting_->world.network.stream_count(), 0u);
  }
}

/// The first segment is late, the others are not.
Trips first_late(runtime::TimeNs late) {
  return [late](std::uint64_t at, std::size_t) { return std::vector<runtime::TimeNs>{at == 0 ? late : 0}; };
}

// A segment that came early is told, can be looked at, and is still read in its turn.
TEST_F(SegmentsTest, early_octets_are_shown) {
  meet(first_late(runtime::millisecond));
  EarlyOctets* const early = meeting_->server.stream->early_octets();
  ASSERT_NE(early, nullptr);
  const auto octets = pattern(3000);
  meeting_->client.stream->write(wire::Bytes(octets).first(1000));
  meeting_->client.stream->write(wire::Bytes(octets).subspan(1000));
  meeting_->server.stream->ask_readable();
  ASSERT_TRUE(meeting_->world.run_until([&] { return meeting_->server.reads > 0; }));
  std::vector<std::uint8_t> room(octets.size());
  EXPECT_EQ(meeting_->server.stream->read(wire::MutableBytes(room)).octets, 0u);
  const auto at = early->next_segment();
  ASSERT_TRUE(at.has_value());
  EXPECT_GT(*at, 0u);
  const std::size_t there = early->peek(*at, room);
  ASSERT_GT(there, 0u);
  EXPECT_TRUE(std::equal(room.begin(), room.begin() + static_cast<std::ptrdiff_t>(there),
                         octets.begin() + static_cast<std::ptrdiff_t>(*at)));
  EXPECT_EQ(early->peek(0, room), 0u);
  EXPECT_EQ(meeting_->read(meeting_->server, octets.size()), octets);
}

// What was let go is not read and not acknowledged: passed over it counts as read, called back it comes again.
// IFT 8.
TEST_F(SegmentsTest, let_go_then_passed_over_or_called_back) {
  for (const bool right : {true, false}) {
    meet(first_late(runtime::millisecond), 1);
    Meeting<EmulatedWorld>& meeting = *meeting_;
    EarlyOctets* const early = meeting.server.stream->early_octets();
    const auto octets = pattern(10);
    meeting.client.stream->write(wire::Bytes(octets));
    meeting.world.scheduler.run_until(meeting.world.scheduler.now() + 500 * runtime::microsecond);
    std::vector<std::uint8_t> room(10);
    ASSERT_EQ(early->peek(4, room), 6u);
    early->let_go(4, 3);
    EXPECT_EQ(early->peek(4, room), 0u);
    meeting.world.scheduler.run_until(meeting.world.scheduler.now() + 200 * runtime::millisecond);
    EXPECT_EQ(meeting.server.stream->read(wire::MutableBytes(room)).octets, 4u);
    EXPECT_EQ(early->position(), 4u);
    std::vector<std::uint8_t> expected(octets.begin() + 4, octets.end());
    if (right) {
      early->pass_over(3);
      expected.erase(expected.begin(), expected.begin() + 3);
    } else {
      early->call_back(4, 3);
      EXPECT_EQ(meeting.server.stream->read(wire::MutableBytes(room)).octets, 0u) << "it has to be sent again";
    }
    EXPECT_EQ(meeting.read(meeting.server, expected.size()), expected);
    meeting.client.stream.reset();
    meeting.server.stream.reset();
    meeting.world.settle();
    EXPECT_EQ(meeting.world.network.stream_count(), 0u);
  }
}

// Where segments come in order nothing is early: who asks is told so.
TEST_F(SegmentsTest, nothing_early_without_trips) {
  meet(nullptr);
  EXPECT_EQ(meeting_->server.stream->early_octets(), nullptr);
}

}  // namespace
}  // namespace streams::test
