#include "vipl/engine/completion_port.hpp"

#include <mutex>

#include "vipl/engine/waiting.hpp"

namespace vipl {

void CompletionPort::close() {
  owner_.store(nullptr);
  engine_.runtime().notify_all(arrivals_);
  engine_.completed();
}

bool CompletionPort::try_rest() {
  if (!notifiers_.at_rest() || !take_lock_.try_lock()) return false;
  entries_.reset();
  queued_.store(0);
  take_lock_.unlock();
  return true;
}

Taken CompletionPort::take(void* owner, Entry& entry) {
  const std::lock_guard lock(take_lock_);
  if (owner_.load() != owner) return Taken::Gone;
  while (entries_.pop(entry)) {
    if (!directory_.entry_taken(entry)) continue;
    queued_.fetch_sub(1);
    return Taken::Success;
  }
  return Taken::NotDone;
}

Taken CompletionPort::wait(void* owner, TimeNs deadline, Entry& entry) {
  return wait_while_not_done(engine_, arrivals_, deadline, [&] { return take(owner, entry); });
}

void CompletionPort::call(Handler handler, VIP_PVOID context, VIP_NIC_HANDLE nic, void*, Taken, const Entry& entry) {
  handler(context, nic, entry.vi, entry.receive_queue ? VIP_TRUE : VIP_FALSE);
}

void CompletionPort::push(const Entry& entry) {
  queued_.fetch_add(1);
  entries_.push(entry);
  engine_.runtime().notify_one(arrivals_);
  engine_.completed();
}

}  // namespace vipl
