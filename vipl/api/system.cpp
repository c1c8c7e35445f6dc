// VI-DG 3.7.6: system management information.
#include <algorithm>
#include <span>

#include "vipl/api/call.hpp"
#include "vipl/api/conversions.hpp"
#include "vipl/devices/device.hpp"
#include "vipl/api/fabric_access.hpp"

using vipl::Call;
using vipl::NicObject;

namespace {

/// Every entry points to an address with room for one of ours.
bool is_usable(const VIP_AUTODISCOVERY_LIST& list) {
  if (list.NumAdAddrs == 0) return true;
  if (list.ADAddrArray == nullptr) return false;
  const std::span entries(list.ADAddrArray, list.NumAdAddrs);
  return std::all_of(entries.begin(), entries.end(), [](const VIP_NET_ADDRESS* entry) {
    return entry != nullptr && entry->HostAddressLen >= vipl::host_address_bytes;
  });
}

VIP_RETURN query(VIP_NIC_HANDLE NicHandle, VIP_ULONG InfoType, VIP_PVOID SysManInfo) {
  Call call;
  NicObject* nic = call.find<NicObject>(NicHandle);
  if (nic == nullptr || InfoType != VIP_SMI_AUTODISCOVERY || SysManInfo == nullptr) return VIP_INVALID_PARAMETER;
  auto& list = *static_cast<VIP_AUTODISCOVERY_LIST*>(SysManInfo);
  if (!is_usable(list)) return VIP_INVALID_PARAMETER;
  const auto keep = nic->shared_from_this();
  const auto nodes = vipl::list_nodes(call, *nic);
  if (nic->closed()) return VIP_INVALID_PARAMETER;
  if (!nodes) return VIP_ERROR_RESOURCE;
  const auto found = vipl::discover(*nodes, nic->device().addresses(), list.NumberOfHops);
  const bool all_fit = found.size() <= list.NumAdAddrs;
  list.NumAdAddrs = found.size();
  if (!all_fit) return VIP_ERROR_RESOURCE;
  for (std::size_t i = 0; i < found.size(); ++i) vipl::to_api(vi::NetAddress::make(found[i], {}), *list.ADAddrArray[i]);
  return VIP_SUCCESS;
}

}  // namespace

VIP_RETURN VipQuerySystemManagementInfo(VIP_NIC_HANDLE NicHandle, VIP_ULONG InfoType, VIP_PVOID SysManInfo) {
  return vipl::api([=] { return query(NicHandle, InfoType, SysManInfo); });
}
