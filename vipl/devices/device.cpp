#include "vipl/devices/device.hpp"

#include <chrono>
#include <utility>

#include "settings/units.hpp"
#include "vipl/api/domain.hpp"
#include "vipl/engine/log.hpp"

namespace vipl {
namespace {

// Within a host links have no latency to speak of: whoever has an address answers at once. On Ethernet hosts may be
// busy.
constexpr TimeNs default_farp_timeout = 100 * runtime::millisecond, ethernet_farp_timeout = 500 * runtime::millisecond;
constexpr int resolver_retries = 1;
constexpr auto longest_goodbye = std::chrono::seconds(5);  // only where the service does not read

farp::ResolverConfig resolver_config(const NicConfiguration& nic, const NodeIdentity& identity) {
  farp::ResolverConfig config;
  config.own_addresses = identity.addresses;
  config.symbolic_node_name = identity.node_name;
  config.symbolic_port_name = identity.symbolic_port_name;
  config.retries = resolver_retries;
  const TimeNs standard = nic.transport == NicTransport::Fcoe ? ethernet_farp_timeout : default_farp_timeout;
  config.farp_timeout = nic.timeouts.farp > 0 ? nic.timeouts.farp : standard;
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
  config.more_addresses.assign(identity.addresses.begin() + 1, identity.addresses.end());
  config.ulp_timeout = nic.timeouts.ulp;
  config.reorder_pool_bytes = nic.reorder_pool_bytes;
  return config;
}

vi::NicLimits nic_limits(const NicConfiguration& nic) {
  vi::NicLimits limits = nic.limits;
  limits.memory.max_registered_bytes = nic.max_registered_bytes;
  return limits;
}

}  // namespace

Device::Device(Domain& domain, NicConfiguration configuration, NodeIdentity identity)
    : domain_(domain), configuration_(std::move(configuration)), identity_(std::move(identity)),
      limits_(nic_limits(configuration_)),
      fcoe_(configuration_.transport != NicTransport::Fcoe
                ? nullptr
                : std::make_unique<FcoeLink>(core_access(), configuration_.fcoe, identity_.port_name)),
      port_(std::make_unique<fc2::NPort>(domain.scheduler(), domain.pool(), port_config())),
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
  if (configuration_.transport == NicTransport::InProcess) domain_.fabric().detach(*port_);
  link_.reset();
  fcoe_.reset();
}

void Device::connect() {
  if (configuration_.transport == NicTransport::InProcess) {
    domain_.fabric().attach(*port_);
    return;
  }
  if (fcoe_ != nullptr) {
    if (fcoe_->failure().empty()) fcoe_->attach(*port_);
    return;
  }
  fc2::drivers::LocalFabricOptions options;
  options.process_name = identity_.symbolic_port_name;
  options.service_idle_seconds = static_cast<int>(process_configuration()->fabric_idle_time / runtime::second);
  options.connect_limit = configuration_.timeouts.open;
  fc2::drivers::LinkListener* const listener = this;
  link_ = std::make_unique<fc2::drivers::LocalFabricLink>(*port_, *domain_.runtime().io(), domain_.engine(), options,
                                                          listener);
}

fc2::drivers::CoreAccess Device::core_access() const {
  return {*domain_.runtime().io(), domain_.engine(), domain_.scheduler(), domain_.pool()};
}

fc2::NPortConfig Device::port_config() const {
  fc2::NPortConfig config;
  config.name = configuration_.name;
  config.port_name = identity_.port_name;
  config.node_name = identity_.node_wwn;
  config.log_out_silent_ports = true;  // one that is gone untold would keep connections and VIs for ever (ruling 282)
  if (fcoe_ != nullptr && fcoe_->failure().empty()) config.receive_data_field_bytes = fcoe_->data_field_bytes();
  return config;
}

std::string Device::trouble() const {
  if (fcoe_ != nullptr) return fcoe_->trouble();
  return link_ == nullptr ? std::string() : link_->trouble();
}

// The end of a local fabric's socket is seen at once.
void Device::say_goodbye() {
  if (fcoe_ != nullptr) fcoe_->say_goodbye();
  if (link_ != nullptr) link_->drain(longest_goodbye);
}

void Device::address_ready() {
  domain_.runtime().notify_all(ready_point_);
  warn_of_ulp_timeout();
}

/// FC-VI 8.3: FCVI_ULP_TIMEOUT is R_A_TOV, which the fabric tells. Any other is for tests.
void Device::warn_of_ulp_timeout() {
  const TimeNs ulp = configuration_.timeouts.ulp, r_a_tov = port_->r_a_tov();
  if (ulp == 0 || ulp == r_a_tov || std::exchange(warned_of_ulp_timeout_, true)) return;
  log().warn("{}: timeouts.ulp is {}; FC-VI 8.3 asks for R_A_TOV, {}", configuration_.name,
             settings::format_duration(ulp), settings::format_duration(r_a_tov));
}

void Device::link_changed(fc2::drivers::LinkState state, const std::string&) {
  if (state != fc2::drivers::LinkState::Up) domain_.runtime().notify_all(ready_point_);
}

}  // namespace vipl
