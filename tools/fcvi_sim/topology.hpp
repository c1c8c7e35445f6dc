// What joins the ports of a scenario: a switch, one link between two, or a loop.
#pragma once
#include <memory>

#include "fc2_fabric/faults.hpp"
#include "fc2_fabric/switch.hpp"
#include "tools/fcvi_sim/scenario.hpp"

namespace sim {

class Topology {
 public:
  static std::unique_ptr<Topology> make(fc2::Scheduler& scheduler, fc2::FramePool& pool, const Scenario& scenario);
  virtual ~Topology() = default;
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;

  virtual void attach(fc2::NPort& port, const fc2::LinkConfig& link) = 0;
  virtual void detach(fc2::NPort& port) = 0;
  [[nodiscard]] virtual bool is_attached(const fc2::NPort& port) const = 0;
  /// At the port's end of its link, until it goes. Each may be nullptr. Point-to-point, what befalls a frame is its sender's.
  virtual void watch(fc2::NPort& port, fc2::FrameTap* tap, fc2::FaultyLink* faults) = 0;
  /// One that the topology has (the loader saw to it).
  virtual void link_event(fc2::NPort& port, PortEvent::Kind kind, bool over) = 0;
  /// nullptr: there is none.
  [[nodiscard]] virtual const fc2::Switch* fabric() const { return nullptr; }

 protected:
  Topology() = default;
};

}  // namespace sim
