// A real-time core for programs with Fibre Channel ports: with the pool of their frames.
#pragma once
#include "fc2_fabric/frame/frame.hpp"
#include "runtime/drivers/real_time_core.hpp"

namespace fc2::drivers {

/// Outlives its ports, and they return their frames.
class FabricCore final : public runtime::drivers::RealTimeCore {
 public:
  using RealTimeCore::RealTimeCore;
  FramePool& pool() { return pool_; }

 private:
  FramePool pool_;
};

}  // namespace fc2::drivers
