// Messages of the library to the user, on stderr.
#pragma once
#include <spdlog/spdlog.h>

namespace vipl {

/// Thread-safe; never destroyed: threads may log while the process exits.
[[nodiscard]] spdlog::logger& log();

}  // namespace vipl
