#include "tools/fcvi_sim/share/process.hpp"

#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

namespace sim::share {

void limit_processor_time(int seconds) {
  const itimerval timer{.it_interval = {}, .it_value = {.tv_sec = seconds, .tv_usec = 0}};
  ::setitimer(ITIMER_PROF, &timer, nullptr);
}

void begin_child(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGTERM, SIG_IGN);
}

std::string kind_of_death(int wait_status) {
  if (!WIFSIGNALED(wait_status)) return "ended early";
  if (WTERMSIG(wait_status) == SIGPROF)
    return "needed more than " + std::to_string(most_seconds_of_a_run) + " s of processor time";
  return std::string("died of ") + ::strsignal(WTERMSIG(wait_status));
}

}  // namespace sim::share
