#include "tools/sim_api/port_host.hpp"

#include "fcvi/fc4.hpp"

namespace fcvi::sim::detail {

Listening::Listening(fc2::NPort& port) : port_(port) { port_.set_data_user(fcvi::fc4, *this); }
Listening::~Listening() { port_.remove_user(wire::Type::fc_vi); }

// The Exchange is the test's to end.
void Listening::sequence_received(fc2::Exchange& exchange, const wire::FcHeader& /*first*/,
                                  std::span<const std::uint8_t> /*iu*/) {
  port_.release(exchange);
}

PortHost::PortHost(runtime::Scheduler& scheduler, fc2::FramePool& pool, const PortHostConfig& config)
    : port_(scheduler, pool, config.port), resolver_(port_, config.resolver), address_(config.provider.address) {
  if (config.is_peer)
    listening_.emplace(port_);
  else
    provider_.emplace(port_, resolver_, config.provider);
  resolver_.set_ready_listener(*this);
}

void PortHost::address_ready() {
  ready_ = true;
  if (listener_ != nullptr) listener_->transport_ready();
}

}  // namespace fcvi::sim::detail
