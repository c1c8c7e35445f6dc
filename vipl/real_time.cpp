#include "vipl/real_time.hpp"

#include <chrono>
#include <mutex>
#include <thread>

namespace vipl {
namespace {
using Clock = std::chrono::steady_clock;

class RealTime final : public Runtime {
 public:
  [[nodiscard]] TimeNs now() const override {
    return fc2::second + std::chrono::nanoseconds(Clock::now() - start_).count();
  }
  void lock() override { mutex_.lock(); }
  void unlock() override { mutex_.unlock(); }
  bool wait(WaitPoint& point, TimeNs deadline) override;
  void notify_one(WaitPoint& point) override {
    if (point.waiters != 0) point.condition.notify_one();
  }
  void notify_all(WaitPoint& point) override {
    if (point.waiters != 0) point.condition.notify_all();
  }
  void set_alarm(TimeNs at) override;
  void start_thread(std::function<void()> body) override { std::thread(std::move(body)).detach(); }
  /// Body of the timer thread.
  [[noreturn]] void serve(Domain& domain);

 private:
  const Clock::time_point start_ = Clock::now();
  std::mutex mutex_;
  WaitPoint alarm_point_;
  TimeNs alarm_ = fc2::never;  // when the timer thread wakes
};

bool RealTime::wait(WaitPoint& point, TimeNs deadline) {
  std::unique_lock lock(mutex_, std::adopt_lock);
  ++point.waiters;
  if (deadline == fc2::never)
    point.condition.wait(lock);
  else
    point.condition.wait_until(lock, start_ + std::chrono::nanoseconds(deadline - fc2::second));
  --point.waiters;
  lock.release();
  return true;
}

void RealTime::set_alarm(TimeNs at) {
  if (at >= alarm_) return;  // it wakes before, and looks again
  alarm_ = at;
  notify_one(alarm_point_);
}

void RealTime::serve(Domain& domain) {
  lock();
  for (;;) {
    wait(alarm_point_, alarm_);
    if (now() < alarm_) continue;
    alarm_ = fc2::never;
    domain.settle();
  }
}

}  // namespace

Domain& start_real_time_domain() {
  auto* const runtime = new RealTime;
  auto* const domain = new Domain(*runtime);
  runtime->start_thread([runtime, domain] { runtime->serve(*domain); });
  return *domain;
}

}  // namespace vipl
