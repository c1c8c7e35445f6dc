// Detaches the service from the program that started it: no terminal, a process group of its own, no inherited
// descriptors. It stays in the session, see leave_terminal().
#pragma once
#include <string>
#include <utility>

namespace services {

/// Resets signals to what a program expects at its start; raises the limit of descriptors for many links.
void reset_process();
/// The process that started the service, and waits until it is ready or has failed.
class Starter {
 public:
  Starter() = default;  // no process waits
  explicit Starter(int pipe) : pipe_(pipe) {}
  Starter(Starter&& other) noexcept : pipe_(std::exchange(other.pipe_, -1)) {}
  Starter& operator=(Starter&&) = delete;
  /// If nothing was told, tells that the service ended before it was ready.
  ~Starter();
  /// The starter exits with that status and prints `reason` on its standard error. Once.
  void tell(int status, const std::string& reason);

 private:
  int pipe_ = -1;
};

/// Closes every descriptor except the standard ones; only the service's process returns from here. The starter's
/// process ends when it is told to: so its caller finds the service ready, or learns why there is none. Status 2: the
/// system provides no process. `program`: its name, for messages.
Starter daemonize(const char* program);

}  // namespace services
