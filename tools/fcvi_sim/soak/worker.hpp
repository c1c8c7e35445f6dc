// A process that runs seeds, and its parent's end of it.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tools/fcvi_sim/soak/trial.hpp"

namespace sim::soak {

/// Seeds: the first, and how many.
struct Seeds {
  std::uint64_t first = 0, count = 0;
};

class Worker {
 public:
  using Run = std::function<Outcome(std::uint64_t seed)>;
  struct Result {
    std::uint64_t seed = 0;
    Outcome outcome;
  };

  /// Starts the process. Throws std::runtime_error where there can be none. `run` is called in it, and may end it.
  explicit Worker(const Run& run);
  /// Ends the process.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// For poll(): readable when take() has something.
  [[nodiscard]] int descriptor() const { return socket_; }
  [[nodiscard]] bool is_idle() const { return work_.count == 0; }
  /// Pre: it is idle.
  void give(Seeds seeds);
  /// Appends what has arrived, in the order of seeds. Where a seed ended the process, that is its outcome; then
  /// is_dead(), and left() was not run.
  void take(std::vector<Result>& to);
  [[nodiscard]] bool is_dead() const { return child_ < 0; }
  [[nodiscard]] Seeds left() const { return work_; }

 private:
  [[noreturn]] static void serve(int socket, const Run& run);
  void take_death(std::vector<Result>& to);

  pid_t child_ = -1;
  int socket_ = -1;
  Seeds work_;        // given, without those that came back
  std::string text_;  // came, is not a whole result yet
};

}  // namespace sim::soak
