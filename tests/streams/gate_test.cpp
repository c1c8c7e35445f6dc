// A gate between who writes and the network: what it holds back waits, what it changes arrives changed, and where it
// ends a direction, the direction ends.
#include "worlds.hpp"

namespace streams::test {
namespace {

using runtime::millisecond;
using Octets = std::vector<std::uint8_t>;

Octets part(const Octets& whole, std::ptrdiff_t from, std::ptrdiff_t count) {
  return {whole.begin() + from, whole.begin() + from + count};
}

/// Does what it was told.
class ToldGate final : public Gate {
 public:
  std::function<Passage(runtime::TimeNs now, std::uint64_t at, std::size_t waiting)> judge;
  std::function<void(wire::MutableBytes)> change;
  Passage pass(runtime::TimeNs now, std::uint64_t at, wire::MutableBytes first, wire::MutableBytes rest) override {
    if (change) change(first), change(rest);
    return judge(now, at, first.size() + rest.size());
  }
};

class Gates : public ::testing::Test, public Meeting<EmulatedWorld>, public SegmentTap {
 public:
  std::shared_ptr<ToldGate> gate = std::make_shared<ToldGate>();
  std::vector<SegmentSeen::Kind> kinds;
  std::uint64_t acknowledged_octets = 0;
  bool end_acknowledged = false;
  Gates() {
    world.network.set_rules([this](const Address&, const Address&) {
      StreamRules rules;
      rules.to_acceptor.gate = gate;
      return rules;
    });
    world.network.set_tap(this);
    gate->judge = [](runtime::TimeNs, std::uint64_t, std::size_t waiting) { return Passage{waiting}; };
  }
  ~Gates() override { world.network.set_tap(nullptr); }
  void segment_sent(runtime::TimeNs, const SegmentSeen& segment) override { kinds.push_back(segment.kind); }
  void acknowledged(runtime::TimeNs, const SegmentSeen& segment) override {
    if (segment.from != server.stream->local()) return;
    acknowledged_octets = segment.acknowledged;
    end_acknowledged = segment.end_acknowledged;
  }
  void write(const Octets& octets) { ASSERT_EQ(client.stream->write(wire::Bytes(octets)), octets.size()); }
};

TEST_F(Gates, passesAll_streamIsAsWithout) {
  meet();
  write(pattern(5000));
  EXPECT_EQ(read(server, 5000), pattern(5000));
  client.stream->shut_down();
  EXPECT_TRUE(reads_end(server));
  EXPECT_EQ(acknowledged_octets, 5000U);
  EXPECT_TRUE(end_acknowledged);
}

// What is held back, and the end behind it, come when the gate lets them, at the time that it named.
TEST_F(Gates, holdsBack_restAndEndComeLater) {
  runtime::TimeNs until = 0;
  gate->judge = [&](runtime::TimeNs now, std::uint64_t at, std::size_t waiting) {
    if (until == 0) until = now + 5 * millisecond;
    return now >= until ? Passage{waiting} : Passage{static_cast<std::size_t>(10 - at), Cut::none, until};
  };
  meet();
  write(pattern(30));
  client.stream->shut_down();
  EXPECT_EQ(read(server, 10), part(pattern(30), 0, 10));
  EXPECT_LT(world.scheduler.now(), until);
  EXPECT_EQ(read(server, 20), part(pattern(30), 10, 20));
  EXPECT_GE(world.scheduler.now(), until);
  EXPECT_TRUE(reads_end(server));
}

// Asked again by who owns the network, not at a time of its own.
TEST_F(Gates, holdsBackForEver_goesOnWhenAllAreAsked) {
  bool open = false;
  gate->judge = [&](runtime::TimeNs, std::uint64_t, std::size_t waiting) { return Passage{open ? waiting : 0}; };
  meet();
  write(pattern(10));
  world.settle();
  server.stream->ask_readable();
  world.settle();
  EXPECT_EQ(server.reads, 0);
  open = true;
  world.network.ask_gates();
  EXPECT_EQ(read(server, 10), pattern(10));
}

TEST_F(Gates, changesOctets_theyArriveChanged) {
  gate->change = [](wire::MutableBytes piece) {
    for (std::uint8_t& octet : piece) octet ^= 0xFF;
  };
  meet();
  write(pattern(10));
  Octets changed = pattern(10);
  for (std::uint8_t& octet : changed) octet ^= 0xFF;
  EXPECT_EQ(read(server, 10), changed);
}

// Both ends see the reset behind what passed; a capture sees it in both directions.
TEST_F(Gates, resets_bothEndsHearBehindWhatPassed) {
  gate->judge = [](runtime::TimeNs, std::uint64_t at, std::size_t) {
    return Passage{static_cast<std::size_t>(4 - at), Cut::reset};
  };
  meet();
  write(pattern(10));
  EXPECT_EQ(read(server, 4), part(pattern(10), 0, 4));
  world.settle();
  EXPECT_EQ(client.ends, std::vector{Reason::reset});
  EXPECT_EQ(server.ends, std::vector{Reason::reset});
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), SegmentSeen::Kind::rst), 2);
}

// In front of the first octet too, where nothing else would come.
TEST_F(Gates, closesBeforeAnything_receiverReadsTheEnd) {
  gate->judge = [](runtime::TimeNs, std::uint64_t, std::size_t) { return Passage{0, Cut::end}; };
  meet();
  write(pattern(10));
  EXPECT_TRUE(reads_end(server));
  EXPECT_TRUE(client.ends.empty());
}

TEST_F(Gates, silence_nobodyIsTold) {
  gate->judge = [](runtime::TimeNs, std::uint64_t at, std::size_t) {
    return Passage{static_cast<std::size_t>(3 - at), Cut::silence};
  };
  meet();
  write(pattern(10));
  EXPECT_EQ(read(server, 3), part(pattern(10), 0, 3));
  world.settle();
  EXPECT_TRUE(client.ends.empty());
  EXPECT_TRUE(server.ends.empty());
}

}  // namespace
}  // namespace streams::test
