#include "tools/fcvi_sim/run/statistics.hpp"

#include <algorithm>
#include <numeric>

#include "settings/units.hpp"

namespace sim {
namespace {

/// The smallest that so many of a thousand are not above. Pre: sorted, not empty.
runtime::TimeNs by_rank(const std::vector<runtime::TimeNs>& sorted, std::uint64_t per_mille) {
  const std::uint64_t rank = (sorted.size() * per_mille + 999) / 1000;
  return sorted[rank == 0 ? 0 : rank - 1];
}

std::vector<runtime::TimeNs> sorted_latencies(std::span<const WorkloadResult> workloads) {
  std::vector<runtime::TimeNs> all;
  for (const WorkloadResult& workload : workloads)
    for (const MessageTime& message : workload.log.messages) all.push_back(message.latency);
  std::ranges::sort(all);
  return all;
}

void fill_latencies(MessageStatistics& statistics, const std::vector<runtime::TimeNs>& sorted) {
  const auto set = [&](LatencyPoint point, runtime::TimeNs value) {
    statistics.latencies[static_cast<std::size_t>(point)] = value;
  };
  set(LatencyPoint::P50, by_rank(sorted, 500));
  set(LatencyPoint::P90, by_rank(sorted, 900));
  set(LatencyPoint::P99, by_rank(sorted, 990));
  set(LatencyPoint::P99_9, by_rank(sorted, 999));
  set(LatencyPoint::Max, sorted.back());
  const auto sum = std::accumulate(sorted.begin(), sorted.end(), runtime::TimeNs{0});
  set(LatencyPoint::Mean, sum / static_cast<runtime::TimeNs>(sorted.size()));
}

}  // namespace

std::uint64_t MessageStatistics::per_second(std::uint64_t amount) const {
  if (duration <= 0) return 0;
  // In doubles, whose operations are the same on all machines: the product has more than 64 bits.
  return static_cast<std::uint64_t>(static_cast<double>(amount) * static_cast<double>(runtime::second) /
                                    static_cast<double>(duration));
}

std::optional<MessageStatistics> statistics_of(std::span<const WorkloadResult> workloads) {
  MessageStatistics statistics;
  runtime::TimeNs first = runtime::never, last = 0;
  for (const WorkloadResult& workload : workloads) {
    if (workload.log.count == 0) continue;
    statistics.count += workload.log.count;
    statistics.bytes += workload.log.bytes;
    first = std::min(first, workload.log.first);
    last = std::max(last, workload.log.last);
  }
  if (statistics.count == 0) return std::nullopt;
  statistics.duration = last - first;
  fill_latencies(statistics, sorted_latencies(workloads));
  return statistics;
}

std::string describe(const MessageStatistics& statistics) {
  std::string text;
  for (const LatencyPoint point : latency_points)
    text.append(text.empty() ? "" : ", ")
        .append(to_string(point))
        .append(" ")
        .append(settings::format_duration(statistics.latency(point)));
  return text + "; " + settings::format_rate(statistics.bytes, statistics.duration) + ", " +
         settings::format_count(statistics.messages_per_second()) + " messages/s";
}

std::optional<double> fairness_of(std::span<const WorkloadResult> workloads) {
  double sum = 0, squares = 0;
  for (const WorkloadResult& workload : workloads) {
    const runtime::TimeNs duration = workload.log.last - workload.log.first;
    if (workload.log.count == 0 || duration <= 0) continue;
    const double rate = static_cast<double>(workload.log.bytes) / static_cast<double>(duration);
    sum += rate;
    squares += rate * rate;
  }
  if (squares == 0) return std::nullopt;
  return sum * sum / (static_cast<double>(workloads.size()) * squares);
}

std::optional<runtime::TimeNs> recovery_of(std::span<const WorkloadResult> workloads, runtime::TimeNs last_fault) {
  if (last_fault == runtime::never) return std::nullopt;
  runtime::TimeNs longest = 0;
  for (const WorkloadResult& workload : workloads) {
    const std::vector<MessageTime>& all = workload.log.messages;
    const auto next = std::ranges::find_if(all, [&](const MessageTime& one) { return one.at > last_fault; });
    if (next == all.end()) return std::nullopt;
    longest = std::max(longest, next->at - last_fault);
  }
  return longest;
}

}  // namespace sim
