// What every child process that works for this one does, and how its end is told.
#pragma once
#include <sys/types.h>

#include <string>

namespace sim::share {

/// More processor time than any run of a soak or an exploration needs.
inline constexpr int most_seconds_of_a_run = 60;

/// In a child: from now on it has so much processor time; a signal ends it then.
void limit_processor_time(int seconds);
/// In a child, first: it ends with its parent, and leaves Ctrl-C and SIGTERM to it.
void begin_child(pid_t parent);

/// "died of Aborted", "needed more than 60 s of processor time", "ended early": of waitpid().
std::string kind_of_death(int wait_status);

}  // namespace sim::share
