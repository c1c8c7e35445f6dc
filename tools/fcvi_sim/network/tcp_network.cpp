#include "tools/fcvi_sim/network/tcp_network.hpp"

#include <algorithm>

namespace sim {

TcpNetwork::TcpNetwork(runtime::Scheduler& scheduler, const Scenario& scenario)
    : scenario_(scenario), network_(scheduler), attached_(scenario.ports.size()) {
  Random random(scenario.seed, "ports");
  for (const PortSpec& spec : scenario.ports) {
    for (const wire::IpAddress& address : spec.addresses) addresses_.emplace(address, hosts_.size());
    streams::Streams& streams = network_.add_host(spec.addresses);
    hosts_.push_back(std::make_unique<TcpHost>(scheduler, streams, spec, random, scenario.seed + hosts_.size()));
  }
  network_.set_rules([this](const auto& from, const auto& to) { return rules_for(from, to); });
}

std::optional<std::size_t> TcpNetwork::host_at(const wire::IpAddress& address) const {
  const auto found = addresses_.find(address);
  return found == addresses_.end() ? std::nullopt : std::optional(found->second);
}

void TcpNetwork::attach(std::size_t host) {
  attached_[host] = true;
  hosts_[host]->begin();
  network_.ask_gates();
}

void TcpNetwork::watch_segments(SegmentWatch* watch, streams::SegmentTap* tap) {
  watch_ = watch;
  network_.set_tap(tap);
}

void TcpNetwork::release_segments() {
  healed_ = true;
  network_.ask_gates();
}

void TcpNetwork::unplug() {
  attached_.assign(attached_.size(), false);
  watch_segments(nullptr, nullptr);
  for (const auto& host : hosts_) host->end();
}

streams::StreamRules TcpNetwork::rules_for(const streams::Address& from, const streams::Address& to) {
  ++streams_;
  const auto caller = host_at(from.ip), called = host_at(to.ip);
  if (!caller || !called) return {};
  streams::StreamRules rules;
  if (!joins(*caller, *called)) rules.reception = streams::Reception::silence;
  StreamCodecs codecs = codecs_for(*called, to.port);
  rules.to_acceptor = way(*caller, *called, std::move(codecs.to_acceptor), true);
  rules.to_connector = way(*called, *caller, std::move(codecs.to_connector), false);
  return rules;
}

StreamCodecs TcpNetwork::codecs_for(std::size_t called, std::uint16_t port) const {
  for (const WorkloadSpec& workload : scenario_.workloads)
    if (workload.rdma && workload.server == called && workload.rdma->tcp_port == port)
      return rdma_codecs(workload.rdma->framing == RdmaFraming::Ift);
  return vi_codecs();
}

// Over both hosts' links, the slower of which decides; without one of its own a host talks to itself.
streams::Way TcpNetwork::way(std::size_t from, std::size_t to, std::unique_ptr<StreamCodec> codec, bool connects) {
  const PortSpec &sender = scenario_.ports[from], &receiver = scenario_.ports[to];
  streams::Way way;
  way.delay = sender.link.latency_ns + receiver.link.latency_ns;
  const auto rates = std::minmax(sender.link.bytes_per_second, receiver.link.bytes_per_second);
  way.octets_per_second = rates.first != 0 ? rates.first : rates.second;
  way.send_buffer_bytes = sender.tcp.send_buffer_bytes;
  way.receive_buffer_bytes = receiver.tcp.receive_buffer_bytes;
  streams::Segmentation cut = [most = sender.tcp.segment_bytes](std::uint64_t, std::size_t available) {
    return std::min<std::size_t>(most, available);
  };
  if (sender.tcp.drawn_segments)
    cut = streams::drawn_segments(scenario_.seed + 2 * streams_ + (connects ? 0 : 1), sender.tcp.segment_bytes);
  const GateOwner& owner = *this;
  const auto gate = std::make_shared<SegmentGate>(owner, std::move(codec), streams_, from, to);
  way.segmentation = [gate, cut = std::move(cut)](std::uint64_t at, std::size_t available) {
    return gate->together(at, cut(at, available));
  };
  way.gate = gate;
  return way;
}

// What no host waits for longer: a ConnectRequest that comes, and the end of a connection.
runtime::TimeNs TcpNetwork::frame_lifetime(bool /*class_2*/) const {
  runtime::TimeNs longest = 0;
  for (const PortSpec& port : scenario_.ports)
    longest = std::max({longest, port.tcp.request_timeout, port.tcp.close_timeout});
  for (const WorkloadSpec& workload : scenario_.workloads)
    if (workload.rdma) longest = std::max({longest, workload.rdma->startup_timeout, workload.rdma->close_timeout});
  return longest;
}

}  // namespace sim
