// Where the order search may put a call that a capture does not tell: a Disconnect leaves as soon as the link takes it,
// so it was not called in a time before that in which the link had nothing to send.
#include <gtest/gtest.h>

#include "tools/fcvi_sim/replay/order.hpp"

namespace sim::replay {
namespace {

CapturedFrame frame(capture::Time at, bool sent, std::size_t bytes = 56) {
  CapturedFrame made;
  made.at = at;
  made.sent = sent;
  made.bytes.resize(bytes);
  return made;
}

/// As in figure C.1: a data frame and the next (1,080 bytes in 1,400 ns), rest, what came, and at once two frames of
/// the port.
std::vector<CapturedFrame> conversation() {
  return {frame(0, true, 1080), frame(1'400, true), frame(2'000'000, false), frame(2'000'000, true),
          frame(2'000'070, true)};
}

constexpr std::size_t came = 2, answer = 3, request = 4;

TEST(EarliestPlace, disconnect_behind_what_came_while_the_link_rested) {
  const std::vector<CapturedFrame> frames = conversation();
  EXPECT_EQ(earliest_place(frames, call::Disconnect{}, request), answer);
  EXPECT_GT(earliest_place(frames, call::Disconnect{}, request), came);
}

TEST(EarliestPlace, disconnect_ahead_of_what_came_while_the_link_was_busy) {
  std::vector<CapturedFrame> frames = conversation();
  frames.insert(frames.begin() + came, frame(1'999'930, true));            // a frame of the port just before
  EXPECT_EQ(earliest_place(frames, call::Disconnect{}, request + 1), 0U);  // nothing came before that
}

// It was captured before the port took it in.
TEST(EarliestPlace, disconnect_ahead_of_what_was_on_its_way) {
  std::vector<CapturedFrame> frames = conversation();
  frames.insert(frames.begin() + came, frame(1'000'000, false));
  frames[came + 1].on_its_way = true;
  EXPECT_EQ(earliest_place(frames, call::Disconnect{}, request + 1), came + 1);
}

TEST(EarliestPlace, pace_of_short_frames_where_there_are_no_others) {
  std::vector<CapturedFrame> frames = conversation();
  frames.erase(frames.begin());
  EXPECT_EQ(earliest_place(frames, call::Disconnect{}, request - 1), answer - 1);
}

// These wait for other things than the link.
TEST(EarliestPlace, other_calls_anywhere) {
  for (const Call& call : {Call(call::Post{}), Call(call::Connect{}), Call(call::Accept{})})
    EXPECT_EQ(earliest_place(conversation(), call, request), 0U);
}

TEST(EarliestPlace, disconnect_that_shows_nowhere) {
  EXPECT_EQ(earliest_place(conversation(), call::Disconnect{}, conversation().size()), 0U);
}

}  // namespace
}  // namespace sim::replay
