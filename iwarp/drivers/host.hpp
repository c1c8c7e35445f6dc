// RDMA over TCP on the system's sockets and clock: what all streams of a process share, for any of its threads.
#pragma once
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "iwarp/services.hpp"
#include "runtime/core_guard.hpp"
#include "streams/drivers/socket_streams.hpp"

namespace iwarp::drivers {

/// A core: its lock, clock, sockets and memory table. Calls of the core's parts are made inside (runtime::CoreSection);
/// what they tell comes from inside, too, in the thread that is. A thread is not cancelled (pthread_cancel) there.
class Host final : public runtime::CoreGuard {
 public:
  /// What goes on while the program makes no call.
  enum class Progress : std::uint8_t {
    own_thread,  // a thread of the host, which gets no signals, waits for the sockets and the clock
    callers,     // nothing: the program calls run_for()
  };
  /// Throws boost::system::system_error: the process has too many open files; std::system_error: too many threads.
  explicit Host(Progress progress);
  /// All streams, start-ups and listeners are gone.
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  // --- any thread, outside
  void enter() override;
  void leave() override;
  /// False: another thread is inside.
  [[nodiscard]] bool try_enter();
  /// For a program that polls: reads the sockets and does what is due. False: nothing came, or another thread is
  /// inside.
  bool poll();
  /// With Progress::callers: waits at most so long for something to do, and does it.
  void run_for(std::chrono::milliseconds time);
  /// In the child of a fork(), inside, as is its only thread: the sockets are the parent's alone from now on. What the
  /// program calls finds them closed.
  void abandon_in_child();

  // --- inside
  /// Who polled will sleep: the host's thread is woken for what comes.
  void wait_for_input();
  /// `config` outlives what is made with it.
  [[nodiscard]] Services services(const Config& config) {
    return {streams_, scheduler_, config, counters_, *workspace_, memory_};
  }
  [[nodiscard]] MemoryTable& memory() { return memory_; }
  [[nodiscard]] Counters& counters() { return counters_; }
  [[nodiscard]] runtime::Scheduler& scheduler() { return scheduler_; }
  /// For other sockets of the core.
  [[nodiscard]] const std::shared_ptr<streams::drivers::SocketSet>& sockets() const { return streams_.sockets(); }

 private:
  void add_input(runtime::Input& input) override { inputs_.push_back(&input); }
  void remove_input(runtime::Input& input) override { std::erase(inputs_, &input); }
  [[nodiscard]] runtime::TimeNs now() const;
  void start_thread();
  void settle();
  void arm();
  void release();

  std::mutex lock_;
  int cancel_state_ = 0;  // of the thread that is inside
  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> stay_{io_.get_executor()};
  boost::asio::steady_timer timer_{io_};
  runtime::TimeNs armed_for_ = runtime::never;
  runtime::Scheduler scheduler_;
  std::vector<runtime::Input*> inputs_;
  bool abandoned_ = false;
  Counters counters_;
  std::unique_ptr<Workspace> workspace_ = std::make_unique<Workspace>();
  MemoryTable memory_;
  streams::drivers::SocketStreams streams_{io_, *this, scheduler_};
  std::thread thread_;
};

}  // namespace iwarp::drivers
