// What comes from Ethernet, where nobody can be held back: each flow to a port that takes none waits by itself,
// bounded, and stops no other.
#include "tests/fc2_fabric/far_ends.hpp"

namespace fc2 {
namespace {
using support::queue_frames;

// End 0 takes frames or does not; end 1 is on Ethernet; end 2 can be held.
class FlowTest : public support::FarEnds {
 protected:
  explicit FlowTest(std::size_t flow_frames = 1024) : FarEnds(flow_frames) {
    attach(0, fabric.fabric.attach(ends[0], ends[0]));
    attach(1, fabric.fabric.attach(ends[1]));
    attach(2, fabric.fabric.attach(ends[2], ends[2]));
    for (auto& end : ends) end.sent.clear();
  }
  void feed_many(std::size_t from, std::size_t to, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) feed(from, to, static_cast<std::uint8_t>(i));
  }
  [[nodiscard]] std::uint64_t lost() const { return fabric.fabric.counters().discarded(Discard::NoResources); }
};

// The flow waits, in order, and nothing is lost; the sender's other frames go on, and so do others'.
TEST_F(FlowTest, paused_port_stops_no_other_flow) {
  ends[0].pause();
  feed_many(1, 0, 100);
  EXPECT_EQ(ports[0]->waiting(), queue_frames);
  EXPECT_EQ(ends[1].holds, 0);
  feed(1, 2, 77);
  EXPECT_EQ(ends[2].sent, (std::vector<std::uint8_t>{77}));
  feed(2, 1, 78);
  EXPECT_EQ(ends[1].sent, (std::vector<std::uint8_t>{78}));
  ends[0].resume();
  ASSERT_EQ(ends[0].sent.size(), 100U);
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(ends[0].sent[i], i);
  EXPECT_EQ(lost() + held_too_long(), 0U);
  feed(1, 0, 200);
  EXPECT_EQ(ends[0].sent.back(), 200);
}

// A port that takes a few at a time: the flow keeps its order, and comes no faster than others that are held for
// the same port.
TEST_F(FlowTest, slow_port_takes_flows_and_feeders_in_turn) {
  ends[0].pause();
  feed_many(1, 0, 60);
  feed(2, 0, 100);
  ASSERT_TRUE(ends[2].held);
  for (int i = 0; i < 1000 && ends[2].held; ++i) {
    ends[0].room = 1;
    ends[0].resume();
  }
  EXPECT_FALSE(ends[2].held);
  EXPECT_LT(ends[0].sent.size(), 30U);  // not behind all of the flow
  ends[0].room = 1 << 30;
  ends[0].resume();
  std::vector<std::uint8_t> flow;
  std::copy_if(ends[0].sent.begin(), ends[0].sent.end(), std::back_inserter(flow),
               [](std::uint8_t mark) { return mark != 100; });
  ASSERT_EQ(flow.size(), 60U);
  EXPECT_TRUE(std::is_sorted(flow.begin(), flow.end()));
  EXPECT_EQ(lost(), 0U);
}

// After the hold time what waits for the port is lost, the flow with it; what goes elsewhere is not concerned.
TEST_F(FlowTest, stalled_port_loses_the_flow) {
  ends[0].pause();
  feed_many(1, 0, 100);
  fabric.run_for(3 * second);
  EXPECT_EQ(held_too_long(), 100U);
  EXPECT_TRUE(ports[0]->stalled());
  feed(1, 2, 5);
  EXPECT_EQ(ends[2].sent.size(), 1U);
  ends[0].resume();
  feed(1, 0, 9);
  EXPECT_EQ(ends[0].sent, (std::vector<std::uint8_t>{9}));
}

// Half of what others leave, and no more: what is more is lost and counted, and there is room for a further flow.
struct FewFrames : FlowTest {
  FewFrames() : FlowTest(16) {}
};

TEST_F(FewFrames, flows_are_bounded) {
  ends[0].pause();
  ends[2].pause();
  feed_many(1, 0, 100);
  EXPECT_EQ(lost(), 100 - queue_frames - 8);
  feed_many(1, 2, 100);
  EXPECT_EQ(lost(), 200 - 2 * queue_frames - 8 - 4);
  ends[0].resume();
  ends[2].resume();
  EXPECT_EQ(ends[0].sent.size(), queue_frames + 8);
  EXPECT_EQ(ends[2].sent.size(), queue_frames + 4);
  feed_many(1, 0, 5);
  EXPECT_EQ(ends[0].sent.size(), queue_frames + 8 + 5);
}

// A class 2 frame that is lost is answered: F_BSY.
TEST_F(FewFrames, lost_class_2_frames_are_busied) {
  ends[0].pause();
  feed_many(1, 0, 100);
  const auto before = ends[1].sent.size();
  feed(1, 0, 0, wire::Sof::i2);
  EXPECT_EQ(ends[1].sent.size(), before + 1);
}

// Who sent the flow goes, or the port that it is for: it is gone, and its room is free again.
TEST_F(FewFrames, flow_ends_with_either_port) {
  for (const std::size_t goes : {1, 0}) {
    ends[0].pause();
    feed_many(1, 0, 100);
    fabric.fabric.detach(*ports[goes]);
    ends[0].resume();
    fabric.run_for(3 * second);
    attach(goes, goes == 1 ? fabric.fabric.attach(ends[1]) : fabric.fabric.attach(ends[0], ends[0]));
    ends[0].sent.clear();
    ends[0].pause();
    const std::uint64_t before = lost();
    feed_many(1, 0, queue_frames + 8);
    EXPECT_EQ(lost(), before) << goes;
    ends[0].resume();
    EXPECT_EQ(ends[0].sent.size(), queue_frames + 8) << goes;
  }
}

// Flows from one port to several that take none.
TEST_F(FlowTest, flow_to_several_ports_keeps_them_apart) {
  ends[0].pause();
  ends[2].pause();
  for (std::uint8_t i = 0; i < 50; ++i) {
    feed(1, 0, i);
    feed(1, 2, static_cast<std::uint8_t>(100 + i));
  }
  ends[2].resume();
  EXPECT_EQ(ends[2].sent.size(), 50U);
  EXPECT_TRUE(ends[0].sent.empty());
  ends[0].resume();
  EXPECT_EQ(ends[0].sent.size(), 50U);
}

}  // namespace
}  // namespace fc2
