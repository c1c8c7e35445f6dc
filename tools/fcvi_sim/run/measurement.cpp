#include "tools/fcvi_sim/run/measurement.hpp"

#include <algorithm>
#include <utility>

namespace sim {

Measurement::Measurement(RunRecord& record, Network& network, std::vector<std::string> ports, bool once)
    : record_(record), network_(network), ports_(std::move(ports)), once_(once) {}

void Measurement::take(runtime::TimeNs now) {
  if (once_ && begun_ && now != instant_) conclude();
  if (!std::exchange(begun_, true)) begin();
  instant_ = now;
  read();
  if (!once_) conclude();
}

void Measurement::conclude() {
  for (std::size_t series = 0; series < present_.size(); ++series) note(series, present_[series]);
}

/// Of what is in another part of the run there are no values.
void Measurement::read() {
  std::size_t at = 0;
  for (std::size_t port = 0; port < std::min(RunRecord::most_measured, ports_.size()); ++port) {
    if (ports_[port].empty()) continue;
    gauges_.clear();
    network_.add_gauges(port, gauges_);
    for (const HostTransport::Gauge& gauge : gauges_) present_[at++] = gauge.value;
  }
  lengths_.clear();
  network_.add_queue_lengths(lengths_);
  const std::size_t queues = std::min(present_.size() - at, lengths_.size());
  for (std::size_t queue = 0; queue < queues; ++queue) present_[at + queue] = lengths_[queue];
}

void Measurement::begin() {
  std::vector<Series>& all = record_.series;
  for (std::size_t port = 0; port < std::min(RunRecord::most_measured, ports_.size()); ++port) {
    if (ports_[port].empty()) continue;
    gauges_.clear();
    network_.add_gauges(port, gauges_);
    for (const HostTransport::Gauge& gauge : gauges_)
      all.push_back({std::string(gauge.what), ports_[port], gauge.unit, port, {}, {}});
  }
  std::vector<std::string> queues = network_.queue_names();
  if (queues.size() > RunRecord::most_measured) {
    record_.queues_left_out = queues.size() - RunRecord::most_measured;
    queues.resize(RunRecord::most_measured);
  }
  for (std::size_t queue = 0; queue < queues.size(); ++queue)
    all.push_back({"Switch queues", std::move(queues[queue]), "", ports_.size() + queue, {}, {}});
  present_.resize(all.size());
  noted_.resize(all.size());
}

void Measurement::note(std::size_t series, std::uint64_t value) {
  Series& to = record_.series[series];
  if (!to.values.empty() && noted_[series] == value) return;
  if (values_ == RunRecord::most_values) {
    if (once_) noted_[series] = value;
    ++record_.values_left_out;
    return;
  }
  ++values_;
  noted_[series] = value;
  to.at.push_back(instant_);
  to.values.push_back(value);
}

}  // namespace sim
