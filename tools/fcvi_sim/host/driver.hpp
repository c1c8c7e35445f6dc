// Runs the model and the programs by turns: an event of the model, then every program that it woke.
#pragma once
#include <coroutine>
#include <functional>
#include <string>
#include <vector>

#include "runtime/scheduler.hpp"
#include "tools/fcvi_sim/host/task.hpp"
#include "vi/transport.hpp"

namespace sim {

class Driver {
 public:
  enum class Outcome { Finished, TimeLimit, Stuck };  // Stuck: programs wait, and nothing more will happen

  explicit Driver(runtime::Scheduler& scheduler) : scheduler_(scheduler) {}
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  [[nodiscard]] runtime::Scheduler& scheduler() { return scheduler_; }
  [[nodiscard]] runtime::TimeNs now() const { return scheduler_.now(); }
  /// Starts with the next run().
  void spawn(Task<> program);
  /// Until all programs have ended, for at most `time_limit`. Exceptions of programs come out here.
  Outcome run(runtime::TimeNs time_limit);
  [[nodiscard]] std::size_t running() const { return running_; }
  /// Destroys all programs where they stand.
  void abandon();
  /// Called after each event, and after the programs that it woke; may be empty.
  void set_observer(std::function<void()> observer) { observer_ = std::move(observer); }

  /// Resumes `program` after the model has come to rest: callable from inside the model.
  void wake(std::coroutine_handle<> program) { ready_.push_back(program); }

  /// co_await driver.sleep(time)
  [[nodiscard]] auto sleep(runtime::TimeNs delay) { return Sleep(*this, delay, 0); }
  /// The same, and of its time it is the first that happens (Scheduler::schedule_first). One at a time.
  [[nodiscard]] auto sleep_first(runtime::TimeNs delay) { return Sleep(*this, delay, first_rank); }

  // --- in steps
  /// Fires what is due before `limit`, whether programs run or not, and lets them go on. With `stop_when_over` it
  /// returns as soon as none is running. Exceptions of programs come out here.
  void run_before(runtime::TimeNs limit, bool stop_when_over = false);

 private:
  class Sleep final : public runtime::Event {
   public:
    Sleep(Driver& driver, runtime::TimeNs delay, std::uint32_t rank) : driver_(driver), delay_(delay), rank_(rank) {}
    bool await_ready() const noexcept { return delay_ <= 0; }
    void await_suspend(std::coroutine_handle<> program) {
      program_ = program;
      if (rank_ != 0)
        driver_.scheduler_.schedule_first(*this, driver_.now() + delay_, rank_);
      else
        driver_.scheduler_.schedule_after(*this, delay_);
    }
    void await_resume() const noexcept {}

   private:
    void fire(runtime::TimeNs) override { driver_.wake(program_); }
    Driver& driver_;
    runtime::TimeNs delay_;
    std::uint32_t rank_;
    std::coroutine_handle<> program_;
  };
  static constexpr std::uint32_t first_rank = 1;
  Task<> supervise(Task<> program);
  void drain();
  bool advance(runtime::TimeNs end);
  void rethrow() const;

  runtime::Scheduler& scheduler_;
  std::vector<Task<>> programs_;
  std::size_t running_ = 0;
  std::vector<std::coroutine_handle<>> ready_, resuming_;  // resuming_: reused, no allocation in steady state
  std::function<void()> observer_;
};

/// Something that happens once or again and again; one program at a time waits for it. `set` may be called
/// from inside the model.
class Signal {
 public:
  explicit Signal(Driver& driver) : driver_(driver) {}
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;
  void set() {
    set_ = true;
    if (waiter_) driver_.wake(std::exchange(waiter_, nullptr));
  }
  void clear() { set_ = false; }
  [[nodiscard]] bool is_set() const { return set_; }

  auto operator co_await() { return Awaiter{*this}; }

 private:
  struct Awaiter {
    Signal& signal;
    bool await_ready() const noexcept { return signal.set_; }
    void await_suspend(std::coroutine_handle<> waiter) noexcept { signal.waiter_ = waiter; }
    void await_resume() const noexcept {}
  };
  Driver& driver_;
  std::coroutine_handle<> waiter_;
  bool set_ = false;
};

/// A call of the VI model: pass it, then co_await its `finished`.
template <class Base>
class Call final : public Base {
 public:
  explicit Call(Driver& driver) : finished(driver) {}
  void done(vi::Return outcome) override {
    result = outcome;
    finished.set();
  }
  vi::Return result = vi::Return::NotDone;
  Signal finished;
};

}  // namespace sim
