#include "tools/fabricd/daemonize.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fabricd {
namespace {

void leave_parent() {
  const pid_t child = ::fork();
  if (child < 0) ::_exit(2);
  if (child > 0) ::_exit(0);
}

}  // namespace

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

void daemonize() {
  ::close_range(3, ~0U, 0);
  leave_parent();
  ::setsid();
  leave_parent();  // no session leader: no terminal ever
  ::umask(077);
  if (::chdir("/") != 0) ::_exit(2);
  const int nothing = ::open("/dev/null", O_RDWR);
  for (int standard = 0; standard < 3; ++standard) ::dup2(nothing, standard);
  if (nothing > 2) ::close(nothing);
}

}  // namespace fabricd
