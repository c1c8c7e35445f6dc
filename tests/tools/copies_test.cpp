// Which records of a capture show a frame that another one shows, and for how long that is known.
#include <gtest/gtest.h>

#include "tools/fcvi_sim/capture/copies.hpp"

namespace sim::capture {
namespace {

constexpr Time second = 1'000'000'000;

/// A frame of alice to bob, seen where it left or where it arrived, with other bytes there.
Seen record(std::uint64_t number, Time at, Direction direction, std::uint16_t ox_id) {
  Seen seen;
  seen.packet.number = number;
  seen.packet.direction = direction;
  seen.since_first = at;
  wire::FcHeader header;
  header.s_id = {0x010100};
  header.d_id = {0x010200};
  header.ox_id = {ox_id};
  seen.frame.header = header;
  return seen;
}

// A frame that arrives changed is a copy of the one that left.
TEST(Copies, arrives_changed) {
  Copies copies;
  copies.add(record(1, 0, Direction::sent, 7), 0);
  EXPECT_EQ(copies.row_of(record(2, 1000, Direction::received, 7)), 0U);
  EXPECT_EQ(copies.row_of(record(3, 1000, Direction::received, 8)), std::nullopt);
}

// The same ids after more than the life of a frame are another frame's, whose sender was not seen.
TEST(Copies, too_late_to_be_a_copy) {
  Copies copies;
  copies.add(record(1, 0, Direction::sent, 7), 0);
  copies.add(record(2, 0, Direction::sent, 8), 1);
  EXPECT_EQ(copies.row_of(record(3, Copies::longest_way, Direction::received, 7)), 0U);
  EXPECT_EQ(copies.row_of(record(4, Copies::longest_way + 1, Direction::received, 8)), std::nullopt);
}

// Records of one port behind those of the other, as where two captures were joined: the times go back.
TEST(Copies, in_another_order_than_time) {
  Copies copies;
  for (std::uint16_t k = 0; k < 100; ++k) copies.add(record(1U + k, k * second, Direction::sent, k), k);
  for (std::uint16_t k = 0; k < 100; ++k)
    EXPECT_EQ(copies.row_of(record(101U + k, k * second + 1000, Direction::received, k)), k);
}

// One frame each 100 us, twice as long as a frame is remembered: what is remembered does not grow with it.
TEST(Copies, old_ones_are_forgotten) {
  Copies copies;
  constexpr std::uint64_t frames = 400'000;
  constexpr Time step = second / 10'000;
  for (std::uint64_t k = 0; k < frames; ++k) {
    const auto ox_id = static_cast<std::uint16_t>(k);
    const Time at = static_cast<Time>(k) * step;
    copies.add(record(2 * k + 1, at, Direction::sent, ox_id), k);
    ASSERT_EQ(copies.row_of(record(2 * k + 2, at + 1000, Direction::received, ox_id)), k);
  }
  // Each as it left and as it arrived, for longest_way.
  EXPECT_LE(copies.remembered(), 2 * static_cast<std::size_t>(Copies::longest_way / step) + 2);
  EXPECT_GE(copies.remembered(), static_cast<std::size_t>(Copies::longest_way / step));
}

}  // namespace
}  // namespace sim::capture
