// Real time that this process has spent on the data of messages and not on the simulation.
#pragma once
#include <chrono>

namespace sim {

/// On making, laying out and hashing content, and on the memory for it.
[[nodiscard]] std::chrono::steady_clock::duration time_spent_on_data();

/// From here to the end of the block; one at a time.
class OnData {
 public:
  OnData() = default;
  OnData(const OnData&) = delete;
  OnData& operator=(const OnData&) = delete;
  ~OnData();

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace sim
