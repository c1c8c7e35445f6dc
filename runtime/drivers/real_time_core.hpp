// A protocol core in real time, used by one thread, that of the io_context.
#pragma once
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "runtime/core_guard.hpp"
#include "runtime/scheduler.hpp"

namespace runtime::drivers {

/// Runs events when the clock reaches their time. The scheduler's time starts at the time of day (captures show it) and
/// then follows a steady clock, so that it never goes back.
class RealTimeCore : public CoreGuard {
 public:
  explicit RealTimeCore(boost::asio::io_context& io);
  virtual ~RealTimeCore() = default;
  void enter() override { scheduler_.run_until(now()); }
  void leave() override;

  Scheduler& scheduler() { return scheduler_; }
  boost::asio::io_context& io() { return io_; }
  [[nodiscard]] TimeNs now() const;

 private:
  void arm();

  boost::asio::io_context& io_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  const TimeNs time_at_start_;
  Scheduler scheduler_;
  boost::asio::steady_timer timer_;
  TimeNs armed_for_ = never;
};

}  // namespace runtime::drivers
