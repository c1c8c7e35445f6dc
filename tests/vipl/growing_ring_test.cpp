// vipl/engine/growing_ring.hpp. Run under ThreadSanitizer too.
#include "vipl/engine/growing_ring.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <thread>

using vipl::GrowingRing;

TEST(GrowingRing, empty_ring_has_nothing) {
  GrowingRing<int> ring;
  int item = 7;
  EXPECT_TRUE(ring.empty());
  EXPECT_FALSE(ring.pop(item));
  EXPECT_EQ(item, 7);
}

TEST(GrowingRing, keeps_order_at_every_fill_while_it_grows) {
  for (int fill = 1; fill < 200; ++fill) {
    GrowingRing<int> ring;
    int next_in = 0, next_out = 0, item = 0;
    for (int round = 0; round < 5; ++round) {
      while (next_in - next_out != fill) ring.push(next_in++);
      for (int i = 0; i < (fill + 1) / 2; ++i) {
        ASSERT_TRUE(ring.pop(item));
        ASSERT_EQ(item, next_out++);
      }
    }
    while (ring.pop(item)) ASSERT_EQ(item, next_out++);
    ASSERT_EQ(next_out, next_in);
    EXPECT_TRUE(ring.empty());
  }
}

TEST(GrowingRing, reset_drops_what_is_in_several_rings) {
  GrowingRing<int> ring;
  for (int i = 0; i < 1000; ++i) ring.push(i);
  int item = 0;
  ASSERT_TRUE(ring.pop(item));
  ring.reset();
  EXPECT_FALSE(ring.pop(item));
  ring.push(5);
  ASSERT_TRUE(ring.pop(item));
  EXPECT_EQ(item, 5);
}

// What was pushed comes out once and in order, whatever the two sides do at the same time: also where the consumer goes
// over from a full ring to the next.
TEST(GrowingRing, two_threads_lose_and_reorder_nothing) {
  struct Item {
    unsigned number, check;
  };
  constexpr unsigned count = 300'000;
  GrowingRing<Item> ring;
  std::thread producer([&ring] {
    for (unsigned i = 0; i < count; ++i) {
      ring.push({i, ~i});
      if (i % 1000 == 0) std::this_thread::yield();
    }
  });
  for (unsigned expected = 0; expected < count;) {
    Item item{};
    if (!ring.pop(item)) {
      std::this_thread::yield();
      continue;
    }
    ASSERT_EQ(item.number, expected);
    ASSERT_EQ(item.check, ~expected);
    ++expected;
  }
  producer.join();
  EXPECT_TRUE(ring.empty());
}

// Growth under way: many short lives, each of which passes through several rings.
TEST(GrowingRing, consumer_follows_a_growing_producer) {
  for (int life = 0; life < 200; ++life) {
    GrowingRing<int> ring;
    std::thread producer([&ring] {
      for (int i = 0; i < 500; ++i) ring.push(i);
    });
    int item = 0;
    for (int expected = 0; expected < 500;) {
      if (ring.pop(item)) {
        ASSERT_EQ(item, expected++);
      } else {
        std::this_thread::yield();
      }
    }
    producer.join();
  }
}

namespace {
/// Of the heap; 0 where a sanitizer has its own.
std::size_t bytes_in_use() { return mallinfo2().uordblks; }
}  // namespace

// "After a time there is one ring, large enough", and nothing stays when it goes.
TEST(GrowingRing, memory_isWhatIsNeeded) {
  const std::size_t before = bytes_in_use();
  for (int life = 0; life < 1000; ++life) {
    GrowingRing<int> ring;
    ring.push(life);
  }
  EXPECT_LT(bytes_in_use(), before + 100'000) << "what is gone";
  GrowingRing<int> few, many;
  int item = 0;
  for (int i = 0; i < 100'000; ++i) {
    few.push(i);
    EXPECT_TRUE(few.pop(item));
  }
  EXPECT_LT(bytes_in_use(), before + 8'000) << "one item at a time";
  for (int i = 0; i < 10'000; ++i) {
    many.push(i);
    ASSERT_TRUE(i < 1000 || many.pop(item));
  }
  EXPECT_LT(bytes_in_use(), before + 20'000) << "a thousand at a time";
}

namespace {
/// Counts the places that rings were made of.
struct Place {
  Place() { ++made; }  // NOLINT(modernize-use-equals-default)
  int value = 0;
  static inline std::size_t made = 0;
};
}  // namespace

// "... and nothing allocates any more": the rings double until one holds all that is under way.
TEST(GrowingRing, places_doubleUntilTheyAreEnough) {
  GrowingRing<Place> ring;
  Place item;
  Place::made = 0;
  for (int i = 0; i < 1000; ++i) ring.push(item);
  constexpr std::size_t doubled = 16 + 32 + 64 + 128 + 256 + 512;  // 1,008
  EXPECT_EQ(Place::made, doubled);
  for (int i = 0; i < 100'000; ++i) {
    ring.push(item);
    ASSERT_TRUE(ring.pop(item));
  }
  EXPECT_EQ(Place::made, doubled + 1024);
}
