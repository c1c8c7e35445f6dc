#include "tools/service_common/daemonize.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

namespace services {
namespace {

constexpr int no_process = 2, ended_early = 1;

// What the service tells: a byte with the status, and the reason.
[[noreturn]] void await_service(int pipe, const char* program) {
  std::string told;
  std::array<char, 512> part;
  for (;;) {
    const ssize_t got = ::read(pipe, part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    told.append(part.data(), static_cast<std::size_t>(got));
  }
  const std::string reason = told.empty() ? "the service ended before it was ready" : told.substr(1);
  if (!reason.empty()) std::fprintf(stderr, "%s: %s\n", program, reason.c_str());
  ::_exit(told.empty() ? ended_early : static_cast<unsigned char>(told.front()));
}

/// The standard descriptors may have been closed, and will be taken for /dev/null.
int above_standard(int descriptor) {
  if (descriptor > 2) return descriptor;
  const int other = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
  if (other < 0) ::_exit(no_process);
  ::close(descriptor);
  return other;
}

// Out of reach of its keys, its jobs and its end, but in the same session: Linux shares processors among sessions
// (autogroup), and one that holds nothing but this service may wait for seconds while a busy one runs.
void leave_terminal() {
  ::signal(SIGHUP, SIG_IGN);  // of a group that has lost its parents while it was stopped
  ::setpgid(0, 0);
  const int terminal = ::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal < 0) return;  // there is none
  ::ioctl(terminal, TIOCNOTTY);
  ::close(terminal);
}

Starter leave_starter(const char* program) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) ::_exit(no_process);
  for (int& end : ends) end = above_standard(end);
  const pid_t child = ::fork();
  if (child < 0) ::_exit(no_process);
  ::close(ends[child > 0 ? 1 : 0]);
  if (child > 0) await_service(ends[0], program);
  return Starter(ends[1]);
}

}  // namespace

Starter::~Starter() {
  if (pipe_ >= 0) ::close(pipe_);
}

// Fits into the pipe: nobody waits for the starter to read.
void Starter::tell(int status, const std::string& reason) {
  if (pipe_ < 0) return;
  const std::string text = static_cast<char>(status) + reason.substr(0, 4000);
  while (::write(pipe_, text.data(), text.size()) < 0 && errno == EINTR) {}
  ::close(std::exchange(pipe_, -1));
}

void reset_process() {
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  ::signal(SIGPIPE, SIG_IGN);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

Starter daemonize(const char* program) {
  ::close_range(3, ~0U, 0);
  Starter starter = leave_starter(program);
  leave_terminal();
  ::umask(077);
  if (::chdir("/") != 0) ::_exit(no_process);
  const int nothing = ::open("/dev/null", O_RDWR);
  for (int standard = 0; standard < 3; ++standard) ::dup2(nothing, standard);
  if (nothing > 2) ::close(nothing);
  return starter;
}

}  // namespace services
