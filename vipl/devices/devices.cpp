#include "vipl/devices/devices.hpp"

#include "vipl/devices/fc_device.hpp"
#include "vipl/devices/loopback_device.hpp"

namespace vipl {

Devices::Devices(Engine& engine) : engine_(engine) {}
Devices::~Devices() = default;

Device& Devices::find_or_make(const NicConfiguration& configuration, const NodeIdentity& identity) {
  const auto found = devices_.find(configuration.name);
  if (found != devices_.end()) return *found->second;
  return *devices_.emplace(configuration.name, make(configuration, identity)).first->second;
}

std::unique_ptr<Device> Devices::make(const NicConfiguration& configuration, const NodeIdentity& identity) {
  if (configuration.is_loopback()) {
    if (loopback_ == nullptr) loopback_ = std::make_unique<LoopbackShared>(engine_);
    return std::make_unique<LoopbackDevice>(*loopback_, configuration, identity);
  }
  if (fibre_channel_ == nullptr) fibre_channel_ = std::make_unique<FcShared>(engine_);
  return std::make_unique<FcDevice>(*fibre_channel_, configuration, identity);
}

void Devices::say_goodbye() {
  for (const auto& [name, device] : devices_) device->say_goodbye();
}

}  // namespace vipl
