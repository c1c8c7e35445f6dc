// Which of the machine's cores the calling thread runs on.
#pragma once

namespace runtime::drivers {

/// As the system counts them; no system call. Nothing is known: -1.
[[nodiscard]] int current_core();

/// Moves the calling thread off a core. False: it may run nowhere else, or on cores above 1,023. The set of cores on
/// which it may run is as before when this returns; another thread's change of it meanwhile is lost.
bool leave_core(int core);

}  // namespace runtime::drivers
