// Delivers asynchronous errors of one NIC to the program's handler, VI-DG 3.8.1.
#pragma once
#include <cstdint>
#include <deque>
#include <memory>

#include "vipl/engine/event_count.hpp"
#include "vipl/vipl.h"

namespace vipl {
class Engine;

/// Calls the handler on a thread of its own, which the first error starts; without a handler that thread logs the
/// error. All calls are made inside the engine; the handler runs outside and may call back.
class ErrorReporter : public std::enable_shared_from_this<ErrorReporter> {
 public:
  using Handler = void (*)(VIP_PVOID context, VIP_ERROR_DESCRIPTOR* error);
  static constexpr std::size_t max_waiting = 65536;  // more are counted and dropped

  explicit ErrorReporter(Engine& engine) : engine_(engine) {}

  /// Applies from the next error on. nullptr: the default, which logs.
  void set_handler(Handler handler, VIP_PVOID context);
  /// `expected`: calls report it too, and it is no failure, as a peer that disconnects; a handler gets it, the
  /// log does not.
  void report(const VIP_ERROR_DESCRIPTOR& error, bool expected = false);
  /// Delivers waiting errors first, and waits for a running handler. When called from within a handler it
  /// drops them instead.
  void stop();
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

 private:
  class Thread;
  class Outside;
  void start();
  void run();
  void deliver(VIP_ERROR_DESCRIPTOR error);
  void thread_ends();

  Engine& engine_;
  Handler handler_ = nullptr;
  VIP_PVOID context_ = nullptr;
  std::deque<VIP_ERROR_DESCRIPTOR> waiting_;
  std::uint64_t dropped_ = 0;
  EventCount work_point_, end_point_;
  bool started_ = false, stopped_ = false;
};

}  // namespace vipl
