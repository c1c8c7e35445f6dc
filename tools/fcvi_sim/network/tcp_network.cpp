#include "tools/fcvi_sim/network/tcp_network.hpp"

#include <algorithm>

namespace sim {

TcpNetwork::TcpNetwork(runtime::Scheduler& scheduler, const Scenario& scenario)
    : scenario_(scenario), network_(scheduler), attached_(scenario.ports.size()) {
  Random random(scenario.seed, "ports");
  for (const PortSpec& spec : scenario.ports) {
    for (const wire::IpAddress& address : spec.addresses) addresses_.emplace(address, hosts_.size());
    streams::Streams& streams = network_.add_host(spec.addresses);
    hosts_.push_back(std::make_unique<TcpHost>(scheduler, streams, spec, random));
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
  const auto stream = std::make_shared<TcpStream>(TcpStream{.number = ++streams_});
  const auto caller = host_at(from.ip), called = host_at(to.ip);
  if (!caller || !called) return {};
  streams::StreamRules rules;
  if (!joins(*caller, *called)) rules.reception = streams::Reception::silence;
  rules.to_acceptor = way(*caller, *called, stream, true);
  rules.to_connector = way(*called, *caller, stream, false);
  return rules;
}

// Over both hosts' links, the slower of which decides; without one of its own a host talks to itself.
streams::Way TcpNetwork::way(std::size_t from, std::size_t to, const std::shared_ptr<TcpStream>& stream,
                             bool connects) {
  const PortSpec &sender = scenario_.ports[from], &receiver = scenario_.ports[to];
  streams::Way way;
  way.delay = sender.link.latency_ns + receiver.link.latency_ns;
  const auto rates = std::minmax(sender.link.bytes_per_second, receiver.link.bytes_per_second);
  way.octets_per_second = rates.first != 0 ? rates.first : rates.second;
  way.send_buffer_bytes = sender.tcp.send_buffer_bytes;
  way.receive_buffer_bytes = receiver.tcp.receive_buffer_bytes;
  if (sender.tcp.drawn_segments)
    way.segmentation =
        streams::drawn_segments(scenario_.seed + 2 * streams_ + (connects ? 0 : 1), sender.tcp.segment_bytes);
  else
    way.segmentation = [most = sender.tcp.segment_bytes](std::uint64_t, std::size_t available) {
      return std::min<std::size_t>(most, available);
    };
  const GateOwner& owner = *this;
  way.gate = std::make_shared<SegmentGate>(owner, stream, from, to, connects);
  return way;
}

// What no host waits for longer: a ConnectRequest that comes, and the end of a connection.
runtime::TimeNs TcpNetwork::frame_lifetime(bool /*class_2*/) const {
  runtime::TimeNs longest = 0;
  for (const PortSpec& port : scenario_.ports)
    longest = std::max({longest, port.tcp.request_timeout, port.tcp.close_timeout});
  return longest;
}

}  // namespace sim
