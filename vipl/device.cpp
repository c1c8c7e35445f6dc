#include "vipl/device.hpp"

#include "vipl/domain.hpp"

namespace vipl {
namespace {

// No link here has latency: whoever has an address answers at once.
constexpr TimeNs farp_timeout = 100 * fc2::millisecond;
constexpr int resolver_retries = 1;

fc2::NPortConfig port_config(const NicConfiguration& nic, const NodeIdentity& identity) {
  fc2::NPortConfig config;
  config.name = nic.name;
  config.port_name = identity.port_name;
  config.node_name = identity.node_wwn;
  return config;
}

farp::ResolverConfig resolver_config(const NodeIdentity& identity) {
  farp::ResolverConfig config;
  config.own_addresses = identity.addresses;
  config.symbolic_node_name = identity.node_name;
  config.symbolic_port_name = identity.symbolic_port_name;
  config.retries = resolver_retries;
  config.farp_timeout = farp_timeout;
  return config;
}

farp::DirectoryConfig directory_config(const NicConfiguration& nic) {
  farp::DirectoryConfig config;
  config.timeout = nic.timeouts.name_service;
  return config;
}

fcvi::ProviderConfig provider_config(const wire::IpAddress& address) {
  fcvi::ProviderConfig config;
  config.address = address;
  return config;
}

}  // namespace

Device::Device(Domain& domain, unsigned number)
    : domain_(domain),
      configuration_(*simulated_nic("VINIC" + std::to_string(number))),
      identity_(derive(configuration_, {})),
      port_(std::make_unique<fc2::NPort>(domain.scheduler(), domain.pool(), port_config(configuration_, identity_))),
      resolver_(std::make_unique<farp::Resolver>(*port_, resolver_config(identity_))),
      directory_(std::make_unique<farp::Directory>(*port_, directory_config(configuration_))),
      provider_(std::make_unique<fcvi::Provider>(*port_, *resolver_, provider_config(address()))) {
  resolver_->set_ready_listener(*this);
  domain.fabric().attach(*port_);
}

Device::~Device() {
  provider_.reset();
  directory_.reset();
  resolver_.reset();
  domain_.fabric().detach(*port_);
}

void Device::address_ready() { domain_.runtime().notify_all(ready_point_); }

}  // namespace vipl
