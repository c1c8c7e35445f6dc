// Where the book of arrivals and the memory for reordering change their answer: one less, one more (FC-VI 5.2.1, 5.6,
// B.2.5 rule 4c).
#include <gtest/gtest.h>

#include <vector>

#include "fcvi/arrivals.hpp"
#include "fcvi/reorder_pool.hpp"

namespace {
using fcvi::Arrivals;
using fcvi::ReorderPool;
using Piece = Arrivals::Piece;

// FC-VI 5.6: the next SEQ_CNT follows at once, or after so many bytes that SEQ_CNT may have come round: 65,536 frames
// of a byte.
TEST(Arrivals, nextSeqCnt_elsewhereOnlyAfterItCameRound) {
  Arrivals arrivals;
  arrivals.add({0, 100, 0, 0, 1});
  EXPECT_EQ(arrivals.classify({100, 200, 1, 1, 1}), Piece::New);
  EXPECT_EQ(arrivals.classify({101, 200, 1, 1, 1}), Piece::Conflict) << "a byte is left out, and no frame";
  EXPECT_EQ(arrivals.classify({101, 200, 2, 2, 1}), Piece::New) << "a frame of a byte";
  EXPECT_EQ(arrivals.classify({100 + 65'535, 100 + 65'635, 1, 1, 1}), Piece::Conflict);
  EXPECT_EQ(arrivals.classify({100 + 65'536, 100 + 65'636, 1, 1, 1}), Piece::New);
}

// FC-VI 5.6: as many frames are missing as SEQ_CNTs are, and none is shorter than a byte: where there are fewer bytes,
// the frame is of no message, and that shows at once, not when the gap closes.
TEST(Arrivals, seqCntTooFar_isAConflict) {
  Arrivals arrivals;
  arrivals.add({0, 100, 0, 0, 1});
  EXPECT_EQ(arrivals.classify({110, 200, 11, 11, 1}), Piece::New) << "ten frames of a byte";
  EXPECT_EQ(arrivals.classify({110, 200, 12, 12, 1}), Piece::Conflict);
  EXPECT_EQ(arrivals.classify({2'180, 4'260, 0, 0, 1}), Piece::Conflict) << "the SEQ_CNT of the first once more";
  EXPECT_EQ(Arrivals().classify({100, 200, 101, 101, 1}), Piece::Conflict) << "of the message's beginning, too";
  EXPECT_EQ(Arrivals().classify({100, 200, 100, 100, 1}), Piece::New);
}

// ... and before what is here already, likewise.
TEST(Arrivals, seqCntBefore_elsewhereOnlyAfterItCameRound) {
  Arrivals arrivals;
  arrivals.add({200'000, 200'100, 9, 9, 1});
  EXPECT_EQ(arrivals.classify({199'900, 200'000, 8, 8, 1}), Piece::New);
  EXPECT_EQ(arrivals.classify({199'800, 199'999, 8, 8, 1}), Piece::Conflict);
  EXPECT_EQ(arrivals.classify({199'800, 199'999, 7, 7, 1}), Piece::New);
  EXPECT_EQ(arrivals.classify({199'800, 200'000, 7, 7, 1}), Piece::Conflict) << "the offsets meet, the SEQ_CNTs do not";
}

// What is written down of a range is what its neighbours are compared with: its ends, and the SEQ_CNT at each.
TEST(Arrivals, joined_hasTheEndsOfAll) {
  Arrivals arrivals;
  arrivals.add({300, 400, 3, 3, 10});
  arrivals.add({200, 300, 2, 2, 20});  // in front of it
  ASSERT_EQ(arrivals.ranges().size(), 1u);
  EXPECT_EQ(arrivals.ranges()[0].begin, 200u);
  EXPECT_EQ(arrivals.ranges()[0].first_seq_cnt, 2);
  EXPECT_EQ(arrivals.ranges()[0].last_seq_cnt, 3);
  arrivals.add({400, 500, 4, 5, 30});  // behind it
  EXPECT_EQ(arrivals.ranges()[0].end, 500u);
  EXPECT_EQ(arrivals.ranges()[0].last_seq_cnt, 5);
  arrivals.add({0, 100, 0, 0, 40});  // by itself
  ASSERT_EQ(arrivals.ranges().size(), 2u);
  arrivals.add({100, 200, 1, 1, 50});  // what was between
  ASSERT_EQ(arrivals.ranges().size(), 1u);
  EXPECT_EQ(arrivals.ranges()[0].begin, 0u);
  EXPECT_EQ(arrivals.ranges()[0].end, 500u);
  EXPECT_EQ(arrivals.ranges()[0].first_seq_cnt, 0);
  EXPECT_EQ(arrivals.ranges()[0].last_seq_cnt, 5);
}

// A piece of several frames is compared by its first SEQ_CNT in front and by its last behind, and leaves both.
TEST(Arrivals, pieceOfSeveralFrames_hasTwoEnds) {
  Arrivals arrivals;
  arrivals.add({0, 100, 0, 0, 1});
  arrivals.add({600, 700, 6, 6, 1});
  EXPECT_EQ(arrivals.classify({100, 600, 1, 5, 1}), Piece::New);
  EXPECT_EQ(arrivals.classify({100, 600, 2, 5, 1}), Piece::Conflict);
  EXPECT_EQ(arrivals.classify({100, 600, 1, 4, 1}), Piece::Conflict);
  EXPECT_EQ(arrivals.classify({100, 600, 5, 5, 1}), Piece::Conflict);
  EXPECT_EQ(arrivals.classify({100, 600, 1, 1, 1}), Piece::Conflict);
  arrivals.add({400, 600, 4, 5, 1});
  EXPECT_EQ(arrivals.ranges().back().first_seq_cnt, 4);
  EXPECT_EQ(arrivals.ranges().back().last_seq_cnt, 6);
}

// A message has so many ranges at most: a frame between two of them, and beside neither, has no room then either.
TEST(Arrivals, manyHoles_frameInTheMidst_hasNoRoom) {
  Arrivals arrivals;
  std::uint32_t at = 1'000;
  for (std::uint16_t number = 3; arrivals.ranges().size() < 64; number += 3, at += 1'000)
    arrivals.add({at, at + 100, number, number, 1});
  EXPECT_FALSE(arrivals.has_room({1'500, 1'600, 4, 4, 1}, 0));
  EXPECT_FALSE(arrivals.has_room({500, 600, 1, 1, 1}, 0));
  EXPECT_TRUE(arrivals.has_room({1'100, 1'200, 4, 4, 1}, 0));
  EXPECT_TRUE(arrivals.has_room({900, 1'000, 2, 2, 1}, 0));
}

// FC-VI B.2.5 rule 4c: a piece in the midst of a gap was missed as long as what is behind it; one behind all,
// since it came.
TEST(Arrivals, pieceInAGap_isMissedSinceTheGapShowed) {
  Arrivals arrivals;
  arrivals.add({500, 600, 5, 5, 10});
  arrivals.add({200, 300, 2, 2, 70});
  EXPECT_EQ(arrivals.missed_since(0), 10);
  EXPECT_EQ(arrivals.missed_since(199), 10);
  arrivals.add({800, 900, 8, 8, 90});
  EXPECT_EQ(arrivals.missed_since(600), 90);
  EXPECT_EQ(arrivals.missed_since(599), 10) << "of the range that it is in";
  EXPECT_EQ(arrivals.missed_since(900), runtime::never);
  EXPECT_EQ(arrivals.oldest_gap(), 10);
}

// Begin and end: the first byte belongs to a range, its end does not.
TEST(Arrivals, contains_itsBeginAndNotItsEnd) {
  Arrivals arrivals;
  arrivals.add({10, 20, 1, 1, 1});
  EXPECT_FALSE(arrivals.contains(9));
  EXPECT_TRUE(arrivals.contains(10));
  EXPECT_TRUE(arrivals.contains(19));
  EXPECT_FALSE(arrivals.contains(20));
  EXPECT_EQ(arrivals.prefix(), 0u) << "what is before it is missing";
  EXPECT_FALSE(arrivals.is_whole(20));
}

// A piece that is here in part only, by a byte at either end.
TEST(Arrivals, overlapByAByte_isAConflict) {
  Arrivals arrivals;
  arrivals.add({100, 200, 1, 1, 1});
  EXPECT_EQ(arrivals.classify({100, 200, 1, 1, 1}), Piece::Duplicate);
  EXPECT_EQ(arrivals.classify({99, 200, 1, 1, 1}), Piece::Conflict);
  EXPECT_EQ(arrivals.classify({100, 201, 1, 1, 1}), Piece::Conflict);
  EXPECT_EQ(arrivals.classify({101, 199, 1, 1, 1}), Piece::Duplicate);
  EXPECT_EQ(arrivals.classify({199, 200, 1, 1, 1}), Piece::Duplicate);
  EXPECT_EQ(arrivals.classify({100, 101, 1, 1, 1}), Piece::Duplicate);
  EXPECT_EQ(arrivals.classify({199, 201, 2, 2, 1}), Piece::Conflict);
}

// What is over ends in the midst of a range: the rest of it stands at the beginning, and those behind
// keep their distance.
TEST(Arrivals, forgottenInTheMidst_restBegins) {
  Arrivals seen;
  seen.add({0, 5, 0, 0, 7});
  seen.add({8, 9, 0, 0, 7});
  seen.forget_first(3);
  ASSERT_EQ(seen.ranges().size(), 2u);
  EXPECT_EQ(seen.ranges()[0].begin, 0u);
  EXPECT_EQ(seen.ranges()[0].end, 2u);
  EXPECT_EQ(seen.ranges()[1].begin, 5u);
  EXPECT_EQ(seen.ranges()[1].end, 6u);
}

// Of a book: what it will need is told exactly, for the pool is charged with it; two ranges need nothing.
TEST(Arrivals, growth_isToldExactly) {
  Arrivals arrivals;
  EXPECT_EQ(arrivals.heap_bytes(), 0u);
  for (std::uint32_t number = 1; number < 200; number += 2) {
    const Arrivals::Range piece{number * 10, number * 10 + 10, static_cast<std::uint16_t>(number),
                                static_cast<std::uint16_t>(number), 1};
    const std::size_t before = arrivals.heap_bytes(), growth = arrivals.bytes_to_grow(piece);
    EXPECT_TRUE(growth == 0 || number > 4) << "room for two is in it";
    arrivals.add(piece);
    ASSERT_EQ(arrivals.heap_bytes(), before + growth) << number;
  }
}

// A book that was used and emptied is as a new one: room for two within it.
TEST(Arrivals, clear_isAsNew) {
  Arrivals arrivals;
  const auto fill = [&arrivals] {
    for (std::uint16_t number = 1; number < 9; number += 2) {
      const Arrivals::Range piece{number, number + 1u, number, number, 1};
      const std::size_t before = arrivals.heap_bytes(), growth = arrivals.bytes_to_grow(piece);
      EXPECT_EQ(growth != 0, number == 5) << number;
      arrivals.add(piece);
      EXPECT_EQ(arrivals.heap_bytes(), before + growth) << number;
    }
  };
  fill();
  arrivals.clear();
  EXPECT_TRUE(arrivals.empty());
  EXPECT_EQ(arrivals.heap_bytes(), 0u);
  fill();
}

// A piece that meets a range that is here, before it, behind it or both, takes no memory, though there is no room
// for one more.
TEST(Arrivals, growth_ofAPieceThatJoins_isNothing) {
  Arrivals arrivals;
  arrivals.add({10, 20, 1, 1, 1});
  arrivals.add({30, 40, 3, 3, 1});
  EXPECT_NE(arrivals.bytes_to_grow({50, 60, 5, 5, 1}), 0u);
  EXPECT_NE(arrivals.bytes_to_grow({22, 28, 2, 2, 1}), 0u);
  EXPECT_EQ(arrivals.bytes_to_grow({0, 10, 0, 0, 1}), 0u);
  EXPECT_EQ(arrivals.bytes_to_grow({20, 25, 2, 2, 1}), 0u);
  EXPECT_EQ(arrivals.bytes_to_grow({20, 30, 2, 2, 1}), 0u);
  EXPECT_EQ(arrivals.bytes_to_grow({25, 30, 2, 2, 1}), 0u);
  EXPECT_EQ(arrivals.heap_bytes(), 0u);
}

/// As many takes of `bytes` as are granted.
std::uint64_t takes(ReorderPool::Share& share, wire::FcId peer, std::uint64_t bytes) {
  std::uint64_t count = 0;
  while (share.take(peer, bytes)) ++count;
  return count;
}

// A stream alone has a third of the pool, to the byte; a second stream of the same peer gets what its peer leaves,
// and no more.
TEST(ReorderPool, shares_endToTheByte) {
  ReorderPool pool(2'700);
  ReorderPool::Share first(pool), second(pool), of_other(pool);
  EXPECT_EQ(takes(first, {1}, 1), 900u);
  EXPECT_EQ(takes(second, {1}, 1), 300u) << "a third of what its peer could still take";
  EXPECT_EQ(pool.held_bytes(), 1'200u);
  EXPECT_EQ(takes(of_other, {2}, 1), 500u) << "a third of what is free";
  EXPECT_FALSE(first.take({1}, 1));
}

// All at once, or nothing: what is refused is not held, and what is refused in part neither.
TEST(ReorderPool, tooMuchAtOnce_takesNothing) {
  ReorderPool pool(1'200);
  ReorderPool::Share share(pool);
  EXPECT_FALSE(share.take({1}, 1'201));
  EXPECT_EQ(pool.held_bytes(), 0u);
  EXPECT_EQ(pool.peak_bytes(), 0u);
  EXPECT_TRUE(share.take({1}, 400));
  EXPECT_TRUE(share.take({1}, 0)) << "nothing is always free";
  EXPECT_TRUE(share.take({1}, 800, ReorderPool::Need::Now)) << "all that is left";
  EXPECT_FALSE(share.take({1}, 1, ReorderPool::Need::Now));
  EXPECT_TRUE(share.take({1}, 0)) << "of nothing there is always enough";
  EXPECT_EQ(share.bytes(), 1'200u);
  EXPECT_EQ(pool.peak_bytes(), 1'200u);
}

// What a peer gave back is its own again; the share of another peer does not change with it.
TEST(ReorderPool, givenBack_isOfTheSamePeer) {
  ReorderPool pool(1'200);
  ReorderPool::Share mine(pool), others(pool);
  ASSERT_TRUE(mine.take({1}, 300));
  ASSERT_TRUE(others.take({2}, 300));
  mine.give_back(100);
  EXPECT_EQ(mine.bytes(), 200u);
  EXPECT_EQ(pool.held_bytes(), 500u);
  EXPECT_EQ(pool.peak_bytes(), 600u) << "the most that was ever held";
  mine.give_back(200);
  EXPECT_EQ(mine.bytes(), 0u);
  EXPECT_EQ(takes(mine, {1}, 1), 300u) << "a third of what the other leaves";
  EXPECT_EQ(pool.held_bytes(), 600u);
}
}  // namespace
