// What a run measures for its report: values of ports, links and switch queues over time.
#pragma once
#include <string>
#include <vector>

#include "tools/fcvi_sim/network/network.hpp"
#include "tools/fcvi_sim/run/record.hpp"

namespace sim {

/// Taken between events. Keeps changes only: each value holds until the next.
class Measurement {
 public:
  /// `ports`: names of the hosts, in their order. Both references outlive it.
  Measurement(RunRecord& record, Network& network, std::vector<std::string> ports);
  void take(runtime::TimeNs now);

 private:
  void begin();
  void note(Series& series, runtime::TimeNs now, std::uint64_t value);

  RunRecord& record_;
  Network& network_;
  const std::vector<std::string> ports_;
  bool begun_ = false;
  std::size_t values_ = 0;
  std::vector<HostTransport::Gauge> gauges_;  // its memory, from one time to the next
  std::vector<std::uint64_t> lengths_;
};

}  // namespace sim
