#include "vipl/device.hpp"

#include "vipl/domain.hpp"

namespace vipl {
namespace {

// No link here has latency: whoever has an address answers at once.
constexpr TimeNs farp_timeout = 100 * fc2::millisecond;
constexpr int resolver_retries = 1;

fc2::NPortConfig port_config(const std::string& name, unsigned number) {
  fc2::NPortConfig config;
  config.name = name;
  config.port_name = {0x2000'0C00'0100'0000U + number};
  config.node_name = {0x1000'0C00'0100'0000U + number};
  return config;
}

farp::ResolverConfig resolver_config(const wire::IpAddress& address) {
  farp::ResolverConfig config;
  config.own_addresses = {address};
  config.retries = resolver_retries;
  config.farp_timeout = farp_timeout;
  return config;
}

// What each NIC can really have; handles of all NICs together are bounded by HandleSlots::max_handles.
vi::NicLimits nic_limits() {
  vi::NicLimits limits;
  limits.max_vis = 1u << 16;
  limits.memory.max_ptags = 1u << 17;  // VI-DG 4.5: at least one for each VI
  return limits;
}

fcvi::ProviderConfig provider_config(const wire::IpAddress& address) {
  fcvi::ProviderConfig config;
  config.address = address;
  return config;
}

}  // namespace

Device::Device(Domain& domain, unsigned number)
    : domain_(domain),
      name_("VINIC" + std::to_string(number)),
      address_(wire::IpAddress::v4(10, 0, 0, static_cast<std::uint8_t>(number + 1))),
      limits_(nic_limits()),
      port_(std::make_unique<fc2::NPort>(domain.scheduler(), domain.pool(), port_config(name_, number))),
      resolver_(std::make_unique<farp::Resolver>(*port_, resolver_config(address_))),
      provider_(std::make_unique<fcvi::Provider>(*port_, *resolver_, provider_config(address_))) {
  resolver_->set_ready_listener(*this);
  domain.fabric().attach(*port_);
}

Device::~Device() {
  provider_.reset();
  resolver_.reset();
  domain_.fabric().detach(*port_);
}

void Device::address_ready() { domain_.runtime().notify_all(ready_point_); }

}  // namespace vipl
