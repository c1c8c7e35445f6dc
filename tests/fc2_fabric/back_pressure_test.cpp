// Outputs that pause: senders wait, F_Ports hold back who feeds them, and a port that takes nothing for ever
// loses what waits.
#include "tests/fc2_fabric/far_ends.hpp"

namespace fc2 {
namespace {
using support::FarEnd, support::queue_frames;

class BackPressureTest : public support::FarEnds {
 protected:
  BackPressureTest() {
    for (std::size_t i = 0; i < ends.size(); ++i) attach(i, fabric.fabric.attach(ends[i], ends[i]));
    ends[0].sent.clear();
  }
};

// A port that takes a few frames and then none: the rest waits in order, who feeds it is held back at the limit, and
// nothing is lost when it goes on.
TEST_F(BackPressureTest, paused_port_holds_its_feeder) {
  ends[0].room = 2;
  std::uint8_t mark = 0;
  while (!ends[1].held && mark < 100) feed(1, 0, mark++);
  EXPECT_EQ(mark, 2 + queue_frames);
  EXPECT_EQ(ports[0]->waiting(), queue_frames);
  ends[0].room = 1 << 30;
  ends[0].resume();
  EXPECT_FALSE(ends[1].held);
  ASSERT_EQ(ends[0].sent.size(), mark);
  for (std::size_t i = 0; i < mark; ++i) EXPECT_EQ(ends[0].sent[i], i);
  EXPECT_EQ(held_too_long(), 0U);
}

// Who feeds another port is not concerned.
TEST_F(BackPressureTest, paused_port_leaves_others_alone) {
  ends[0].pause();
  for (std::uint8_t i = 0; i < 2 * queue_frames; ++i) feed(1, 0, i);
  feed(2, 1, 7);
  EXPECT_FALSE(ends[2].held);
  EXPECT_EQ(ends[1].sent.back(), 7);
}

// Several are held: as room comes, each gets its turn, the first held first.
TEST_F(BackPressureTest, paused_port_lets_feeders_go_in_turn) {
  ends[0].pause();
  for (std::uint8_t i = 0; i < queue_frames; ++i) feed(1, 0, i);
  feed(2, 0, 100);
  ASSERT_TRUE(ends[1].held && ends[2].held);
  ends[0].room = queue_frames / 2 - 1;  // leaves more than half of the queue
  ends[0].resume();
  EXPECT_TRUE(ends[1].held && ends[2].held);
  ends[0].room = 2;
  ends[0].resume();
  EXPECT_FALSE(ends[1].held || ends[2].held);  // neither fed anything when its turn came
}

// An N_Port of this program is held back by its link: what it sends waits in its transmitter.
TEST_F(BackPressureTest, paused_port_holds_n_port) {
  ends[0].pause();
  struct Source final : FrameSource {
    Next next_frame(Frame& frame) override {
      ++made;
      support::fill_frame(frame,
                          {.r_ctl = wire::RCtl::solicited_data, .d_id = to, .s_id = from, .type = wire::Type::fc_vi}, 4,
                          wire::Sof::i3, wire::Eof::n);
      return made == 1000 ? Next::Exhausted : Next::Made;
    }
    int made = 0;
    wire::FcId from, to;
  } source;
  source.from = fabric.port(0).n_port_id();
  source.to = ports[0]->address();
  fabric.port(0).transmitter().submit(source);
  fabric.run_for(millisecond);
  EXPECT_LT(source.made, 200);  // what was under way when the link paused
  EXPECT_GE(ports[0]->waiting(), queue_frames);
  ends[0].resume();
  fabric.run_for(millisecond);
  EXPECT_EQ(source.made, 1000);
  EXPECT_EQ(ends[0].sent.size(), 999U);
}

// A port that takes nothing for the hold time: what waits is discarded and counted, those who feed it go on, and so
// does what they send there; until it takes frames again.
TEST_F(BackPressureTest, paused_port_beyond_hold_time_is_stalled) {
  ends[0].pause();
  for (std::uint8_t i = 0; i < queue_frames; ++i) feed(1, 0, i);
  fabric.run_for(SwitchConfig{}.hold_time - 1);
  EXPECT_TRUE(ends[1].held);
  EXPECT_EQ(held_too_long(), 0U);
  fabric.run_for(1);
  EXPECT_FALSE(ends[1].held);
  EXPECT_TRUE(ports[0]->stalled());
  EXPECT_EQ(held_too_long(), queue_frames);
  for (std::uint8_t i = 0; i < 4 * queue_frames; ++i) feed(1, 0, i);
  EXPECT_FALSE(ends[1].held);
  EXPECT_EQ(held_too_long(), 5 * queue_frames);
  ends[0].resume();
  feed(1, 0, 55);
  EXPECT_EQ(ends[0].sent, std::vector<std::uint8_t>{55});
}

// A port that is slow, but takes some: only frames that waited too long are lost.
TEST_F(BackPressureTest, slow_port_loses_old_frames_only) {
  ends[0].pause();
  feed(1, 0, 1);
  fabric.run_for(SwitchConfig{}.hold_time - 1);
  feed(1, 0, 2);
  ends[0].room = 1;
  ends[0].resume();  // takes the first
  fabric.run_for(10);
  EXPECT_FALSE(ports[0]->stalled());
  EXPECT_EQ(held_too_long(), 0U);
  EXPECT_EQ(ends[0].sent, std::vector<std::uint8_t>{1});
}

// The switch's own frames cannot hold anybody back: they have a limit of their own.
TEST_F(BackPressureTest, paused_port_limits_what_services_send) {
  ends[0].pause();
  for (int i = 0; i < 100; ++i) log_in(0);
  EXPECT_EQ(ports[0]->waiting(), 2 * queue_frames);
  EXPECT_GT(fabric.fabric.counters().discarded(Discard::NoResources), 0U);
}

// The links of a feeder, or of the port that it waits for, go: nothing is left behind.
TEST_F(BackPressureTest, held_feeder_detached_is_forgotten) {
  ends[0].pause();
  for (std::uint8_t i = 0; i < queue_frames; ++i) feed(1, 0, i);
  feed(2, 0, 9);
  ASSERT_TRUE(ends[1].held && ends[2].held);
  fabric.fabric.detach(*ports[1]);
  fabric.fabric.detach(*ports[0]);
  EXPECT_FALSE(ends[2].held);
  EXPECT_TRUE(ends[1].held);  // told nothing any more
  fabric.run_for(10 * second);
}

}  // namespace
}  // namespace fc2
