// VI-DG 3.1, 3.7.1, 3.8.1: NICs.
#include <algorithm>
#include <cstring>
#include <string>

#include "vipl/api/call.hpp"
#include "vipl/api/conversions.hpp"
#include "vipl/devices/device.hpp"
#include "vipl/engine/log.hpp"

using vipl::api;
using vipl::Call;
using vipl::NicObject;

namespace {

constexpr VIP_ULONG provider_version = 1;

void copy_name(const std::string& name, VIP_CHAR (&to)[64]) {
  const std::size_t length = std::min(name.size(), sizeof(to) - 1);
  std::memcpy(to, name.data(), length);
  to[length] = '\0';
}

void describe_limits(const vi::NicLimits& limits, VIP_NIC_ATTRIBUTES& to) {
  to.MaxRegisterRegions = limits.memory.max_regions;
  to.MaxRegisterBlockBytes = limits.memory.max_region_bytes;
  to.MaxRegisterBytes = limits.memory.max_registered_bytes;
  to.MaxVI = limits.max_vis;
  to.MaxDescriptorsPerQueue = limits.max_descriptors_per_queue;
  to.MaxSegmentsPerDesc = limits.max_segments_per_descriptor;
  to.MaxCQ = limits.max_completion_queues;
  to.MaxCQEntries = limits.max_completion_queue_entries;
  to.MaxTransferSize = limits.max_transfer_size_bytes;
  to.MaxPtags = limits.memory.max_ptags;
}

void describe_transport(const vi::Capabilities& transport, VIP_NIC_ATTRIBUTES& to) {
  to.MaxDiscriminatorLen = transport.max_discriminator_bytes;
  to.NativeMTU = transport.native_mtu_bytes;
  to.ReliabilityLevelSupport = transport.levels;  // the bits of VI-DG 4.6
  to.RDMAReadSupport = transport.rdma_read_levels;
}

/// What VipOpenNic's name means to this process, and who the process is there.
struct Chosen {
  vipl::NicConfiguration configuration;
  vipl::NodeIdentity identity;
};

VIP_RETURN choose_simulated(const VIP_CHAR* name, Chosen& chosen) {
  const auto found = vipl::simulated_nic(name);
  if (!found) return VIP_INVALID_PARAMETER;
  chosen = {*found, derive(*found, {})};
  return VIP_SUCCESS;
}

VIP_RETURN choose(const VIP_CHAR* name, Chosen& chosen) {
  const vipl::Configuration* configuration = vipl::process_configuration();
  if (configuration == nullptr) return VIP_ERROR_RESOURCE;  // the reason is logged
  const vipl::NicConfiguration* found = configuration->find(name);
  if (found == nullptr) return VIP_INVALID_PARAMETER;
  const auto process = vipl::read_process_facts();
  if (!process) {
    vipl::log().error("{}", process.error().message);
    return VIP_ERROR_RESOURCE;
  }
  chosen = {*found, derive(*found, *process)};
  return VIP_SUCCESS;
}

VIP_RETURN open(const VIP_CHAR* name, VIP_NIC_HANDLE* nic) {
  if (name == nullptr || nic == nullptr) return VIP_INVALID_PARAMETER;
  Chosen chosen;
  const bool simulated = vipl::Domain::in_simulation();
  if (const VIP_RETURN result = simulated ? choose_simulated(name, chosen) : choose(name, chosen);
      result != VIP_SUCCESS)
    return result;
  Call call(&vipl::Domain::get());
  vipl::Domain& domain = call.domain();
  vipl::Device& device = domain.device(chosen.configuration, chosen.identity);
  if (const std::string failure = device.failure(); !failure.empty()) {
    vipl::log().error("{}: {}", device.name(), failure);
    domain.forget(device);
    return VIP_ERROR_RESOURCE;
  }
  const runtime::TimeNs deadline = domain.runtime().now() + chosen.configuration.open_timeout;
  if (!domain.engine().wait_until(device.ready_point(), deadline, [&] { return device.ready(); })) {
    vipl::log().error("{}: the fabric is not there{}{}", device.name(), device.trouble().empty() ? "" : ": ",
                      device.trouble());
    return VIP_ERROR_RESOURCE;
  }
  void* handle = domain.add_nic(std::make_shared<NicObject>(domain, device));
  if (handle == nullptr) return VIP_ERROR_RESOURCE;
  *nic = handle;
  return VIP_SUCCESS;
}

VIP_RETURN close(VIP_NIC_HANDLE handle) {
  Call call;
  NicObject* nic = call.find<NicObject>(handle);
  if (nic == nullptr) return VIP_INVALID_PARAMETER;
  nic->close();
  return VIP_SUCCESS;
}

VIP_RETURN query(VIP_NIC_HANDLE handle, VIP_NIC_ATTRIBUTES* to) {
  Call call;
  NicObject* nic = call.find<NicObject>(handle);
  if (nic == nullptr || to == nullptr) return VIP_INVALID_PARAMETER;
  VIP_NIC_ATTRIBUTES attributes{};
  copy_name(nic->device().name(), attributes.Name);
  attributes.ProviderVersion = provider_version;
  attributes.NicAddressLen = vipl::host_address_bytes;
  attributes.LocalNicAddress = nic->address_bytes();
  attributes.ThreadSafe = VIP_TRUE;
  describe_transport(nic->model().capabilities(), attributes);
  describe_limits(nic->model().limits(), attributes);
  *to = attributes;
  return VIP_SUCCESS;
}

VIP_RETURN set_error_handler(VIP_NIC_HANDLE handle, VIP_PVOID context, vipl::ErrorReporter::Handler handler) {
  Call call;
  NicObject* nic = call.find<NicObject>(handle);
  if (nic == nullptr) return VIP_INVALID_PARAMETER;
  nic->errors().set_handler(handler, context);
  return VIP_SUCCESS;
}

}  // namespace

VIP_RETURN VipOpenNic(const VIP_CHAR* DeviceName, VIP_NIC_HANDLE* NicHandle) {
  return api([=] { return open(DeviceName, NicHandle); });
}
VIP_RETURN VipCloseNic(VIP_NIC_HANDLE NicHandle) {
  return api([=] { return close(NicHandle); });
}
VIP_RETURN VipQueryNic(VIP_NIC_HANDLE NicHandle, VIP_NIC_ATTRIBUTES* NicAttribs) {
  return api([=] { return query(NicHandle, NicAttribs); });
}
VIP_RETURN VipErrorCallback(VIP_NIC_HANDLE NicHandle, VIP_PVOID Context,
                            void (*Handler)(VIP_PVOID Context, VIP_ERROR_DESCRIPTOR* ErrorDesc)) {
  return api([=] { return set_error_handler(NicHandle, Context, Handler); });
}
