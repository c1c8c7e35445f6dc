#include "tools/fcvi_sim/run/measurement.hpp"

#include <algorithm>
#include <utility>

namespace sim {

Measurement::Measurement(RunRecord& record, Network& network, std::vector<std::string> ports)
    : record_(record), network_(network), ports_(std::move(ports)) {}

void Measurement::take(runtime::TimeNs now) {
  if (!std::exchange(begun_, true)) begin();
  std::vector<Series>& all = record_.series;
  std::size_t at = 0;
  for (std::size_t port = 0; port < std::min(RunRecord::most_measured, ports_.size()); ++port) {
    gauges_.clear();
    network_.add_gauges(port, gauges_);
    for (const HostTransport::Gauge& gauge : gauges_) note(all[at++], now, gauge.value);
  }
  lengths_.clear();
  network_.add_queue_lengths(lengths_);
  const std::size_t queues = std::min(all.size() - at, lengths_.size());
  for (std::size_t queue = 0; queue < queues; ++queue) note(all[at + queue], now, lengths_[queue]);
}

void Measurement::begin() {
  std::vector<Series>& all = record_.series;
  for (std::size_t port = 0; port < std::min(RunRecord::most_measured, ports_.size()); ++port) {
    gauges_.clear();
    network_.add_gauges(port, gauges_);
    for (const HostTransport::Gauge& gauge : gauges_)
      all.push_back({std::string(gauge.what), ports_[port], gauge.unit, {}, {}});
  }
  std::vector<std::string> queues = network_.queue_names();
  if (queues.size() > RunRecord::most_measured) {
    record_.queues_left_out = queues.size() - RunRecord::most_measured;
    queues.resize(RunRecord::most_measured);
  }
  for (std::string& name : queues) all.push_back({"Switch queues", std::move(name), "", {}, {}});
}

void Measurement::note(Series& series, runtime::TimeNs now, std::uint64_t value) {
  if (!series.values.empty() && series.values.back() == value) return;
  if (values_ == RunRecord::most_values) {
    ++record_.values_left_out;
    return;
  }
  ++values_;
  series.at.push_back(now);
  series.values.push_back(value);
}

}  // namespace sim
