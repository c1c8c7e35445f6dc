// The process's own domain: a real clock, and a thread that serves what is due, and the drivers' sockets, while no call
// does.
#pragma once
#include "vipl/api/domain.hpp"

namespace vipl {

/// Never destroyed, and its thread is never joined: exit() must end at once.
Domain& start_real_time_domain();

}  // namespace vipl
