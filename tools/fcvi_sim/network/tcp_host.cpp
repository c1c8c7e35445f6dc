#include "tools/fcvi_sim/network/tcp_host.hpp"

#include <cassert>

namespace sim {
namespace {

vitcp::ProviderConfig config_of(const PortSpec& spec, Random& random) {
  vitcp::ProviderConfig config;
  config.addresses = spec.addresses;
  config.port = spec.tcp.port;
  config.segment_bytes = spec.tcp.vi_segment_bytes;
  config.ask_for_crc = spec.tcp.asks_for_crc;
  config.grant_crc = spec.tcp.grants_crc;
  config.descriptor_flow_control = spec.tcp.descriptor_flow_control;
  config.take_urgent_marks = spec.tcp.takes_urgent_marks;
  config.send_urgent_marks = spec.tcp.sends_urgent_marks;
  config.rdma_read_window = spec.tcp.rdma_read_window;
  config.request_timeout = spec.tcp.request_timeout;
  config.close_timeout = spec.tcp.close_timeout;
  config.number_seed = random.next();
  return config;
}

}  // namespace

TcpHost::TcpHost(runtime::Scheduler& scheduler, streams::Streams& streams, const PortSpec& spec, Random& random)
    : spec_(spec), provider_(streams, scheduler, config_of(spec, random)) {
  provider_.set_row_listener(this);
}

void TcpHost::begin() {
  if (std::exchange(listens_, true)) return;
  [[maybe_unused]] const auto failure = provider_.listen();
  assert(!failure && "the loader saw to it that no two hosts have the same address");
  if (listener_ != nullptr) listener_->transport_ready();
}

std::vector<HostTransport::Held> TcpHost::held() const {
  return {{"TCP connections without a VI", provider_.streams_without_vi()}};
}

HostTransport::Tally TcpHost::tally() const {
  const vitcp::ProviderCounters& counters = provider_.counters();
  Tally tally{.discarded = {}, .unexpected_events = counters.unexpected_events};
  counters.for_each_refusal([&](std::string_view reason, std::uint64_t times) {
    if (times != 0) tally.discarded.push_back({reason, times});
  });
  return tally;
}

void TcpHost::add_gauges(std::vector<Gauge>& to) const {
  to.push_back({"TCP connections without a VI", "", provider_.streams_without_vi()});
}

}  // namespace sim
