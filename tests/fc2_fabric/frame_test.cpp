// Where the bytes of a frame lie: in itself, or in a place that somebody lends (frame.hpp), and who makes it where
// (FrameOutput::make_frame).
#include "fc2_fabric/frame/frame.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "fc2_fabric/node/transmitter.hpp"

namespace fc2 {
namespace {

class FrameTest : public testing::Test {
 protected:
  /// A frame of 100 bytes that count from `first`, in the place.
  FramePtr lent(std::uint8_t first = 0) {
    FramePtr frame = pool.take();
    lender.lend(place, *frame);
    frame->size_bytes = 100;
    fill(*frame, first);
    return frame;
  }
  static void fill(Frame& frame, std::uint8_t first) {
    std::iota(frame.bytes.begin(), frame.bytes.begin() + frame.size_bytes, first);
  }
  static bool counts_from(const Frame& frame, std::uint8_t first) {
    std::array<std::uint8_t, 100> expected;
    std::iota(expected.begin(), expected.end(), first);
    return std::equal(expected.begin(), expected.end(), frame.content().begin(), frame.content().end());
  }

  FramePool pool;
  std::array<std::uint8_t, max_frame_bytes> place{};
  FrameLender lender;
};

// A frame that no place was lent to has its bytes in itself.
TEST_F(FrameTest, taken_has_room_of_its_own) {
  const FramePtr frame = pool.take();
  EXPECT_EQ(frame->bytes.data(), frame->own.data());
  EXPECT_EQ(frame->lender, nullptr);
  EXPECT_EQ(frame->data_field().size(), max_data_field_bytes);
}

// What is written goes to the place, and the descriptor stays in the frame.
TEST_F(FrameTest, lent_writes_into_the_place) {
  const FramePtr frame = lent(7);
  EXPECT_EQ(lender.borrower(), frame.get());
  EXPECT_EQ(place[0], 7);
  EXPECT_EQ(place[99], 106);
  EXPECT_EQ(frame->data_field().data(), place.data() + frame_header_bytes);
}

// It takes its bytes along; the place is free for the next, which the former one does not notice.
TEST_F(FrameTest, lent_leaves_place_with_its_bytes) {
  const FramePtr first = lent(1);
  first->leave_place();
  EXPECT_EQ(lender.borrower(), nullptr);
  const FramePtr second = lent(50);
  EXPECT_TRUE(counts_from(*first, 1));
  EXPECT_TRUE(counts_from(*second, 50));
  first->leave_place();  // nothing more to leave
  EXPECT_TRUE(counts_from(*first, 1));
}

// Who looks at a part of the content looks at it where it is then.
TEST_F(FrameTest, lent_leaves_place_part_follows) {
  const FramePtr frame = lent(1);
  const auto part = frame->leave_place(frame->content().subspan(30, 5));
  place.fill(0);
  EXPECT_EQ(part.data(), frame->own.data() + 30);
  EXPECT_EQ(std::vector<std::uint8_t>(part.begin(), part.end()), (std::vector<std::uint8_t>{31, 32, 33, 34, 35}));
  EXPECT_EQ(frame->leave_place(part).data(), part.data());
  EXPECT_TRUE(frame->leave_place(std::span<const std::uint8_t>()).empty());
}

// The place is needed, or is gone: whoever kept the frame has its bytes all the same.
TEST_F(FrameTest, lent_taken_back_keeps_its_bytes) {
  std::optional<FrameLender> passing(std::in_place);
  const FramePtr frame = pool.take();
  passing->lend(place, *frame);
  frame->size_bytes = 100;
  fill(*frame, 3);
  passing.reset();
  place.fill(0);
  EXPECT_TRUE(counts_from(*frame, 3));
  lender.take_back();  // nobody stands there
}

// A frame that ends frees its place, and comes out of the pool with its own bytes again.
TEST_F(FrameTest, lent_given_back_frees_the_place) {
  lent().reset();
  EXPECT_EQ(lender.borrower(), nullptr);
  const FramePtr next = pool.take();
  EXPECT_EQ(next->bytes.data(), next->own.data());
  EXPECT_EQ(next->lender, nullptr);
}

// A copy has the bytes and stands nowhere; the original stays.
TEST_F(FrameTest, lent_copied_has_bytes_of_its_own) {
  const FramePtr frame = lent(9);
  frame->fault = 4;
  const FramePtr copy = pool.copy(*frame);
  EXPECT_EQ(lender.borrower(), frame.get());
  place.fill(0);
  EXPECT_EQ(copy->lender, nullptr);
  EXPECT_EQ(copy->fault, 4);
  EXPECT_TRUE(counts_from(*copy, 9));
}

// --- the output provides the place

struct Lending final : FrameOutput {
  FramePtr make_frame(FramePool& pool, wire::FcId) override {
    FramePtr frame = pool.take();
    lender.lend(place, *frame);
    return frame;
  }
  void send(FramePtr frame) override {
    in_place.push_back(frame->lender == &lender);
    marks.push_back(frame->bytes[0]);
  }
  std::array<std::uint8_t, max_frame_bytes> place{};
  FrameLender lender;
  std::vector<bool> in_place;
  std::vector<std::uint8_t> marks;
};

struct Counting final : FrameSource {
  Next next_frame(Frame& frame) override {
    if (left == 0) return Next::Exhausted;
    frame.bytes[0] = --left;
    frame.size_bytes = frame_header_bytes;
    return Next::Made;
  }
  std::uint8_t left = 3;
};

// A source writes where its frame is sent from; a place that was lent in vain is free again.
TEST(FrameOutputTest, source_writes_into_the_place_of_the_output) {
  Scheduler scheduler;
  FramePool pool;
  Lending output;
  Transmitter transmitter(scheduler, pool);
  Counting source;
  transmitter.attach(&output);
  transmitter.submit(source);
  scheduler.run_until(scheduler.now());
  EXPECT_EQ(output.marks, (std::vector<std::uint8_t>{2, 1, 0}));
  EXPECT_EQ(output.in_place, (std::vector<bool>{true, true, true}));
  EXPECT_EQ(output.lender.borrower(), nullptr);
  EXPECT_EQ(pool.outstanding(), 0U);
}

}  // namespace
}  // namespace fc2
