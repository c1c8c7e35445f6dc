// A NIC of the loop-back transport: VIs of this process reach each other without a fabric.
#pragma once
#include <memory>
#include <vector>

#include "loopback/provider.hpp"
#include "vipl/devices/device.hpp"
#include "vipl/engine/engine.hpp"

namespace vipl {
class LoopbackDevice;

/// What the loop-back NICs of one engine share. Outlives them.
class LoopbackShared {
 public:
  explicit LoopbackShared(Engine& engine) : hub(engine.scheduler()) {}
  loopback::Hub hub;
  std::vector<const LoopbackDevice*> devices;  // in the order in which they came
};

class LoopbackDevice final : public Device {
 public:
  LoopbackDevice(LoopbackShared& shared, NicConfiguration configuration, NodeIdentity identity);
  ~LoopbackDevice() override;

  vi::Transport& transport() override { return provider_; }
  [[nodiscard]] const vi::Transport& transport() const override { return provider_; }
  [[nodiscard]] bool ready() const override { return true; }
  [[nodiscard]] NameSources name_sources(std::shared_ptr<FabricAccess> access) const override;
  void list_nodes(NodeListener& listener) override;
  void forget(NodeListener&) override {}

 private:
  LoopbackShared& shared_;
  loopback::Provider provider_;
};

}  // namespace vipl
