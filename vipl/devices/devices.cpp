#include "vipl/devices/devices.hpp"

#include <variant>

#include "vipl/devices/fc_device.hpp"
#include "vipl/devices/loopback_device.hpp"
#include "vipl/devices/tcp_device.hpp"

namespace vipl {

Devices::Devices(Engine& engine) : engine_(engine) {}
Devices::~Devices() = default;

Device& Devices::find_or_make(const NicConfiguration& configuration, const NodeIdentity& identity) {
  const auto found = devices_.find(configuration.name);
  if (found != devices_.end()) return *found->second;
  return *devices_.emplace(configuration.name, make(configuration, identity)).first->second;
}

std::unique_ptr<Device> Devices::make(const NicConfiguration& configuration, const NodeIdentity& identity) {
  struct Maker {
    std::unique_ptr<Device> operator()(const FcChoices&) const {
      if (devices.fibre_channel_ == nullptr) devices.fibre_channel_ = std::make_unique<FcShared>(devices.engine_);
      return std::make_unique<FcDevice>(*devices.fibre_channel_, configuration, identity);
    }
    std::unique_ptr<Device> operator()(const LoopbackChoices&) const {
      if (devices.loopback_ == nullptr) devices.loopback_ = std::make_unique<LoopbackShared>(devices.engine_);
      return std::make_unique<LoopbackDevice>(*devices.loopback_, configuration, identity);
    }
    std::unique_ptr<Device> operator()(const TcpChoices&) const {
      if (devices.tcp_ == nullptr) devices.tcp_ = std::make_unique<TcpShared>(devices.engine_);
      return std::make_unique<TcpDevice>(*devices.tcp_, configuration, identity);
    }
    Devices& devices;
    const NicConfiguration& configuration;
    const NodeIdentity& identity;
  };
  return std::visit(Maker{*this, configuration, identity}, configuration.transport);
}

void Devices::say_goodbye() {
  for (const auto& [name, device] : devices_) device->say_goodbye();
}

}  // namespace vipl
