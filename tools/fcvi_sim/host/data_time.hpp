// Time that this process has spent on the data of messages and not on the simulation.
#pragma once
#include <chrono>
#include <cstddef>
#include <optional>

namespace sim {

/// Real time, and the processor time of all threads of this process.
struct Clocks {
  std::chrono::nanoseconds real{}, processor{};
  [[nodiscard]] static Clocks now();
  friend Clocks operator-(const Clocks& left, const Clocks& right) {
    return {left.real - right.real, left.processor - right.processor};
  }
  friend Clocks operator+(const Clocks& left, const Clocks& right) {
    return {left.real + right.real, left.processor + right.processor};
  }
};

/// On making, laying out, comparing and hashing content, on the memory for it, and on reading the clocks for that; by
/// this thread.
[[nodiscard]] Clocks time_spent_on_data();

/// From here to the end of the block; one at a time. Of less than `least_bytes` of data it takes no note: to read the
/// clocks would take longer than what is timed.
class OnData {
 public:
  static constexpr std::size_t least_bytes = 64u << 10;
  explicit OnData(std::size_t size_bytes);
  OnData(const OnData&) = delete;
  OnData& operator=(const OnData&) = delete;
  ~OnData();

 private:
  std::optional<Clocks> begin_;
};

}  // namespace sim
