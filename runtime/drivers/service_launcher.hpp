// Starts the program of a service for a program that needs it and finds no listener. The program notices nothing of it:
// no signal, no child that its own wait() would return, no descriptor.
#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "runtime/drivers/runtime_directory.hpp"

namespace runtime::drivers {

/// What is in the environment variable `variable`; else `name` beside the file that contains this code (../bin,
/// ../../bin, ../libexec/fcvi, the same directory); else in the directory where the project was installed; else in
/// $PATH. Empty: not found.
std::string find_service_program(const char* name, const char* variable);

/// Returns when the program was loaded; it is ready when it listens. Empty, or why it failed.
std::string start_service_program(const std::string& program, const std::vector<std::string>& arguments);

/// Connects to a service of this user, and starts it where nobody listens. Asks the file system and starts programs:
/// not from inside a core.
class ServiceConnector {
 public:
  struct Program {
    const char* name;
    const char* variable;  // of the environment, that may name another
    std::string path{};    // replaces both
    std::vector<std::string> arguments{};
    bool start = true;
  };
  struct Outcome {
    int descriptor = -1;  // non-blocking, the caller's
    std::string trouble;  // why there is none
  };
  ServiceConnector(Program program, int socket_type) : program_(std::move(program)), socket_type_(socket_type) {}
  /// A service that was started just now is not there yet: try again. It is started once a second at most, also where
  /// one was reached and has ended since.
  Outcome connect(const ServicePlace& place);

 private:
  std::string start();

  const Program program_;
  const int socket_type_;
  std::optional<std::chrono::steady_clock::time_point> started_;
  std::string start_failure_;
};

}  // namespace runtime::drivers
