// The log of the service.
#pragma once
#include <cstddef>
#include <string>

namespace fabricd {

inline constexpr std::size_t log_bytes = 1u << 20, old_logs = 1;  // of the log file, and how many before it are kept

/// From now on the log goes to standard error.
void log_to_terminal(const std::string& level);
/// Logs to this file instead, and redirects standard error to it: the last message of an assertion, a sanitizer
/// or another library is then found there, though the service has no terminal. When the file begins anew,
/// standard error follows.
void log_to_file(const std::string& path, const std::string& level);

}  // namespace fabricd
