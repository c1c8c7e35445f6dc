#include "vipl/api/simulation.hpp"

#include <algorithm>
#include <condition_variable>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>

#include "vipl/api/domain.hpp"

namespace vipl {
namespace {

/// A thread of the simulation. Runs only while it has the baton.
struct Program {
  std::condition_variable turn;
  std::thread thread;
  EventCount* point = nullptr;  // where it is blocked
  std::uint64_t arrival = 0;    // there, in order
  TimeNs deadline = runtime::never;
  bool runnable = true;
};

/// The holder of the baton may use everything; only the baton is guarded by a mutex. Programs pass it on where they
/// wait, and hold no lock there.
class VirtualTime final : public Runtime {
 public:
  VirtualTime() : host_(&add_program()), running_(host_) {}

  void attach(Domain& domain) { domain_ = &domain; }
  void run(const std::vector<std::function<void()>>& programs);
  [[nodiscard]] bool deadlocked() const { return deadlocked_; }

  [[nodiscard]] TimeNs now() const override { return now_; }
  bool wait(EventCount& point, std::uint32_t key, TimeNs deadline) override;
  void set_alarm(TimeNs, TimeNs) override {}
  [[nodiscard]] std::size_t slice_events() const override { return std::numeric_limits<std::size_t>::max(); }
  void call_service() override {}  // nothing is ever left
  void start_thread(std::function<void()> body) override;
  boost::asio::io_context* io() override { return nullptr; }

 private:
  class Leaving;
  void wake(EventCount& point, bool all) override;
  Program& add_program() { return *programs_.emplace_back(std::make_unique<Program>()); }
  static void wake_up(Program& program) {
    program.point = nullptr;
    program.runnable = true;
  }
  /// Gives the baton to the program after its holder, and returns when the holder has it back.
  void pass_baton(bool come_back);
  Program& choose_next();
  [[nodiscard]] Program* next_runnable();
  /// All are blocked: the next event, or the next time-out.
  void let_time_pass();
  void end_deadlock();

  Domain* domain_ = nullptr;
  TimeNs now_ = runtime::second;
  std::vector<std::unique_ptr<Program>> programs_;
  std::mutex mutex_;
  Program* const host_;  // the caller of simulate()
  Program* running_;
  std::uint64_t next_arrival_ = 1;
  std::size_t live_programs_ = 0;
  EventCount all_ended_;
  bool deadlocked_ = false;
};

void VirtualTime::run(const std::vector<std::function<void()>>& programs) {
  live_programs_ = programs.size();
  for (const auto& program : programs)
    start_thread([this, &program] {
      program();
      if (--live_programs_ == 0) notify_all(all_ended_);
    });
  while (live_programs_ != 0) {
    const std::uint32_t key = all_ended_.prepare();
    wait(all_ended_, key, runtime::never);
    all_ended_.finish();
  }
  domain_->engine().enter();
  domain_->close_all_nics();
  domain_->engine().leave();
  while (Program* left = next_runnable()) {  // handlers' threads on their way out
    if (left == host_) break;
    pass_baton(true);
  }
  for (const auto& program : programs_)
    if (program->thread.joinable()) program->thread.join();
}

/// A thread may also end in a handler, by pthread_exit.
class VirtualTime::Leaving {
 public:
  Leaving(VirtualTime& time, Program& program) : time_(time), program_(program) {}
  ~Leaving() {
    program_.runnable = false;
    time_.pass_baton(false);
  }
  Leaving(const Leaving&) = delete;
  Leaving& operator=(const Leaving&) = delete;

 private:
  VirtualTime& time_;
  Program& program_;
};

void VirtualTime::start_thread(std::function<void()> body) {
  Program& program = add_program();
  program.thread = std::thread([this, &program, body = std::move(body)] {
    {
      std::unique_lock lock(mutex_);
      program.turn.wait(lock, [&] { return running_ == &program; });
    }
    Domain::enter(domain_);
    const Leaving at_the_end(*this, program);
    body();
  });
}

bool VirtualTime::wait(EventCount& point, std::uint32_t key, TimeNs deadline) {
  if (point.epoch().load() != key) return true;
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

void VirtualTime::wake(EventCount& point, bool all) {
  Program* first = nullptr;
  for (const auto& program : programs_) {
    if (program->point != &point) continue;
    if (all)
      wake_up(*program);
    else if (first == nullptr || program->arrival < first->arrival)
      first = program.get();
  }
  if (first != nullptr) wake_up(*first);
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
  const auto holder =
      std::find_if(programs_.begin(), programs_.end(), [&](const auto& p) { return p.get() == running_; });
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
  if (next == runtime::never) return end_deadlock();
  now_ = next;
  domain_->engine().serve();
  for (const auto& program : programs_)
    if (program->point != nullptr && program->deadline <= next) wake_up(*program);
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
  const TimeNs start = runtime.now();
  runtime.run(programs);
  Domain::enter(nullptr);
  return {.elapsed_ns = runtime.now() - start, .deadlocked = runtime.deadlocked()};
}

}  // namespace vipl
