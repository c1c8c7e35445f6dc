// A protocol core in real time, used by one thread, that of the io_context.
#pragma once
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <vector>

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
  void add_memory_input(Input& input) override { memory_inputs_.push_back(&input); }
  void remove_memory_input(Input& input) override { std::erase(memory_inputs_, &input); }
  /// Inside: reads memory that other processes write to. Nothing tells that there is something; who uses such memory
  /// calls this often. False: nothing was there.
  bool read_memory();
  [[nodiscard]] bool has_memory_inputs() const { return !memory_inputs_.empty(); }

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
  std::vector<Input*> memory_inputs_;
};

}  // namespace runtime::drivers
