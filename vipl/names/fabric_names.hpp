// Names and addresses of the nodes that can be reached now, as the transport knows them: a fabric from its name server.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/scheduler.hpp"
#include "vipl/names/name_source.hpp"

namespace vipl {

/// A NIC that can be reached.
struct NodeEntry {
  std::string node_name;                   // may be empty
  std::vector<wire::IpAddress> addresses;  // may be empty; is where nobody wanted them
  unsigned long depth = 1;                 // 1: at the same switch as the NIC that asks, 2: beyond it
};

/// How the name service asks the fabric and lets time pass. Thread-safe; both calls block.
class FabricAccess {
 public:
  virtual ~FabricAccess() = default;
  /// `named`: without the addresses of some nodes that it does not match; empty: with all. Empty: the name server
  /// cannot be asked, or the NIC was closed.
  virtual std::optional<std::vector<NodeEntry>> nodes(const std::string& named) = 0;
  /// False: the NIC was closed.
  virtual bool rest(runtime::TimeNs duration) = 0;
};

class FabricNames final : public NameSource {
 public:
  /// Asks for an unknown name again for `appears`, at growing intervals, so that programs that start together find each
  /// other. If other sources might know the name, ask this one first with 0, then the others, and last one that waits.
  FabricNames(std::shared_ptr<FabricAccess> fabric, runtime::TimeNs appears)
      : fabric_(std::move(fabric)), appears_(appears) {}

  Answer addresses_of(const std::string& name, std::vector<wire::IpAddress>& found) const override;
  Answer name_of(const wire::IpAddress& address, std::string& found) const override;

 private:
  const std::shared_ptr<FabricAccess> fabric_;
  const runtime::TimeNs appears_;
};

/// Hosts that the system knows, with or without a process on the fabric. After FabricNames.
class KnownHosts final : public NameSource {
 public:
  KnownHosts(std::shared_ptr<FabricAccess> fabric, std::unique_ptr<const NameSource> system)
      : fabric_(std::move(fabric)), system_(std::move(system)) {}
  /// The system's addresses of the host, if a NIC has one of them. If none has, the address that its NICs will have
  /// unless they are configured otherwise comes first: the answer must not depend on which host starts first.
  Answer addresses_of(const std::string& name, std::vector<wire::IpAddress>& found) const override;
  Answer name_of(const wire::IpAddress& address, std::string& found) const override {
    return system_->name_of(address, found);
  }

 private:
  [[nodiscard]] bool some_node_has(const std::vector<wire::IpAddress>& addresses) const;

  const std::shared_ptr<FabricAccess> fabric_;
  const std::unique_ptr<const NameSource> system_;
};

/// VipQuerySystemManagementInfo: the distinct addresses of other nodes within `depth`, in the order of the nodes. Depth
/// 1 are the nodes at the same switch, 2 those beyond it: a switch is no node, the links between switches count.
[[nodiscard]] std::vector<wire::IpAddress> discover(const std::vector<NodeEntry>& nodes,
                                                    const std::vector<wire::IpAddress>& own_addresses,
                                                    unsigned long depth);

}  // namespace vipl
