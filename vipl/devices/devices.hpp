// The NICs of one engine, by their names, and what they share.
#pragma once
#include <map>
#include <memory>
#include <string>

#include "vipl/devices/device.hpp"
#include "vipl/engine/engine.hpp"

namespace vipl {
class FcShared;
class LoopbackShared;
class TcpShared;

/// With the engine's lock.
class Devices {
 public:
  explicit Devices(Engine& engine);
  ~Devices();
  Devices(const Devices&) = delete;
  Devices& operator=(const Devices&) = delete;

  /// The NIC of this configuration; made on first use, and known by its name from then on.
  Device& find_or_make(const NicConfiguration& configuration, const NodeIdentity& identity);
  /// One that nobody opened: the next find_or_make() makes it anew.
  void forget(const Device& device) { devices_.erase(std::string(device.name())); }
  void say_goodbye();

 private:
  std::unique_ptr<Device> make(const NicConfiguration& configuration, const NodeIdentity& identity);

  Engine& engine_;
  std::unique_ptr<FcShared> fibre_channel_;   // nullptr: no NIC has Fibre Channel yet
  std::unique_ptr<LoopbackShared> loopback_;  // nullptr: no NIC is a loop-back NIC yet
  std::unique_ptr<TcpShared> tcp_;            // nullptr: no NIC is of VI over TCP yet
  std::map<std::string, std::unique_ptr<Device>> devices_;
};

}  // namespace vipl
