// Flows to a port that takes none wait by themselves, bounded, and stop no other: of Ethernet, where nobody can be held
// back, and of senders that can keep back what goes to one destination.
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

// --- a sender that keeps back frames for one destination

// End 1 can do so; end 0 takes frames or does not, end 2 as well.
class ByDestination : public FlowTest {
 protected:
  explicit ByDestination(std::size_t flow_frames = 1024) : FlowTest(flow_frames) {
    fabric.fabric.detach(*ports[1]);
    ends[1].by_destination = true;
    attach(1, fabric.fabric.attach(ends[1], ends[1]));
    for (auto& end : ends) end.sent.clear();
  }
  [[nodiscard]] bool holds(std::size_t end) const { return ends[1].held_for.contains(ports[end]->address().value); }
  /// From end 1 to `end` until it is told to stop.
  void feed_until_held(std::size_t end) {
    std::uint8_t mark = 0;
    while (!holds(end) && mark < 100) feed(1, end, mark++);
    EXPECT_EQ(mark, queue_frames);
  }
};

// It hears which destination takes no more, once, and goes on with the others; what was under way waits in order.
TEST_F(ByDestination, paused_port_holds_one_destination) {
  ends[0].pause();
  feed_until_held(0);
  feed_many(1, 0, 20);
  feed(1, 2, 77);
  EXPECT_EQ(ends[2].sent, (std::vector<std::uint8_t>{77}));
  EXPECT_EQ(ends[1].held_for.size(), 1U);
  EXPECT_EQ(ends[1].holds, 0);
  ends[0].resume();
  EXPECT_TRUE(ends[1].held_for.empty());
  ASSERT_EQ(ends[0].sent.size(), queue_frames + 20);
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(ends[0].sent[queue_frames + i], i);
  EXPECT_EQ(lost() + held_too_long(), 0U);
}

// Two destinations take no more: each goes on for itself.
TEST_F(ByDestination, several_paused_ports_go_on_one_by_one) {
  ends[0].pause();
  ends[2].pause();
  feed_until_held(0);
  feed_until_held(2);
  ends[2].resume();
  EXPECT_TRUE(holds(0));
  EXPECT_FALSE(holds(2));
  ends[0].resume();
  EXPECT_TRUE(ends[1].held_for.empty());
}

// A port that takes a few at a time: held while some wait, no frame lost or out of order.
TEST_F(ByDestination, slow_port_is_told_to_go_on_when_the_flow_is_over) {
  ends[0].pause();
  feed_many(1, 0, 60);
  for (int i = 0; i < 1000 && holds(0); ++i) {
    ends[0].room = 1;
    ends[0].resume();
  }
  EXPECT_LT(ends[0].sent.size(), 60U);  // before it has nothing to do
  ends[0].room = 1 << 30;
  ends[0].resume();
  ASSERT_EQ(ends[0].sent.size(), 60U);
  EXPECT_TRUE(std::is_sorted(ends[0].sent.begin(), ends[0].sent.end()));
}

// The destination goes, or hangs for the hold time: whoever was held for it hears so.
TEST_F(ByDestination, held_destination_vanishes) {
  ends[0].pause();
  feed_many(1, 0, 30);
  ASSERT_TRUE(holds(0));
  fabric.fabric.detach(*ports[0]);
  EXPECT_TRUE(ends[1].held_for.empty());
}
TEST_F(ByDestination, held_destination_hangs) {
  ends[0].pause();
  feed_many(1, 0, 30);
  fabric.run_for(3 * second);
  EXPECT_TRUE(ports[0]->stalled());
  EXPECT_TRUE(ends[1].held_for.empty());
  EXPECT_EQ(held_too_long(), 30U);
  feed_many(1, 0, 30);
  EXPECT_TRUE(ends[1].held_for.empty());
}

// The sender's link begins anew: it is told that nothing is held any more. Or it goes, and is told nothing.
TEST_F(ByDestination, holding_link_is_reset) {
  ends[0].pause();
  feed_many(1, 0, 30);
  ports[1]->reset_link();
  EXPECT_TRUE(ends[1].held_for.empty());
  fabric.run_for(millisecond);
  log_in(1);
  ends[0].resume();
  EXPECT_EQ(ends[0].sent.size(), queue_frames);
}
TEST_F(ByDestination, holding_sender_is_detached) {
  ends[0].pause();
  feed_many(1, 0, 30);
  fabric.fabric.detach(*ports[1]);
  ends[0].resume();
  EXPECT_EQ(ends[0].sent.size(), queue_frames);
  fabric.run_for(3 * second);
}

// What is under way is more than the flow may take, as from one that does not listen: nothing more is taken from it at
// all until half of the flow is gone. Nothing is lost.
struct ByDestinationFewFrames : ByDestination {
  ByDestinationFewFrames() : ByDestination(32) {}
};
TEST_F(ByDestinationFewFrames, full_flow_holds_the_sender) {
  ends[0].pause();
  std::uint8_t mark = 0;
  while (!ends[1].held && mark < 200) feed(1, 0, mark++);
  EXPECT_EQ(mark, queue_frames + 16 + 1);
  EXPECT_TRUE(holds(0));
  ends[0].room = 6;
  ends[0].resume();
  EXPECT_TRUE(ends[1].held && holds(0));
  ends[0].room = 7;
  ends[0].resume();
  EXPECT_FALSE(ends[1].held);
  EXPECT_TRUE(holds(0));
  ends[0].room = 1 << 30;
  ends[0].resume();
  EXPECT_TRUE(ends[1].held_for.empty());
  ASSERT_EQ(ends[0].sent.size(), mark);
  EXPECT_TRUE(std::is_sorted(ends[0].sent.begin(), ends[0].sent.end()));
  EXPECT_EQ(lost() + held_too_long(), 0U);
}
// Who sends all the same loses what is too much.
TEST_F(ByDestinationFewFrames, full_flow_of_a_sender_that_does_not_listen_is_bounded) {
  ends[0].pause();
  feed_many(1, 0, 100);
  EXPECT_EQ(lost(), 100 - queue_frames - 17);
  EXPECT_EQ(ends[1].holds, 1);
  ends[0].resume();
  EXPECT_EQ(ends[0].sent.size(), queue_frames + 17);
  EXPECT_FALSE(ends[1].held);
}
TEST_F(ByDestinationFewFrames, full_flow_ends_with_its_destination) {
  ends[0].pause();
  for (std::uint8_t mark = 0; !ends[1].held && mark < 200; ++mark) feed(1, 0, mark);
  ASSERT_TRUE(ends[1].held);
  fabric.fabric.detach(*ports[0]);
  EXPECT_FALSE(ends[1].held);
  EXPECT_TRUE(ends[1].held_for.empty());
}

// More destinations behind one port than are told: the flow takes frames for the rest, and all go on in the end.
TEST_F(ByDestination, many_destinations_behind_one_port_are_bounded) {
  const std::vector<wire::FcId> behind = log_in_virtual(0, 80);
  ASSERT_EQ(std::set<wire::FcId>(behind.begin(), behind.end()).size(), 80U);
  ends[0].pause();
  feed_many(1, 0, queue_frames);
  for (const wire::FcId id : behind) feed_to(1, id, 1);
  EXPECT_EQ(ends[1].held_for.size(), 64U);
  ends[0].resume();
  EXPECT_TRUE(ends[1].held_for.empty());
  EXPECT_EQ(lost(), 0U);
}

}  // namespace
}  // namespace fc2
