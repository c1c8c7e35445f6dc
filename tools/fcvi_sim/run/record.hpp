// What a run notes for a report besides frames.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/time.hpp"
#include "tools/fcvi_sim/host/host_transport.hpp"

namespace sim {

/// An endpoint's state, as VI-ARCH 5 and FC-VI 8.2 name them.
struct StateChange {
  runtime::TimeNs at = 0;  // of the simulation's clock
  std::size_t port = 0;
  std::string connection;
  std::string_view from, to;
};

/// A row of a table of state_machines/.
struct RowRecord {
  runtime::TimeNs at = 0;
  std::size_t port = 0;
  FiredRow row;
};

/// A fault befell the frame of that record of the capture.
struct FaultHit {
  std::uint64_t record = 0;  // from 1
  std::size_t rule = 0;      // position among the scenario's faults
};

/// A value that a run measures: each holds until the next.
struct Series {
  std::string group, name;  // "Buffer credit", "client"
  std::string_view unit;    // "B"; empty: a count
  std::vector<runtime::TimeNs> at;
  std::vector<std::uint64_t> values;
};

struct RunRecord {
  std::vector<StateChange> states;
  std::vector<RowRecord> rows;  // at most most_rows
  std::uint64_t rows_left_out = 0;
  std::vector<Series> series;
  std::vector<FaultHit> hits;

  static constexpr std::size_t most_rows = 100'000;
  static constexpr std::size_t most_measured = 8;  // ports
};

}  // namespace sim
