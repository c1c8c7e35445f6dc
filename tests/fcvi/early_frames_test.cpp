// What waits on an out-of-order fabric, and what goes on when the hole is given up (FC-VI B.2.5 rules 5b, 6e, 7a).
#include "tests/fcvi/class_2_nodes.hpp"

namespace {
using support::late;
using support::Level;
using support::lose;
using support::MessageFrame;
using support::pass;

class Overtaken : public support::MessageNodes {
 public:
  Overtaken() : MessageNodes({}, {}, support::fabric_order(false)) {}
};
class OvertakenClass2 : public support::Class2Nodes {
 public:
  OvertakenClass2() : Class2Nodes({.in_order = false}) {}
};

// FC-VI B.2.5 rules 5b, 7a, 8.4.2 b): message 1 loses a frame, 2 and 3 are whole. Its originator gives it up (B.2.6.1
// rule 8e): its ABTS ends it, and its descriptor fails.
TEST_F(OvertakenClass2, waiting_holeIsAborted_restIsDelivered) {
  for (const int lost_frame : {0, 1}) {  // message 1 is open, or only waits
    begin(Level::UnreliableDelivery, lost_frame == 0 ? "first" : "second");
    faults.on_frame = support::to_frame(lost_frame, lose);
    const std::size_t at = receives.size();
    receive(3), send(3, 2 * frame_bytes);
    fabric.run_for(3 * runtime::second);  // E_D_TOV, ABTS
    EXPECT_TRUE(arrived(at + 1, at, 2 * frame_bytes)) << "whole first";
    EXPECT_TRUE(arrived(at + 2, at + 1, 2 * frame_bytes));
    EXPECT_EQ(received(at + 2), receive_lost) << "a frame of it came (rule 3a)";
    EXPECT_EQ(server_vi->state(), vi::State::Connected);
    disconnect(*client, *client_vi), disconnect(*server, *server_vi);
  }
}

// FC-VI B.2.5 rules 5b, 7a, 8.4.1 note 1: message 1 loses its end, message 2 (one frame) is here. The time for the rest
// of message 1 and that of the hole end at the same moment: message 1 alone is lost.
TEST_F(Overtaken, waiting_bothTimersAtOnce_loseOneMessage) {
  begin(Level::UnreliableDelivery);
  faults.on_frame = [](MessageFrame& frame) {
    if (!frame.from_client) return pass;
    switch (frame.number) {
      case 1: return late(runtime::millisecond);
      case 3:
      case 4:
      case 5: return lose;
      case 6: return late(2 * runtime::millisecond);
      default: return pass;
    }
  };
  receive(2), send(1, 6 * frame_bytes), send(1, 100);
  fabric.run_for(25 * runtime::second);
  EXPECT_TRUE(arrived(1, 0, 100)) << "whole first";
  EXPECT_EQ(received(1), receive_lost);
}

// FC-VI B.2.5 rule 6e b), B.3.3.3: every frame of an epoch that arrives within R_A_TOV is processed: one frame is 50 ms
// late, 1700 overtake it.
TEST_F(Overtaken, waiting_manyFrames_allArrive) {
  begin(Level::ReliableDelivery);
  faults.on_frame = support::to_frame(0, late(50 * runtime::millisecond));
  receive(60), send(60, 60'000);
  fabric.run_for(30 * runtime::second);
  for (std::size_t i = 0; i < 60; ++i) ASSERT_TRUE(arrived(i, i, 60'000)) << i;
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
}

}  // namespace
