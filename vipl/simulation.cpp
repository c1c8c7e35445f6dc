#include "vipl/simulation.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <thread>

#include "vipl/domain.hpp"

namespace vipl {
namespace {

/// A thread of the simulation. Runs only while it has the baton.
struct Program {
  std::condition_variable turn;
  std::thread thread;
  WaitPoint* point = nullptr;  // where it is blocked
  std::uint64_t arrival = 0;   // there, in order
  TimeNs deadline = fc2::never;
  bool runnable = true;
};

/// The baton is the lock: who has it may touch everything. Only it is guarded by a mutex.
class VirtualTime final : public Runtime {
 public:
  VirtualTime() : host_(&add_program()), running_(host_) {}

  void attach(Domain& domain) { domain_ = &domain; }
  void run(const std::vector<std::function<void()>>& programs);
  [[nodiscard]] bool deadlocked() const { return deadlocked_; }

  [[nodiscard]] TimeNs now() const override { return domain_ == nullptr ? fc2::second : domain_->scheduler().now(); }
  void lock() override {}
  void unlock() override {}
  bool wait(WaitPoint& point, TimeNs deadline) override;
  void notify_one(WaitPoint& point) override;
  void notify_all(WaitPoint& point) override;
  void set_alarm(TimeNs) override {}
  void start_thread(std::function<void()> body) override;

 private:
  Program& add_program() { return *programs_.emplace_back(std::make_unique<Program>()); }
  void wake(Program& program) {
    program.point = nullptr;
    program.runnable = true;
  }
  /// Gives the baton to who comes next after the present holder, and returns when that one has it back.
  void pass_baton(bool come_back);
  Program& choose_next();
  [[nodiscard]] Program* next_runnable();
  /// All are blocked: the next event, or the next time-out.
  void let_time_pass();
  void end_deadlock();

  Domain* domain_ = nullptr;
  std::vector<std::unique_ptr<Program>> programs_;
  std::mutex mutex_;
  Program* const host_;  // the caller of simulate()
  Program* running_;
  std::uint64_t next_arrival_ = 1;
  std::size_t live_programs_ = 0;
  WaitPoint all_ended_;
  bool deadlocked_ = false;
};

void VirtualTime::run(const std::vector<std::function<void()>>& programs) {
  live_programs_ = programs.size();
  for (const auto& program : programs)
    start_thread([this, &program] {
      program();
      if (--live_programs_ == 0) notify_all(all_ended_);
    });
  while (live_programs_ != 0) wait(all_ended_, fc2::never);
  domain_->close_all_nics();
  while (Program* left = next_runnable()) {  // handlers' threads on their way out
    if (left == host_) break;
    pass_baton(true);
  }
  for (const auto& program : programs_)
    if (program->thread.joinable()) program->thread.join();
}

void VirtualTime::start_thread(std::function<void()> body) {
  Program& program = add_program();
  program.thread = std::thread([this, &program, body = std::move(body)] {
    {
      std::unique_lock lock(mutex_);
      program.turn.wait(lock, [&] { return running_ == &program; });
    }
    Domain::enter(domain_);
    body();
    program.runnable = false;
    pass_baton(false);
  });
}

bool VirtualTime::wait(WaitPoint& point, TimeNs deadline) {
  Program& self = *running_;
  self.point = &point;
  self.arrival = next_arrival_++;
  self.deadline = deadline;
  self.runnable = false;
  pass_baton(true);
  const bool gave_up = deadlocked_ && self.point != nullptr;
  self.point = nullptr;
  return !gave_up;
}

void VirtualTime::notify_one(WaitPoint& point) {
  Program* first = nullptr;
  for (const auto& program : programs_)
    if (program->point == &point && (first == nullptr || program->arrival < first->arrival)) first = program.get();
  if (first != nullptr) wake(*first);
}

void VirtualTime::notify_all(WaitPoint& point) {
  for (const auto& program : programs_)
    if (program->point == &point) wake(*program);
}

void VirtualTime::pass_baton(bool come_back) {
  Program* const self = running_;
  Program& next = choose_next();
  if (&next == self) return;
  std::unique_lock lock(mutex_);
  running_ = &next;
  next.turn.notify_one();
  if (come_back) self->turn.wait(lock, [&] { return running_ == self; });
}

Program& VirtualTime::choose_next() {
  for (;;) {
    if (Program* next = next_runnable()) return *next;
    let_time_pass();
  }
}

Program* VirtualTime::next_runnable() {
  const auto holder = std::find_if(programs_.begin(), programs_.end(), [&](const auto& p) { return p.get() == running_; });
  const auto present = static_cast<std::size_t>(holder - programs_.begin());
  for (std::size_t step = 1; step <= programs_.size(); ++step) {
    Program& program = *programs_[(present + step) % programs_.size()];
    if (program.runnable) return &program;
  }
  return nullptr;
}

void VirtualTime::let_time_pass() {
  TimeNs next = domain_->scheduler().next_time();
  for (const auto& program : programs_)
    if (program->point != nullptr) next = std::min(next, program->deadline);
  if (next == fc2::never) return end_deadlock();
  domain_->scheduler().run_until(next);
  domain_->settle();
  for (const auto& program : programs_)
    if (program->point != nullptr && program->deadline <= next) wake(*program);
}

/// Nothing can ever happen: all blocked calls give up.
void VirtualTime::end_deadlock() {
  deadlocked_ = true;
  for (const auto& program : programs_)
    if (program->point != nullptr) program->runnable = true;
}

}  // namespace

SimulationResult simulate(const std::vector<std::function<void()>>& programs) {
  VirtualTime runtime;
  Domain domain(runtime);
  runtime.attach(domain);
  Domain::enter(&domain);
  const TimeNs start = domain.scheduler().now();
  runtime.run(programs);
  Domain::enter(nullptr);
  return {.elapsed_ns = domain.scheduler().now() - start, .deadlocked = runtime.deadlocked()};
}

}  // namespace vipl
