// Whether another rank lives: of one on the same machine the kernel says it, of others silence does.
#pragma once
#include <chrono>

#include "tools/fcvi_sim/share/messages.hpp"

namespace sim::share {

/// Everybody says something that often, and is taken for dead after so long a silence.
inline constexpr std::chrono::seconds says_something_every{5}, longest_silence{120};

class Watch {
 public:
  Watch() = default;
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Where it is. Before, it is not taken for dead.
  void begin(const Place& place);
  /// Something came from it.
  void heard() { heard_ = Clock::now(); }
  /// It died, or so long a silence says so. A wrong guess costs work that is done twice, nothing else.
  [[nodiscard]] bool is_dead() const;
  /// It is time to say something to it; then that was said.
  [[nodiscard]] bool is_due();

 private:
  using Clock = std::chrono::steady_clock;
  bool begun_ = false, gone_ = false;
  int process_ = -1;  // a descriptor of it, on the same machine
  Clock::time_point heard_ = {}, told_ = Clock::now();
};

}  // namespace sim::share
