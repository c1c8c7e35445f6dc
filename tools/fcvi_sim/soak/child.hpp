// Work in a process of its own: what crashes there, or never ends, is an outcome.
#pragma once
#include <functional>
#include <string>
#include <sys/types.h>

#include "tools/fcvi_sim/soak/trial.hpp"

namespace sim::soak {

/// More processor time than any run needs.
inline constexpr int most_seconds_of_a_run = 60;

/// In a child: from now on it has so much processor time; a signal ends it then.
void limit_processor_time(int seconds);
/// In a child, first: it ends with its parent, and leaves Ctrl-C and SIGTERM to it.
void begin_child(pid_t parent);

/// "died of Aborted", "needed more than 60 s of processor time", "ended early": of waitpid().
std::string kind_of_death(int wait_status);

/// As one text, for pipes.
std::string encoded(const Outcome& outcome);
Outcome decoded(const std::string& text);

/// What `work` returns, or how its process died. Its standard error goes to the file, if there is one.
Outcome in_child(const std::function<Outcome()>& work, const std::string& error_path = {});

}  // namespace sim::soak
