// A NIC of the FC-VI provider: an N_Port, its link to a fabric, its resolver, its directory and its provider.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "farp/directory.hpp"
#include "farp/resolver.hpp"
#include "fc2_fabric/switch/switch.hpp"
#include "fcvi/provider.hpp"
#include "vipl/devices/device.hpp"
#include "vipl/devices/fc_link.hpp"
#include "vipl/devices/fc_names.hpp"
#include "vipl/engine/engine.hpp"

namespace vipl {

/// What the Fibre Channel NICs of one engine share. Outlives them.
class FcShared {
 public:
  explicit FcShared(Engine& engine) : engine_(engine) {}
  Engine& engine() { return engine_; }
  fc2::FramePool& pool() { return pool_; }
  /// Made for the first NIC that is in this process.
  fc2::Switch& fabric() {
    if (!fabric_) fabric_.emplace(engine_.scheduler(), pool_, fc2::SwitchConfig{});
    return *fabric_;
  }

 private:
  Engine& engine_;
  fc2::FramePool pool_;
  std::optional<fc2::Switch> fabric_;
};

class FcDevice final : public Device, private farp::ReadyListener {
 public:
  /// Pre: `configuration` is of Fibre Channel. Attaches the port to its fabric: its login begins.
  FcDevice(FcShared& shared, NicConfiguration configuration, NodeIdentity identity);
  ~FcDevice() override;

  vi::Transport& transport() override { return *provider_; }
  [[nodiscard]] const vi::Transport& transport() const override { return *provider_; }
  /// Logged in and registered.
  [[nodiscard]] bool ready() const override { return resolver_->ready(); }
  [[nodiscard]] std::string failure() const override { return link_->failure(); }
  [[nodiscard]] std::string trouble() const override { return link_->trouble(); }
  [[nodiscard]] bool needs_goodbye() const override { return link_->needs_goodbye(); }
  void say_goodbye() override { link_->say_goodbye(); }
  [[nodiscard]] NameSources name_sources(std::shared_ptr<FabricAccess> access) const override;
  void list_nodes(NodeListener& listener) override;
  void forget(NodeListener& listener) override;

 private:
  /// Of a NodeListener to the fabric's name server.
  class Question;
  class LinkOf;
  void address_ready() override;
  [[nodiscard]] const FcChoices& choices() const { return *configuration().fibre_channel(); }
  [[nodiscard]] fc2::NPortConfig port_config() const;
  [[nodiscard]] farp::ResolverConfig resolver_config() const;
  [[nodiscard]] fcvi::ProviderConfig provider_config() const;
  void warn_of_ulp_timeout();

  FcShared& shared_;
  const FcNames names_;
  bool warned_of_ulp_timeout_ = false;
  std::unique_ptr<FcLink> link_;
  std::unique_ptr<fc2::NPort> port_;
  std::unique_ptr<farp::Resolver> resolver_;
  std::unique_ptr<farp::Directory> directory_;
  std::unique_ptr<fcvi::Provider> provider_;
  std::map<NodeListener*, std::unique_ptr<Question>> questions_;
};

}  // namespace vipl
