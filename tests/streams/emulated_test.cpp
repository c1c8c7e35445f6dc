// What only emulated streams have: segments, time, buffers, cuts, refusals, marks, and what a tap sees.
#include "worlds.hpp"

namespace streams::test {
namespace {

using runtime::microsecond;
using runtime::millisecond;
using Octets = std::vector<std::uint8_t>;

class Emulated : public ::testing::Test, public Meeting<EmulatedWorld>, public SegmentTap {
 public:
  struct Seen {
    SegmentSeen::Kind kind;
    runtime::TimeNs at;
    Address from;
    Octets octets;
    bool urgent;
    std::uint64_t urgent_at;
  };
  StreamRules rules;
  std::vector<Seen> seen;
  Emulated() {
    world.network.set_rules([this](const Address&, const Address&) { return rules; });
    world.network.set_tap(this);
  }
  ~Emulated() override { world.network.set_tap(nullptr); }  // the streams' ends are sent later than this lives
  void segment_sent(runtime::TimeNs now, const SegmentSeen& segment) override {
    Octets octets(segment.first.begin(), segment.first.end());
    octets.insert(octets.end(), segment.rest.begin(), segment.rest.end());
    seen.push_back({segment.kind, now, segment.from, std::move(octets), segment.urgent, segment.urgent_at});
  }
  void write(const Octets& octets) { ASSERT_EQ(client.stream->write(wire::Bytes(octets)), octets.size()); }
  std::vector<std::size_t> data_sizes() const {
    std::vector<std::size_t> sizes;
    for (const Seen& each : seen)
      if (each.kind == SegmentSeen::Kind::data) sizes.push_back(each.octets.size());
    return sizes;
  }
};

TEST_F(Emulated, segmentation_givenRule_segmentsAreCutThere) {
  rules.to_acceptor.segmentation = [](std::uint64_t at, std::size_t) { return at < 3 ? 3 - at : 5; };
  meet();
  write(pattern(10));
  EXPECT_EQ(read(server, 10), pattern(10));
  EXPECT_EQ(data_sizes(), (std::vector<std::size_t>{3, 5, 2}));
}

TEST_F(Emulated, segmentation_octetByOctet_isTheSame) {
  rules.to_acceptor.segmentation = [](std::uint64_t, std::size_t) { return 1; };
  meet();
  write(pattern(300));
  EXPECT_EQ(read(server, 300), pattern(300));
  EXPECT_EQ(data_sizes().size(), 300U);
}

TEST_F(Emulated, segmentation_sameSeed_sameSegments) {
  const auto sizes = [](std::uint64_t seed) {
    std::vector<std::size_t> drawn;
    const Segmentation rule = drawn_segments(seed, 100);
    for (int i = 0; i < 50; ++i) drawn.push_back(rule(0, 1000));
    return drawn;
  };
  EXPECT_EQ(sizes(1), sizes(1));
  EXPECT_NE(sizes(1), sizes(2));
  for (const std::size_t size : sizes(3)) EXPECT_TRUE(size >= 1 && size <= 100);
  EXPECT_EQ(drawn_segments(1, 100)(0, 1), 1U);
}

TEST_F(Emulated, delayAndBandwidth_areThoseOfTheWay) {
  rules.to_acceptor.delay = 3 * millisecond;
  rules.to_connector.delay = 4 * millisecond;
  rules.to_acceptor.octets_per_second = 1'000'000;
  listen();
  const runtime::TimeNs begin = world.scheduler.now();
  connect();
  EXPECT_EQ(world.scheduler.now() - begin, 7 * millisecond);
  const runtime::TimeNs sent = world.scheduler.now();
  write(pattern(2000));
  EXPECT_EQ(read(server, 2000).size(), 2000U);
  EXPECT_EQ(world.scheduler.now() - sent, 2 * millisecond + 3 * millisecond);  // 2,000 octets at 1 MB/s, and the delay
}

TEST_F(Emulated, buffers_areAsLargeAsSaid) {
  rules.to_acceptor.send_buffer_bytes = 100;
  rules.to_acceptor.receive_buffer_bytes = 40;
  meet();
  const Octets sent = pattern(1000);
  EXPECT_EQ(client.stream->write(wire::Bytes(sent)), 100U);
  world.settle();
  EXPECT_EQ(client.stream->write(wire::Bytes(sent).subspan(100)), 40U);  // what the receiver's buffer took
  world.settle();
  EXPECT_EQ(client.stream->write(wire::Bytes(sent).subspan(140)), 0U);
  EXPECT_EQ(read(server, 140), Octets(sent.begin(), sent.begin() + 140));
}

TEST_F(Emulated, smallestBuffers_nothingIsLost) {
  rules.to_acceptor.send_buffer_bytes = rules.to_acceptor.receive_buffer_bytes = 1;
  meet();
  const Octets sent = pattern(50);
  std::size_t written = 0;
  client.on_writable = [&] {
    written += client.stream->write(wire::Bytes(sent).subspan(written));
    if (written < sent.size()) client.stream->ask_writable();
  };
  client.stream->ask_writable();
  EXPECT_EQ(read(server, 50), sent);
}

TEST_F(Emulated, cutWithReset_atEveryOctet_bothEndsHear) {
  for (std::uint64_t after = 0; after <= 20; ++after) {
    Meeting<EmulatedWorld> meeting;
    StreamRules cut;
    cut.to_acceptor.cut = Cut::reset;
    cut.to_acceptor.cut_after = after;
    meeting.world.network.set_rules([&](const Address&, const Address&) { return cut; });
    meeting.meet();
    meeting.client.stream->write(wire::Bytes(pattern(20)));
    const Octets sent = pattern(20);
    EXPECT_EQ(meeting.read(meeting.server, 20),
              Octets(sent.begin(), sent.begin() + static_cast<std::ptrdiff_t>(after)));
    meeting.world.settle();
    EXPECT_EQ(meeting.server.ends, std::vector{Reason::reset}) << after;
    EXPECT_EQ(meeting.client.ends, std::vector{Reason::reset}) << after;
  }
}

TEST_F(Emulated, cutAsAnEnd_atEveryOctet_receiverReadsTheEnd) {
  for (std::uint64_t after = 0; after <= 20; ++after) {
    Meeting<EmulatedWorld> meeting;
    StreamRules cut;
    cut.to_acceptor.cut = Cut::end;
    cut.to_acceptor.cut_after = after;
    meeting.world.network.set_rules([&](const Address&, const Address&) { return cut; });
    meeting.meet();
    meeting.client.stream->write(wire::Bytes(pattern(20)));
    EXPECT_EQ(meeting.read(meeting.server, 20).size(), after);
    EXPECT_TRUE(meeting.reads_end(meeting.server)) << after;
    EXPECT_TRUE(meeting.server.ends.empty() && meeting.client.ends.empty());
  }
}

TEST_F(Emulated, cutInSilence_nobodyIsToldAndTheSenderFills) {
  rules.to_acceptor.cut = Cut::silence;
  rules.to_acceptor.cut_after = 7;
  rules.to_acceptor.send_buffer_bytes = 100;
  meet();
  client.stream->write(wire::Bytes(pattern(1000)));
  EXPECT_EQ(read(server, 7).size(), 7U);
  server.stream->ask_readable();
  while (client.stream->write(wire::Bytes(pattern(1000))) != 0) world.settle();
  client.stream->ask_writable();
  const int heard = client.notices() + server.notices();
  world.settle();
  EXPECT_EQ(client.notices() + server.notices(), heard);
}

TEST_F(Emulated, reception_eachKind) {
  listen();
  for (const auto& [reception, told] : {std::pair{Reception::refuse, std::vector{Reason::refused}},
                                        std::pair{Reception::unreachable, std::vector{Reason::unreachable}},
                                        std::pair{Reception::silence, std::vector<Reason>{}}}) {
    rules.reception = reception;
    Hearer hearer;
    hearer.stream = world.client.connect(listener->address(), {}, hearer);
    world.settle();
    EXPECT_EQ(hearer.ends, told) << to_string(reception);
    EXPECT_EQ(hearer.connects, 0);
  }
  EXPECT_TRUE(door.streams.empty());
}

TEST_F(Emulated, noSuchHost_unreachable) {
  client.stream = world.client.connect({ip("10.9.9.9"), 1}, {}, client);
  world.settle();
  EXPECT_EQ(client.ends, std::vector{Reason::unreachable});
}

TEST_F(Emulated, hostWithBothFamilies_connectsFromTheSameFamily) {
  listener = std::move(*world.server.listen({ip("fd00::2"), 80}, door));
  client.stream = world.client.connect({ip("fd00::2"), 80}, {}, client);
  world.settle();
  EXPECT_EQ(client.stream->local().ip, ip("fd00::1"));
  EXPECT_EQ(client.connects, 1);
}

TEST_F(Emulated, urgentMark_pointsToTheNextOctet) {
  meet();
  write(pattern(5));
  EXPECT_TRUE(client.stream->mark_urgent());
  write(pattern(3));
  EXPECT_EQ(read(server, 8).size(), 8U);  // in line
  ASSERT_EQ(seen.size(), 4U);
  EXPECT_FALSE(seen[2].urgent);
  EXPECT_TRUE(seen[3].urgent);
  EXPECT_EQ(seen[3].urgent_at, 5U);
}

TEST_F(Emulated, tap_seesEverySegmentOfALife) {
  meet();
  write(pattern(2000));
  read(server, 2000);
  client.stream->shut_down();
  EXPECT_TRUE(reads_end(server));
  server.stream->reset();
  std::vector<SegmentSeen::Kind> kinds;
  for (const Seen& each : seen) kinds.push_back(each.kind);
  using Kind = SegmentSeen::Kind;
  EXPECT_EQ(kinds, (std::vector{Kind::syn, Kind::syn_ack, Kind::data, Kind::data, Kind::fin, Kind::rst}));
  EXPECT_EQ(seen[0].from, client.stream->local());
  EXPECT_EQ(seen[1].from, server.stream->local());
  EXPECT_EQ(seen[2].octets.size(), 1460U);
}

TEST_F(Emulated, destroyedAtBothEnds_nothingIsLeft) {
  meet();
  write(pattern(100));
  client.stream.reset();
  world.settle();
  EXPECT_EQ(world.network.stream_count(), 1U);
  read(server, 100);
  server.stream.reset();
  world.settle();
  EXPECT_EQ(world.network.stream_count(), 0U);
}

TEST_F(Emulated, destroyedWhileConnecting_acceptorSeesAReset) {
  listen();
  client.stream = world.client.connect(listener->address(), {}, client);
  ASSERT_TRUE(world.run_until([&] { return door.streams.size() == 1; }));
  server.stream = std::move(door.streams.front());
  server.stream->set_user(server);
  client.stream.reset();
  world.settle();
  EXPECT_EQ(server.ends, std::vector{Reason::reset});
}

TEST(Address, text) {
  EXPECT_EQ(to_string(Address{client_ip, 80}), "10.0.0.1:80");
  EXPECT_EQ(to_string(Address{ip("fd00::1"), 80}), "[fd00::1]:80");
}

}  // namespace
}  // namespace streams::test
