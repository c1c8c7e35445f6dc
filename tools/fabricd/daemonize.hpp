// Leaving the program that started us: a session of our own, no terminal, nothing of the parent's left open.
#pragma once
#include <string>
#include <utility>

namespace fabricd {

/// Signals as a program expects them at its start, whoever started us; enough descriptors for many links.
void reset_process();
/// The process that started the service, and waits until it is ready or has failed.
class Starter {
 public:
  Starter() = default;  // nobody waits
  explicit Starter(int pipe) : pipe_(pipe) {}
  Starter(Starter&& other) noexcept : pipe_(std::exchange(other.pipe_, -1)) {}
  Starter& operator=(Starter&&) = delete;
  /// Who is not told anything is told that the service ended before it was ready.
  ~Starter();
  /// It ends with that status, and says `reason` on its standard error. Once.
  void tell(int status, const std::string& reason);

 private:
  int pipe_ = -1;
};

/// Every descriptor but the standard ones is closed, and only the service's process returns from here. The starter's
/// ends when it is told to: whoever started it finds the service ready, or knows why there is none. Status 2: the
/// system gives no process.
Starter daemonize();

}  // namespace fabricd
