// What the parts of the streams of one core are given.
#pragma once
#include <array>

#include <boost/container/static_vector.hpp>

#include "iwarp/memory.hpp"
#include "iwarp/speculation_counts.hpp"
#include "iwarp/workspace.hpp"
#include "runtime/scheduler.hpp"
#include "state_machines/iwarp_startup.hpp"
#include "streams/stream.hpp"

namespace iwarp {

struct Config {
  runtime::TimeNs startup_timeout = 10 * runtime::second;  // for the whole start-up (RFC 5044 7.1.2 rule 10)
  runtime::TimeNs close_timeout = 10 * runtime::second;    // for a graceful teardown
  std::size_t emss = 1460;                                 // octets of a TCP segment
  std::size_t half_open = 128;                             // start-ups of others that may be unfinished
};

/// Errors that this end found in what came, by layer, type and code.
class ErrorCounts {
 public:
  void count(const wire::rdmap::Cause& cause) {
    for (auto& [counted, times] : counts_)
      if (counted == cause) return ++times, void();
    if (counts_.size() < counts_.capacity()) counts_.emplace_back(cause, 1);
  }
  [[nodiscard]] std::uint64_t of(const wire::rdmap::Cause& cause) const {
    for (const auto& [counted, times] : counts_)
      if (counted == cause) return times;
    return 0;
  }
  [[nodiscard]] auto begin() const { return counts_.begin(); }
  [[nodiscard]] auto end() const { return counts_.end(); }

 private:
  /// More than there are: 6 and 6 of DDP, 11 of RDMAP, 7 of the LLP.
  boost::container::static_vector<std::pair<wire::rdmap::Cause, std::uint64_t>, 32> counts_;
};

/// Start-ups that made no stream, by reason.
class FailureCounts {
 public:
  void count(machines::iwarp::Failure failure) { ++counts_.at(static_cast<std::size_t>(failure)); }
  [[nodiscard]] std::uint64_t of(machines::iwarp::Failure failure) const {
    return counts_.at(static_cast<std::size_t>(failure));
  }

 private:
  std::array<std::uint64_t, 9> counts_{};
};

struct Counters {
  std::uint64_t stale = 0;              // late or crossing, harmless
  std::uint64_t unexpected_events = 0;  // defects of this code
  std::uint64_t streams_enabled = 0;
  std::uint64_t crc_errors = 0, framing_errors = 0, segments_refused = 0;
  std::uint64_t terminates_sent = 0, terminates_received = 0, terminates_malformed = 0;
  std::uint64_t startups_failed = 0, half_open_dropped = 0;
  SpeculationCounts speculation;
  ErrorCounts errors;
  FailureCounts failures;
};

/// References to what a core has once.
struct Services {
  streams::Streams& streams;
  runtime::Scheduler& scheduler;
  const Config& config;
  Counters& counters;
  Workspace& workspace;
  MemoryTable& memory;
  fsm::RowListener* row_listener = nullptr;  // of all machines here
};

}  // namespace iwarp
