// vipl/engine/work_port.hpp and completion_port.hpp, call by call: who is told what, and what is left for the next
// user. One thread; what others would do meanwhile is done where the runtime is asked to wait.
#include <gtest/gtest.h>

#include <optional>

#include "vipl/engine/engine.hpp"
#include "vipl/engine/work_port.hpp"

using namespace vipl;

namespace {

/// Time stands still. Who waits has others act meanwhile.
class ScriptedRuntime final : public Runtime {
 public:
  [[nodiscard]] TimeNs now() const override { return 1; }
  bool wait(EventCount&, std::uint32_t, TimeNs) override {
    ++waits;
    if (!meanwhile) return false;
    std::exchange(meanwhile, nullptr)();
    return true;
  }
  void set_alarm(TimeNs, TimeNs) override {}
  [[nodiscard]] std::size_t slice_events() const override { return 64; }
  void call_service() override {}
  void start_thread(std::function<void()>) override {}
  boost::asio::io_context* io() override { return nullptr; }
  int waits = 0;
  std::string wakes;  // one letter each: o(ne), a(ll)
  std::function<void()> meanwhile, on_wake;

 private:
  void wake(EventCount&, bool all) override {
    wakes += all ? 'a' : 'o';
    if (on_wake) on_wake();
  }
};

WorkPort::Submission of(std::uint64_t address) {
  return {.entry = {.address = address, .handle = wire::MemHandle{7}}, .valid = true};
}

void* handle(std::uintptr_t generation) { return reinterpret_cast<void*>(generation << 23); }

class Ports : public ::testing::Test, private CompletionPort::Directory {
 protected:
  bool entry_taken(const CompletionPort::Entry& entry) override { return port.entry_taken(entry.vi); }
  void open(CompletionPort* at, std::uint32_t limit = 4, bool receive_queue = false) {
    port.open(vi, receive_queue, limit, at);
    queue.open(cq);
  }
  WorkPort::Posted post(std::uint64_t address) { return port.post(vi, of(address)); }
  /// The engine's part of a descriptor's life.
  void serve(std::uint64_t address, bool error = false) {
    WorkPort::Submission submission{};
    ASSERT_TRUE(port.next(submission));
    EXPECT_EQ(submission.entry.address, address);
    EXPECT_EQ(submission.entry.handle.value, 7u);
    EXPECT_TRUE(submission.valid);
    port.complete({address, error});
  }
  Taken take(std::uint64_t& address) {
    WorkPort::Completion completion{.address = 99, .error = false};
    const Taken taken = port.take(vi, completion);
    address = completion.address;
    return taken;
  }
  Taken take() {
    std::uint64_t address = 0;
    return take(address);
  }
  Taken take_entry(CompletionPort::Entry& entry) { return queue.take(cq, entry); }
  Taken take_entry() {
    CompletionPort::Entry entry{};
    return take_entry(entry);
  }
  void* const vi = handle(1);
  void* const other = handle(2);
  void* const cq = handle(3);
  ScriptedRuntime runtime;
  Engine engine{runtime};
  CompletionPort queue{engine, *this};
  WorkPort port{engine};
};

// --- the work queue, for programs

TEST_F(Ports, closed_nobodysCallsArePassed) {
  std::uint64_t address = 0;
  EXPECT_EQ(post(1), WorkPort::Posted::Gone);
  EXPECT_EQ(take(address), Taken::Gone);
  open(nullptr);
  EXPECT_TRUE(port.is_owned_by(vi));
  EXPECT_EQ(port.post(other, of(1)), WorkPort::Posted::Gone);
  WorkPort::Completion completion{};
  EXPECT_EQ(port.take(other, completion), Taken::Gone);
  EXPECT_EQ(post(1), WorkPort::Posted::Success);
  port.close();
  EXPECT_FALSE(port.is_owned_by(vi));
  EXPECT_EQ(post(2), WorkPort::Posted::Gone);
}

// VI-DG 3.5.2: in posting order, with what became of each; NotDone while it is open, and an empty queue
// is another thing.
TEST_F(Ports, descriptor_isPostedAndDequeued) {
  open(nullptr);
  std::uint64_t address = 0;
  EXPECT_TRUE(port.empty());
  EXPECT_EQ(take(address), Taken::Empty);
  EXPECT_EQ(address, 0u);
  post(1);
  post(2);
  EXPECT_FALSE(port.empty());
  EXPECT_EQ(take(address), Taken::NotDone);
  EXPECT_EQ(address, 0u);
  EXPECT_FALSE(engine.has_untaken());
  serve(1);
  serve(2, true);
  EXPECT_TRUE(engine.has_untaken());
  EXPECT_EQ(engine.completed_count(), 2u);
  EXPECT_EQ(take(address), Taken::Success);
  EXPECT_EQ(address, 1u);
  EXPECT_TRUE(engine.has_untaken());
  EXPECT_EQ(take(address), Taken::Error);
  EXPECT_EQ(address, 2u);
  EXPECT_FALSE(engine.has_untaken());
  EXPECT_TRUE(port.empty());
  EXPECT_EQ(take(), Taken::Empty);
}

// VI-DG 3.8.1: the limit holds for descriptors on the queue until they are dequeued. Four times as many
// may be submitted.
TEST_F(Ports, limits_ofDescriptorsAndOfSubmissions) {
  open(nullptr, 2);
  for (std::uint64_t i = 1; i <= 8; ++i)
    EXPECT_EQ(post(i), i <= 2 ? WorkPort::Posted::Success : WorkPort::Posted::Overrun) << i;
  EXPECT_EQ(post(9), WorkPort::Posted::Full);
  EXPECT_EQ(port.waiting_count(), 0u);
  serve(1);
  serve(2);
  EXPECT_EQ(port.waiting_count(), 2u);
  WorkPort::Submission refused{};
  ASSERT_TRUE(port.next(refused));
  port.refuse();
  EXPECT_EQ(post(9), WorkPort::Posted::Overrun) << "one was refused";
  EXPECT_EQ(post(10), WorkPort::Posted::Full);
  EXPECT_EQ(take(), Taken::Success);
  EXPECT_EQ(port.waiting_count(), 1u);
  EXPECT_EQ(post(10), WorkPort::Posted::Overrun) << "one was dequeued";
  EXPECT_EQ(post(11), WorkPort::Posted::Full);
}

TEST_F(Ports, waiting_completionWakesOne) {
  open(nullptr);
  post(1);
  runtime.meanwhile = [&] { serve(1); };
  WorkPort::Completion completion{};
  EXPECT_EQ(port.wait(vi, runtime::never, completion), Taken::Success);
  EXPECT_EQ(completion.address, 1u);
  EXPECT_EQ(runtime.wakes, "o");
  EXPECT_EQ(port.wait(vi, 1, completion), Taken::Empty);
  post(2);
  EXPECT_EQ(port.wait(vi, 1, completion), Taken::NotDone) << "the deadline is over";
  EXPECT_EQ(runtime.waits, 1);
}

// Who waits while somebody else dequeues the last one, or while it is refused, learns that nothing can come.
TEST_F(Ports, waiting_queueBecomesEmpty_wakesAll) {
  open(nullptr);
  post(1);
  post(2);
  WorkPort::Completion completion{};
  runtime.meanwhile = [&] {
    serve(1);
    serve(2);
    runtime.wakes.clear();
    EXPECT_EQ(take(), Taken::Success);
    EXPECT_EQ(runtime.wakes, "") << "one is left";
    runtime.on_wake = [&] { EXPECT_FALSE(port.try_rest()) << "somebody dequeues"; };
    EXPECT_EQ(take(), Taken::Success);
    EXPECT_EQ(runtime.wakes, "a");
  };
  EXPECT_EQ(port.wait(vi, runtime::never, completion), Taken::Empty);
  runtime.on_wake = nullptr;
  post(3);
  post(4);
  const std::uint32_t before = engine.completed_count();
  runtime.meanwhile = [&] {
    runtime.wakes.clear();
    port.refuse();
    EXPECT_EQ(runtime.wakes, "");
    EXPECT_EQ(engine.completed_count(), before);
    port.refuse();
    EXPECT_EQ(runtime.wakes, "a");
    EXPECT_EQ(engine.completed_count(), before + 1);
  };
  EXPECT_EQ(port.wait(vi, runtime::never, completion), Taken::Empty);
}

TEST_F(Ports, waiting_closed_wakesAllWithGone) {
  open(&queue);
  post(1);
  const std::uint32_t before = engine.completed_count();
  runtime.meanwhile = [&] { port.close(); };
  WorkPort::Completion completion{};
  EXPECT_EQ(port.wait(vi, runtime::never, completion), Taken::Gone);
  EXPECT_EQ(runtime.wakes, "a");
  EXPECT_EQ(engine.completed_count(), before + 1);
  runtime.meanwhile = [&] { queue.close(); };
  CompletionPort::Entry entry{};
  EXPECT_EQ(queue.wait(cq, runtime::never, entry), Taken::Gone);
  EXPECT_EQ(runtime.wakes, "aa");
  EXPECT_EQ(engine.completed_count(), before + 2);
}

// --- the completion queue

TEST_F(Ports, completed_hasAnEntry) {
  for (const bool receive_queue : {false, true}) {
    open(&queue, 4, receive_queue);
    EXPECT_TRUE(port.has_completion_queue());
    post(1);
    CompletionPort::Entry entry{};
    const std::uint32_t before = engine.completed_count();
    runtime.wakes.clear();
    runtime.meanwhile = [&] { serve(1); };
    EXPECT_EQ(queue.wait(cq, runtime::never, entry), Taken::Success);
    EXPECT_EQ(runtime.wakes, "o");
    EXPECT_EQ(engine.completed_count(), before + 1);
    EXPECT_EQ(entry.vi, vi);
    EXPECT_EQ(entry.receive_queue, receive_queue);
    EXPECT_EQ(take(), Taken::Success);
    EXPECT_EQ(take_entry(), Taken::NotDone);
    EXPECT_EQ(queue.size(), 0u);
  }
}

// A program that dequeues without a look at the completion queue leaves entries: they stand for the next descriptors.
TEST_F(Ports, entriesLeft_standForTheNext) {
  open(&queue);
  for (const std::uint64_t i : {1, 2, 3}) post(i);
  serve(1);
  serve(2);
  EXPECT_EQ(queue.size(), 2u);
  EXPECT_EQ(take(), Taken::Success);
  EXPECT_EQ(take(), Taken::Success);
  const std::uint32_t before = engine.completed_count();
  serve(3);
  EXPECT_EQ(queue.size(), 2u);
  EXPECT_EQ(engine.completed_count(), before + 1);
  EXPECT_EQ(take_entry(), Taken::Success);
  EXPECT_EQ(take_entry(), Taken::Success);
  EXPECT_EQ(take_entry(), Taken::NotDone);
  post(4);
  serve(4);  // two wait, none has an entry
  EXPECT_EQ(queue.size(), 1u);
}

TEST_F(Ports, entries_goWithTheirVi) {
  open(&queue);
  for (const std::uint64_t i : {1, 2}) post(i);
  serve(1);
  serve(2);
  EXPECT_TRUE(port.entry_taken(vi));
  EXPECT_FALSE(port.entry_taken(other)) << "another user's";
  queue.forget(1);  // as taking it would
  EXPECT_EQ(queue.size(), 1u);
  port.close();
  EXPECT_EQ(queue.size(), 0u);
  EXPECT_FALSE(port.entry_taken(vi));
  CompletionPort::Entry entry{};
  EXPECT_EQ(take_entry(entry), Taken::NotDone);
  EXPECT_EQ(queue.size(), 0u);
  port.close();
  EXPECT_EQ(queue.size(), 0u);
}

// Handles are told apart by all of the 32 bits.
TEST_F(Ports, closed_nobodyHasEntries) {
  port.open(handle(0x8000'0001), false, 4, &queue);
  port.complete({1, false});
  EXPECT_FALSE(port.entry_taken(handle(1)));
  EXPECT_TRUE(port.entry_taken(handle(0x8000'0001)));
  port.close();
  EXPECT_FALSE(port.entry_taken(handle(0)));
}

// Posters wait for posters alone, dequeuers for dequeuers.
TEST_F(Ports, dequeuing_doesNotHoldPostersUp) {
  open(nullptr);
  post(1);
  runtime.meanwhile = [&] {
    serve(1);
    runtime.on_wake = [&] { EXPECT_EQ(post(2), WorkPort::Posted::Success); };
    EXPECT_EQ(take(), Taken::Success);
    runtime.on_wake = nullptr;
    serve(2);
  };
  WorkPort::Completion completion{};
  EXPECT_EQ(port.wait(vi, runtime::never, completion), Taken::Success);
  EXPECT_EQ(completion.address, 2u);
}

TEST_F(Ports, entryTaken_oncePerEntry) {
  open(&queue);
  EXPECT_FALSE(port.entry_taken(vi));
  post(1);
  serve(1);
  EXPECT_TRUE(port.entry_taken(vi));
  EXPECT_FALSE(port.entry_taken(vi));
}

TEST_F(Ports, completionQueue_othersCallsArePassed) {
  open(&queue);
  EXPECT_TRUE(queue.is_owned_by(cq));
  CompletionPort::Entry entry{};
  EXPECT_EQ(queue.take(other, entry), Taken::Gone);
  queue.close();
  EXPECT_FALSE(queue.is_owned_by(cq));
  EXPECT_EQ(take_entry(), Taken::Gone);
}

// --- the next user of the object (pool.hpp)

TEST_F(Ports, rested_hasNothingOfTheLastUser) {
  open(&queue, 3);
  for (const std::uint64_t i : {1, 2, 3, 4}) post(i);
  serve(1);
  serve(2);
  take();
  WorkPort::Submission left{};
  ASSERT_TRUE(port.next(left));
  port.refuse();
  EXPECT_TRUE(engine.has_untaken());
  port.close();
  queue.close();
  EXPECT_TRUE(port.try_rest());
  EXPECT_TRUE(queue.try_rest());
  EXPECT_FALSE(engine.has_untaken());
  EXPECT_FALSE(port.has_completion_queue());
  port.open(other, true, 2, &queue);
  queue.open(cq);
  EXPECT_TRUE(port.empty());
  EXPECT_EQ(port.waiting_count(), 0u);
  EXPECT_FALSE(port.next(left));
  WorkPort::Completion completion{};
  EXPECT_EQ(port.take(other, completion), Taken::Empty);
  EXPECT_EQ(take_entry(), Taken::NotDone);
  EXPECT_EQ(queue.size(), 0u);
  for (std::uint64_t i = 1; i <= 8; ++i)
    EXPECT_EQ(port.post(other, of(i)), i <= 2 ? WorkPort::Posted::Success : WorkPort::Posted::Overrun);
  EXPECT_EQ(port.post(other, of(9)), WorkPort::Posted::Full);
  serve(1);
  EXPECT_EQ(queue.size(), 1u);
  EXPECT_TRUE(engine.has_untaken()) << "one, and none is owed";
  EXPECT_EQ(port.waiting_count(), 1u);
  EXPECT_EQ(port.take(other, completion), Taken::Success);
  serve(2);
  EXPECT_EQ(queue.size(), 1u) << "the entry of the first one stands for it";
  EXPECT_TRUE(port.try_rest()) << "again: nobody is at it";
  EXPECT_FALSE(engine.has_untaken());
}

TEST_F(Ports, restedQueue_dropsItsEntries) {
  open(&queue);
  post(1);
  serve(1);
  EXPECT_EQ(queue.size(), 1u);
  EXPECT_TRUE(queue.try_rest());
  EXPECT_TRUE(queue.try_rest()) << "its locks are free again";
  EXPECT_EQ(queue.size(), 0u);
  EXPECT_EQ(take_entry(), Taken::NotDone);
}

TEST_F(Ports, notifierAtIt_doesNotRest) {
  open(&queue);
  ASSERT_TRUE(port.notifiers().add(port, vi, nullptr, {}));
  ASSERT_TRUE(queue.notifiers().add(queue, cq, nullptr, {}));
  EXPECT_FALSE(port.try_rest());
  EXPECT_FALSE(queue.try_rest());
  port.close();
  queue.close();
  port.notifiers().stop(vi);
  queue.notifiers().stop(cq);
  EXPECT_TRUE(port.try_rest());
  EXPECT_TRUE(queue.try_rest());
}

/// Rests while its entry is judged: somebody is at the queue.
struct Curious final : CompletionPort::Directory {
  bool entry_taken(const CompletionPort::Entry&) override {
    rested = queue->try_rest();
    return taken;
  }
  CompletionPort* queue = nullptr;
  std::optional<bool> rested;
  bool taken = false;
};

// An entry whose VI is gone is passed over, and is not counted twice.
TEST_F(Ports, taking_doesNotRestAndSkipsWhatIsGone) {
  Curious directory;
  CompletionPort own(engine, directory);
  directory.queue = &own;
  own.open(cq);
  CompletionPort::Entry entry{};
  own.push({vi, true});
  own.push({vi, true});
  EXPECT_EQ(own.size(), 2u);
  EXPECT_EQ(own.take(cq, entry), Taken::NotDone);
  EXPECT_EQ(directory.rested, false);
  EXPECT_EQ(own.size(), 2u) << "who destroys the VI takes them off";
  directory.taken = true;
  own.push({other, false});
  EXPECT_EQ(own.take(cq, entry), Taken::Success);
  EXPECT_EQ(entry.vi, other);
  EXPECT_FALSE(entry.receive_queue);
  EXPECT_EQ(own.size(), 2u);
}

// --- handlers (VI-DG 3.5.9 to 3.5.12)

struct Called {
  VIP_PVOID context = nullptr;
  VIP_NIC_HANDLE nic = nullptr;
  VIP_VI_HANDLE vi = nullptr;
  VIP_DESCRIPTOR* descriptor = nullptr;
  VIP_BOOLEAN receive_queue = VIP_FALSE;
};
Called called;

TEST_F(Ports, handlers_areCalledWithAllTheyAreToKnow) {
  int context = 0, nic = 0;
  const auto of_queue = [](VIP_PVOID c, VIP_NIC_HANDLE n, VIP_VI_HANDLE v, VIP_DESCRIPTOR* d) {
    called = {c, n, v, d, VIP_FALSE};
  };
  WorkPort::call(of_queue, &context, &nic, vi, Taken::Success, {0x1240, false});
  EXPECT_EQ(called.context, &context);
  EXPECT_EQ(called.nic, &nic);
  EXPECT_EQ(called.vi, vi);
  EXPECT_EQ(called.descriptor, reinterpret_cast<VIP_DESCRIPTOR*>(std::uintptr_t{0x1240}));
  for (const bool receive_queue : {false, true}) {
    const auto of_entry = [](VIP_PVOID c, VIP_NIC_HANDLE n, VIP_VI_HANDLE v, VIP_BOOLEAN r) {
      called = {c, n, v, nullptr, r};
    };
    CompletionPort::call(of_entry, &context, &nic, cq, Taken::Success, {vi, receive_queue});
    EXPECT_EQ(called.context, &context);
    EXPECT_EQ(called.nic, &nic);
    EXPECT_EQ(called.vi, vi);
    EXPECT_EQ(called.receive_queue, receive_queue ? VIP_TRUE : VIP_FALSE);
  }
}

}  // namespace
