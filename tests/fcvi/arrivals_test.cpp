// The book of what is here (FC-VI 5.2.1, 5.6, B.2.5 rules 4c, 6e), and the memory that reordering may take.
#include "fcvi/arrivals.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "fcvi/reorder_pool.hpp"

namespace {
using fcvi::Arrivals;
using fcvi::ReorderPool;
using Piece = Arrivals::Piece;

/// Frame `number` of a message whose frames carry 100 bytes each.
Arrivals::Range frame(std::uint32_t number, runtime::TimeNs now = 1) {
  const auto seq_cnt = static_cast<std::uint16_t>(number);
  return {number * 100, number * 100 + 100, seq_cnt, seq_cnt, now};
}

// FC-VI 5.2.1: whatever their order, the message is whole with its last missing frame and not before; each
// frame counts once.
TEST(Arrivals, anyOrder_wholeWithTheLastMissing) {
  std::mt19937 random(20261122);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::uint32_t> order(70'000 / 1000);
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), random);
    Arrivals arrivals;
    for (const std::uint32_t number : order) {
      EXPECT_FALSE(arrivals.is_whole(static_cast<std::uint32_t>(order.size()) * 100));
      ASSERT_EQ(arrivals.classify(frame(number)), Piece::New);
      arrivals.add(frame(number));
      ASSERT_EQ(arrivals.classify(frame(number)), Piece::Duplicate);
    }
    EXPECT_TRUE(arrivals.is_whole(static_cast<std::uint32_t>(order.size()) * 100));
    EXPECT_EQ(arrivals.ranges().size(), 1u);
  }
}

// A message has length / 256 + 64 ranges at most: what stands alone has no room then; what joins its neighbours, or
// closes a hole, has.
TEST(Arrivals, manyHoles_haveNoRoom) {
  constexpr std::uint32_t length = 100'000, most = length / 256 + 64;
  Arrivals arrivals;
  std::uint32_t number = 1;
  for (; arrivals.ranges().size() < most; number += 2) {
    ASSERT_TRUE(arrivals.has_room(frame(number), length));
    arrivals.add(frame(number));
  }
  EXPECT_FALSE(arrivals.has_room(frame(number), length));
  EXPECT_FALSE(arrivals.has_room(frame(number + 7), length));
  EXPECT_TRUE(arrivals.has_room(frame(number - 1), length));
  EXPECT_TRUE(arrivals.has_room(frame(2), length));
  EXPECT_TRUE(arrivals.has_room(frame(0), length));
  EXPECT_TRUE(arrivals.has_room(frame(number), length + 256));
  arrivals.add(frame(2));
  EXPECT_TRUE(arrivals.has_room(frame(number), length));
}

// FC-VI 5.6, 5.8.7: SEQ_CNT goes on with the relative offset, over its wrap too; a frame that has only one of both
// right is of no message.
TEST(Arrivals, neighbours_seqCntMustFollow) {
  Arrivals arrivals;
  arrivals.add({0, 100, 0, 0xFFFF, 1});
  EXPECT_EQ(arrivals.classify({100, 200, 0, 0, 1}), Piece::New) << "SEQ_CNT wraps";
  EXPECT_EQ(arrivals.classify({100, 200, 1, 1, 1}), Piece::Conflict) << "a SEQ_CNT is left out";
  arrivals.add({300, 400, 2, 2, 1});
  EXPECT_EQ(arrivals.classify({200, 300, 1, 1, 1}), Piece::New);
  EXPECT_EQ(arrivals.classify({200, 300, 2, 2, 1}), Piece::Conflict) << "the one behind has it";
  EXPECT_EQ(Arrivals().classify({0, 100, 1, 1, 1}), Piece::Conflict) << "the first frame has SEQ_CNT 0";
  EXPECT_EQ(Arrivals().classify({4, 104, 0, 0, 1}), Piece::Conflict) << "SEQ_CNT 0 has offset 0";
  EXPECT_EQ(arrivals.classify({104, 204, 0, 0, 1}), Piece::Conflict) << "the next SEQ_CNT, and bytes are left out";
  EXPECT_EQ(arrivals.classify({204, 296, 1, 1, 1}), Piece::Conflict)
      << "the SEQ_CNT before the next, and bytes are left out";
}

// ... and so is one that covers some bytes that are here and some that are not.
TEST(Arrivals, overlap_isAConflict) {
  Arrivals arrivals;
  arrivals.add(frame(1));
  EXPECT_EQ(arrivals.classify({50, 150, 0, 0, 1}), Piece::Conflict);
  EXPECT_EQ(arrivals.classify({150, 250, 1, 1, 1}), Piece::Conflict);
  EXPECT_EQ(arrivals.classify({50, 250, 1, 1, 1}), Piece::Conflict);
  EXPECT_EQ(arrivals.classify({120, 180, 1, 1, 1}), Piece::Duplicate);
}

// FC-VI B.2.5 rules 4c, 6e a): what lies before a frame is known to be missing since the first came that stands there
// or behind it.
TEST(Arrivals, gaps_eachHasItsOwnTime) {
  Arrivals arrivals;
  EXPECT_EQ(arrivals.oldest_gap(), runtime::never);
  arrivals.add(frame(5, 10));
  arrivals.add(frame(3, 20));
  arrivals.add(frame(9, 30));
  EXPECT_EQ(arrivals.missed_since(0), 10);
  EXPECT_EQ(arrivals.missed_since(400), 10);
  EXPECT_EQ(arrivals.missed_since(600), 30);
  EXPECT_EQ(arrivals.missed_since(1000), runtime::never) << "nothing behind it came";
  EXPECT_EQ(arrivals.frontier(), 1000u);
  for (const std::uint32_t number : {0u, 1u, 2u, 4u}) arrivals.add(frame(number, 40));
  EXPECT_EQ(arrivals.oldest_gap(), 30);
  EXPECT_EQ(arrivals.prefix(), 600u);
  for (const std::uint32_t number : {6u, 7u, 8u}) arrivals.add(frame(number, 40));
  EXPECT_EQ(arrivals.oldest_gap(), runtime::never);
}

// Of messages: those in front that are over are forgotten, and the others are counted from there.
TEST(Arrivals, forgotten_countsAnew) {
  Arrivals seen;
  for (const std::uint32_t at : {0u, 1u, 4u}) seen.add({at, at + 1, 0, 0, 7});
  seen.forget_first(2);
  EXPECT_EQ(seen.prefix(), 0u);
  EXPECT_TRUE(seen.contains(2));
  EXPECT_FALSE(seen.contains(1));
  EXPECT_EQ(seen.oldest_gap(), 7);
  seen.add({0, 2, 0, 0, 9});
  EXPECT_EQ(seen.prefix(), 3u);
  seen.forget_first(3);
  EXPECT_TRUE(seen.empty());
}

// What a book takes is told before it takes it.
TEST(Arrivals, growth_isToldBefore) {
  Arrivals arrivals;
  for (std::uint32_t number = 1; number < 2000; number += 2) {
    const std::size_t before = arrivals.heap_bytes(), growth = arrivals.bytes_to_grow(frame(number));
    arrivals.add(frame(number));
    ASSERT_LE(arrivals.heap_bytes(), before + growth) << number;
  }
  EXPECT_GE(arrivals.heap_bytes(), 1000 * sizeof(Arrivals::Range));
}

// One stream has a third of the pool, one peer half of it; whoever comes later finds room, and what is given
// back is free.
TEST(ReorderPool, full_leavesRoomForOthers) {
  ReorderPool pool(60'000);
  ReorderPool::Share first(pool), second(pool), of_other(pool);
  const wire::FcId peer{0x010200}, other{0x010300};
  const auto fill = [](ReorderPool::Share& share, wire::FcId from) {
    while (share.take(from, 100)) {}
  };
  fill(first, peer);
  EXPECT_EQ(first.bytes(), 20'000u);
  fill(second, peer);
  EXPECT_GT(second.bytes(), 5'000u);
  fill(first, peer);
  EXPECT_LE(first.bytes() + second.bytes(), 30'000u);
  fill(of_other, other);
  EXPECT_GT(of_other.bytes(), 10'000u);
  EXPECT_LE(pool.held_bytes(), pool.limit_bytes());
  EXPECT_FALSE(first.take(peer, 100));
  EXPECT_TRUE(first.take(peer, 100, ReorderPool::Need::Now)) << "others wait for it";
  EXPECT_FALSE(first.take(peer, 60'000, ReorderPool::Need::Now)) << "not more than there is";
  const std::uint64_t peak = pool.held_bytes();
  first.give_back(first.bytes());
  EXPECT_TRUE(second.take(peer, 1'000));
  second.give_back(second.bytes()), of_other.give_back(of_other.bytes());
  EXPECT_EQ(pool.held_bytes(), 0u);
  EXPECT_EQ(pool.peak_bytes(), peak);
}

// A stream that goes away gives back what it holds.
TEST(ReorderPool, shareDestroyed_isFree) {
  ReorderPool pool(1'000);
  {
    ReorderPool::Share share(pool);
    EXPECT_TRUE(share.take({1}, 300));
    EXPECT_FALSE(share.take({1}, 300));
  }
  EXPECT_EQ(pool.held_bytes(), 0u);
}

// FC-VI B.2.5 rule 7a: gaps are as old as what showed them, from the first to the last: those that are due are
// the first ones.
TEST(Arrivals, gapsThatAreDue_areFilledAtOnce) {
  Arrivals arrivals;
  for (std::uint32_t i = 1; i < 10; ++i) arrivals.add({10 * i, 10 * i + 5, 0, 0, i});
  EXPECT_EQ(arrivals.oldest_gap(), 1);
  EXPECT_EQ(arrivals.end_of_gaps(0), 0u);
  EXPECT_EQ(arrivals.end_of_gaps(4), 40u);
  arrivals.fill_before(40);
  EXPECT_EQ(arrivals.prefix(), 45u);
  EXPECT_EQ(arrivals.oldest_gap(), 5);
  EXPECT_EQ(arrivals.ranges().size(), 6u);
  arrivals.fill_before(arrivals.end_of_gaps(9));
  EXPECT_TRUE(arrivals.is_whole(95));
  EXPECT_EQ(arrivals.oldest_gap(), runtime::never);
  EXPECT_EQ(arrivals.end_of_gaps(100), 0u);
}

// A large piece at once takes no more than many small ones: what it leaves is shared as before.
TEST(ReorderPool, takeOfMuchAtOnce_leavesAsMuch) {
  ReorderPool pool(60'000);
  ReorderPool::Share first(pool), second(pool);
  EXPECT_FALSE(first.take({1}, 20'001));
  EXPECT_TRUE(first.take({1}, 20'000));
  EXPECT_FALSE(second.take({1}, 6'667));
  EXPECT_TRUE(second.take({1}, 6'666));
}

// Books of what is placed as it comes are no reason to lose it while two thirds of the pool are not one peer's.
TEST(ReorderPool, peerHoldsItsHalf_booksStillFindRoom) {
  ReorderPool pool(60'000);
  ReorderPool::Share first(pool), second(pool);
  ASSERT_TRUE(first.take({1}, 30'000, ReorderPool::Need::Now));
  EXPECT_FALSE(second.take({1}, 100));
  while (second.take({1}, 100, ReorderPool::Need::Book)) {}
  EXPECT_EQ(second.bytes(), 10'000u);
  EXPECT_TRUE(second.take({1}, 100, ReorderPool::Need::Now));
}
}  // namespace
