// A process that carries out pieces of work, and its parent's end of it.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sim::share {

/// Pieces of a work are numbered: the first, and how many.
struct Pieces {
  std::uint64_t first = 0, count = 0;
};

struct Result {
  std::uint64_t piece = 0;
  std::string text = {};   // what the piece returned
  std::string death = {};  // else how its process ended: "died of Aborted"
  std::string note = {};   // and what it noted last: see note_for_death()
};

/// Carries out one piece, in a process of its own which it may end. The same piece returns the same text anywhere.
using Run = std::function<std::string(std::uint64_t piece)>;

/// In a Run: what is being done, in case that the process dies of it. The first 500 bytes are kept.
void note_for_death(std::string_view what);

class Worker {
 public:
  /// Starts the process. Throws std::runtime_error where there can be none. `run` is called in it.
  explicit Worker(const Run& run);
  /// Ends the process.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// For poll(): readable when take() has something.
  [[nodiscard]] int descriptor() const { return socket_; }
  [[nodiscard]] bool is_idle() const { return work_.count == 0; }
  /// Pre: it is idle.
  void give(Pieces pieces);
  /// Appends what has arrived, in the order of pieces. Where a piece ended the process, that is its result; then
  /// is_dead(), and left() was not begun.
  void take(std::vector<Result>& to);
  [[nodiscard]] bool is_dead() const { return child_ < 0; }
  [[nodiscard]] Pieces left() const { return work_; }

 private:
  [[noreturn]] static void serve(int socket, const Run& run);
  void take_death(std::vector<Result>& to);

  pid_t child_ = -1;
  int socket_ = -1;
  char* note_ = nullptr;  // shared with the process
  Pieces work_;           // given, without those that came back
  std::string text_;      // came, is not a whole result yet
};

}  // namespace sim::share
