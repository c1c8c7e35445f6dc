// What the times of messages come to: latencies, rates, fairness, recovery.
#pragma once
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "tools/fcvi_sim/run/results.hpp"

namespace sim {

/// Of the messages of one workload or several. None: the times of its messages were not noted, or there were none.
struct MessageStatistics {
  std::uint64_t count = 0, bytes = 0;
  std::array<runtime::TimeNs, std::size(latency_points)> latencies{};  // by LatencyPoint; by the nearest rank
  runtime::TimeNs duration = 0;  // from when the first was due to when the last was there
  /// Whole ones, rounded down; 0 where no time passed.
  [[nodiscard]] std::uint64_t bytes_per_second() const { return per_second(bytes); }
  [[nodiscard]] std::uint64_t messages_per_second() const { return per_second(count); }
  [[nodiscard]] runtime::TimeNs latency(LatencyPoint point) const { return latencies[static_cast<std::size_t>(point)]; }

 private:
  [[nodiscard]] std::uint64_t per_second(std::uint64_t amount) const;
};
[[nodiscard]] std::optional<MessageStatistics> statistics_of(std::span<const WorkloadResult> workloads);
/// "p50 3.125 us, p90 ..., mean ...; 1.52 GB/s, 23,212 messages/s"
[[nodiscard]] std::string describe(const MessageStatistics& statistics);

/// Jain's index of what each moved per second, from its first message to its last: the square of the sum, divided by N
/// times the sum of squares. 1: all the same; 1/N: one has all. None: nothing was moved.
[[nodiscard]] std::optional<double> fairness_of(std::span<const WorkloadResult> workloads);

/// From the last fault to the next message of each that was there; the longest. None: there was no fault, or no message
/// of one of them after it.
[[nodiscard]] std::optional<runtime::TimeNs> recovery_of(std::span<const WorkloadResult> workloads,
                                                         runtime::TimeNs last_fault);

}  // namespace sim
