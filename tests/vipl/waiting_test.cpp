// vipl/engine/futex_lock.hpp, event_count.hpp, memory_gate.hpp: what threads wait at. Run under ThreadSanitizer too.
#include <gtest/gtest.h>

#include <mutex>
#include <thread>
#include <vector>

#include "vipl/engine/event_count.hpp"
#include "vipl/engine/futex_lock.hpp"
#include "vipl/engine/memory_gate.hpp"

using namespace vipl;

namespace {
void run_threads(unsigned count, const std::function<void(unsigned)>& body) {
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < count; ++i) threads.emplace_back([&body, i] { body(i); });
  for (std::thread& thread : threads) thread.join();
}
}  // namespace

TEST(FutexLock, is_held_by_one_at_a_time) {
  FutexLock lock;
  std::uint64_t shared = 0;
  run_threads(4, [&](unsigned) {
    for (int i = 0; i < 20'000; ++i) {
      const std::lock_guard guard(lock);
      const std::uint64_t before = shared;
      if (i % 512 == 0) std::this_thread::yield();  // while others wait
      shared = before + 1;
    }
  });
  EXPECT_EQ(shared, 80'000u);
}

TEST(FutexLock, try_lock_fails_while_it_is_held) {
  FutexLock lock;
  ASSERT_TRUE(lock.try_lock());
  std::thread([&lock] { EXPECT_FALSE(lock.try_lock()); }).join();
  lock.unlock();
  EXPECT_TRUE(lock.try_lock());
}

// Some give up while others wait on: no unlock() wakes one of the former in vain.
TEST(FutexLock, lock_until_gives_up_at_the_deadline) {
  FutexLock lock;
  std::uint64_t shared = 0, given_up = 0;
  run_threads(4, [&](unsigned thread) {
    for (int i = 0; i < 2'000; ++i) {
      const TimeNs deadline = thread % 2 == 0 ? runtime::never : monotonic_now() + i % 8 * runtime::microsecond;
      const bool held = lock.lock_until(deadline);
      if (!held) {
        EXPECT_GE(monotonic_now(), deadline);
        lock.lock();
      }
      ++shared;
      given_up += held ? 0 : 1;
      if (i % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
      lock.unlock();
    }
  });
  EXPECT_EQ(shared, 8'000u);
  EXPECT_GT(given_up, 0u);
}

TEST(Futex, wait_ends_at_its_deadline_and_not_before) {
  const std::atomic<std::uint32_t> word{3};
  const TimeNs deadline = monotonic_now() + 20 * runtime::millisecond;
  while (futex_wait(word, 3, deadline)) {}  // true: woken early for no reason
  EXPECT_GE(monotonic_now(), deadline);
  EXPECT_TRUE(futex_wait(word, 4, runtime::never));  // it is not 4: nothing to wait for
}

// No wake-up is lost: each of these tokens is waited for, and a lost one hangs the test.
TEST(EventCount, every_change_is_seen_by_a_waiter) {
  EventCount point;
  std::atomic<int> tokens{0};
  constexpr int rounds = 20'000, consumers = 3;
  std::thread producer([&] {
    for (int i = 0; i < rounds * consumers; ++i) {
      tokens.fetch_add(1);
      if (!point.has_waiters()) continue;
      point.advance();
      futex_wake_one(point.epoch());
    }
  });
  const auto take = [&tokens] {
    for (int seen = tokens.load(); seen != 0;)
      if (tokens.compare_exchange_weak(seen, seen - 1)) return true;
    return false;
  };
  run_threads(consumers, [&](unsigned) {
    for (int taken = 0; taken < rounds;) {
      if (take()) {
        ++taken;
        continue;
      }
      const std::uint32_t key = point.prepare();
      const bool got = take();
      if (!got) futex_wait(point.epoch(), key);
      point.finish();
      taken += got ? 1 : 0;
    }
  });
  producer.join();
  EXPECT_EQ(tokens, 0);
  EXPECT_FALSE(point.has_waiters());
}

TEST(MemoryGate, a_writer_is_alone_and_readers_are_not) {
  MemoryGate gate;
  FutexLock engine;
  std::uint64_t first = 0, second = 0;  // equal but for writers
  std::atomic<int> writers_left{2};
  run_threads(6, [&](unsigned i) {
    if (i < 2) {
      for (int n = 0; n < 2'000; ++n) {
        const std::lock_guard guard(engine);
        const MemoryGate::Writer writer(gate);
        ++first;
        if (n % 64 == 0) std::this_thread::yield();
        ++second;
      }
      --writers_left;
    } else {
      while (writers_left != 0) {
        const MemoryGate::Reader reader(gate);
        ASSERT_EQ(first, second);
      }
    }
  });
  EXPECT_EQ(first, 4'000u);
  const MemoryGate::Reader one(gate);
  std::thread([&gate] { const MemoryGate::Reader another(gate); }).join();
}
