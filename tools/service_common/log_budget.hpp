// Limits the lines that stations on the network can cause in the log.
#pragma once
#include <cstdint>
#include <optional>
#include <utility>

#include "runtime/scheduler.hpp"

namespace services {

/// So many lines a second; the next line reports how many were left out.
class LogBudget {
 public:
  static constexpr std::uint64_t lines_per_second = 50;
  /// A line may be written at `now`.
  [[nodiscard]] bool allows(runtime::TimeNs now) {
    if (now - begun_ >= runtime::second) {
      begun_ = now;
      lines_ = 0;
    }
    if (lines_++ < lines_per_second) return true;
    ++left_out_;
    return false;
  }
  /// Since the previous call.
  [[nodiscard]] std::uint64_t take_left_out() { return std::exchange(left_out_, 0); }

 private:
  runtime::TimeNs begun_ = 0;
  std::uint64_t lines_ = 0, left_out_ = 0;
};

/// For a condition that lasts and is noticed again and again: a line in ten seconds.
class SeldomLog {
 public:
  static constexpr runtime::TimeNs interval = 10 * runtime::second;
  /// A line may be written at `now`.
  [[nodiscard]] bool allows(runtime::TimeNs now) {
    if (last_ && now - *last_ < interval) return false;
    last_ = now;
    return true;
  }

 private:
  std::optional<runtime::TimeNs> last_;
};

}  // namespace services
