// What waits on an out-of-order fabric, and what goes on when the hole is given up (FC-VI B.2.5 rules 5b, 6e, 7a).
#include "fcvi/early_frames.hpp"
#include "tests/fcvi/class_2_nodes.hpp"

namespace {
using fcvi::EarlyFrames;
using support::late;
using support::Level;
using support::lose;
using support::MessageFrame;
using support::pass;

class Overtaken : public support::MessageNodes { public: Overtaken() : MessageNodes({}, {}, support::fabric_order(false)) {} };
class OvertakenClass2 : public support::Class2Nodes { public: OvertakenClass2() : Class2Nodes({.in_order = false}) {} };

// FC-VI B.2.5 rules 5b, 7a, 8.4.2 b): message 1 loses a frame, 2 and 3 are whole and wait behind it. Its originator gives it up (B.2.6.1
// rule 8e): its ABTS fills the hole.
TEST_F(OvertakenClass2, waiting_holeIsAborted_restIsDelivered) {
  for (const int lost_frame : {0, 1}) {  // message 1 is open, or only waits
    begin(Level::UnreliableDelivery, lost_frame == 0 ? "first" : "second");
    faults.on_frame = support::to_frame(lost_frame, lose);
    const std::size_t at = receives.size();
    receive(3), send(3, 2 * frame_bytes);
    fabric.run_for(3 * fc2::second);  // E_D_TOV, ABTS
    if (lost_frame == 1) {
      EXPECT_EQ(received(at), receive_lost);
    }
    const std::size_t next = lost_frame == 1 ? at + 1 : at;  // a message of which nothing was placed takes no descriptor
    EXPECT_TRUE(arrived(at + 1, next, 2 * frame_bytes)) << "whole, and nothing is missing before it";
    EXPECT_TRUE(arrived(at + 2, next + 1, 2 * frame_bytes));
    EXPECT_EQ(server_vi->state(), vi::State::Connected);
    disconnect(*client, *client_vi), disconnect(*server, *server_vi);
  }
}

// FC-VI B.2.5 rules 5b, 7a, 8.4.1 note 1: message 1 loses its end, message 2 (one frame) is here. The time for the rest of message 1 and
// that of the hole end at the same moment: message 1 alone is lost.
TEST_F(Overtaken, waiting_bothTimersAtOnce_loseOneMessage) {
  begin(Level::UnreliableDelivery);
  faults.on_frame = [](MessageFrame& frame) {
    if (!frame.from_client) return pass;
    switch (frame.number) {
      case 1: return late(fc2::millisecond);
      case 3: case 4: case 5: return lose;
      case 6: return late(2 * fc2::millisecond);
      default: return pass;
    }
  };
  receive(2), send(1, 6 * frame_bytes), send(1, 100);
  fabric.run_for(25 * fc2::second);
  EXPECT_EQ(received(0), receive_lost);
  EXPECT_TRUE(arrived(1, 1, 100));
}

// FC-VI B.2.5 rule 6e b), B.3.3.3: every frame of an epoch that arrives within R_A_TOV is processed: one frame is 50 ms late, 1700 overtake it.
TEST_F(Overtaken, waiting_manyFrames_allArrive) {
  begin(Level::ReliableDelivery);
  faults.on_frame = support::to_frame(0, late(50 * fc2::millisecond));
  receive(60), send(60, 60'000);
  fabric.run_for(30 * fc2::second);
  for (std::size_t i = 0; i < 60; ++i) ASSERT_TRUE(arrived(i, i, 60'000)) << i;
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
}

class EarlyFramesTest : public ::testing::Test {
 public:
  EarlyFrames::Added add(EarlyFrames& frames, std::uint32_t msg_id, std::uint32_t offset, fc2::TimeNs now = 1) {
    fc2::FramePtr frame = pool.take();
    fc2::ReceivedFrame received{.header = {}, .data_field = frame->data_field(), .class_2 = class_2, .owner = &frame};
    received.header.parameter = offset;
    received.header.s_id = peer;
    return frames.add(received, {.msg_id = {msg_id}}, now);
  }
  fc2::FramePool pool;
  EarlyFrames::Budget budget;
  EarlyFrames early{budget};
  wire::FcId peer{0x010200};
  bool class_2 = false;
};

// One peer's streams keep half of what the port may: they cannot take the room of those with other peers.
TEST_F(EarlyFramesTest, full_onePeer_leavesRoomForOthers) {
  EarlyFrames second(budget), third(budget), of_other(budget);
  for (std::uint32_t i = 0; i < EarlyFrames::max_frames; ++i) {
    ASSERT_EQ(add(early, 2, 100 + i), EarlyFrames::Added::Kept);
    ASSERT_EQ(add(second, 2, 100 + i), EarlyFrames::Added::Kept);
  }
  EXPECT_EQ(add(third, 2, 1), EarlyFrames::Added::NoRoom);
  peer = wire::FcId{0x010300};
  EXPECT_EQ(add(of_other, 2, 1), EarlyFrames::Added::Kept);
  peer = wire::FcId{0x010200};
  second.clear();
  EXPECT_EQ(add(third, 2, 1), EarlyFrames::Added::Kept);
}

// FC-VI 5.2.1, B.2.5 rule 6e: in whatever order they come, they go in the order of the stream; one that comes twice is kept once.
TEST_F(EarlyFramesTest, added_anyOrder_goInOrder) {
  for (const std::uint32_t offset : {300u, 100u, 200u, 400u}) EXPECT_EQ(add(early, 7, offset), EarlyFrames::Added::Kept);
  EXPECT_EQ(add(early, 6, 900), EarlyFrames::Added::Kept);
  EXPECT_EQ(add(early, 7, 200), EarlyFrames::Added::Duplicate);
  EXPECT_EQ(early.take_first().header.msg_id.value, 6u);
  for (const std::uint32_t offset : {100u, 200u, 300u, 400u}) EXPECT_EQ(early.take_first().received.header.parameter, offset);
  EXPECT_TRUE(early.empty());
  EXPECT_EQ(budget.frames, 0u);
}

// FC-VI B.2.5 rule 7: what is missing before a frame is known since the first came that stands there or behind it.
TEST_F(EarlyFramesTest, first_knownSince_isWhenTheFirstBehindItCame) {
  add(early, 1, 500, 10), add(early, 1, 300, 20), add(early, 1, 900, 30), add(early, 1, 700, 40);
  std::vector<fc2::TimeNs> known;
  while (!early.empty()) known.push_back(early.take_first().known_since);
  EXPECT_EQ(known, (std::vector<fc2::TimeNs>{10, 10, 30, 30}));
}

// Bounded: what is farthest from its turn gives way, in one stream and in all of a port.
TEST_F(EarlyFramesTest, full_farthestGivesWay) {
  for (std::uint32_t i = 0; i < EarlyFrames::max_frames; ++i) ASSERT_EQ(add(early, 2, 100 + i), EarlyFrames::Added::Kept);
  EXPECT_EQ(add(early, 2, 99'999), EarlyFrames::Added::NoRoom);
  EXPECT_EQ(add(early, 2, 50), EarlyFrames::Added::Displaced);
  EXPECT_EQ(budget.frames, EarlyFrames::max_frames);
  EXPECT_EQ(early.first().received.header.parameter, 50u);
  budget.frames = EarlyFrames::Budget::max_frames;
  EarlyFrames other(budget);
  EXPECT_EQ(add(other, 2, 1), EarlyFrames::Added::NoRoom);
  budget.frames = EarlyFrames::max_frames;
  EXPECT_EQ(add(other, 2, 1), EarlyFrames::Added::Kept);
}

// FC-FS, FC-VI B.2.6.1 rule 8b: a frame of class 2 that waits is acknowledged: it does not give way to another one, which comes again.
TEST_F(EarlyFramesTest, full_class2_nothingGivesWay) {
  class_2 = true;
  for (std::uint32_t i = 0; i < EarlyFrames::max_frames; ++i) ASSERT_EQ(add(early, 2, 100 + i), EarlyFrames::Added::Kept);
  EXPECT_EQ(add(early, 2, 50), EarlyFrames::Added::NoRoom);
  EXPECT_EQ(early.first().received.header.parameter, 100u);
  EXPECT_EQ(budget.frames, EarlyFrames::max_frames);
}

}  // namespace
