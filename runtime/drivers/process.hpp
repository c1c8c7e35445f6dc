// What the system tells of another process.
#pragma once
#include <cstdint>

namespace runtime::drivers {

/// It is stopped (SIGSTOP, a debugger), or ended and not waited for. False also where that is not known.
bool is_stopped(std::uint32_t process_id);

}  // namespace runtime::drivers
