// vipl/engine/polling.hpp: on which core a thread waits, and whether it spins there.
#include <gtest/gtest.h>

#include "vipl/engine/polling.hpp"

using namespace vipl;

namespace {
constexpr TimeNs us = runtime::microsecond;
}

/// Both ends of a doorbell: what this process told its peers, and where its peer is.
struct BothEnds {
  void look_from(int core) { told.push_back(core); }
  [[nodiscard]] int peer_core() const { return peer; }
  int peer = 3;
  std::vector<int> told;
};

/// The thread is on core 3 until it leaves it for core 5, if it may.
struct Cores {
  [[nodiscard]] int current() const { return *core; }
  [[nodiscard]] bool leave(int from) const {
    EXPECT_EQ(from, *core);
    ++*left;
    if (may_leave) *core = 5;
    return may_leave;
  }
  int *core, *left;
  bool may_leave = true;
};

struct Waiting {
  Place place(TimeNs now = runtime::second) { return moves.place(now, bell, Cores{&core, &left, may_leave}); }
  Moves moves;
  BothEnds bell;
  int core = 3, left = 0;
  bool may_leave = true;
};

Place beside(Waiting& waiting, TimeNs now) {
  waiting.core = waiting.bell.peer;
  return waiting.place(now);
}

// Who leaves is nowhere until it has arrived: its peer, which runs on the old core at once, is not to follow it.
TEST(Moves, from_the_core_of_its_peer_and_says_so) {
  Waiting waiting;
  EXPECT_EQ(waiting.place(), Place::Moved);
  EXPECT_EQ(waiting.left, 1);
  EXPECT_EQ(waiting.bell.told, (std::vector<int>{3, -1, 5}));
}

TEST(Moves, stays_where_it_has_to_and_says_so) {
  Waiting waiting;
  waiting.may_leave = false;
  EXPECT_EQ(waiting.place(), Place::Shared);
  EXPECT_EQ(waiting.left, 1);
  EXPECT_EQ(waiting.bell.told, (std::vector<int>{3, -1, 3}));
}

TEST(Moves, stays_on_a_core_of_its_own) {
  for (const auto& [core, peer] : {std::pair(3, 4), {3, -1}, {-1, -1}}) {
    Waiting waiting;
    waiting.core = core;
    waiting.bell.peer = peer;
    EXPECT_EQ(waiting.place(), Place::Apart);
    EXPECT_EQ(waiting.left, 0);
    EXPECT_EQ(waiting.bell.told, (std::vector<int>{core}));
  }
}

// In vain they become rare: 1, 2, 4 ms and so on apart, at last a second.
TEST(Moves, in_vain_become_rare) {
  Waiting waiting;
  std::vector<TimeNs> moved;
  for (TimeNs now = runtime::second; now < 20 * runtime::second; now += 100 * us)
    if (beside(waiting, now) == Place::Moved) moved.push_back(now);
  ASSERT_GT(moved.size(), 20u);
  TimeNs apart = Moves::first_rest;
  for (std::size_t i = 1; i < moved.size(); ++i, apart = std::min(2 * apart, Moves::longest_rest))
    EXPECT_EQ(moved[i] - moved[i - 1], apart) << i;
}

// A move that kept its thread apart for long is followed by the next at once.
TEST(Moves, after_a_long_time_apart_begin_anew) {
  Waiting waiting;
  TimeNs now = runtime::second;
  for (const TimeNs end = now + 10 * runtime::second; now < end; now += 100 * us)
    static_cast<void>(beside(waiting, now));
  now += 3 * runtime::second;
  EXPECT_EQ(beside(waiting, now), Place::Moved);
  EXPECT_EQ(beside(waiting, now + Moves::first_rest - 1), Place::Shared);
  EXPECT_EQ(beside(waiting, now + Moves::first_rest), Place::Moved);
}

// After a try in vain it leaves out 1 wait, then 2, then 4, never more than `longest_rest`; a success begins anew.
TEST(WaitSpin, tries_in_vain_become_rare) {
  WaitSpin spin;
  const auto left_out = [&] {
    std::uint32_t waits = 0;
    while (!spin.may_begin(Place::Apart)) ++waits;
    return waits;
  };
  EXPECT_EQ(left_out(), 0u);
  for (const std::uint32_t waits : {1u, 2u, 4u, 8u}) {
    spin.in_vain();
    EXPECT_EQ(left_out(), waits);
  }
  for (int i = 0; i < 20; ++i) {
    spin.in_vain();
    EXPECT_LE(left_out(), WaitSpin::longest_rest);
  }
  spin.in_vain();
  EXPECT_EQ(left_out(), WaitSpin::longest_rest);
  spin.found();
  EXPECT_EQ(left_out(), 0u);
  spin.in_vain();
  EXPECT_EQ(left_out(), 1u);
}

// On the core of the process that it waits for it spins never; on a new core at once.
TEST(WaitSpin, goes_by_the_place) {
  WaitSpin spin;
  EXPECT_FALSE(spin.may_begin(Place::Shared));
  EXPECT_TRUE(spin.may_begin(Place::Apart));
  for (int i = 0; i < 20; ++i) spin.in_vain();
  EXPECT_FALSE(spin.may_begin(Place::Apart));
  EXPECT_TRUE(spin.may_begin(Place::Moved));
  EXPECT_TRUE(spin.may_begin(Place::Apart));
}
