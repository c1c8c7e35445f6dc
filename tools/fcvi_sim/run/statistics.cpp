#include "tools/fcvi_sim/run/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "settings/units.hpp"

namespace sim {
namespace {

/// The smallest that so many of a thousand are not above, `missing` behind all of them. Pre: sorted, not empty.
runtime::TimeNs by_rank(const std::vector<runtime::TimeNs>& sorted, std::uint64_t missing, std::uint64_t per_mille) {
  const std::uint64_t rank = std::max<std::uint64_t>(((sorted.size() + missing) * per_mille + 999) / 1000, 1);
  return rank > sorted.size() ? runtime::never : sorted[rank - 1];
}

std::vector<runtime::TimeNs> sorted_latencies(const Logs& logs) {
  std::vector<runtime::TimeNs> all;
  for (const MessageLog* log : logs)
    for (const MessageTime& message : log->messages) all.push_back(message.latency);
  std::ranges::sort(all);
  return all;
}

void fill_latencies(MessageStatistics& statistics, const std::vector<runtime::TimeNs>& sorted) {
  const auto set = [&](LatencyPoint point, runtime::TimeNs value) {
    statistics.latencies[static_cast<std::size_t>(point)] = value;
  };
  set(LatencyPoint::P50, by_rank(sorted, statistics.missing, 500));
  set(LatencyPoint::P90, by_rank(sorted, statistics.missing, 900));
  set(LatencyPoint::P99, by_rank(sorted, statistics.missing, 990));
  set(LatencyPoint::P99_9, by_rank(sorted, statistics.missing, 999));
  set(LatencyPoint::Max, by_rank(sorted, statistics.missing, 1000));
  const auto sum = std::accumulate(sorted.begin(), sorted.end(), runtime::TimeNs{0});
  const auto mean = sum / static_cast<runtime::TimeNs>(sorted.size());
  set(LatencyPoint::Mean, statistics.missing == 0 ? mean : runtime::never);
}

/// Moved from `first` to `end`.
double moved(const MessageLog& log, runtime::TimeNs first, runtime::TimeNs end) {
  double bytes = 0;
  runtime::TimeNs previous = first;
  const MessageTime* next = nullptr;
  for (const MessageTime& message : log.messages) {
    if (message.at <= end) {
      bytes += message.size_bytes;
      previous = std::max(previous, message.at);
    } else if (next == nullptr || message.at < next->at) {
      next = &message;
    }
  }
  if (next == nullptr) return bytes;
  const runtime::TimeNs begin = std::max(previous, next->due());
  if (begin >= end) return bytes;
  return bytes + next->size_bytes * static_cast<double>(end - begin) / static_cast<double>(next->at - begin);
}

/// The first that has all of its messages has the last of them; if none has, the last one of any.
runtime::TimeNs end_of_contest(const Logs& logs) {
  runtime::TimeNs first = runtime::never, last = 0;
  for (const MessageLog* log : logs) {
    runtime::TimeNs own = 0;
    for (const MessageTime& message : log->messages) own = std::max(own, message.at);
    last = std::max(last, own);
    if (log->count != 0 && log->missing() == 0) first = std::min(first, own);
  }
  return first == runtime::never ? last : first;
}

}  // namespace

Logs logs_of(std::span<const WorkloadResult> workloads) {
  Logs logs;
  for (const WorkloadResult& workload : workloads) logs.push_back(&workload.log);
  return logs;
}

std::uint64_t MessageStatistics::per_second(std::uint64_t amount) const {
  if (duration <= 0) return 0;
  // In doubles, whose operations are the same on all machines: the product has more than 64 bits.
  return static_cast<std::uint64_t>(static_cast<double>(amount) * static_cast<double>(runtime::second) /
                                    static_cast<double>(duration));
}

std::optional<MessageStatistics> statistics_of(const Logs& logs) {
  MessageStatistics statistics;
  runtime::TimeNs first = runtime::never, end = 0;
  for (const MessageLog* log : logs) {
    statistics.missing += log->missing();
    if (log->count == 0) continue;
    statistics.count += log->count;
    statistics.bytes += log->bytes;
    first = std::min(first, log->first);
    end = std::max(end, log->end);
  }
  if (statistics.count == 0) return std::nullopt;
  statistics.duration = end - first;
  fill_latencies(statistics, sorted_latencies(logs));
  return statistics;
}

std::string missing_text(const MessageStatistics& statistics) {
  return settings::format_count(statistics.missing) + " of " +
         settings::format_count(statistics.count + statistics.missing) + " messages never came";
}

std::string latency_text(runtime::TimeNs latency) {
  return latency == runtime::never ? "never" : settings::format_duration(latency);
}

std::string describe(const MessageStatistics& statistics) {
  std::string text;
  for (const LatencyPoint point : latency_points)
    text.append(text.empty() ? "" : ", ")
        .append(to_string(point))
        .append(" ")
        .append(latency_text(statistics.latency(point)));
  text += "; " + settings::format_rate(statistics.bytes, statistics.duration) + ", " +
          settings::format_count(statistics.messages_per_second()) + " messages/s";
  return statistics.missing == 0 ? text : text + "; " + missing_text(statistics);
}

std::optional<double> fairness_of(const Logs& logs) {
  runtime::TimeNs first = runtime::never;
  for (const MessageLog* log : logs) first = std::min(first, log->first);
  const runtime::TimeNs end = end_of_contest(logs);
  double sum = 0, squares = 0;
  for (const MessageLog* log : logs) {
    const double bytes = moved(*log, first, end);
    sum += bytes;
    squares += bytes * bytes;
  }
  if (squares == 0) return std::nullopt;
  constexpr double digits = 1e12;  // below, the order of the additions shows
  return std::round(sum * sum / (static_cast<double>(logs.size()) * squares) * digits) / digits;
}

Recovery recovery_of(const Logs& logs, const std::vector<runtime::TimeNs>& fault_moments) {
  Recovery recovery;
  runtime::TimeNs longest = 0;
  bool all = true;
  for (const MessageLog* log : logs) {
    const auto behind = std::ranges::upper_bound(fault_moments, log->last_due);
    if (behind == fault_moments.begin() || *std::prev(behind) < log->first) continue;
    recovery.had_fault = true;
    const runtime::TimeNs fault = *std::prev(behind);
    runtime::TimeNs next = runtime::never;
    for (const MessageTime& message : log->messages)
      if (message.due() > fault) next = std::min(next, message.at);
    all = all && next != runtime::never;
    longest = std::max(longest, next == runtime::never ? 0 : next - fault);
  }
  if (recovery.had_fault && all) recovery.time = longest;
  return recovery;
}

}  // namespace sim
