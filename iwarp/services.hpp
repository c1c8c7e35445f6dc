// What the parts of the streams of one core are given.
#pragma once
#include "iwarp/memory.hpp"
#include "iwarp/workspace.hpp"
#include "runtime/scheduler.hpp"
#include "state_machines/fsm.hpp"
#include "streams/stream.hpp"

namespace iwarp {

struct Config {
  runtime::TimeNs startup_timeout = 10 * runtime::second;  // for the whole start-up (RFC 5044 7.1.2 rule 10)
  runtime::TimeNs close_timeout = 10 * runtime::second;    // for a graceful teardown
  std::size_t emss = 1460;                                 // octets of a TCP segment
  std::size_t half_open = 128;                             // start-ups of others that may be unfinished
};

struct Counters {
  std::uint64_t stale = 0;              // late or crossing, harmless
  std::uint64_t unexpected_events = 0;  // defects of this code
  std::uint64_t streams_enabled = 0;
  std::uint64_t crc_errors = 0, framing_errors = 0, segments_refused = 0;
  std::uint64_t terminates_sent = 0, terminates_received = 0, terminates_malformed = 0;
  std::uint64_t startups_failed = 0, half_open_dropped = 0;
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
