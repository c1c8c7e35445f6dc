// What the other end of a link is told to keep back: the last word counts, and no more is remembered than it must hear.
#include "fc2_fabric/drivers/held_destinations.hpp"

#include <gtest/gtest.h>

namespace fc2::drivers {
namespace {
constexpr wire::FcId one{0x010101}, two{0x010102};

class HeldDestinationsTest : public testing::Test {
 protected:
  void expect_told(wire::FcId id, bool is_held) {
    const auto change = held.untold();
    ASSERT_TRUE(change);
    EXPECT_EQ(change->id, id);
    EXPECT_EQ(change->held, is_held);
    held.told(*change);
  }
  void expect_quiet() { EXPECT_FALSE(held.untold()); }
  HeldDestinations held;
};

TEST_F(HeldDestinationsTest, held_and_let_go_are_told) {
  expect_quiet();
  held.hold(one);
  expect_told(one, true);
  held.hold(one);  // nothing new
  expect_quiet();
  held.proceed(one);
  expect_told(one, false);
  expect_quiet();
  EXPECT_EQ(held.size(), 0U);
}

// What is over before it was told is not told at all; nor is what begins again before its end was told.
TEST_F(HeldDestinationsTest, untold_taken_back_is_not_told) {
  held.hold(one);
  held.proceed(one);
  expect_quiet();
  EXPECT_EQ(held.size(), 0U);
  held.hold(two);
  expect_told(two, true);
  held.proceed(two);
  held.hold(two);
  expect_quiet();
  EXPECT_EQ(held.size(), 1U);
}

TEST_F(HeldDestinationsTest, not_held_let_go_is_nothing) {
  held.proceed(one);
  expect_quiet();
}

TEST_F(HeldDestinationsTest, several_are_told_in_turn) {
  held.hold(one);
  held.hold(two);
  expect_told(one, true);
  expect_told(two, true);
  held.proceed(one);
  expect_told(one, false);
  expect_quiet();
  EXPECT_EQ(held.size(), 1U);
}

}  // namespace
}  // namespace fc2::drivers
