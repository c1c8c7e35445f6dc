// What joins the ports of a scenario: a fabric of switches, one link between two, or a loop.
#pragma once
#include <functional>
#include <memory>

#include "fc2_fabric/frame/capture.hpp"
#include "fc2_fabric/frame/counters.hpp"
#include "fc2_fabric/link/faults.hpp"
#include "fc2_fabric/switch/switch.hpp"
#include "tools/fcvi_sim/run/fc_host.hpp"
#include "tools/fcvi_sim/scenario/scenario.hpp"

namespace sim {

/// The switch of a scenario.
fc2::SwitchConfig fabric_config(const Scenario& scenario);

/// Hosts are positions in the scenario's ports.
class Topology {
 public:
  /// `hosts` outlives it; each is there when it is attached. It tells them apart by their positions only.
  static std::unique_ptr<Topology> make(runtime::Scheduler& scheduler, fc2::FramePool& pool, const Scenario& scenario,
                                        const FcHosts& hosts, fc2::Capture* capture);
  virtual ~Topology() = default;
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;

  virtual void attach(std::size_t host) = 0;
  virtual void detach(std::size_t host) = 0;
  [[nodiscard]] virtual bool is_attached(std::size_t host) const = 0;
  /// At the host's end of its link, until it goes. Each may be nullptr. Point-to-point, what befalls a frame is its
  /// sender's.
  virtual void watch(std::size_t host, fc2::FrameTap* tap, fc2::FaultyLink* faults) = 0;
  /// One that the topology has (the loader saw to it).
  virtual void link_event(std::size_t host, PortEvent::Kind kind, bool over) = 0;
  /// Of its links and switches, between events.
  [[nodiscard]] virtual bool is_consistent() const = 0;
  /// SwitchDown and SwitchLinkDown, of a fabric.
  virtual void switch_event(const PortEvent& /*event*/, bool /*over*/) {}
  /// Of its switches, by name.
  using CounterVisitor = std::function<void(const std::string& name, const fc2::Counters& counters)>;
  virtual void visit_counters(const CounterVisitor& /*visit*/) const {}

 protected:
  Topology(const Scenario& scenario, const FcHosts& hosts) : scenario_(scenario), hosts_(hosts) {}
  [[nodiscard]] fc2::NPort& port(std::size_t host) const { return hosts_[host]->port(); }
  [[nodiscard]] const PortSpec& spec(std::size_t host) const { return scenario_.ports[host]; }

 private:
  const Scenario& scenario_;
  const FcHosts& hosts_;
};

}  // namespace sim
