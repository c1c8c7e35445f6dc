// Leaving the program that started us: a session of our own, no terminal, nothing of the parent's left open.
#pragma once
#include <string>

namespace fabricd {

/// Signals as a program expects them at its start, whoever started us; enough descriptors for many links.
void reset_process();
/// Every descriptor but the standard ones is closed; then the parent's process ends (exit status 0, or 2 when it failed)
/// and only the service's returns from here.
void daemonize();

}  // namespace fabricd
