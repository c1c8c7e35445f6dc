// vipl/engine/work_port.hpp and completion_port.hpp: each descriptor that completes has its entry, whoever is faster.
// Run under ThreadSanitizer too.
#include "vipl/engine/work_port.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/vipl/still_runtime.hpp"
#include "vipl/engine/engine.hpp"

using namespace vipl;

namespace {

class Queues : public ::testing::Test, private CompletionPort::Directory {
 protected:
  void* const vi_ = reinterpret_cast<void*>(std::uintptr_t{8} << 20);
  void* const cq_ = reinterpret_cast<void*>(std::uintptr_t{9} << 20);
  support::StillRuntime runtime_;
  Engine engine_{runtime_};
  CompletionPort queue_{engine_, *this};
  WorkPort port_{engine_};

  Queues() {
    queue_.open(cq_);
    port_.open(vi_, false, 64, &queue_);
  }
  bool entry_taken(const CompletionPort::Entry& entry) override { return port_.entry_taken(entry.vi); }
  /// As a program does: an entry, then its descriptor. False: no entry is there.
  bool take(std::uint64_t expected) {
    CompletionPort::Entry entry{};
    if (queue_.take(cq_, entry) != Taken::Success) return false;
    WorkPort::Completion completion{};
    EXPECT_EQ(port_.take(vi_, completion), Taken::Success);
    EXPECT_EQ(completion.address, expected);
    return true;
  }
};

TEST(BriefLock, sections_of_threads_exclude_one_another) {
  BriefLock lock;
  ASSERT_TRUE(lock.try_lock());
  EXPECT_FALSE(lock.try_lock());
  lock.unlock();
  constexpr int threads = 3, rounds = 20'000;
  int count = 0;  // no atomic
  std::vector<std::thread> all;
  for (int i = 0; i != threads; ++i)
    all.emplace_back([&] {
      for (int round = 0; round != rounds; ++round) {
        const std::lock_guard section(lock);
        ++count;
      }
    });
  for (std::thread& thread : all) thread.join();
  EXPECT_EQ(count, threads * rounds);
}

// VI-ARCH 6.4.1, VI-DG 3.6.1: a descriptor that completes while the one before it is taken has an entry of its own.
TEST_F(Queues, completing_whileTheLastIsTaken_hasAnEntry) {
  constexpr std::uint64_t all = 1'000'000;  // or what a busy machine does in the time
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  std::atomic<std::uint64_t> completed{0};
  std::atomic<bool> enough{false};
  std::uint64_t made = 0;
  std::thread engine([&] {
    for (std::uint64_t i = 1; i <= all && !enough.load(); ++i) {
      while (i > completed.load() + 4 && !enough.load()) std::this_thread::yield();  // a few in flight
      port_.complete({i, false});
      made = i;
    }
  });
  while (completed.load() != all && std::chrono::steady_clock::now() < end) {
    if (take(completed.load() + 1))
      completed.fetch_add(1);
    else
      std::this_thread::yield();
  }
  enough.store(true);
  engine.join();
  while (take(completed.load() + 1)) completed.fetch_add(1);
  EXPECT_EQ(completed.load(), made) << "an entry is missing";
  EXPECT_GT(made, 0U);
}

}  // namespace
