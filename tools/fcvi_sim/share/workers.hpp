// The worker processes of this process.
#pragma once
#include <deque>
#include <memory>
#include <vector>

#include "tools/fcvi_sim/share/worker.hpp"

namespace sim::share {

class Workers {
 public:
  /// `jobs` processes, at least 1: they start when there is work for them.
  Workers(Run run, std::size_t jobs) : run_(std::move(run)), workers_(jobs) {}

  /// More pieces than one process begins at once wait for the next that is idle. Throws std::runtime_error where a
  /// process is needed and cannot be started.
  void add(Pieces pieces);
  /// One process has nothing to do.
  [[nodiscard]] bool is_wanting() const;
  /// Something was added and has not come back.
  [[nodiscard]] bool is_busy() const;
  /// Until something comes back, at most so many milliseconds; appends it. A piece that ends its process costs only
  /// itself: another process goes on behind it.
  void wait(int milliseconds, std::vector<Result>& to);
  /// Ends the processes; what has not come back is given up.
  void stop();

 private:
  void hand_out();
  void take_from(std::unique_ptr<Worker>& worker, std::vector<Result>& to);

  const Run run_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::deque<Pieces> queue_;
};

}  // namespace sim::share
