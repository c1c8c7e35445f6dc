// What an open NIC knows of the others, for calls that block.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "vipl/api/call.hpp"
#include "vipl/names/fabric_names.hpp"

namespace vipl {

/// Waits until the port is logged in and registered, or until the deadline: the fabric may be gone for a moment, until
/// another service takes over or a link comes back. Releases the lock meanwhile. False: the NIC was closed.
[[nodiscard]] bool wait_for_fabric(NicObject& nic, runtime::TimeNs deadline);

/// All NICs that can be reached; the lock is let go while the call waits. A fabric that is lost is waited for as long
/// as VipOpenNic would. `named` as for FabricAccess. Empty: the name server cannot be asked, or the NIC was closed
/// meanwhile.
[[nodiscard]] std::optional<std::vector<NodeEntry>> list_nodes(Call& call, NicObject& nic,
                                                               const std::string& named = {});

/// The same without a Call: for the name service. Called without any lock.
class NicFabricAccess final : public FabricAccess {
 public:
  explicit NicFabricAccess(VIP_NIC_HANDLE nic) : nic_(nic) {}
  std::optional<std::vector<NodeEntry>> nodes(const std::string& named) override;
  bool rest(runtime::TimeNs duration) override;

 private:
  const VIP_NIC_HANDLE nic_;
};

}  // namespace vipl
