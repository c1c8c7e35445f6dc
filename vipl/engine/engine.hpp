// The lock of the single-threaded protocol core, and the rules by which threads share it.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/core_guard.hpp"
#include "runtime/scheduler.hpp"
#include "vipl/engine/futex_lock.hpp"
#include "vipl/engine/memory_faults.hpp"
#include "vipl/engine/runtime.hpp"

namespace vipl {

/// A target to which programs submit work without the engine's lock. Must outlive the engine, or be served once more
/// before it is destroyed: while it is rung the engine holds it.
class Bell {
 public:
  Bell() = default;
  virtual ~Bell() = default;
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;

 private:
  friend class Engine;
  /// With the engine's lock: takes the submitted work. Returns how many items there were.
  virtual std::size_t serve() = 0;

  /// The one that finds it silent puts it on the engine's list: whoever comes before that is done relies on that one.
  enum class Rung : std::uint8_t { No, Later, Now };
  std::atomic<Rung> rung_{Rung::No};
  Bell* next_ = nullptr;
};

/// How threads take the lock:
///  - A data-plane call rings a bell and tries it. The winner runs one slice of the core's work, of any VI; the others
///    return at once. The holder checks the bells again after it has released the lock.
///  - A call that polls and found nothing tries it too, and reads the links' sockets: it needs no other thread.
///  - A control call waits for it. Data-plane calls do not try while a control call waits.
///  - The service thread waits for it too, releases it after each slice, and lets control calls pass.
/// A holder never waits for a thread of the program.
class Engine final : public runtime::CoreGuard {
 public:
  explicit Engine(Runtime& runtime) : runtime_(runtime), scheduler_(runtime.now()) {}

  runtime::Scheduler& scheduler() { return scheduler_; }
  Runtime& runtime() { return runtime_; }
  /// Called when work was lost for lack of memory; tells the consumer (VIP_ERROR_CATASTROPHIC).
  void set_failure_handler(std::function<void()> handler) { failed_ = std::move(handler); }

  // --- data plane, any thread, never waits ---------------------------------------------------------------
  /// Instead of submitting work and ringing: calls work() inside, where nobody is and nothing waits that was submitted
  /// before, so that its turn is now. work() says whether it has done anything; what it does makes no events and meets
  /// no cancellation point. False: nothing has happened.
  template <class Work>
  [[nodiscard]] bool do_at_once(Work work);
  /// The same, followed by a slice. Pre: pthread_cancel() is held back, or work() meets no cancellation point. What
  /// work() times begins now; `roughly`: where sends_need_no_time(), some ms earlier.
  template <class Work>
  [[nodiscard]] bool do_at_once_and_settle(Work work, bool roughly = true);
  /// Work was submitted to `bell`.
  void ring(Bell& bell);
  /// The same for work that matters only when something else happens: it is done before that, and nothing is done now.
  void ring_later(Bell& bell);
  /// The same for work that costs hardly more together with what is submitted right after it: the service thread does
  /// it, or the next call that polls, whichever is first.
  void ring_soon(Bell& bell);
  /// For a caller with nothing else to do, which has just looked at the clock: runs a slice if there is work that no
  /// thread is running. False: there was none.
  bool help(TimeNs now);
  /// Reads memory that other processes write to, where no thread does. False: nothing was there, or another thread
  /// reads.
  bool read_memory(TimeNs now);
  /// A call reads such memory at that time, and will again soon: nobody else need (watch.hpp).
  void set_looked(TimeNs now = at_some_time) { looked_.store(now, std::memory_order_relaxed); }
  /// When calls did so last since it was asked before, or at_some_time; 0: none did.
  [[nodiscard]] TimeNs take_looked() { return looked_.exchange(0); }
  static constexpr TimeNs at_some_time = 1;
  /// There is such memory, or there was. Who sees that it is sees all that was prepared for it. Who does not may sleep:
  /// the memory handler's thread looks.
  [[nodiscard]] bool has_memory_inputs() const { return has_memory_inputs_.load(std::memory_order_acquire); }
  /// Waits for the lock: read_memory(now) would have something to do. False also if the deadline comes before.
  [[nodiscard]] bool input_waits(TimeNs deadline = runtime::never);
  /// The same for a caller that polls at `now` and found nothing: it also reads the links' sockets, at most once
  /// in a microsecond.
  bool poll(TimeNs now);
  /// For a caller that polled in vain and will sleep: from now on links' sockets wake the service thread.
  void wait_for_input();
  /// There are inputs that a call can read by itself: what others send is found sooner by looking than by sleeping.
  [[nodiscard]] bool has_inputs() const {
    return has_memory_inputs() || inputs_due_.load(std::memory_order_relaxed) != runtime::never;
  }
  /// What is sent within a call may meet cancellation points (Input::holds_cancellation_itself).
  [[nodiscard]] bool sends_meet_cancellation() const { return unheld_inputs_.load(std::memory_order_relaxed) != 0; }
  /// What is sent goes into memory that other processes read, or to their sockets, on a link that has no rate and no
  /// latency. So a post that times nothing asks for the time only roughly: what is due is found by the alarm.
  [[nodiscard]] bool sends_need_no_time() const {
    return has_memory_inputs_.load(std::memory_order_relaxed) && !sends_meet_cancellation();
  }
  /// Inside, by work at once that times something after all: its clock may be behind.
  void clock_goes_on() {
    if (sends_need_no_time()) clock_goes_towards(runtime_.now());
  }
  /// Notified whenever a poll might find something.
  EventCount& completions() { return completions_; }
  /// Inside.
  void completed() {
    count_completed();
    end_naps();
  }
  /// The same, where the caller sees to end_naps() behind it.
  void count_completed() {
    completed_count_.store(completed_count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  /// Some thread naps.
  [[nodiscard]] bool expects_completion() const { return expected_.load(); }
  /// Of all threads that wait for completions(). Any thread.
  void end_naps() {
    if (expected_.load() && expected_.exchange(false)) runtime_.notify_all(completions_);
  }
  /// Before each wait for completions(), after its prepare(): the next completion ends the wait. Later ones of the same
  /// slice see that a thread was woken already, and save the system call.
  void expect_completion() { expected_.store(true); }
  /// A descriptor of any queue is complete and not yet dequeued. Inside, before it can be dequeued.
  void can_be_taken() { takeable_.store(takeable_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
  /// So many were dequeued. Any thread.
  void taken(std::uint64_t count) { taken_count_.fetch_add(count); }
  [[nodiscard]] bool has_untaken() const {
    const std::uint64_t gone = taken_count_.load(std::memory_order_relaxed);
    return takeable_.load(std::memory_order_relaxed) > gone;
  }
  /// Increases with each completion of any queue.
  [[nodiscard]] std::uint32_t completed_count() const { return completed_count_.load(std::memory_order_relaxed); }

  // --- control calls and drivers -------------------------------------------------------------------------
  void enter() override;
  /// For the end of the process, where the holder may be the interrupted caller itself: gives up after a while.
  bool try_enter();
  void leave() override;
  void catch_up() override;
  void add_input(runtime::Input& input) override;
  void remove_input(runtime::Input& input) override;
  void add_memory_input(runtime::Input& input) override;
  void remove_memory_input(runtime::Input& input) override;
  /// Once: called inside when the first memory input is there.
  void set_memory_handler(std::function<void()> handler) { memory_begins_ = std::move(handler); }
  /// The service thread: runs due events and work that others left.
  void serve();

  // --- while inside --------------------------------------------------------------------------------------
  /// Runs due events, at most a slice.
  void settle() { settle(runtime_.now()); }
  /// For signals of the core, which must not call back: called at the next settle.
  void later(std::function<void()> call) { later_.push_back(std::move(call)); }
  /// Notifies all that wait for `point` once the lock is free: they want it, and need not be woken twice.
  void notify_after(std::shared_ptr<EventCount> point);
  /// Settles, leaves and waits until `ready()`, which is called inside. False: the deadline came first, or no event can
  /// come any more.
  template <class Ready>
  bool wait_until(EventCount& point, TimeNs deadline, Ready ready) {
    return wait_until(point, deadline, ready, [&](std::uint32_t key) { return runtime_.wait(point, key, deadline); });
  }
  /// The same for what other processes bring, mostly at once: reads the sockets in the caller's thread for a while
  /// before it sleeps (Runtime::call_spin).
  template <class Ready>
  bool spin_until(EventCount& point, TimeNs deadline, Ready ready) {
    int waits = 0;
    return wait_until(point, deadline, ready, [&](std::uint32_t key) {
      if (waits++ == 0 && look_for_input(point, key, deadline)) return true;
      return waits <= most_waits_at_inputs ? wait_at_inputs(point, key, deadline) : wait_beside(point, key, deadline);
    });
  }
  /// A thread that sleeps until others complete something: they see to it that the sockets are watched.
  class Sleeper {
   public:
    explicit Sleeper(Engine& engine) : engine_(engine) { engine_.sleepers_.fetch_add(1); }
    ~Sleeper() { engine_.sleepers_.fetch_sub(1); }
    Sleeper(const Sleeper&) = delete;
    Sleeper& operator=(const Sleeper&) = delete;

   private:
    Engine& engine_;
  };

 private:
  static constexpr std::size_t most_watched = 4;
  // A set-up takes a few. Who is woken more often is woken for others: a thread that waits for connections for long is
  // not to be woken for each message of those that poll.
  static constexpr int most_waits_at_inputs = 8;
  template <class Ready, class Wait>
  bool wait_until(EventCount& point, TimeNs deadline, Ready ready, Wait wait);
  bool wait_at_inputs(EventCount& point, std::uint32_t key, TimeNs deadline);
  bool wait_beside(EventCount& point, std::uint32_t key, TimeNs deadline);
  bool begin_watch(std::array<int, most_watched>& descriptors, std::size_t& count);
  void end_watch();
  template <class Work>
  void try_each_input(Work work);
  bool look_for_input(const EventCount& point, std::uint32_t key, TimeNs deadline);
  // The holder of the lock may access consumers' memory until it releases it.
  bool try_begin();
  bool try_begin_in_turn();
  bool end_for_others();
  template <class Work>
  bool try_work(Work& work);
  void serve_rung();
  void tell_failure();
  [[nodiscard]] bool rest(TimeNs now);
  void tell_alarm_at_rest(TimeNs now);
  bool settle_and_end(TimeNs now);
  /// Most slices need no alarm: one that is set rings no later than their next event, and the engine looks again then.
  void tell_alarm(TimeNs now) {
    const TimeNs next = scheduler_.next_time();
    if (alarm_suits(now, next)) [[likely]]
      return;
    runtime_.set_alarm(next, now);
    alarm_told_ = next;
  }
  [[nodiscard]] bool alarm_suits(TimeNs now, TimeNs next) const { return now < alarm_told_ && next >= alarm_told_; }
  void begin();
  [[gnu::always_inline]] void end() {
    if (!notified_.empty()) [[unlikely]]
      return end_and_notify();
    free_lock();
  }
  void free_lock();
  void end_and_notify();
  void settle(TimeNs now) { more_ = slice(runtime_.slice_events(), now); }
  /// `own`: a bell that is on no list, served after those that are.
  bool slice(std::size_t events, TimeNs looked_at, Bell* own = nullptr);
  void serve_at_once(Bell& bell);
  std::size_t serve_bells();
  /// False: there are none.
  bool take_bells();
  std::size_t serve_next_bell();
  void link(Bell& bell);
  void take_all_posts();
  void run_later();
  bool poll_inside(TimeNs now);
  bool read_inputs();
  bool look_at_memory(TimeNs now);
  [[nodiscard]] bool has_input(runtime::Input::Look look) const;
  bool read_memory_inside(TimeNs looked_at);
  /// But not to what is due by then: nothing fires. Not within an event.
  void clock_goes_towards(TimeNs now) {
    const TimeNs before_next = std::min(now, scheduler_.next_time() - 1);
    if (scheduler_.is_at_rest(before_next)) scheduler_.rest_until(before_next);
  }
  [[nodiscard]] TimeNs not_before_the_core(TimeNs looked_at) const { return std::max(looked_at, scheduler_.now()); }
  void call_service();
  /// Without the lock: handles work that was submitted while it was held.
  void after_unlock(bool more);

  Runtime& runtime_;
  runtime::Scheduler scheduler_;
  std::function<void()> failed_;
  std::vector<std::function<void()>> later_;
  std::vector<std::shared_ptr<EventCount>> notified_;  // by end()
  Bell* taken_ = nullptr;                              // off the list and not yet served, oldest first
  TimeNs alarm_told_ = 0;                              // rings then, if that is not over
  bool more_ = false;                                  // the last slice ended before its work did
  std::vector<runtime::Input*> inputs_;
  std::size_t next_input_ = 0;
  std::vector<runtime::Input*> memory_inputs_;
  std::function<void()> memory_begins_;

  FutexLock lock_;
  FutexLock turn_;  // its holder gets lock_ next: control calls and the service thread take turns
  alignas(64) std::atomic<std::uint32_t> control_calls_{0};  // waiting
  std::atomic<bool> service_called_{false};
  std::atomic<bool> backlog_{false};              // work is left that the service thread was called for
  alignas(64) std::atomic<Bell*> rung_{nullptr};  // the last one first
  EventCount completions_;
  std::atomic<bool> expected_{false};
  // Written inside alone; taken_count_ anywhere.
  std::atomic<std::uint32_t> completed_count_{0};
  std::atomic<std::uint64_t> takeable_{0};
  alignas(64) std::atomic<std::uint64_t> taken_count_{0};
  std::atomic<bool> has_memory_inputs_{false};
  std::atomic<std::uint32_t> unheld_inputs_{0};
  // A call sleeps at the inputs; the others, which it makes way for when it leaves.
  std::atomic<bool> watched_{false};
  std::atomic<std::uint32_t> sleepers_{0};
  alignas(64) std::atomic<TimeNs> looked_{0};
  alignas(64) std::atomic<TimeNs> inputs_due_{runtime::never};  // never: there are none
};

[[gnu::always_inline]] inline bool Engine::try_begin() {
  if (!lock_.try_lock()) return false;
  MemoryFaults::enter();
  return true;
}

// What this thread has rung before, and what it knows that others have, is on the list, or was taken off it.
[[gnu::always_inline]] inline bool Engine::try_begin_in_turn() {
  if (rung_.load() != nullptr || control_calls_.load() != 0 || !try_begin()) return false;
  if (taken_ == nullptr) [[likely]]
    return true;
  return end_for_others();
}

[[gnu::always_inline]] inline void Engine::free_lock() {
  MemoryFaults::leave();
  lock_.unlock();
}

// What a slice does that finds nothing to do. False: there is something.
[[gnu::always_inline]] inline bool Engine::rest(TimeNs now) {
  if (!scheduler_.is_at_rest(now) || !later_.empty() || rung_.load() != nullptr ||
      backlog_.load(std::memory_order_relaxed))
    return false;
  scheduler_.rest_until(now);
  if (!alarm_suits(now, scheduler_.next_time())) [[unlikely]]
    tell_alarm_at_rest(now);
  return true;
}

template <class Work>
[[gnu::always_inline]] inline bool Engine::try_work(Work& work) {
  try {
    return work();
  } catch (const std::exception&) {
    tell_failure();
  }
  return true;
}

template <class Work>
[[gnu::always_inline]] inline bool Engine::do_at_once(Work work) {
  if (!try_begin_in_turn()) return false;
  const bool done = try_work(work);
  end();
  if (rung_.load() != nullptr) [[unlikely]]
    serve_rung();
  return done;
}

template <class Work>
[[gnu::always_inline]] inline bool Engine::do_at_once_and_settle(Work work, bool roughly) {
  if (!try_begin_in_turn()) return false;
  const TimeNs now = not_before_the_core(roughly && sends_need_no_time() ? runtime_.now_roughly() : runtime_.now());
  const bool rests = scheduler_.is_at_rest(now);
  rests ? scheduler_.rest_until(now) : clock_goes_towards(now);  // what the work times begins now
  scheduler_.may_fire_at_once(rests);
  const bool done = try_work(work);
  scheduler_.may_fire_at_once(false);
  if (done && !rest(now)) [[unlikely]]
    return settle_and_end(now);
  end();
  if (rung_.load() != nullptr) [[unlikely]]
    serve_rung();
  return done;
}

template <class Ready, class Wait>
bool Engine::wait_until(EventCount& point, TimeNs deadline, Ready ready, Wait wait) {
  for (;;) {
    settle();
    if (has_input(runtime::Input::Look::Told)) read_memory_inside(runtime_.now());  // the wait below would end at once
    if (ready()) return true;
    if (runtime_.now() >= deadline) return false;
    const std::uint32_t key = point.prepare();
    leave();
    const bool woken = wait(key);
    point.finish();
    enter();
    if (!woken) {
      settle();
      return ready();
    }
  }
}

}  // namespace vipl
