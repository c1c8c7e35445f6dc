// The domain of the process: a real clock, and a thread that runs due events and serves the drivers' sockets while
// no call does.
#pragma once
#include "vipl/api/domain.hpp"

namespace vipl {

/// Never destroyed, and its thread is never joined: exit() must end at once.
Domain& start_real_time_domain();

}  // namespace vipl
