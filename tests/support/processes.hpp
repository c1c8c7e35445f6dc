// Child processes of a test, and waiting for what they do.
#pragma once
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>

namespace support {
using namespace std::chrono_literals;
inline constexpr auto generous = 60s;  // ends a test that hangs, no more

/// True if it came so far.
inline bool eventually(const std::function<bool()>& done, std::chrono::milliseconds limit = generous) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) return false;
    ::usleep(1000);
  }
  return true;
}

/// A child process; killed at the end if it still runs.
class Child {
 public:
  explicit Child(const std::function<int()>& body) : pid_(::fork()) {
    if (pid_ == 0) ::_exit(body());
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ <= 0) return;
    kill(SIGKILL);
    kill(SIGCONT);
    wait();
  }
  [[nodiscard]] pid_t pid() const { return pid_; }
  void kill(int signal) const { ::kill(pid_, signal); }
  /// Still to be waited for.
  [[nodiscard]] bool has_ended() const {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0;
  }
  /// Exit status; -1: a signal ended it.
  int wait() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_;
};

}  // namespace support
