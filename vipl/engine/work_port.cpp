#include "vipl/engine/work_port.hpp"

#include <mutex>
#include <utility>

#include "vipl/engine/handle_slots.hpp"
#include "vipl/engine/waiting.hpp"

namespace vipl {
namespace {

constexpr std::uint64_t one_entry = 1, entry_mask = 0xFFFFFFFFu;

std::uint64_t user(void* owner) { return std::uint64_t{handle_generation(owner)} << 32; }

}  // namespace

// --- life ------------------------------------------------------------------------------------------------

void WorkPort::open(void* owner, bool receive_queue, std::uint32_t limit, CompletionPort* queue) {
  receive_queue_ = receive_queue;
  limit_ = limit;
  queue_.store(queue);
  entries_.store(user(owner));
  owner_.store(owner);
}

void WorkPort::close() {
  owner_.store(nullptr);
  const std::uint64_t left = entries_.exchange(0);
  if (CompletionPort* queue = queue_.load()) queue->forget(left & entry_mask);
  engine_.runtime().notify_all(arrivals_);
  engine_.completed();
}

bool WorkPort::try_rest() {
  if (!notifiers_.at_rest() || !post_lock_.try_lock()) return false;
  const std::lock_guard posters(post_lock_, std::adopt_lock);
  if (!take_lock_.try_lock()) return false;
  const std::lock_guard takers(take_lock_, std::adopt_lock);
  submissions_.reset();
  completions_.reset();
  engine_.taken(completed_.load() - dequeued_.load() + std::exchange(untold_, 0));  // nobody will
  queue_.store(nullptr);
  for (auto* counter : {&posted_, &posted_inside_, &completed_, &refused_, &dequeued_}) counter->store(0);
  served_ = 0;
  return true;
}

// --- programs --------------------------------------------------------------------------------------------

WorkPort::Posted WorkPort::post(void* owner, const Submission& submission) {
  const std::lock_guard lock(post_lock_);
  if (owner_.load() != owner) return Posted::Gone;
  const std::uint64_t posted = posted_.load(std::memory_order_relaxed);
  const std::uint64_t outstanding = this->outstanding();
  if (outstanding >= overrun_room * limit_) return Posted::Full;
  submissions_.make_room();
  // First: it is counted before it can be dequeued. The lock and the bell, which is rung next, are the barriers.
  posted_.store(posted + 1, std::memory_order_relaxed);
  submissions_.push_into_room(submission, std::memory_order_release);
  return outstanding < limit_ ? Posted::Success : Posted::Overrun;
}

[[gnu::noinline]] Taken WorkPort::nothing_to_take(void* owner, Completion& completion) {
  completion.address = 0;
  const bool nothing_posted = empty();
  if (owner_.load() != owner) return Taken::Gone;
  return nothing_posted ? Taken::Empty : Taken::NotDone;
}

Taken WorkPort::wait(void* owner, TimeNs deadline, Completion& completion) {
  return wait_while_not_done(engine_, arrivals_, deadline, [&] { return take(owner, completion); });
}

bool WorkPort::entry_taken(void* owner) {
  std::uint64_t entries = entries_.load();
  do {
    if ((entries & ~entry_mask) != user(owner) || (entries & entry_mask) == 0) return false;
  } while (!entries_.compare_exchange_weak(entries, entries - one_entry));
  return true;
}

void WorkPort::call(Handler handler, VIP_PVOID context, VIP_NIC_HANDLE nic, void* owner, Taken,
                    const Completion& completion) {
  handler(context, nic, owner, reinterpret_cast<VIP_DESCRIPTOR*>(completion.address));
}

// --- engine ----------------------------------------------------------------------------------------------

void WorkPort::refuse() {
  refused_.fetch_add(1);
  if (!empty()) return;
  engine_.runtime().notify_all(arrivals_);
  engine_.completed();
}

// An entry for each descriptor that waits. A program that dequeues without the completion queue leaves entries there:
// they count for the next descriptors, so that their number stays bounded. A thread that takes such an entry meanwhile
// finds this descriptor, which was pushed before this look at the entries. Waiting descriptors are counted before this
// one can be dequeued: it has an entry even if a poller takes it at once (VI-DG 3.5.7), and no entry counts for
// another.
[[gnu::noinline]] void WorkPort::complete_in_queue(const Completion& completion, CompletionPort& queue) {
  const std::uint64_t waiting = completed_.load(std::memory_order_relaxed) + 1 - dequeued_.load();
  completions_.make_room();
  push(completion);
  if ((entries_.load() & entry_mask) >= waiting) return engine_.completed();
  entries_.fetch_add(one_entry);
  queue.push({owner_.load(std::memory_order_relaxed), receive_queue_});
}

[[gnu::noinline]] void WorkPort::complete_with_new_room(const Completion& completion) {
  completions_.make_room();
  push(completion);
  engine_.count_completed();
  tell_waiting();
}

// A napping poller is woken once, at the end: on one core it runs at once, and would sleep again if woken too early.
[[gnu::noinline]] void WorkPort::tell_waiting() {
  engine_.end_naps();
  engine_.runtime().notify_one(arrivals_);
}

}  // namespace vipl
