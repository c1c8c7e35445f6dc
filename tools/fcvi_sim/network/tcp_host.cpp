#include "tools/fcvi_sim/network/tcp_host.hpp"

#include <cassert>

#include "tools/fcvi_sim/scenario/rdma_names.hpp"

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

TcpHost::TcpHost(runtime::Scheduler& scheduler, streams::Streams& streams, const PortSpec& spec, Random& random,
                 std::uint64_t rdma_seed)
    : scheduler_(scheduler), streams_(streams), spec_(spec), rdma_seed_(rdma_seed),
      provider_(streams, scheduler, config_of(spec, random)) {
  provider_.set_row_listener(this);
}

void TcpHost::begin() {
  if (std::exchange(listens_, true)) return;
  [[maybe_unused]] const auto failure = provider_.listen();
  assert(!failure && "the loader saw to it that no two hosts have the same address");
  if (listener_ != nullptr) listener_->transport_ready();
}

RdmaCore& TcpHost::rdma() {
  if (!rdma_) rdma_.emplace(streams_, scheduler_, static_cast<fsm::RowListener&>(*this), rdma_seed_);
  return *rdma_;
}

std::vector<HostTransport::Held> TcpHost::held() const {
  return {{"TCP connections without a VI", provider_.streams_without_vi()},
          {"memory regions", rdma_ ? rdma_->memory.size() : 0}};
}

HostTransport::Tally TcpHost::tally() const {
  const vitcp::ProviderCounters& counters = provider_.counters();
  Tally tally{.discarded = {}, .unexpected_events = counters.unexpected_events};
  counters.for_each_refusal([&](std::string_view reason, std::uint64_t times) {
    if (times != 0) tally.discarded.push_back({reason, times});
  });
  if (rdma_) add_rdma(rdma_->counters, tally);
  return tally;
}

/// What the ULPs decide is no error.
void TcpHost::add_rdma(const iwarp::Counters& counters, Tally& tally) {
  using machines::iwarp::Failure;
  tally.unexpected_events += counters.unexpected_events;
  for (const auto& [cause, times] : counters.errors) tally.discarded.push_back({rdma_error_name(cause), times});
  for (const Failure failure : {Failure::NotReachable, Failure::TimedOut, Failure::PeerClosed, Failure::NotAdmitted,
                                Failure::Invalid, Failure::Crossing, Failure::NotAgreed})
    if (const std::uint64_t times = counters.failures.of(failure); times != 0)
      tally.discarded.push_back({rdma_startup_name(failure), times});
}

void TcpHost::add_gauges(std::vector<Gauge>& to) const {
  to.push_back({"TCP connections without a VI", "", provider_.streams_without_vi()});
}

}  // namespace sim
