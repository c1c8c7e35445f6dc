// Who runs the protocol core. The core is single-threaded; this is its lock, and the rules by which threads share it.
#pragma once
#include <atomic>
#include <functional>
#include <vector>

#include "runtime/core_guard.hpp"
#include "runtime/scheduler.hpp"
#include "vipl/engine/futex_lock.hpp"
#include "vipl/engine/runtime.hpp"

namespace vipl {

/// Something that programs submit work to without the engine's lock. Must outlive the engine, or be served once more
/// before it goes: while it is rung the engine holds it.
class Bell {
 public:
  Bell() = default;
  virtual ~Bell() = default;
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;

 private:
  friend class Engine;
  /// With the engine's lock: takes what was submitted. Returns how many there were.
  virtual std::size_t serve() = 0;

  std::atomic<bool> rung_{false};
  Bell* next_ = nullptr;
};

/// The lock is taken in three ways:
///  - a data-plane call rings a bell and tries it: who gets it runs a slice of the core's work, whosever that is; who
///    does not goes on at once, and who has it looks at the bells again when letting go;
///  - a call that polls and found nothing tries it, too, and reads the links' sockets: it needs no other thread;
///  - a control call waits for it, and data-plane calls that see it waiting do not try;
///  - the service thread waits for it too, gives it up after each slice, and lets control calls pass.
/// Nothing that takes it waits for a program's thread while holding it.
class Engine final : public runtime::CoreGuard {
 public:
  explicit Engine(Runtime& runtime) : runtime_(runtime), scheduler_(runtime.now()) {}

  runtime::Scheduler& scheduler() { return scheduler_; }
  Runtime& runtime() { return runtime_; }
  /// What could not be done for lack of memory is lost: the consumer is told by this (VIP_ERROR_CATASTROPHIC).
  void set_failure_handler(std::function<void()> handler) { failed_ = std::move(handler); }

  // --- data plane, any thread, never waits ---------------------------------------------------------------
  /// Something was submitted there.
  void ring(Bell& bell);
  /// For a caller with nothing else to do: runs a slice if there is work that nobody is at. False: there was none.
  bool help();
  /// The same for a caller that polls at `now` and found nothing: it looks at the links' sockets as well, at most once
  /// in a microsecond.
  bool poll(TimeNs now);
  /// Notified whenever a call that polls might find something.
  EventCount& completions() { return completions_; }
  void completed() {
    completed_count_.fetch_add(1, std::memory_order_relaxed);
    if (expected_.load() && expected_.exchange(false)) runtime_.notify_all(completions_);
  }
  /// Before each wait for completions(), after its prepare(): the first completion from here on ends it. The others of
  /// the same slice find that somebody was woken already, and save the system call.
  void expect_completion() { expected_.store(true); }
  /// Descriptors that are complete and not yet dequeued, of all queues: so many more, or fewer.
  void add_untaken(std::int64_t more) { untaken_.fetch_add(more, std::memory_order_relaxed); }
  [[nodiscard]] bool has_untaken() const { return untaken_.load(std::memory_order_relaxed) > 0; }
  /// Goes on with each completion, of any queue.
  [[nodiscard]] std::uint32_t completed_count() const { return completed_count_.load(std::memory_order_relaxed); }

  // --- control calls and drivers -------------------------------------------------------------------------
  void enter() override;
  /// For the end of the process, where who has it may be the caller itself, interrupted: gives up after a while.
  bool try_enter();
  void leave() override;
  void catch_up() override;
  void add_input(runtime::Input& input) override;
  void remove_input(runtime::Input& input) override;
  /// The service thread: what is due, and what others left.
  void serve();

  // --- while inside --------------------------------------------------------------------------------------
  /// Runs what is due; at most a slice.
  void settle() { more_ = slice(runtime_.slice_events()); }
  /// For signals of the core, which must not call back in: done at the next settle.
  void later(std::function<void()> call) { later_.push_back(std::move(call)); }
  /// Settles, leaves and waits until `ready()`, which is asked inside. False: the deadline came first, or nothing can
  /// happen any more.
  template <class Ready>
  bool wait_until(EventCount& point, TimeNs deadline, Ready ready);

 private:
  // Who gets the lock may access consumers' memory until it lets go.
  bool try_begin();
  void begin();
  void end();
  bool slice(std::size_t events);
  std::size_t serve_bells();
  /// False: there are none.
  bool take_bells();
  void run_later();
  bool poll_inside();
  bool read_inputs();
  void call_service();
  /// Without the lock: takes care of what came while it was held.
  void after_unlock(bool more);

  Runtime& runtime_;
  runtime::Scheduler scheduler_;
  std::function<void()> failed_;
  std::vector<std::function<void()>> later_;
  Bell* taken_ = nullptr;  // off the list and not yet served, oldest first
  bool more_ = false;      // the last slice ended before its work did
  std::vector<runtime::Input*> inputs_;
  std::size_t next_input_ = 0;

  FutexLock lock_;
  FutexLock turn_;  // who has it is the next to get lock_: control calls and the service thread take turns
  alignas(64) std::atomic<std::uint32_t> control_calls_{0};  // waiting
  std::atomic<bool> service_called_{false};
  std::atomic<bool> backlog_{false};              // work is left that the service thread was called for
  alignas(64) std::atomic<Bell*> rung_{nullptr};  // the last one first
  EventCount completions_;
  std::atomic<bool> expected_{false};
  std::atomic<std::uint32_t> completed_count_{0};
  std::atomic<std::int64_t> untaken_{0};
  alignas(64) std::atomic<TimeNs> inputs_due_{runtime::never};  // never: there are none
};

template <class Ready>
bool Engine::wait_until(EventCount& point, TimeNs deadline, Ready ready) {
  for (;;) {
    settle();
    if (ready()) return true;
    if (runtime_.now() >= deadline) return false;
    const std::uint32_t key = point.prepare();
    leave();
    const bool woken = runtime_.wait(point, key, deadline);
    point.finish();
    enter();
    if (!woken) {
      settle();
      return ready();
    }
  }
}

}  // namespace vipl
