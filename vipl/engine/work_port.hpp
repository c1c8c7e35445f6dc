// The program's side of a work queue: descriptors between the program and the engine.
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

#include "vi/posted_descriptor.hpp"
#include "vipl/engine/brief_lock.hpp"
#include "vipl/engine/completion_port.hpp"

namespace vipl {

/// Posted descriptors go to the engine through one ring. They come back through another when they are complete and the
/// oldest not dequeued. The engine's side never waits; posters wait only for posters, and dequeuers for dequeuers, of
/// this queue. The object outlives its VI (pool.hpp): calls name the owner that they mean.
class WorkPort {
 public:
  using Submission = vi::PostedDescriptor;
  struct Completion {
    std::uint64_t address;
    bool error;
  };
  using Item = Completion;
  using Handler = void (*)(VIP_PVOID context, VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi, VIP_DESCRIPTOR* descriptor);
  enum class Posted {
    Success,
    Overrun,  // taken, but there are more than the queue may have: the model says so, or they are just being dequeued
    Gone,
    Full,  // far too many
  };

  explicit WorkPort(Engine& engine) : engine_(engine) {}

  // --- life, with the engine's lock ----------------------------------------------------------------------
  /// `limit`: descriptors that may be posted and not dequeued. `queue`: gets an entry for each completion, or nullptr.
  void open(void* owner, bool receive_queue, std::uint32_t limit, CompletionPort* queue);
  /// Waiting threads return with Gone.
  void close();
  bool try_rest();

  // --- any thread ----------------------------------------------------------------------------------------
  Posted post(void* owner, const Submission& submission);
  Taken take(void* owner, Completion& completion);
  /// The same for a caller that expects one: without a look before the lock.
  Taken take_expected(void* owner, Completion& completion);
  /// Also NotDone when the deadline came.
  Taken wait(void* owner, TimeNs deadline, Completion& completion);
  /// Whether completions go to a completion queue. Pre: is_owned_by(owner), before and after.
  [[nodiscard]] bool has_completion_queue() const { return queue_.load() != nullptr; }
  [[nodiscard]] bool is_owned_by(void* owner) const { return owner_.load() == owner; }
  /// All posted descriptors were dequeued.
  [[nodiscard]] bool empty() const {
    // In this order: descriptors posted meanwhile can only make it look less empty.
    const std::uint64_t gone = dequeued_.load() + refused_.load();
    return posted_.load() + posted_inside_.load() == gone;
  }
  /// Descriptors that were posted and not dequeued, as far as this thread has seen.
  [[nodiscard, gnu::always_inline]] std::uint64_t outstanding() const {
    constexpr auto relaxed = std::memory_order_relaxed;
    const std::uint64_t gone = dequeued_.load(relaxed) + refused_.load(relaxed);
    return posted_.load(relaxed) + posted_inside_.load(relaxed) - gone;
  }
  /// VipCQDone took an entry of this queue. False: it does not belong to `owner` any more.
  bool entry_taken(void* owner);
  Notifiers<WorkPort>& notifiers() { return notifiers_; }
  Engine& engine() { return engine_; }
  static void call(Handler handler, VIP_PVOID context, VIP_NIC_HANDLE nic, void* owner, Taken taken,
                   const Completion& completion);

  // --- engine --------------------------------------------------------------------------------------------
  /// A post of `owner` may become a descriptor of the queue now. False: it is to be post()ed, for others came before
  /// it, or there is no room, or the owner is another one.
  [[nodiscard, gnu::always_inline]] bool may_post_inside(void* owner) {
    return owner_.load(std::memory_order_relaxed) == owner && !has_next() && outstanding() < limit_;
  }
  /// It does, or is refuse()d. Counted before it can be dequeued: complete() is the barrier.
  [[gnu::always_inline]] void count_post_inside() {
    posted_inside_.store(posted_inside_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  /// Any? Also while one is about to come, which is counted first.
  [[nodiscard]] bool has_next() const { return posted_.load(std::memory_order_relaxed) != served_; }
  /// The next submission.
  [[nodiscard]] bool next(Submission& submission) {
    const bool any = submissions_.pop(submission);
    served_ += any ? 1 : 0;
    return any;
  }
  /// Completed descriptors that were not dequeued.
  [[nodiscard]] std::uint64_t waiting_count() const { return completed_.load() - dequeued_.load(); }
  /// The submission did not become a descriptor of the queue.
  void refuse();
  /// The oldest incomplete descriptor is complete.
  [[gnu::always_inline]] void complete(Completion completion);

 private:
  Taken pop(void* owner, Completion& completion);
  Taken nothing_to_take(void* owner, Completion& completion);
  [[gnu::always_inline]] void told_of_last();
  [[gnu::always_inline]] void push(Completion completion);
  void complete_in_queue(const Completion& completion, CompletionPort& queue);
  void complete_with_new_room(const Completion& completion);
  void tell_waiting();

  // A program that posts faster than the engine takes gets VI Overrun long before.
  static constexpr std::uint64_t overrun_room = 4;

  Engine& engine_;
  std::atomic<void*> owner_{nullptr};
  std::atomic<CompletionPort*> queue_{nullptr};
  bool receive_queue_ = false;
  std::uint64_t limit_ = 0;
  EventCount arrivals_;
  Notifiers<WorkPort> notifiers_;

  // Written by the engine alone.
  std::atomic<std::uint64_t> completed_{0};  // counted before it can be dequeued
  std::atomic<std::uint64_t> refused_{0};
  std::atomic<std::uint64_t> posted_inside_{0};  // besides posted_
  std::uint64_t served_ = 0;                     // of posted_
  /// Entries in the completion queue (low half), of which user of this object (high half).
  std::atomic<std::uint64_t> entries_{0};

  alignas(64) FutexLock post_lock_;  // posters'; the engine never takes it
  std::atomic<std::uint64_t> posted_{0};
  GrowingRing<Submission> submissions_;

  alignas(64) BriefLock take_lock_;  // dequeuers'; the engine never takes it
  std::atomic<std::uint64_t> dequeued_{0};
  std::uint64_t untold_ = 0;  // of them, to the engine, which hears of them when nothing is left
  GrowingRing<Completion> completions_;
};

[[gnu::always_inline]] inline Taken WorkPort::take(void* owner, Completion& completion) {
  if (waiting_count() != 0) [[likely]] {
    const Taken taken = pop(owner, completion);
    if (taken != Taken::NotDone) [[likely]]
      return taken;
  }
  return nothing_to_take(owner, completion);
}

[[gnu::always_inline]] inline Taken WorkPort::take_expected(void* owner, Completion& completion) {
  const Taken taken = pop(owner, completion);
  return taken != Taken::NotDone ? taken : nothing_to_take(owner, completion);
}

[[gnu::always_inline]] inline Taken WorkPort::pop(void* owner, Completion& completion) {
  const std::lock_guard lock(take_lock_);
  if (owner_.load() != owner) return Taken::Gone;
  if (!completions_.pop(completion)) return Taken::NotDone;
  const std::uint64_t dequeued = dequeued_.load(std::memory_order_relaxed) + 1;
  dequeued_.store(dequeued, std::memory_order_release);
  ++untold_;
  if (completed_.load() == dequeued) told_of_last();
  return completion.error ? Taken::Error : Taken::Success;
}

// Whether there are any is all that the engine asks. Then a look at who waits: a locked instruction (x86), or release
// and acquire that stay in order (AArch64), between. Threads that wait for more return: the queue is empty now.
[[gnu::always_inline]] inline void WorkPort::told_of_last() {
  engine_.taken(std::exchange(untold_, 0));
  if (arrivals_.has_waiters() && empty()) [[unlikely]]
    engine_.runtime().notify_all(arrivals_);
}

// Counted before it can be dequeued. Seen no later than the ring's next place: that store is the barrier before the
// look at who waits (x86: xchg; elsewhere a release store that no later sequentially consistent load overtakes).
[[gnu::always_inline]] inline void WorkPort::push(Completion completion) {
  completed_.store(completed_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  engine_.can_be_taken();
  completions_.push_into_room(completion, std::memory_order_seq_cst);
}

// Mostly the ring has room, nobody sleeps, and there is no completion queue.
// What is pushed stays in registers, and the rare ways have copies: a Completion that is written in parts and read as a
// whole costs the processor a dozen cycles.
inline void WorkPort::complete(Completion completion) {
  const std::uint64_t address = completion.address;
  const bool error = completion.error;
  if (CompletionPort* const queue = queue_.load(std::memory_order_relaxed); queue != nullptr) [[unlikely]]
    return complete_in_queue({address, error}, *queue);
  if (!completions_.has_room()) [[unlikely]]
    return complete_with_new_room({address, error});
  push({address, error});
  engine_.count_completed();
  if (engine_.expects_completion() || arrivals_.has_waiters()) [[unlikely]]
    tell_waiting();
}

}  // namespace vipl
