// What a run measures for its report: values of ports, links and switch queues over time.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "tools/fcvi_sim/network/network.hpp"
#include "tools/fcvi_sim/run/record.hpp"

namespace sim {

/// Taken between events. Keeps changes only: each value holds until the next.
class Measurement {
 public:
  /// `ports`: names of the hosts, in their order; an empty one is in another part of the run. Both references outlive
  /// it. `once`: of each instant the last value only, which does not depend on who simulates what.
  Measurement(RunRecord& record, Network& network, std::vector<std::string> ports, bool once);
  void take(runtime::TimeNs now);
  /// The end: what is left.
  void conclude();

 private:
  void begin();
  void read();
  void note(std::size_t series, std::uint64_t value);

  RunRecord& record_;
  Network& network_;
  const std::vector<std::string> ports_;
  const bool once_;
  bool begun_ = false;
  runtime::TimeNs instant_ = 0;
  std::size_t values_ = 0;
  std::vector<std::uint64_t> present_;  // by series
  std::vector<std::uint64_t> noted_;    // the same, of the last instant that was noted
  // Its memory, from one time to the next.
  std::vector<HostTransport::Gauge> gauges_;
  std::vector<std::uint64_t> lengths_;
};

}  // namespace sim
