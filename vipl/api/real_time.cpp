#include "vipl/api/real_time.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/resource.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>

#include "runtime/drivers/descriptor.hpp"
#include "runtime/drivers/link_descriptor.hpp"
#include "runtime/drivers/processor.hpp"
#include "vipl/configuration/configuration.hpp"
#include "vipl/engine/cancellation.hpp"
#include "vipl/engine/futex.hpp"
#include "vipl/engine/memory_faults.hpp"
#include "vipl/engine/polling.hpp"
#include "vipl/engine/watch.hpp"

namespace vipl {
namespace {

// Signals are for the program's own threads, and so are the ones that it waits for. Those of a thread's
// own faults stay.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    for (const int signal : MemoryFaults::signals) sigdelset(&all, signal);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~AllSignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

// Of the machine, not of this thread: programs that pin each process to a core of its own gain most by spinning, and
// those that share one notice it.
bool has_cores() {
  static const bool several = std::thread::hardware_concurrency() > 1;
  return several;
}

// Of each thread. Every poll that finds something reads it: without a call of the linker's.
[[gnu::tls_model("initial-exec")]] constinit thread_local Patience own_patience;
[[gnu::tls_model("initial-exec")]] constinit thread_local WaitSpin own_wait_spin;
[[gnu::tls_model("initial-exec")]] constinit thread_local WaitSpin own_call_spin;

// Before there is a NIC nothing waits.
TimeNs connect_spin() {
  const Configuration* const configuration = process_configuration();
  return configuration == nullptr ? 0 : configuration->connect_spin;
}

class RealTime final : public Runtime {
 public:
  void serve_with(Engine& engine) { engine_ = &engine; }
  [[noreturn]] void run();

  [[nodiscard]] TimeNs now() const override { return monotonic_now(); }
  [[nodiscard]] TimeNs now_roughly() const override { return monotonic_tick(); }
  bool wait(EventCount& point, std::uint32_t key, TimeNs deadline) override {
    return engine_->has_memory_inputs() ? watch_->wait(point, key, deadline) : futex_wait(point.epoch(), key, deadline);
  }
  bool wait_at(std::span<const int> descriptors, EventCount& point, std::uint32_t key, TimeNs deadline) override;
  [[nodiscard]] bool can_wait_at() override { return static_cast<bool>(interrupt_); }
  void interrupt_wait_at() override;
  void set_alarm(TimeNs at, TimeNs now) override;
  /// One message of 64 KiB, some ten microseconds: no call is delayed longer by other VIs' traffic.
  [[nodiscard]] std::size_t slice_events() const override { return 256; }
  void call_service() override {
    boost::asio::post(io_, [this] { engine_->serve(); });
  }
  Patience* patience() override { return &own_patience; }
  WaitSpin* wait_spin() override {
    own_wait_spin.longest = wait_spin_.load(std::memory_order_relaxed);
    return own_wait_spin.longest != 0 && has_cores() ? &own_wait_spin : nullptr;
  }
  WaitSpin* call_spin() override {
    own_call_spin.longest = connect_spin();
    return own_call_spin.longest != 0 && has_cores() ? &own_call_spin : nullptr;
  }
  TimeNs poll_spin() override { return has_cores() ? poll_spin_.load(std::memory_order_relaxed) : 0; }
  [[nodiscard]] Place place(TimeNs now) override;
  void let_others_run() override { std::this_thread::yield(); }
  [[nodiscard]] std::uint64_t times_preempted() const override {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return static_cast<std::uint64_t>(usage.ru_nivcsw);
  }
  void nap(EventCount& point, std::uint32_t key, TimeNs now) override;
  void start_thread(std::function<void()> body) override {
    const AllSignalsBlocked for_the_thread;
    std::thread([body = std::move(body)] {
      const Cancellation held(Cancellation::Held);
      body();
    }).detach();
  }
  boost::asio::io_context* io() override { return &io_; }
  runtime::drivers::Doorbell* doorbell() override;

 private:
  void end_naps_later();
  void wake(EventCount& point, bool all) override {
    if (waits_at_.load() == &point) interrupt_wait_at();
    all ? futex_wake_all(point.epoch()) : futex_wake_one(point.epoch());
  }

  // wait_at(): for what the thread there waits, and what ends its sleep.
  std::atomic<EventCount*> waits_at_{nullptr};
  const runtime::drivers::Descriptor interrupt_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  const runtime::drivers::LinkDescriptor known_interrupt_{interrupt_.number()};
  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> stay_{io_.get_executor()};
  boost::asio::steady_timer timer_{io_};  // with the engine's lock
  TimeNs alarm_ = runtime::never;         // when it fires
  Engine* engine_ = nullptr;
  boost::asio::steady_timer nap_timer_{io_};  // the thread's own
  int quiet_rounds_ = 0;                      // of it, without a napping thread
  std::uint32_t completed_ = 0;               // up to its last round
  TimeNs nap_round_ = Patience::nap / 2;
  std::atomic<bool> ends_naps_{false};
  std::atomic<TimeNs> wait_spin_{WaitSpin::default_longest}, poll_spin_{WaitSpin::default_longest};
  std::unique_ptr<runtime::drivers::Doorbell> doorbell_;  // with the engine's lock
  std::optional<Watch> watch_;                            // from the first memory input on
};

// With the engine's lock. The library's thread starts with the first memory input.
runtime::drivers::Doorbell* RealTime::doorbell() {
  if (doorbell_ != nullptr) return doorbell_.get();
  doorbell_ = runtime::drivers::Doorbell::make();
  if (doorbell_ == nullptr) return nullptr;
  if (const Configuration* configuration = process_configuration()) {
    wait_spin_.store(configuration->wait_spin);
    poll_spin_.store(configuration->poll_spin);
  }
  watch_.emplace(*engine_, *doorbell_);
  engine_->set_memory_handler([this] { start_thread([this] { watch_->run(); }); });
  return doorbell_.get();
}

// A notice after the look finds the point here.
bool RealTime::wait_at(std::span<const int> descriptors, EventCount& point, std::uint32_t key, TimeNs deadline) {
  std::array<pollfd, 8> wanted{};
  std::size_t count = 0;
  wanted[count++] = {interrupt_.number(), POLLIN, 0};
  for (const int descriptor : descriptors.first(std::min(descriptors.size(), wanted.size() - 1)))
    wanted[count++] = {descriptor, POLLIN, 0};
  waits_at_.store(&point);
  int events = 1;
  if (!point.is_notified(key)) {
    const TimeNs left = deadline == runtime::never ? 0 : std::max<TimeNs>(deadline - now(), 0);
    const timespec limit{static_cast<time_t>(left / runtime::second), static_cast<long>(left % runtime::second)};
    events = ::ppoll(wanted.data(), count, deadline == runtime::never ? nullptr : &limit, nullptr);
  }
  waits_at_.store(nullptr);
  std::uint64_t times = 0;
  if ((wanted[0].revents & POLLIN) != 0) static_cast<void>(::read(interrupt_.number(), &times, sizeof times));
  return events != 0;
}

void RealTime::interrupt_wait_at() {
  const Cancellation held(Cancellation::Held);  // with the engine's lock
  const std::uint64_t once = 1;
  [[maybe_unused]] const auto written = ::write(interrupt_.number(), &once, sizeof once);
}

// Two that wait for one another in turn are no load that the system would spread over its cores: it leaves them where
// they are, and each waits for the other's time slice, or for its sleep.
Place RealTime::place(TimeNs now) {
  struct Cores {
    [[nodiscard]] int current() const { return runtime::drivers::current_core(); }
    [[nodiscard]] bool leave(int core) const { return runtime::drivers::leave_core(core); }
  };
  thread_local Moves moves;
  return doorbell_ == nullptr ? Place::Apart : moves.place(now, *doorbell_, Cores());
}

// The first napping thread starts it; it continues while any thread naps.
void RealTime::nap(EventCount& point, std::uint32_t key, TimeNs now) {
  if (!ends_naps_.load(std::memory_order_relaxed) && !ends_naps_.exchange(true))
    boost::asio::post(io_, [this] { quiet_rounds_ = 0, end_naps_later(); });
  wait(point, key, now + Patience::longest_nap);
}

void RealTime::end_naps_later() {
  constexpr int rounds_to_end = 20;
  nap_timer_.expires_after(std::chrono::nanoseconds(nap_round_));
  nap_timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    EventCount& point = engine_->completions();
    quiet_rounds_ = point.has_waiters() ? 0 : quiet_rounds_ + 1;
    // Something completed since the last round: that ended all naps of before.
    const std::uint32_t completed = engine_->completed_count();
    const bool quiet = std::exchange(completed_, completed) == completed;
    nap_round_ = quiet ? Patience::nap / 2 : std::min(2 * nap_round_, Patience::longest_round);
    if (quiet) engine_->end_naps();
    if (quiet_rounds_ < rounds_to_end) return end_naps_later();
    nap_round_ = Patience::nap / 2;
    ends_naps_.store(false);
  });
}

void RealTime::run() {
  for (;;) {
    try {
      io_.run();  // never stopped
    } catch (const std::exception&) {
      // A handler that ran out of memory; the others go on.
    }
  }
}

void RealTime::set_alarm(TimeNs at, TimeNs now) {
  if (alarm_ <= now) alarm_ = runtime::never;  // it has fired, or would for what is done
  if (at >= alarm_) return;                    // it fires before, and the engine looks again
  alarm_ = runtime::never;                     // if there is no memory for the next one
  const Cancellation held(Cancellation::Held);
  timer_.expires_at(std::chrono::steady_clock::time_point(std::chrono::nanoseconds(at)));
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) engine_->serve();
  });
  alarm_ = at;
}

}  // namespace

Domain& start_real_time_domain() {
  auto* const runtime = new RealTime;
  auto* const domain = new Domain(*runtime);
  runtime->serve_with(domain->engine());
  runtime->start_thread([runtime] { runtime->run(); });
  return *domain;
}

}  // namespace vipl
