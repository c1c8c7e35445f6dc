#include "tools/fabricd/stand_in.hpp"

#include <algorithm>
#include <array>

namespace fabricd {
namespace {

fc2::NPortConfig port_config() {
  fc2::NPortConfig config;
  config.name = "stand-in";
  config.port_name = {0x3000'0000'FCFA'0001};  // NAA 3, locally assigned
  config.node_name = {0x3000'0000'FCFA'0000};
  return config;
}

// Known to no name server, and interested in nobody's changes.
farp::ResolverConfig resolver_config() {
  farp::ResolverConfig config;
  config.use_name_server = false;
  config.register_state_changes = false;
  return config;
}

}  // namespace

void FormerAddresses::add(const wire::IpAddress& address) {
  if (!addresses_.insert(address).second) return;
  oldest_.push_back(address);
  if (oldest_.size() <= limit_) return;
  addresses_.erase(oldest_.front());
  oldest_.pop_front();
}

StandIn::StandIn(fc2::Switch& fabric, fc2::drivers::FabricCore& core)
    : fabric_(fabric), port_(core.scheduler(), core.pool(), port_config()), resolver_(port_, resolver_config()),
      provider_(port_, resolver_, fcvi::ProviderConfig{}) {
  fabric_.attach(port_);
  fabric_.name_server().set_stand_in(this);
}

StandIn::~StandIn() {
  fabric_.name_server().set_stand_in(nullptr);
  fabric_.detach(port_);
}

bool StandIn::is_local(const wire::IpAddress& address) {
  constexpr std::array<std::uint8_t, 8> prefix{0xFD, 0xFC, 0x76, 0x69, 0, 0, 0, 0};
  return std::equal(prefix.begin(), prefix.end(), address.bytes.begin());
}

void StandIn::address_registered(const wire::IpAddress& address) {
  if (!is_local(address)) registered_.add(address);
}

std::optional<wire::FcId> StandIn::port_for(const wire::IpAddress& address) const {
  if (!port_.online() || (!is_local(address) && !registered_.contains(address))) return std::nullopt;
  return port_.n_port_id();
}

}  // namespace fabricd
