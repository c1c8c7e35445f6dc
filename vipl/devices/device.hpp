// One NIC of this process: an N_Port, its link to a fabric, its resolver and its provider.
#pragma once
#include <memory>
#include <string>

#include "farp/directory.hpp"
#include "farp/resolver.hpp"
#include "fc2_fabric/drivers/local_fabric_link.hpp"
#include "fcvi/provider.hpp"
#include "vi/nic.hpp"
#include "vipl/configuration/configuration.hpp"
#include "vipl/devices/fcoe_link.hpp"
#include "vipl/configuration/node_identity.hpp"
#include "vipl/engine/runtime.hpp"

namespace vipl {
class Domain;

/// Made, used and destroyed inside the engine.
class Device final : private farp::ReadyListener, private fc2::drivers::LinkListener {
 public:
  /// Attaches the port to its fabric: its login begins.
  Device(Domain& domain, NicConfiguration configuration, NodeIdentity identity);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  /// Logged in and registered: others can find it.
  [[nodiscard]] bool ready() const { return resolver_->ready(); }
  EventCount& ready_point() { return ready_point_; }
  /// It never will be: why not. Empty: it may.
  [[nodiscard]] std::string failure() const { return fcoe_ == nullptr ? std::string() : fcoe_->failure(); }
  /// Why the fabric is not there; empty: no reason is known.
  [[nodiscard]] std::string trouble() const;
  /// The process ends. Others hear of it where nothing else tells them.
  void say_goodbye();
  fcvi::Provider& provider() { return *provider_; }
  farp::Directory& directory() { return *directory_; }
  [[nodiscard]] wire::FcId n_port_id() const { return port_->n_port_id(); }
  [[nodiscard]] const wire::IpAddress& address() const { return identity_.addresses.front(); }
  /// Of each NIC that is opened on it.
  [[nodiscard]] const vi::NicLimits& limits() const { return limits_; }
  [[nodiscard]] const std::string& name() const { return configuration_.name; }
  [[nodiscard]] const NicConfiguration& configuration() const { return configuration_; }
  [[nodiscard]] const NodeIdentity& identity() const { return identity_; }

 private:
  void address_ready() override;
  void link_changed(fc2::drivers::LinkState state, const std::string& reason) override;
  void connect();
  [[nodiscard]] fc2::drivers::CoreAccess core_access() const;
  [[nodiscard]] fc2::NPortConfig port_config() const;
  void warn_of_ulp_timeout();

  Domain& domain_;
  const NicConfiguration configuration_;
  const NodeIdentity identity_;
  const vi::NicLimits limits_;
  EventCount ready_point_;
  bool warned_of_ulp_timeout_ = false;
  std::unique_ptr<FcoeLink> fcoe_;  // nullptr: another transport
  std::unique_ptr<fc2::NPort> port_;
  std::unique_ptr<farp::Resolver> resolver_;
  std::unique_ptr<farp::Directory> directory_;
  std::unique_ptr<fcvi::Provider> provider_;
  std::unique_ptr<fc2::drivers::LocalFabricLink> link_;  // nullptr: another transport
};

}  // namespace vipl
