#include "tools/fcvi_sim/host/driver.hpp"

namespace sim {

void Driver::spawn(Task<> program) {
  programs_.push_back(supervise(std::move(program)));
  wake(programs_.back().handle());
  ++running_;
}

Task<> Driver::supervise(Task<> program) {
  struct Ending {
    std::size_t& running;
    ~Ending() { --running; }
  } ending{running_};
  co_await program;
}

void Driver::drain() {
  while (!ready_.empty()) {
    resuming_.clear();
    resuming_.swap(ready_);
    for (const std::coroutine_handle<> program : resuming_) program.resume();
  }
}

void Driver::rethrow() const {
  for (const Task<>& program : programs_)
    if (program.done()) program.rethrow();
}

void Driver::abandon() {
  ready_.clear();
  programs_.clear();
  running_ = 0;
}

/// Runs events until a program is to go on; one, if somebody looks on. False: none is left before `end`.
bool Driver::advance(runtime::TimeNs end) {
  if (!ready_.empty()) return true;  // the observer may have woken some
  if (observer_) return scheduler_.run_next(end);
  while (scheduler_.run_next(end))
    if (!ready_.empty()) return true;
  return false;
}

Driver::Outcome Driver::run(runtime::TimeNs time_limit) {
  const runtime::TimeNs end =
      scheduler_.now() > runtime::never - time_limit ? runtime::never : scheduler_.now() + time_limit;
  do {
    if (observer_) observer_();
    drain();
    if (observer_) observer_();
  } while (running_ != 0 && advance(end));
  rethrow();
  if (running_ == 0) return Outcome::Finished;
  return scheduler_.idle() ? Outcome::Stuck : Outcome::TimeLimit;
}

void Driver::run_before(runtime::TimeNs limit, bool stop_when_over) {
  do {
    if (observer_) observer_();
    drain();
    if (observer_) observer_();
  } while (!(stop_when_over && running_ == 0) && advance(limit - 1));
  rethrow();
}

}  // namespace sim
