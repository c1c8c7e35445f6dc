// The program's side of a completion queue: entries between the engine and VipCQDone.
#pragma once
#include <atomic>

#include "vipl/engine/growing_ring.hpp"
#include "vipl/engine/notifier.hpp"
#include "vipl/vipl.h"

namespace vipl {

/// No entry is ever lost (VI-ARCH 6.4.1 would allow it): the ring grows beyond the EntryCount of
/// VipCreateCQ. It is bounded because a work queue never has more entries here than descriptors that wait to
/// be dequeued (WorkPort::complete).
class CompletionPort {
 public:
  struct Entry {
    void* vi;
    bool receive_queue;
  };
  using Item = Entry;
  using Handler = void (*)(VIP_PVOID context, VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi, VIP_BOOLEAN receive_queue);
  /// Reads the VI of an entry: false if the VI does not exist any more, which makes its entry invalid.
  class Directory {
   public:
    virtual ~Directory() = default;
    virtual bool entry_taken(const Entry& entry) = 0;
  };

  CompletionPort(Engine& engine, Directory& directory) : engine_(engine), directory_(directory) {}

  // --- life, with the engine's lock ----------------------------------------------------------------------
  void open(void* owner) { owner_.store(owner); }
  /// Waiting threads return with Gone.
  void close();
  bool try_rest();

  // --- any thread ----------------------------------------------------------------------------------------
  Taken take(void* owner, Entry& entry);
  /// Also NotDone when the deadline came.
  Taken wait(void* owner, TimeNs deadline, Entry& entry);
  Notifiers<CompletionPort>& notifiers() { return notifiers_; }
  [[nodiscard]] bool is_owned_by(void* owner) const { return owner_.load() == owner; }
  Engine& engine() { return engine_; }
  static void call(Handler handler, VIP_PVOID context, VIP_NIC_HANDLE nic, void* owner, Taken taken,
                   const Entry& entry);

  // --- engine --------------------------------------------------------------------------------------------
  void push(const Entry& entry);
  [[nodiscard]] std::size_t size() const { return queued_.load(); }
  /// Entries of a VI that is being destroyed: they are still in the ring, but are never returned.
  void forget(std::size_t count) { queued_.fetch_sub(count); }

 private:
  Engine& engine_;
  Directory& directory_;
  std::atomic<void*> owner_{nullptr};
  EventCount arrivals_;
  std::atomic<std::size_t> queued_{0};
  FutexLock take_lock_;  // consumers'; the engine never takes it
  GrowingRing<Entry> entries_;
  Notifiers<CompletionPort> notifiers_;
};

}  // namespace vipl
