// What joins the N_Ports of a scenario: a fabric of switches, one link between two, or a loop.
#pragma once
#include <functional>
#include <memory>

#include "fc2_fabric/frame/capture.hpp"
#include "fc2_fabric/frame/counters.hpp"
#include "fc2_fabric/switch/switch.hpp"
#include "tools/fcvi_sim/network/fc_host.hpp"
#include "tools/fcvi_sim/network/network.hpp"
#include "tools/fcvi_sim/scenario/scenario.hpp"

namespace sim {

/// The switch of a scenario.
fc2::SwitchConfig fabric_config(const Scenario& scenario);

/// Hosts are positions in the scenario's ports.
class FcTopology {
 public:
  /// `hosts` outlives it; each is there when it is attached. It tells them apart by their positions only.
  /// `share` may be nullptr: all of it is here.
  static std::unique_ptr<FcTopology> make(runtime::Scheduler& scheduler, fc2::FramePool& pool, const Scenario& scenario,
                                          const FcHosts& hosts, fc2::CaptureInterfaces* capture, const Share* share);
  virtual ~FcTopology() = default;
  FcTopology(const FcTopology&) = delete;
  FcTopology& operator=(const FcTopology&) = delete;

  virtual void attach(std::size_t host) = 0;
  virtual void detach(std::size_t host) = 0;
  [[nodiscard]] virtual bool is_attached(std::size_t host) const = 0;
  /// This and the following: see Network.
  virtual void watch(std::size_t host, fc2::FrameTap* tap, LinkFaults faults) = 0;
  virtual void at_link(std::size_t /*host*/, LinkFunction& /*what*/) {}
  virtual void lip(std::size_t /*host*/) {}
  virtual void replug(std::size_t /*host*/) {}
  /// With independent switches: the N_Port_ID of `host` as the switch of `asker` knows it; 0: it does not.
  [[nodiscard]] virtual wire::FcId known_address(std::size_t /*asker*/, std::size_t /*host*/) { return {}; }
  /// The same the other way round: the Port_Name, as the first switch that knows the address has it.
  [[nodiscard]] virtual std::optional<wire::Wwn> known_name(wire::FcId /*address*/) { return std::nullopt; }
  virtual void set_isl(std::size_t /*isl*/, bool /*up*/) {}
  virtual void set_switch(std::size_t /*index*/, bool /*up*/) {}
  /// The host's link, where it has one of its own; nullptr: there is none now. For who sabotages a run.
  [[nodiscard]] virtual fc2::Link* link_of(std::size_t /*host*/) { return nullptr; }
  /// See Network.
  [[nodiscard]] virtual Boundary* boundary() { return nullptr; }
  /// Of its links and switches, between events.
  [[nodiscard]] virtual bool is_consistent() const = 0;
  /// Of its switches, by name.
  using CounterVisitor = std::function<void(const std::string& name, const fc2::Counters& counters)>;
  virtual void visit_counters(const CounterVisitor& /*visit*/) const {}
  /// This and the following: see Network.
  [[nodiscard]] virtual std::vector<std::string> queue_names() const { return {}; }
  virtual void add_queue_lengths(std::vector<std::uint64_t>& /*to*/) {}
  virtual void set_row_listener_of_switch(std::size_t /*index*/, FiredRowListener* /*listener*/) {}

 protected:
  FcTopology(const Scenario& scenario, const FcHosts& hosts) : scenario_(scenario), hosts_(hosts) {}
  [[nodiscard]] fc2::NPort& port(std::size_t host) const { return hosts_[host]->port(); }
  [[nodiscard]] const PortSpec& spec(std::size_t host) const { return scenario_.ports[host]; }

 private:
  const Scenario& scenario_;
  const FcHosts& hosts_;
};

}  // namespace sim
