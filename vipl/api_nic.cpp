// VI-DG 3.1, 3.7.1, 3.8.1: NICs.
#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include "vipl/call.hpp"
#include "vipl/conversions.hpp"
#include "vipl/device.hpp"

using vipl::Call;
using vipl::NicObject;

namespace {

// A port that is not online then stays so: an in-process fabric answers at once.
constexpr fc2::TimeNs port_ready_timeout = 10 * fc2::second;
constexpr VIP_ULONG provider_version = 1;
constexpr VIP_UINT16 nic_address_bytes = 16;
constexpr VIP_ULONG device_header_bytes = 32;

void copy_name(const std::string& name, VIP_CHAR (&to)[64]) {
  const std::size_t length = std::min(name.size(), sizeof(to) - 1);
  std::memcpy(to, name.data(), length);
  to[length] = '\0';
}

void describe_limits(const vi::NicLimits& limits, VIP_NIC_ATTRIBUTES& to) {
  to.MaxRegisterRegions = limits.memory.max_regions;
  to.MaxRegisterBlockBytes = limits.memory.max_region_bytes;
  to.MaxRegisterBytes = std::numeric_limits<VIP_ULONG>::max();  // no limit but that of each region
  to.MaxVI = limits.max_vis;
  to.MaxDescriptorsPerQueue = limits.max_descriptors_per_queue;
  to.MaxSegmentsPerDesc = limits.max_segments_per_descriptor;
  to.MaxCQ = limits.max_completion_queues;
  to.MaxCQEntries = limits.max_completion_queue_entries;
  to.MaxTransferSize = limits.max_transfer_size_bytes;
  to.MaxPtags = limits.memory.max_ptags;
}

}  // namespace

VIP_RETURN VipOpenNic(const VIP_CHAR* DeviceName, VIP_NIC_HANDLE* NicHandle) {
  if (DeviceName == nullptr || NicHandle == nullptr) return VIP_INVALID_PARAMETER;
  const auto number = vipl::device_number(DeviceName);
  if (!number) return VIP_INVALID_PARAMETER;
  Call call(&vipl::Domain::get());
  vipl::Domain& domain = call.domain();
  vipl::Device& device = domain.device(*number);
  const fc2::TimeNs deadline = domain.scheduler().now() + port_ready_timeout;
  if (!domain.wait_until(device.ready_point(), deadline, [&] { return device.ready(); })) return VIP_ERROR_RESOURCE;
  void* handle = domain.add(std::make_shared<NicObject>(domain, device));
  if (handle == nullptr) return VIP_ERROR_RESOURCE;
  *NicHandle = handle;
  return VIP_SUCCESS;
}

VIP_RETURN VipCloseNic(VIP_NIC_HANDLE NicHandle) {
  Call call;
  NicObject* nic = call.find<NicObject>(NicHandle);
  if (nic == nullptr) return VIP_INVALID_PARAMETER;
  nic->close();
  return VIP_SUCCESS;
}

VIP_RETURN VipQueryNic(VIP_NIC_HANDLE NicHandle, VIP_NIC_ATTRIBUTES* NicAttribs) {
  Call call;
  NicObject* nic = call.find<NicObject>(NicHandle);
  if (nic == nullptr || NicAttribs == nullptr) return VIP_INVALID_PARAMETER;
  VIP_NIC_ATTRIBUTES attributes{};
  copy_name(nic->device().name(), attributes.Name);
  attributes.ProviderVersion = provider_version;
  attributes.NicAddressLen = nic_address_bytes;
  attributes.LocalNicAddress = nic->address_bytes();
  attributes.ThreadSafe = VIP_TRUE;
  attributes.MaxDiscriminatorLen = vi::NetAddress::max_discriminator_bytes;
  attributes.NativeMTU = fc2::max_data_field_bytes - device_header_bytes;
  attributes.ReliabilityLevelSupport =
      VIP_SERVICE_UNRELIABLE | VIP_SERVICE_RELIABLE_DELIVERY | VIP_SERVICE_RELIABLE_RECEPTION;
  attributes.RDMAReadSupport = VIP_SERVICE_RELIABLE_DELIVERY | VIP_SERVICE_RELIABLE_RECEPTION;
  describe_limits(nic->model().limits(), attributes);
  *NicAttribs = attributes;
  return VIP_SUCCESS;
}

VIP_RETURN VipErrorCallback(VIP_NIC_HANDLE NicHandle, VIP_PVOID Context,
                            void (*Handler)(VIP_PVOID Context, VIP_ERROR_DESCRIPTOR* ErrorDesc)) {
  Call call;
  NicObject* nic = call.find<NicObject>(NicHandle);
  if (nic == nullptr) return VIP_INVALID_PARAMETER;
  nic->errors().set_handler(Handler, Context);
  return VIP_SUCCESS;
}
