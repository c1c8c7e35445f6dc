#include "vipl/devices/loopback_device.hpp"

#include <algorithm>
#include <utility>

#include "vipl/names/name_service.hpp"

namespace vipl {

LoopbackDevice::LoopbackDevice(LoopbackShared& shared, NicConfiguration configuration, NodeIdentity identity)
    : Device(std::move(configuration), std::move(identity)), shared_(shared), provider_(shared.hub, addresses()) {
  shared_.devices.push_back(this);
}

LoopbackDevice::~LoopbackDevice() { std::erase(shared_.devices, this); }

/// Nobody outside the process can be reached: the system's names are of no use.
Device::NameSources LoopbackDevice::name_sources(std::shared_ptr<FabricAccess> access) const {
  NameSources sources;
  sources.push_back(std::make_unique<FabricNames>(std::move(access), 0));
  sources.push_back(std::make_unique<HostNameSource>(identity().host_name, addresses()));
  return sources;
}

void LoopbackDevice::list_nodes(NodeListener& listener) {
  std::vector<NodeEntry> nodes;
  for (const LoopbackDevice* device : shared_.devices)
    nodes.push_back({device->identity().node_name, device->addresses(), 1});
  listener.nodes_listed(std::move(nodes));
}

}  // namespace vipl
