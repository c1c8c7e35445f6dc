#include "tools/fcvi_sim/replay/port_host.hpp"

namespace sim::replay {

PortHost::PortHost(runtime::Scheduler& scheduler, fc2::FramePool& pool, const PortTraits& traits)
    : port_(scheduler, pool, traits.port), resolver_(port_, traits.resolver),
      provider_(port_, resolver_, traits.provider), directory_(port_) {
  resolver_.set_ready_listener(*this);
}

bool PortHost::leave() {
  if (!port_.online() || !port_.has_fabric()) return false;
  port_.log_out_of_fabric();
  return true;
}

void PortHost::list_ports(std::set<std::string> wanted) { directory_.list(listings_.emplace_back(std::move(wanted))); }

void PortHost::address_ready() {
  if (listener_ != nullptr) listener_->transport_ready();
}

}  // namespace sim::replay
