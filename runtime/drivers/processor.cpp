#include "runtime/drivers/processor.hpp"

#include <sched.h>

namespace runtime::drivers {

int current_core() { return ::sched_getcpu(); }

// The system takes a thread at once off a core that is not in its set.
bool leave_core(int core) {
  cpu_set_t all;
  if (core < 0 || core >= CPU_SETSIZE || ::sched_getaffinity(0, sizeof all, &all) != 0) return false;
  cpu_set_t others = all;
  CPU_CLR(core, &others);
  if (CPU_COUNT(&others) == 0 || ::sched_setaffinity(0, sizeof others, &others) != 0) return false;
  ::sched_setaffinity(0, sizeof all, &all);
  return true;
}

}  // namespace runtime::drivers
