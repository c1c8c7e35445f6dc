// What the times of messages come to: latencies, rates, fairness, recovery.
#pragma once
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "tools/fcvi_sim/run/results.hpp"

namespace sim {

/// Of the workloads that are looked at together.
using Logs = std::vector<const MessageLog*>;
[[nodiscard]] Logs logs_of(std::span<const WorkloadResult> workloads);

/// Of the messages of one workload or several. None: the times of its messages were not noted, or there were none.
struct MessageStatistics {
  std::uint64_t count = 0, bytes = 0;
  std::uint64_t missing = 0;                                           // never came
  std::array<runtime::TimeNs, std::size(latency_points)> latencies{};  // by LatencyPoint; by the nearest rank
  runtime::TimeNs duration = 0;  // from when the first was due to when one more would have been due; MessageLog::end
  /// Whole ones, rounded down; 0 where no time passed.
  [[nodiscard]] std::uint64_t bytes_per_second() const { return per_second(bytes); }
  [[nodiscard]] std::uint64_t messages_per_second() const { return per_second(count); }
  /// What is missing counts: runtime::never, where that is one of those.
  [[nodiscard]] runtime::TimeNs latency(LatencyPoint point) const { return latencies[static_cast<std::size_t>(point)]; }

 private:
  [[nodiscard]] std::uint64_t per_second(std::uint64_t amount) const;
};
[[nodiscard]] std::optional<MessageStatistics> statistics_of(const Logs& logs);
/// "p50 3.125 us, p90 ..., mean ...; 1.52 GB/s, 23,212 messages/s; 3 of 20 messages never came"
[[nodiscard]] std::string describe(const MessageStatistics& statistics);
/// "3 of 20 messages never came"
[[nodiscard]] std::string missing_text(const MessageStatistics& statistics);
/// "never", or as durations are.
[[nodiscard]] std::string latency_text(runtime::TimeNs latency);

/// Jain's index of what each moved: the square of the sum, divided by N times the sum of squares. 1: all the same; 1/N:
/// one has all. Of the time in which all might: from when the first message of any was due until the first has moved
/// all of its own (none has: until the last message was there). Of a message that comes later it counts as much as of
/// its time was in it. None: nothing was moved.
[[nodiscard]] std::optional<double> fairness_of(const Logs& logs);

/// Of each, from the last fault while its messages were due to the first of its messages that was due after it and was
/// there; the longest.
struct Recovery {
  bool had_fault = false;
  std::optional<runtime::TimeNs> time = {};  // none: there was no fault, or no message of one of them after it
};
/// `fault_moments`: ascending.
[[nodiscard]] Recovery recovery_of(const Logs& logs, const std::vector<runtime::TimeNs>& fault_moments);

}  // namespace sim
