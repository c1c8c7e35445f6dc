// Frames that wait in order (fcvi/early_frames.hpp): whose memory they are, and who pays for it.
#include "fcvi/early_frames.hpp"

#include <gtest/gtest.h>

namespace {
using fcvi::EarlyFrames;
using fcvi::ReorderPool;

class KeptFrames : public ::testing::Test {
 public:
  /// One of `peer`, which its port had in its hand.
  bool add(EarlyFrames& early, std::uint32_t peer) {
    fc2::FramePtr frame = frames.take();
    const fc2::ReceivedFrame received{
        .header = {.d_id = wire::FcId{7}, .s_id = wire::FcId{peer}}, .data_field = {}, .owner = &frame};
    const bool added = early.add(received, {});
    EXPECT_EQ(frame == nullptr, added) << "taken over, or left";
    return added;
  }
  fc2::FramePool frames;
};

// What is kept is its own: nobody may ask for the frame where the port had it.
TEST_F(KeptFrames, added_hasNoOtherOwner) {
  ReorderPool pool(1u << 20);
  ReorderPool::Share share(pool);
  EarlyFrames early(share);
  ASSERT_TRUE(add(early, 1));
  EXPECT_EQ(share.bytes(), EarlyFrames::frame_bytes);
  const EarlyFrames::Entry entry = early.take_first();
  EXPECT_EQ(entry.received.owner, nullptr);
  EXPECT_NE(entry.frame, nullptr);
  EXPECT_EQ(share.bytes(), 0u);
}

// The peer that sent it pays, not the port that it was sent to: two peers have a share each.
TEST_F(KeptFrames, ofTwoPeers_eachPaysForItsOwn) {
  ReorderPool pool(4 * EarlyFrames::frame_bytes);
  ReorderPool::Share first(pool), second(pool), third(pool);
  EarlyFrames of_first(first), of_second(second), again(third);
  EXPECT_TRUE(add(of_first, 1));
  EXPECT_FALSE(add(again, 1)) << "one peer, two streams";
  EXPECT_TRUE(add(of_second, 2));
  EXPECT_FALSE(add(of_second, 2));
  while (!of_first.empty()) (void)of_first.take_first();
  while (!of_second.empty()) (void)of_second.take_first();
}

// fcvi/reorder_pool.hpp: what a peer gave back is there again, all of it, and nothing is asked for where
// nothing is needed.
TEST_F(KeptFrames, pool_givenBack_isFree) {
  using Need = ReorderPool::Need;
  ReorderPool pool(100);
  ReorderPool::Share share(pool), other(pool);
  const wire::FcId peer{1};
  ASSERT_TRUE(share.take(peer, 90, Need::Now));
  EXPECT_TRUE(other.has_room(peer, 0, Need::Share));
  EXPECT_FALSE(other.has_room(peer, 1, Need::Share));
  share.give_back(89);
  EXPECT_TRUE(other.has_room(peer, 99, Need::Now));
  EXPECT_FALSE(other.has_room(peer, 100, Need::Now));
  EXPECT_TRUE(other.has_room(peer, 32, Need::Share));
  EXPECT_FALSE(other.has_room(peer, 33, Need::Share)) << "the peer holds a byte";
  share.give_back(1);
  EXPECT_EQ(pool.held_bytes(), 0u);
  EXPECT_TRUE(other.has_room(peer, 33, Need::Share));
  EXPECT_FALSE(other.has_room(peer, 34, Need::Share));
}
}  // namespace
