// One NIC of this process, as its transport makes it. What stands above knows no transport.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vi/nic.hpp"
#include "vipl/configuration/configuration.hpp"
#include "vipl/configuration/node_identity.hpp"
#include "vipl/engine/runtime.hpp"
#include "vipl/names/fabric_names.hpp"

namespace vipl {

/// Exactly one call answers each Device::list_nodes(), from within it or later.
class NodeListener {
 public:
  /// In an order that stays, this NIC itself included.
  virtual void nodes_listed(std::vector<NodeEntry> nodes) = 0;
  virtual void listing_failed() = 0;
  /// False: the addresses of the nodes with this name may be left out.
  [[nodiscard]] virtual bool wants_addresses_of(const std::string& node_name) const = 0;

 protected:
  ~NodeListener() = default;
};

/// Made, used and destroyed inside the engine.
class Device {
 public:
  using NameSources = std::vector<std::unique_ptr<const NameSource>>;

  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  virtual vi::Transport& transport() = 0;
  [[nodiscard]] virtual const vi::Transport& transport() const = 0;
  [[nodiscard]] vi::Capabilities capabilities() const { return transport().capabilities(); }

  /// Each time that sends are begun costs much more than one send more: where many are under way they may wait for the
  /// next.
  [[nodiscard]] virtual bool gathers_sends() const { return false; }

  /// Others can find it.
  [[nodiscard]] virtual bool ready() const = 0;
  EventCount& ready_point() { return ready_point_; }
  /// It never will be ready: why not. Empty: it may.
  [[nodiscard]] virtual std::string failure() const { return {}; }
  /// Why it is not ready yet; empty: no reason is known.
  [[nodiscard]] virtual std::string trouble() const { return {}; }
  /// Others do not notice at once when the process ends: say_goodbye() tells them.
  [[nodiscard]] virtual bool needs_goodbye() const { return false; }
  virtual void say_goodbye() {}

  /// Behind hosts files; `access` is for those that ask the NIC. Each is made anew.
  [[nodiscard]] virtual NameSources name_sources(std::shared_ptr<FabricAccess> access) const = 0;
  /// Who can be reached now.
  virtual void list_nodes(NodeListener& listener) = 0;
  /// The listener hears nothing any more.
  virtual void forget(NodeListener& listener) = 0;

  /// At least one; the first is the NIC's own.
  [[nodiscard]] const std::vector<wire::IpAddress>& addresses() const { return identity_.addresses; }
  [[nodiscard]] const NodeIdentity& identity() const { return identity_; }
  [[nodiscard]] const NicConfiguration& configuration() const { return configuration_; }
  [[nodiscard]] const std::string& name() const { return configuration_.name; }
  /// Of each NIC that is opened on it.
  [[nodiscard]] virtual vi::NicLimits limits() const {
    vi::NicLimits limits = configuration_.limits;
    limits.memory.max_registered_bytes = configuration_.max_registered_bytes;
    return limits;
  }

 protected:
  Device(NicConfiguration configuration, NodeIdentity identity)
      : configuration_(std::move(configuration)), identity_(std::move(identity)) {}

 private:
  const NicConfiguration configuration_;
  const NodeIdentity identity_;
  EventCount ready_point_;
};

}  // namespace vipl
