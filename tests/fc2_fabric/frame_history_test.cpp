// The last frames: bounded in frames and bytes, in order, whole or cut, found by time, copied at once.
#include "fc2_fabric/frame/frame_history.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/support/made_frame.hpp"

namespace fc2 {
namespace {

constexpr std::size_t least_bytes = fcoe::EthernetFrame::max_bytes + 4;

class FrameHistoryTest : public testing::Test {
 protected:
  // Bytes that tell which frame it is; the first says that it is of an ELS (R_CTL 22h).
  FramePtr frame(std::size_t bytes, std::uint8_t first = 0x22) {
    std::vector<std::uint8_t> content(bytes);
    std::iota(content.begin(), content.end(), static_cast<std::uint8_t>(++made_));
    if (bytes != 0) content[0] = first;
    return support::raw_frame(pool, content);
  }
  FramePool pool;

 private:
  unsigned made_ = 0;
};

std::vector<std::uint8_t> bytes_of(const FrameHistory& history, FrameHistory::Number number) {
  const auto bytes = history.bytes_of(history.at(number));
  return {bytes.begin(), bytes.end()};
}

// A frame is kept with its number, time, delimiters and bytes.
TEST_F(FrameHistoryTest, added_frame_is_kept) {
  FrameHistory history({.bytes = least_bytes, .frames = 4});
  EXPECT_TRUE(history.empty());
  const FramePtr one = frame(100);
  one->crc_error = true;
  history.add(7, *one).from = 3;
  EXPECT_EQ(one->record, 1U);
  ASSERT_TRUE(history.holds(1));
  EXPECT_FALSE(history.holds(0) || history.holds(2));
  const PassedFrame& kept = history.at(1);
  EXPECT_EQ(kept.at, 7);
  EXPECT_EQ(kept.from, 3U);
  EXPECT_EQ(kept.size_bytes, 100U);
  EXPECT_EQ(kept.sof, wire::Sof::i3);
  EXPECT_EQ(kept.eof, wire::Eof::t);
  EXPECT_TRUE(kept.crc_error);
  EXPECT_EQ(bytes_of(history, 1), std::vector(one->content().begin(), one->content().end()));
}

// The limit of frames: the oldest go, one for each that comes.
TEST_F(FrameHistoryTest, full_of_frames_displaces_the_oldest) {
  FrameHistory history({.bytes = least_bytes, .frames = 4});
  for (int i = 1; i <= 10; ++i) history.add(i, *frame(24));
  EXPECT_EQ(history.first(), 7U);
  EXPECT_EQ(history.end(), 11U);
  for (FrameHistory::Number number = 7; number != 11; ++number)
    EXPECT_EQ(history.at(number).at, static_cast<TimeNs>(number));
  EXPECT_EQ(history.find(6), nullptr);
}

// The limit of bytes, over many turns of the ring and sizes of every kind: what is held is what was added, and no more
// than fits is displaced.
TEST_F(FrameHistoryTest, full_of_bytes_displaces_the_oldest) {
  FrameHistory history({.bytes = 4000, .frames = 1000});
  std::vector<std::vector<std::uint8_t>> added(1);
  for (std::size_t i = 1; i <= 2000; ++i) {
    const FramePtr one = frame(i * 37 % max_frame_bytes);
    added.emplace_back(one->content().begin(), one->content().end());
    history.add(static_cast<TimeNs>(i), *one);
    std::size_t held = 0;
    for (auto number = history.first(); number != history.end(); ++number) {
      ASSERT_EQ(bytes_of(history, number), added[number]) << number << " after " << i;
      held += added[number].size();
    }
    ASSERT_LE(held, 4000U);
    // Left free at most: the largest frame's at the end of the ring, and that of the one that came.
    const std::size_t displaced = history.first() > 1 ? added[history.first() - 1].size() : 4000;
    ASSERT_GT(held + displaced + max_frame_bytes, 4000U);
  }
}

// Of a long frame of an FC-4 the beginning is kept, unless whole frames are wanted; of others everything.
TEST_F(FrameHistoryTest, long_data_frame_is_cut_unless_whole_is_wanted) {
  FrameHistory history({.bytes = 16384, .frames = 8});
  history.add(1, *frame(2000, 0x04));
  history.add(2, *frame(704, 0x04));
  history.add(3, *frame(2000, 0x22));
  history.keep_whole(true);
  history.add(4, *frame(2000, 0x04));
  history.keep_whole(false);
  history.add(5, *frame(2000, 0x04));
  const std::vector<std::size_t> kept{128, 704, 2000, 2000, 128};
  for (FrameHistory::Number number = 1; number <= 5; ++number) {
    EXPECT_EQ(bytes_of(history, number).size(), kept[number - 1]) << number;
    EXPECT_EQ(history.at(number).size_bytes, number == 2 ? 704 : 2000) << number;
  }
}

// The other end of a frame takes no bytes.
TEST_F(FrameHistoryTest, other_end_keeps_no_bytes) {
  FrameHistory history({.bytes = least_bytes, .frames = 8});
  history.add(1, *frame(100));
  EXPECT_EQ(history.add_end(2, 1).first_end, 1U);
  EXPECT_TRUE(bytes_of(history, 2).empty());
  history.add(3, *frame(100));
  EXPECT_EQ(history.at(3).offset, 100U);
}

// Frames since a time: none before it, all from it on, also where it lies between two, before all or behind all.
TEST_F(FrameHistoryTest, frames_are_found_by_time) {
  FrameHistory history({.bytes = least_bytes, .frames = 8});
  EXPECT_EQ(history.first_since(5), history.end());
  for (const TimeNs at : {10, 10, 20, 20, 20, 30}) history.add(at, *frame(24));
  EXPECT_EQ(history.first_since(0), 1U);
  EXPECT_EQ(history.first_since(10), 1U);
  EXPECT_EQ(history.first_since(11), 3U);
  EXPECT_EQ(history.first_since(20), 3U);
  EXPECT_EQ(history.first_since(30), 6U);
  EXPECT_EQ(history.first_since(31), 7U);
}

// Whoever must not miss a frame is warned before it is displaced.
TEST_F(FrameHistoryTest, half_way_out_comes_before_displaced) {
  for (const HistoryLimits limits : {HistoryLimits{.bytes = 1u << 20, .frames = 10}, HistoryLimits{.bytes = 5000}}) {
    FrameHistory history(limits);
    history.add(1, *frame(500));
    bool warned = false;
    for (int i = 0; i < 100 && history.holds(1); ++i) {
      warned = warned || history.is_half_way_out(1);
      history.add(2, *frame(500));
    }
    EXPECT_FALSE(history.holds(1));
    EXPECT_TRUE(warned);
    EXPECT_FALSE(history.is_half_way_out(history.end() - 1));
  }
}

// What keeps no bytes is as new as the frame before it: its number counts, not that it lies where the next one will.
TEST_F(FrameHistoryTest, newest_without_bytes_is_not_half_way_out) {
  FrameHistory history({.bytes = 5000, .frames = 100});
  history.add(1, *frame(500));
  history.add_end(1, 1);
  EXPECT_FALSE(history.is_half_way_out(2));
  for (int i = 0; i < 5; ++i) history.add(2, *frame(500));
  EXPECT_FALSE(history.is_half_way_out(2));
  history.add(2, *frame(500));
  EXPECT_TRUE(history.is_half_way_out(2));
  for (int i = 0; i < 4; ++i) history.add(2, *frame(500));  // the next one has the place of number 2 again
  ASSERT_TRUE(history.holds(2));
  EXPECT_TRUE(history.is_half_way_out(2));
}

// A snapshot has what was there when it was made, whatever comes then.
TEST_F(FrameHistoryTest, snapshot_stays_as_it_was) {
  FrameHistory history({.bytes = least_bytes, .frames = 4});
  for (int i = 1; i <= 6; ++i) history.add(i, *frame(700));
  HistoryCopy copy(history);
  ASSERT_FALSE(copy.step());
  const FrameHistory& snapshot = copy.history();
  const auto before = bytes_of(history, history.first());
  const auto first = history.first();
  for (int i = 7; i <= 20; ++i) history.add(i, *frame(700));
  ASSERT_EQ(snapshot.first(), first);
  EXPECT_EQ(snapshot.end(), 7U);
  EXPECT_EQ(bytes_of(snapshot, first), before);
}

// A snapshot takes as much memory as what is held: after few frames it has room for few.
TEST_F(FrameHistoryTest, snapshot_is_as_large_as_what_is_held) {
  FrameHistory history({.bytes = 8u << 20, .frames = 1u << 18});
  EXPECT_TRUE(HistoryCopy(history).is_complete());
  for (int i = 1; i <= 5; ++i) history.add(i, *frame(100));
  history.add_end(6, 5);
  HistoryCopy copy(history);
  ASSERT_FALSE(copy.step());
  const FrameHistory& snapshot = copy.history();
  EXPECT_EQ(snapshot.limits().frames, 6U);
  EXPECT_EQ(snapshot.limits().bytes, 500U);
  for (FrameHistory::Number number = 1; number != 7; ++number)
    EXPECT_EQ(bytes_of(snapshot, number), bytes_of(history, number)) << number;
  EXPECT_EQ(snapshot.at(6).first_end, 5U);
}

// A step copies no more than it may, of many frames and of long ones.
TEST_F(FrameHistoryTest, step_of_a_copy_is_bounded) {
  for (const std::size_t size : {24U, 2000U}) {
    FrameHistory history({.bytes = 4u << 20, .frames = 2000});
    history.keep_whole(true);
    for (int i = 1; i <= 2000; ++i) history.add(i, *frame(size));
    HistoryCopy copy(history);
    std::size_t steps = 0;
    for (FrameHistory::Number before = 1; !copy.is_complete(); before = copy.history().end(), ++steps) {
      copy.step();
      const std::size_t frames = copy.history().end() - before;
      ASSERT_GT(frames, 0U);
      EXPECT_LE(frames, HistoryCopy::frames_a_step);
      EXPECT_LT((frames - 1) * size, HistoryCopy::bytes_a_step);
    }
    EXPECT_GE(steps, 2000 / HistoryCopy::frames_a_step);
    EXPECT_EQ(copy.history().end() - copy.history().first(), 2000U);
  }
}

// A full ring of the shortest frames with their other ends, and the longest that displace them while it is copied: with
// a step for each the copy has all that was there.
TEST_F(FrameHistoryTest, copy_is_ahead_of_what_displaces) {
  FrameHistory history({.bytes = 64u << 10, .frames = 1u << 16});
  history.keep_whole(true);
  for (int i = 1; i <= 4000; ++i) {
    history.add(i, *frame(24));
    history.add_end(i, history.end() - 1);
  }
  const auto first = history.first(), end = history.end();
  HistoryCopy copy(history);
  while (copy.step()) {
    history.add(5000, *frame(2136));
  }
  ASSERT_GT(history.first(), first);
  EXPECT_EQ(copy.history().first(), first);
  EXPECT_EQ(copy.history().end(), end);
  for (auto number = first; number != end; ++number) ASSERT_EQ(copy.history().at(number).size_bytes, number % 2 * 24);
}

// Without steps frames are displaced before they are copied: the copy has those behind them, without a gap.
TEST_F(FrameHistoryTest, copy_without_steps_has_what_is_left) {
  FrameHistory history({.bytes = least_bytes, .frames = 600});
  for (int i = 1; i <= 600; ++i) history.add_end(i, 1);
  HistoryCopy copy(history);
  ASSERT_TRUE(copy.step());
  for (int i = 601; i <= 900; ++i) history.add_end(i, 1);
  while (copy.step()) {}
  EXPECT_EQ(copy.history().first(), 301U);
  EXPECT_EQ(copy.history().end(), 601U);
  EXPECT_EQ(copy.history().at(301).at, 301U);
  for (int i = 901; i <= 1800; ++i) history.add_end(i, 1);
  HistoryCopy late(history);
  for (int i = 1801; i <= 2500; ++i) history.add_end(i, 1);
  EXPECT_FALSE(late.step());
  EXPECT_TRUE(late.history().empty());
}

// An Ethernet frame has its 802.1Q tag again, and is cut as what it carries.
TEST_F(FrameHistoryTest, ethernet_frame_has_its_tag) {
  FrameHistory history({.bytes = 16384, .frames = 4});
  std::vector<std::uint8_t> bytes(60, 0x55);
  bytes[12] = 0x89;
  bytes[13] = 0x14;
  fcoe::EthernetFrame one = fcoe::EthernetFrame::of(pool, bytes);
  one.vlan = 0x123;
  history.add(1, one);
  EXPECT_EQ(one.body->record, 1U);
  bytes.insert(bytes.begin() + 12, {0x81, 0x00, 0x01, 0x23});
  EXPECT_EQ(bytes_of(history, 1), bytes);
  EXPECT_EQ(history.at(1).size_bytes, 64U);
  EXPECT_TRUE(history.at(1).ethernet);

  std::vector<std::uint8_t> data(2000, 0);
  data[12] = 0x89;
  data[13] = 0x06;
  history.add(2, fcoe::EthernetFrame::of(pool, data));
  EXPECT_EQ(bytes_of(history, 2).size(), 28U + 128U);
  EXPECT_EQ(history.at(2).size_bytes, 2000U);
}

}  // namespace
}  // namespace fc2
