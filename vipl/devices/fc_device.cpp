#include "vipl/devices/fc_device.hpp"

#include <utility>

#include "settings/units.hpp"
#include "vipl/devices/fcoe_link.hpp"
#include "vipl/devices/in_process_link.hpp"
#include "vipl/devices/local_link.hpp"
#include "vipl/engine/log.hpp"
#include "vipl/names/name_service.hpp"
#include "vipl/names/system_names.hpp"

namespace vipl {
namespace {
constexpr int resolver_retries = 1;
}

/// Makes the link that a configuration asks for.
class FcDevice::LinkOf {
 public:
  explicit LinkOf(FcDevice& device) : device_(device), engine_(device.shared_.engine()) {}
  std::unique_ptr<FcLink> operator()(const InProcessChoices&) const {
    return std::make_unique<InProcessLink>(device_.shared_.fabric(), engine_.runtime().io() != nullptr);
  }
  std::unique_ptr<FcLink> operator()(const LocalFabricChoices&) const {
    fc2::drivers::LocalFabricOptions options;
    options.process_name = device_.identity().nic_of_process;
    options.service_idle_seconds = static_cast<int>(process_configuration()->fabric_idle_time / runtime::second);
    options.doorbell = engine_.runtime().doorbell();
    options.connect_limit = device_.configuration().open_timeout;
    return std::make_unique<LocalLink>(engine_, options, device_.ready_point());
  }
  std::unique_ptr<FcLink> operator()(const FcoeChoices& fcoe) const {
    const fc2::drivers::CoreAccess access{*engine_.runtime().io(), engine_, engine_.scheduler(),
                                          device_.shared_.pool()};
    return std::make_unique<FcoeLink>(access, fcoe, device_.names_.port_name);
  }

 private:
  FcDevice& device_;
  Engine& engine_;
};

class FcDevice::Question final : private farp::DirectoryListener {
 public:
  Question(FcDevice& device, NodeListener& listener) : device_(device), listener_(listener) {}
  ~Question() { device_.directory_->forget(*this); }
  Question(const Question&) = delete;
  Question& operator=(const Question&) = delete;
  void ask() { device_.directory_->list(*this); }

 private:
  void directory_listed(std::span<const farp::DirectoryEntry> ports) override {
    const std::uint8_t own_domain = device_.port_->n_port_id().domain();
    std::vector<NodeEntry> nodes;
    for (const farp::DirectoryEntry& port : ports)
      nodes.push_back({port.symbolic_node_name, port.addresses, port.n_port_id.domain() == own_domain ? 1ul : 2ul});
    listener_.nodes_listed(std::move(nodes));
  }
  void directory_failed(farp::DirectoryFailure) override { listener_.listing_failed(); }
  [[nodiscard]] bool wants_addresses_of(const std::string& symbolic_node_name) const override {
    return listener_.wants_addresses_of(symbolic_node_name);
  }

  FcDevice& device_;
  NodeListener& listener_;
};

FcDevice::FcDevice(FcShared& shared, NicConfiguration configuration, NodeIdentity identity)
    : Device(std::move(configuration), std::move(identity)), shared_(shared),
      names_(fc_names(choices(), this->identity())), link_(std::visit(LinkOf(*this), choices().link)),
      port_(std::make_unique<fc2::NPort>(shared.engine().scheduler(), shared.pool(), port_config())),
      resolver_(std::make_unique<farp::Resolver>(*port_, resolver_config())),
      directory_(
          std::make_unique<farp::Directory>(*port_, farp::DirectoryConfig{.timeout = choices().timeouts.name_service})),
      provider_(std::make_unique<fcvi::Provider>(*port_, *resolver_, provider_config())) {
  resolver_->set_ready_listener(*this);
  if (link_->failure().empty()) link_->attach(*port_);
}

FcDevice::~FcDevice() {
  provider_.reset();
  questions_.clear();
  directory_.reset();
  resolver_.reset();
  link_.reset();
}

fc2::NPortConfig FcDevice::port_config() const {
  fc2::NPortConfig config;
  config.name = name();
  config.port_name = names_.port_name;
  config.node_name = names_.node_name;
  config.log_out_silent_ports = true;  // one that is gone untold would keep connections and VIs for ever (ruling 282)
  link_->limit(config);
  return config;
}

farp::ResolverConfig FcDevice::resolver_config() const {
  farp::ResolverConfig config;
  config.own_addresses = addresses();
  config.symbolic_node_name = identity().node_name;       // RSNN_NN
  config.symbolic_port_name = identity().nic_of_process;  // RSPN_ID
  config.retries = resolver_retries;
  config.farp_timeout = choices().timeouts.farp > 0 ? choices().timeouts.farp : link_->farp_timeout();
  return config;
}

fcvi::ProviderConfig FcDevice::provider_config() const {
  fcvi::ProviderConfig config;
  config.address = addresses().front();
  config.more_addresses.assign(addresses().begin() + 1, addresses().end());
  config.ulp_timeout = choices().timeouts.ulp;
  config.reorder_pool_bytes = choices().reorder_pool_bytes;
  return config;
}

void FcDevice::address_ready() {
  shared_.engine().runtime().notify_all(ready_point());
  warn_of_ulp_timeout();
}

/// FC-VI 8.3: FCVI_ULP_TIMEOUT is R_A_TOV, which the fabric tells. Any other is for tests.
void FcDevice::warn_of_ulp_timeout() {
  const TimeNs ulp = choices().timeouts.ulp, r_a_tov = port_->r_a_tov();
  if (ulp == 0 || ulp == r_a_tov || std::exchange(warned_of_ulp_timeout_, true)) return;
  log().warn("{}: timeouts.ulp is {}; FC-VI 8.3 asks for R_A_TOV, {}", name(), settings::format_duration(ulp),
             settings::format_duration(r_a_tov));
}

Device::NameSources FcDevice::name_sources(std::shared_ptr<FabricAccess> access) const {
  NameSources sources;
  auto system = std::make_unique<SystemNames>();
  auto own_host = std::make_unique<HostNameSource>(identity().host_name, addresses());
  if (link_->has_name_server()) {
    sources.push_back(std::make_unique<FabricNames>(access, 0));
    sources.push_back(std::move(own_host));  // before the system, which would say what no NIC has
    sources.push_back(std::make_unique<KnownHosts>(access, std::move(system)));
    sources.push_back(std::make_unique<FabricNames>(access, choices().timeouts.name_appears));
  } else {
    sources.push_back(std::move(system));
    sources.push_back(std::move(own_host));
    sources.push_back(std::make_unique<DerivedNames>());
  }
  return sources;
}

void FcDevice::list_nodes(NodeListener& listener) {
  auto& question = questions_[&listener];
  question = std::make_unique<Question>(*this, listener);
  question->ask();
}

void FcDevice::forget(NodeListener& listener) { questions_.erase(&listener); }

}  // namespace vipl
