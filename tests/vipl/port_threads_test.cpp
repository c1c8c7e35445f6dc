// vipl/engine/work_port.hpp among threads: nothing is lost, nobody waits for what is there, and who waits for more
// than there is returns. Run under ThreadSanitizer too.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "tests/vipl/still_runtime.hpp"
#include "vipl/engine/engine.hpp"
#include "vipl/engine/futex.hpp"
#include "vipl/engine/work_port.hpp"

using namespace vipl;

namespace {

class SleepingRuntime final : public support::StillRuntime {
 public:
  [[nodiscard]] TimeNs now() const override { return monotonic_now(); }
  bool wait(EventCount& point, std::uint32_t key, TimeNs deadline) override {
    sleeps.fetch_add(1);
    return futex_wait(point.epoch(), key, deadline);
  }
  std::atomic<unsigned> sleeps{0};

 private:
  void wake(EventCount& point, bool all) override {
    all ? futex_wake_all(point.epoch()) : futex_wake_one(point.epoch());
  }
};

/// Completes what was posted, in order.
class Completer final : public Bell {
 public:
  Completer(WorkPort& served, void* owner, std::uint32_t limit) : port(served) {
    port.open(owner, false, limit, nullptr);
  }
  WorkPort& port;

 private:
  std::size_t serve() override {
    std::size_t count = 0;
    for (WorkPort::Submission submission; port.next(submission); ++count)
      port.complete({submission.entry.address, false});
    return count;
  }
};

struct Found {
  std::uint64_t count = 0, sum = 0;
};

/// Waits without end until there is nothing more: a wake-up that is lost hangs the test.
Found take_until(WorkPort& port, void* owner, const std::atomic<bool>& all_posted) {
  Found found;
  for (;;) {
    const bool last = all_posted.load();
    WorkPort::Completion completion{};
    const Taken taken = port.wait(owner, runtime::never, completion);
    if (taken == Taken::Success)
      ++found.count, found.sum += completion.address;
    else if (last)
      return found;
  }
}

}  // namespace

// VI-DG 3.5.4, 3.5.6: who waits at a queue that another empties is told that it is empty.
TEST(PortThreads, posted_descriptors_are_dequeued_once_and_waiting_ends) {
  constexpr std::uint64_t posts = 20'000, takers = 3;
  SleepingRuntime runtime;
  Engine engine(runtime);
  WorkPort port(engine);
  int identity = 0;
  void* const owner = &identity;
  Completer completer(port, owner, 1u << 20);
  std::atomic<bool> all_posted{false};
  std::vector<Found> found(takers);
  std::vector<std::thread> threads;
  for (Found& one : found) threads.emplace_back([&] { one = take_until(port, owner, all_posted); });
  std::vector<std::thread> posters;
  for (std::uint64_t poster = 0; poster < 2; ++poster)
    posters.emplace_back([&, poster] {
      for (std::uint64_t i = 1 + poster; i <= posts; i += 2) {
        ASSERT_EQ(port.post(owner, {.entry = {.address = i}, .tag = {}, .valid = true}), WorkPort::Posted::Success);
        i % 3 == 0 ? engine.ring_later(completer) : engine.ring(completer);
      }
    });
  for (std::thread& thread : posters) thread.join();
  engine.ring(completer);
  all_posted = true;
  for (std::thread& thread : threads) thread.join();
  Found all;
  for (const Found& one : found) all.count += one.count, all.sum += one.sum;
  EXPECT_EQ(all.count, posts);
  EXPECT_EQ(all.sum, posts * (posts + 1) / 2);
  EXPECT_TRUE(port.empty());
  EXPECT_FALSE(engine.has_untaken());
}

// All sleep before the one descriptor that is posted completes: one gets it, the others are told that there is no more.
TEST(PortThreads, sleepers_are_woken_by_the_last_descriptor) {
  constexpr unsigned takers = 3;
  for (int round = 0; round < 200; ++round) {
    SleepingRuntime runtime;
    Engine engine(runtime);
    WorkPort port(engine);
    int identity = 0;
    Completer completer(port, &identity, 64);
    engine.enter();  // nobody can complete it
    ASSERT_EQ(port.post(&identity, {.entry = {.address = 1}, .tag = {}, .valid = true}), WorkPort::Posted::Success);
    std::atomic<unsigned> got{0}, empty{0};
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < takers; ++i)
      threads.emplace_back([&] {
        WorkPort::Completion completion{};
        const Taken taken = port.wait(&identity, runtime::never, completion);
        if (taken == Taken::Success) got.fetch_add(1);
        if (taken == Taken::Empty) empty.fetch_add(1);
      });
    while (runtime.sleeps.load() < takers) std::this_thread::yield();
    std::thread([&] { engine.ring(completer); }).join();  // to the list: the lock is held
    engine.leave();
    for (std::thread& thread : threads) thread.join();  // a wake-up that is lost hangs the test
    EXPECT_EQ(got.load(), 1U);
    EXPECT_EQ(empty.load(), takers - 1);
  }
}
