// The clock and the threads of the library: real ones (real_time.hpp), or a simulation's (simulation.hpp).
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "runtime/scheduler.hpp"
#include "vipl/engine/event_count.hpp"

namespace boost::asio {
class io_context;
}
namespace runtime::drivers {
class Doorbell;
}

namespace vipl {
using runtime::TimeNs;
class Patience;
class WaitSpin;

/// Where a thread stands that waits for another process, by memory.
enum class Place : std::uint8_t {
  Apart,   // on another core than that process, as far as is known
  Shared,  // on the same: that process runs while this thread sleeps
  Moved,   // it was on the same, and has just left it
};

/// Any thread may call any of these, with the engine's lock or without, except set_alarm() and wait().
class Runtime {
 public:
  virtual ~Runtime() = default;
  /// Nanoseconds, never negative, never 0.
  [[nodiscard]] virtual TimeNs now() const = 0;
  /// The same, or up to some milliseconds before, where that costs less.
  [[nodiscard]] virtual TimeNs now_roughly() const { return now(); }

  /// Without the engine's lock: sleeps until `point` was notified after the prepare() that gave `key`, or until
  /// `deadline`; may return early. False: the deadline came, or no event can come any more (in a simulation).
  virtual bool wait(EventCount& point, std::uint32_t key, TimeNs deadline) = 0;
  void notify_one(EventCount& point) { notify(point, false); }
  void notify_all(EventCount& point) { notify(point, true); }

  /// As wait(), but also until one of the descriptors is readable; of one thread at a time. Only if can_wait_at().
  virtual bool wait_at(std::span<const int> /*descriptors*/, EventCount& point, std::uint32_t key, TimeNs deadline) {
    return wait(point, key, deadline);
  }
  [[nodiscard]] virtual bool can_wait_at() { return false; }
  /// Ends a wait_at(), if there is one.
  virtual void interrupt_wait_at() {}

  /// With the engine's lock: events due at `now` have run; Engine::serve() is to be called at `at`.
  virtual void set_alarm(TimeNs at, TimeNs now) = 0;
  /// Events that one caller runs before it leaves the rest to Engine::serve().
  [[nodiscard]] virtual std::size_t slice_events() const = 0;
  /// Has Engine::serve() called soon, by a thread for which no other waits.
  virtual void call_service() = 0;

  /// How the calling thread polls; nullptr where threads share no cores (in a simulation).
  virtual Patience* patience() { return nullptr; }
  /// How the calling thread spins before it sleeps; nullptr: it has one core alone, or shares none (in a simulation).
  virtual WaitSpin* wait_spin() { return nullptr; }
  /// The same of a call that waits for what other processes answer by sockets.
  virtual WaitSpin* call_spin() { return nullptr; }
  /// How long a thread that polls memory spins from its first empty poll on; 0: as it does for other input.
  virtual TimeNs poll_spin() { return 0; }
  /// Where the calling thread begins a wait, at `now`. May move it to another core on which it may run.
  [[nodiscard]] virtual Place place(TimeNs /*now*/) { return Place::Apart; }
  /// Gives the calling thread's core to another thread that could run there, if there is one.
  virtual void let_others_run() {}
  /// How often the system gave the calling thread's core to others.
  [[nodiscard]] virtual std::uint64_t times_preempted() const { return 0; }
  /// As wait(), for about as long as a poll may last that began at `now`.
  virtual void nap(EventCount&, std::uint32_t, TimeNs /*now*/) {}

  /// A thread that is never joined.
  virtual void start_thread(std::function<void()> body) = 0;
  /// By which other processes wake this one; made on first use. nullptr in a simulation, and where the system cannot.
  virtual runtime::drivers::Doorbell* doorbell() { return nullptr; }
  /// Where the drivers' sockets are served; nullptr in a simulation.
  virtual boost::asio::io_context* io() = 0;

 protected:
  virtual void wake(EventCount& point, bool all) = 0;

 private:
  void notify(EventCount& point, bool all) {
    if (!point.has_waiters()) return;
    point.advance();
    wake(point, all);
  }
};

}  // namespace vipl
