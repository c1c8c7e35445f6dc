// The process's own domain: a real clock, a mutex, and one thread that fires what is due while nobody calls.
#pragma once
#include "vipl/domain.hpp"

namespace vipl {

/// Never destroyed, and its thread is never joined: exit() must end at once.
Domain& start_real_time_domain();

}  // namespace vipl
