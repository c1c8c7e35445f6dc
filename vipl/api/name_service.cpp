// VI-DG 3.9: name service. Files, the fabric and the system's resolver are asked without any lock held.
#include <cstring>

#include "vipl/api/call.hpp"
#include "vipl/api/conversions.hpp"
#include "vipl/devices/device.hpp"
#include "vipl/api/fabric_access.hpp"
#include "vipl/names/hosts_file.hpp"
#include "vipl/engine/log.hpp"
#include "vipl/names/name_service.hpp"

using vipl::api;
using vipl::Call;
using vipl::NameService;
using vipl::NameSource;
using vipl::NicObject;

namespace {

/// What VipNSInit needs of the NIC while it reads files.
struct Request {
  std::string hosts_file;
  std::string node_name;
  std::vector<wire::IpAddress> addresses;
  vipl::Device::NameSources sources;
};

/// VIP_INVALID_PARAMETER: no such NIC; VIP_ERROR_NAMESERVICE: it has a name service.
VIP_RETURN prepare(VIP_NIC_HANDLE handle, Request& request) {
  Call call;
  NicObject* nic = call.find<NicObject>(handle);
  if (nic == nullptr) return VIP_INVALID_PARAMETER;
  if (nic->name_service() != nullptr) return VIP_ERROR_NAMESERVICE;
  const vipl::Device& device = nic->device();
  request = {device.configuration().hosts_file, device.identity().node_name, device.addresses(),
             device.name_sources(std::make_shared<vipl::NicFabricAccess>(handle))};
  return VIP_SUCCESS;
}

/// Hosts files first.
std::shared_ptr<const NameService> make_service(Request request, vipl::HostsFile hosts) {
  auto& sources = request.sources;
  sources.insert(sources.begin(), std::make_unique<vipl::HostsFile>(std::move(hosts)));
  return std::make_shared<const NameService>(std::move(request.node_name), std::move(request.addresses),
                                             std::move(sources));
}

/// nullptr and VIP_INVALID_PARAMETER: no such NIC; nullptr and VIP_ERROR_NAMESERVICE: before VipNSInit.
std::shared_ptr<const NameService> find_service(VIP_NIC_HANDLE handle, VIP_RETURN& result) {
  Call call;
  NicObject* nic = call.find<NicObject>(handle);
  result = nic == nullptr ? VIP_INVALID_PARAMETER : VIP_ERROR_NAMESERVICE;
  return nic == nullptr ? nullptr : nic->name_service();
}

/// A NIC that was closed meanwhile is the reason why the fabric could not be asked.
VIP_RETURN result_of(VIP_NIC_HANDLE handle, NameSource::Answer answer) {
  if (answer == NameSource::Answer::Found) return VIP_SUCCESS;
  if (answer == NameSource::Answer::Unknown) return VIP_ERROR_NAMESERVICE;
  Call call;
  return call.find<NicObject>(handle) == nullptr ? VIP_INVALID_PARAMETER : VIP_ERROR_RESOURCE;
}

VIP_RETURN init(VIP_NIC_HANDLE NicHandle, VIP_PVOID NSInitInfo) {
  Request request;
  if (const VIP_RETURN result = prepare(NicHandle, request); result != VIP_SUCCESS) return result;
  const auto* const named = static_cast<const char*>(NSInitInfo);
  auto hosts = named != nullptr ? vipl::HostsFile::load(named) : vipl::HostsFile::load_for(request.hosts_file);
  if (!hosts) {
    vipl::log().error("{}", hosts.error().message);
    return named != nullptr ? VIP_INVALID_PARAMETER : VIP_ERROR_RESOURCE;
  }
  auto service = make_service(std::move(request), *std::move(hosts));
  Call call;
  NicObject* nic = call.find<NicObject>(NicHandle);
  if (nic == nullptr) return VIP_INVALID_PARAMETER;
  if (nic->name_service() != nullptr) return VIP_ERROR_NAMESERVICE;  // another thread was faster
  nic->name_service() = std::move(service);
  return VIP_SUCCESS;
}

VIP_RETURN host_by_name(VIP_NIC_HANDLE NicHandle, VIP_CHAR* Name, VIP_NET_ADDRESS* Address, VIP_ULONG NameIndex) {
  VIP_RETURN result = VIP_SUCCESS;
  const auto service = find_service(NicHandle, result);
  if (result == VIP_INVALID_PARAMETER || Name == nullptr || *Name == '\0' || Address == nullptr ||
      !vipl::has_room_for_host(*Address))
    return VIP_INVALID_PARAMETER;
  if (service == nullptr) return result;
  wire::IpAddress found;
  result = result_of(NicHandle, service->find_address(Name, NameIndex, found));
  if (result == VIP_SUCCESS) vipl::to_api(vi::NetAddress::make(found, {}), *Address);
  return result;
}

VIP_RETURN host_by_addr(VIP_NIC_HANDLE NicHandle, VIP_NET_ADDRESS* Address, VIP_CHAR* Name, VIP_ULONG* NameLen) {
  VIP_RETURN result = VIP_SUCCESS;
  const auto service = find_service(NicHandle, result);
  if (result == VIP_INVALID_PARAMETER || Address == nullptr || NameLen == nullptr) return VIP_INVALID_PARAMETER;
  const auto host = vipl::host_from_api(*Address);
  if (!host) return VIP_INVALID_PARAMETER;
  if (service == nullptr) return result;
  std::string name;
  result = result_of(NicHandle, service->find_name(*host, name));
  if (result != VIP_SUCCESS) return result;
  const VIP_ULONG room = Name == nullptr ? 0 : *NameLen;
  if (room <= name.size()) {  // the page: the array's size, its NUL included
    *NameLen = name.size() + 1;
    return VIP_INVALID_PARAMETER;
  }
  std::memcpy(Name, name.c_str(), name.size() + 1);
  *NameLen = name.size();
  return VIP_SUCCESS;
}

VIP_RETURN shut_down(VIP_NIC_HANDLE NicHandle) {
  Call call;
  NicObject* nic = call.find<NicObject>(NicHandle);
  if (nic == nullptr) return VIP_INVALID_PARAMETER;
  if (nic->name_service() == nullptr) return VIP_ERROR_NAMESERVICE;
  nic->name_service() = nullptr;  // who looks something up has one of its own until it is done
  return VIP_SUCCESS;
}

}  // namespace

VIP_RETURN VipNSInit(VIP_NIC_HANDLE NicHandle, VIP_PVOID NSInitInfo) {
  return api([=] { return init(NicHandle, NSInitInfo); });
}
VIP_RETURN VipNSGetHostByName(VIP_NIC_HANDLE NicHandle, VIP_CHAR* Name, VIP_NET_ADDRESS* Address, VIP_ULONG NameIndex) {
  return api([=] { return host_by_name(NicHandle, Name, Address, NameIndex); });
}
VIP_RETURN VipNSGetHostByAddr(VIP_NIC_HANDLE NicHandle, VIP_NET_ADDRESS* Address, VIP_CHAR* Name, VIP_ULONG* NameLen) {
  return api([=] { return host_by_addr(NicHandle, Address, Name, NameLen); });
}
VIP_RETURN VipNSShutdown(VIP_NIC_HANDLE NicHandle) {
  return api([=] { return shut_down(NicHandle); });
}
