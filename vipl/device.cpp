#include "vipl/device.hpp"

#include <utility>

#include "vipl/domain.hpp"
#include "vipl/log.hpp"

namespace vipl {
namespace {

// Neither fabric's links have a latency to speak of: whoever has an address answers at once.
constexpr TimeNs default_farp_timeout = 100 * fc2::millisecond;
constexpr int resolver_retries = 1;

fc2::NPortConfig port_config(const NicConfiguration& nic, const NodeIdentity& identity) {
  fc2::NPortConfig config;
  config.name = nic.name;
  config.port_name = identity.port_name;
  config.node_name = identity.node_wwn;
  return config;
}

farp::ResolverConfig resolver_config(const NicConfiguration& nic, const NodeIdentity& identity) {
  farp::ResolverConfig config;
  config.own_addresses = identity.addresses;
  config.symbolic_node_name = identity.node_name;
  config.symbolic_port_name = identity.symbolic_port_name;
  config.retries = resolver_retries;
  config.farp_timeout = nic.timeouts.farp > 0 ? nic.timeouts.farp : default_farp_timeout;
  return config;
}

farp::DirectoryConfig directory_config(const NicConfiguration& nic) {
  farp::DirectoryConfig config;
  config.timeout = nic.timeouts.name_service;
  return config;
}

fcvi::ProviderConfig provider_config(const NicConfiguration& nic, const NodeIdentity& identity) {
  fcvi::ProviderConfig config;
  config.address = identity.addresses.front();
  config.ulp_timeout = nic.timeouts.ulp;
  return config;
}

vi::NicLimits nic_limits(const NicConfiguration& nic) {
  vi::NicLimits limits = nic.limits;
  limits.memory.max_registered_bytes = nic.max_registered_bytes;
  return limits;
}

}  // namespace

Device::Device(Domain& domain, NicConfiguration configuration, NodeIdentity identity)
    : domain_(domain),
      configuration_(std::move(configuration)),
      identity_(std::move(identity)),
      limits_(nic_limits(configuration_)),
      port_(std::make_unique<fc2::NPort>(domain.scheduler(), domain.pool(), port_config(configuration_, identity_))),
      resolver_(std::make_unique<farp::Resolver>(*port_, resolver_config(configuration_, identity_))),
      directory_(std::make_unique<farp::Directory>(*port_, directory_config(configuration_))),
      provider_(std::make_unique<fcvi::Provider>(*port_, *resolver_, provider_config(configuration_, identity_))) {
  resolver_->set_ready_listener(*this);
  connect();
}

Device::~Device() {
  provider_.reset();
  directory_.reset();
  resolver_.reset();
  if (link_ == nullptr) domain_.fabric().detach(*port_);
  link_.reset();
}

void Device::connect() {
  if (configuration_.transport == NicTransport::InProcess) {
    domain_.fabric().attach(*port_);
    return;
  }
  fc2::drivers::LocalFabricOptions options;
  options.process_name = identity_.symbolic_port_name;
  options.service_idle_seconds = static_cast<int>(process_configuration()->fabric_idle_time / fc2::second);
  options.connect_limit = configuration_.timeouts.open;
  fc2::drivers::LinkListener* const listener = this;
  link_ = std::make_unique<fc2::drivers::LocalFabricLink>(*port_, *domain_.runtime().io(), domain_.engine(), options, listener);
}

void Device::address_ready() { domain_.runtime().notify_all(ready_point_); }

void Device::link_changed(fc2::drivers::LinkState state, const std::string&) {
  if (state != fc2::drivers::LinkState::Up) domain_.runtime().notify_all(ready_point_);
}

}  // namespace vipl
