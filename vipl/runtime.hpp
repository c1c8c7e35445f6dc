// What the library needs of a clock and of threads: real ones (real_time.hpp), or a simulation's (simulation.hpp).
#pragma once
#include <condition_variable>
#include <cstdint>
#include <functional>

#include "fc2_fabric/scheduler.hpp"

namespace vipl {
using fc2::TimeNs;

/// Where blocked calls wait: one for each work queue, completion queue and operation under way. Lives while
/// somebody waits.
struct WaitPoint {
  std::condition_variable condition;  // used by the real runtime
  std::uint32_t waiters = 0;
};

/// One lock for a whole domain; all but now() and start_thread() is called with it held.
class Runtime {
 public:
  virtual ~Runtime() = default;
  /// Nanoseconds, never negative, never 0.
  [[nodiscard]] virtual TimeNs now() const = 0;
  virtual void lock() = 0;
  virtual void unlock() = 0;
  /// Releases the lock until notified, at most until `deadline`; may return early. False: nothing can ever
  /// happen any more (in a simulation only).
  virtual bool wait(WaitPoint& point, TimeNs deadline) = 0;
  virtual void notify_one(WaitPoint& point) = 0;
  virtual void notify_all(WaitPoint& point) = 0;
  /// The earliest event is due at `at`: Domain::settle is to be called then.
  virtual void set_alarm(TimeNs at) = 0;
  /// A thread that nobody waits for.
  virtual void start_thread(std::function<void()> body) = 0;
};

}  // namespace vipl
