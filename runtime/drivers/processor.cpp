#include "runtime/drivers/processor.hpp"

#include <sched.h>
#include <signal.h>

#include <cstddef>

namespace runtime::drivers {

int current_core() { return ::sched_getcpu(); }

namespace {

/// No handler of the program runs, forks or leaves by a jump while the set is another.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  sigset_t before_{};
};

bool set_cores(const cpu_set_t& cores) { return ::sched_setaffinity(0, sizeof cores, &cores) == 0; }

// A set that is told to the system stays when the cpuset of the process grows. So one that is all that the process may
// have is told as everything.
void give_back(const cpu_set_t& cores) {
  cpu_set_t everything, now;
  CPU_ZERO(&everything);
  for (std::size_t core = 0; core < CPU_SETSIZE; ++core) CPU_SET(core, &everything);
  const bool unlimited =
      set_cores(everything) && ::sched_getaffinity(0, sizeof now, &now) == 0 && CPU_EQUAL(&now, &cores);
  if (!unlimited) set_cores(cores);
}

}  // namespace

// The system takes a thread at once off a core that is not in its set.
bool leave_core(int core) {
  cpu_set_t all;
  if (core < 0 || core >= CPU_SETSIZE) return false;
  const NoSignals until_given_back;
  if (::sched_getaffinity(0, sizeof all, &all) != 0) return false;
  cpu_set_t others = all;
  CPU_CLR(static_cast<std::size_t>(core), &others);
  if (CPU_COUNT(&others) == 0 || !set_cores(others)) return false;
  give_back(all);
  return true;
}

}  // namespace runtime::drivers
