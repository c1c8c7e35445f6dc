// vipl/engine/watch.hpp: who sleeps at the doorbell, with threads standing in for other processes. Run under
// ThreadSanitizer too.
#include "vipl/engine/watch.hpp"

#include <gtest/gtest.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <thread>
#include <vector>

#include "vipl/engine/futex.hpp"
#include "vipl/engine/notifier.hpp"

using namespace vipl;
using runtime::drivers::Doorbell;
using runtime::drivers::PeerDoorbell;

namespace {

class WatchRuntime final : public Runtime {
 public:
  [[nodiscard]] TimeNs now() const override { return monotonic_now(); }
  bool wait(EventCount& point, std::uint32_t key, TimeNs deadline) override {
    return watch->wait(point, key, deadline);
  }
  void set_alarm(TimeNs, TimeNs) override {}
  [[nodiscard]] std::size_t slice_events() const override { return 64; }
  void call_service() override {}
  void start_thread(std::function<void()> body) override { std::thread(std::move(body)).detach(); }
  boost::asio::io_context* io() override { return nullptr; }
  Watch* watch = nullptr;

 private:
  void wake(EventCount& point, bool all) override {
    all ? futex_wake_all(point.epoch()) : futex_wake_one(point.epoch());
  }
};

/// What other processes write: a number of messages.
struct Memory final : runtime::Input {
  bool read_now() override {
    const std::uint32_t found = written.load();
    return read.exchange(found) != found;
  }
  [[nodiscard]] bool has_input(Look) const override {
    looks.fetch_add(1);
    return written.load() != read.load();
  }
  std::atomic<std::uint32_t> written{0}, read{0};
  mutable std::atomic<std::uint32_t> looks{0};
};

/// A process; it lasts as long as the test program, as its library's thread does.
struct Process {
  WatchRuntime runtime;
  Engine engine{runtime};
  std::unique_ptr<Doorbell> doorbell = Doorbell::make();
  Watch watch{engine, *doorbell};
  Memory memory;
  Process() {
    runtime.watch = &watch;
    engine.enter();
    engine.add_memory_input(memory);
    engine.leave();
  }
  PeerDoorbell peer() { return PeerDoorbell::map(doorbell->descriptors()); }
  void write(PeerDoorbell& peer) {
    memory.written.fetch_add(1);
    peer.ring();
  }
  /// One call that waits for a message.
  void wait_for(std::uint32_t message) {
    EventCount point;
    while (memory.read.load() < message) {
      if (engine.read_memory(monotonic_now())) continue;
      const std::uint32_t key = point.prepare();
      if (memory.read.load() < message) watch.wait(point, key, monotonic_now() + runtime::second);
      point.finish();
    }
  }
};

Process& make_process() { return *new Process; }

/// A queue on which something has always completed.
struct FullPort {
  struct Item {};
  using Handler = std::atomic<std::uint32_t>*;
  [[nodiscard]] vipl::Engine& engine() const { return served; }
  Taken wait(void*, TimeNs, Item&) { return Taken::Success; }
  static void call(Handler calls, VIP_PVOID, VIP_NIC_HANDLE, void*, Taken, const Item&) { calls->fetch_add(1); }
  vipl::Engine& served;
};

constexpr TimeNs generous = 60 * runtime::second;
template <class Done>
bool eventually(Done done) {
  const TimeNs end = monotonic_now() + generous;
  while (!done()) {
    if (monotonic_now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace

// A call that waits sleeps at the doorbell, and a peer wakes it; its deadline does, too.
TEST(Watch, waiting_call_is_woken_by_a_peer_or_by_its_deadline) {
  Process& process = make_process();
  PeerDoorbell peer = process.peer();
  EventCount point;
  const TimeNs deadline = monotonic_now() + 20 * runtime::millisecond;
  const std::uint32_t key = point.prepare();
  while (process.watch.wait(point, key, deadline)) {}
  EXPECT_GE(monotonic_now(), deadline);
  std::thread other([&] {
    for (std::uint32_t i = 0; i < 200; ++i) {
      process.write(peer);
      EXPECT_TRUE(eventually([&] { return process.memory.read.load() > i; }));
    }
  });
  process.wait_for(200);
  other.join();
}

// What happens within the process ends the sleep as well.
TEST(Watch, waiting_call_is_woken_by_its_event_count) {
  Process& process = make_process();
  EventCount point;
  std::atomic<bool> happened{false}, woken{false};
  std::thread waiter([&] {
    const std::uint32_t key = point.prepare();
    woken.store(happened.load() || process.watch.wait(point, key, monotonic_now() + generous));
    point.finish();
  });
  EXPECT_TRUE(eventually([&] { return point.has_waiters(); }));
  happened.store(true);
  process.runtime.notify_one(point);
  waiter.join();
  EXPECT_TRUE(woken.load());
}

// Several calls: one sleeps at the doorbell, and the next follows when it has left.
TEST(Watch, calls_follow_each_other_at_the_doorbell) {
  Process& process = make_process();
  constexpr std::uint32_t calls = 4, messages = 100;
  std::vector<std::thread> waiters;
  for (std::uint32_t i = 0; i < calls; ++i)
    waiters.emplace_back([&process, i] {
      for (std::uint32_t message = 1 + i; message <= messages; message += calls) process.wait_for(message);
    });
  PeerDoorbell peer = process.peer();
  for (std::uint32_t i = 0; i < messages; ++i) {
    process.write(peer);
    EXPECT_TRUE(eventually([&] { return process.memory.read.load() > i; }));
  }
  for (std::thread& waiter : waiters) waiter.join();
}

// No call comes: the library's thread reads what peers write, and then sleeps without looking again and again.
TEST(Watch, silent_process_is_read_by_the_library_and_then_idle) {
  Process& process = make_process();
  std::thread([&process] { process.watch.run(); }).detach();
  PeerDoorbell peer = process.peer();
  for (std::uint32_t i = 0; i < 20; ++i) {
    process.write(peer);
    ASSERT_TRUE(eventually([&] { return process.memory.read.load() == i + 1; }));
  }
  const auto is_idle = [&] {
    const std::uint32_t before = process.memory.looks.load();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return process.memory.looks.load() == before;
  };
  EXPECT_TRUE(eventually(is_idle));
}

// A handler's thread without a request may be the one that sleeps at the doorbell: it reads what peers write (RDMA into
// a program that does nothing but wait for handlers to be called), and then sleeps.
TEST(Watch, idle_notifier_reads_what_peers_write) {
  Process& process = make_process();
  std::thread([&process] { process.watch.run(); }).detach();
  FullPort port{process.engine};
  std::atomic<std::uint32_t> calls{0};
  const auto notifier = std::make_shared<Notifier<FullPort>>(port, nullptr, nullptr);
  notifier->start();
  notifier->add({&calls, nullptr});
  ASSERT_TRUE(eventually([&] { return calls.load() == 1; }));
  PeerDoorbell peer = process.peer();
  for (std::uint32_t i = 0; i < 20; ++i) {
    process.write(peer);
    ASSERT_TRUE(eventually([&] { return process.memory.read.load() == i + 1; }));
  }
  EXPECT_LT(process.memory.looks.load(), 20U * 1000) << "it woke up again and again and did not read";
  const auto is_idle = [&] {
    const std::uint32_t before = process.memory.looks.load();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return process.memory.looks.load() == before;
  };
  EXPECT_TRUE(eventually(is_idle));
  notifier->stop();
}

// A hostile peer takes the library's thread off the word on which it sleeps (FUTEX_REQUEUE): a call that waits takes
// the thread's place all the same, for the thread is called back by a word that no other process reaches.
TEST(Watch, thread_taken_off_its_word_gives_place_to_a_call) {
  Process& process = make_process();
  std::thread([&process] { process.watch.run(); }).detach();
  const auto bell = process.doorbell->descriptors();
  const auto shared = runtime::drivers::SharedMemory::map(bell.rung, Doorbell::size_bytes,
                                                          runtime::drivers::SharedMemory::Access::ReadWrite);
  auto* const words = reinterpret_cast<std::uint32_t*>(shared.data());
  const auto requeue = [&] {
    return ::syscall(SYS_futex, words, FUTEX_REQUEUE, 0, reinterpret_cast<const timespec*>(1L), words + 8, 0);
  };
  if (!eventually([&] { return requeue() > 0; })) GTEST_SKIP() << "this kernel moves no sleeper of two words";
  PeerDoorbell peer = process.peer();
  std::atomic<std::uint32_t> calls{0};
  std::thread waiter([&] {
    process.wait_for(1);
    calls.fetch_add(1);
  });
  // The call is at the doorbell when the word is in use again: rung in a new sleep, it answers.
  EXPECT_TRUE(eventually([&] {
    if (process.memory.written.load() == 0) process.memory.written.store(1);
    peer.ring();
    return calls.load() == 1;
  }));
  waiter.join();
}
