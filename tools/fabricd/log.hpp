// Where the service says what happens.
#pragma once
#include <cstddef>
#include <string>

namespace fabricd {

inline constexpr std::size_t log_bytes = 1u << 20, old_logs = 1;  // of the log file, and how many before it are kept

/// From now on the log goes to standard error.
void log_to_terminal(const std::string& level);
/// To this file instead, and standard error with it: what an assertion, a sanitizer or another library says last before
/// a service ends that has no terminal is found there. Where the file is begun anew, standard error follows.
void log_to_file(const std::string& path, const std::string& level);

}  // namespace fabricd
