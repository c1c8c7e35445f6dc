// What joins the ports of a scenario: a fabric of switches, one link between two, or a loop.
#pragma once
#include <functional>
#include <memory>

#include "fc2_fabric/frame/capture.hpp"
#include "fc2_fabric/frame/counters.hpp"
#include "fc2_fabric/link/faults.hpp"
#include "fc2_fabric/node/n_port.hpp"
#include "tools/fcvi_sim/scenario/scenario.hpp"

namespace sim {

class Topology {
 public:
  static std::unique_ptr<Topology> make(runtime::Scheduler& scheduler, fc2::FramePool& pool, const Scenario& scenario,
                                        fc2::Capture* capture);
  virtual ~Topology() = default;
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;

  /// `spec`: what the scenario says of it.
  virtual void attach(fc2::NPort& port, const PortSpec& spec) = 0;
  virtual void detach(fc2::NPort& port) = 0;
  [[nodiscard]] virtual bool is_attached(const fc2::NPort& port) const = 0;
  /// At the port's end of its link, until it goes. Each may be nullptr. Point-to-point, what befalls a frame is its
  /// sender's.
  virtual void watch(fc2::NPort& port, fc2::FrameTap* tap, fc2::FaultyLink* faults) = 0;
  /// One that the topology has (the loader saw to it).
  virtual void link_event(fc2::NPort& port, PortEvent::Kind kind, bool over) = 0;
  /// SwitchDown and SwitchLinkDown, of a fabric.
  virtual void switch_event(const PortEvent& /*event*/, bool /*over*/) {}
  /// Of its switches, by name.
  using CounterVisitor = std::function<void(const std::string& name, const fc2::Counters& counters)>;
  virtual void visit_counters(const CounterVisitor& /*visit*/) const {}

 protected:
  Topology() = default;
};

}  // namespace sim
