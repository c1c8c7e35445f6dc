// The log of a service.
#pragma once
#include <cstddef>
#include <string>

namespace services {

inline constexpr std::size_t log_bytes = 1u << 20, old_logs = 1;  // of the log file, and how many before it are kept

/// From now on the log goes to standard error.
/// `name`: of the service.
void log_to_terminal(const char* name, const std::string& level);
/// Logs to this file instead, and redirects standard error to it: the last message of an assertion, a sanitizer
/// or another library is then found there, though the service has no terminal. When the file begins anew,
/// standard error follows.
void log_to_file(const char* name, const std::string& path, const std::string& level);

}  // namespace services
