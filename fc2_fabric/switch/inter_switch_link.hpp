// An inter-switch link (ISL): a link between two E_Ports, with credit as on any link. Can be tapped and given faults.
#pragma once
#include <cstdint>

#include "fc2_fabric/link/link.hpp"
#include "fc2_fabric/switch/switch_port.hpp"

namespace fc2 {
class InterSwitchLink;
class Switch;

/// A switch's end of an ISL.
class EPort final : public SwitchPort, private LinkUser {
 public:
  EPort(Switch& owner, SwitchServices& services, InterSwitchLink& link)
      : SwitchPort(services, Pace::Wait), owner_(owner), link_(link) {}
  [[nodiscard]] Switch& owner() const { return owner_; }
  [[nodiscard]] InterSwitchLink& link() { return link_; }
  /// The other end of the ISL.
  [[nodiscard]] EPort& far_end();
  void receive(FramePtr frame) override;

 private:
  friend class InterSwitchLink;
  void link_active() override;
  void link_offline() override;
  [[nodiscard]] fsm::RowListener* row_listener() const override { return switch_.config().rows; }
  void hold() override;
  void proceed() override;

  Switch& owner_;
  InterSwitchLink& link_;
};

/// Told of ISLs that come up and go down.
class TopologyListener {
 public:
  virtual void topology_changed() = 0;

 protected:
  ~TopologyListener() = default;
};

class InterSwitchLink {
 public:
  InterSwitchLink(Scheduler& scheduler, Switch& a, Switch& b, LinkConfig config, TopologyListener& listener);

  [[nodiscard]] EPort& a() { return a_; }
  [[nodiscard]] EPort& b() { return b_; }
  /// The port of `owner`, which is at one end.
  [[nodiscard]] EPort& end_at(const Switch& owner);
  [[nodiscard]] const LinkConfig& config() const { return config_; }
  static constexpr std::uint32_t max_cost = 0xFFFF;
  /// The cost as in FSPF: 10^12 / bit rate, 1 to max_cost (FC-SW).
  [[nodiscard]] std::uint32_t cost() const;
  /// There is a signal, and both switches run.
  [[nodiscard]] bool is_up() const { return a_.is_up() && b_.is_up(); }
  /// FC-SW: up, but the two fabrics stay separate because their Domain_IDs overlap.
  [[nodiscard]] bool is_isolated() const { return isolated_; }

  /// For link events and primitive sequences; a and b are the same as here.
  [[nodiscard]] Link& link() { return link_; }
  /// Between its members, and both ends of its link, whenever none of its functions runs.
  [[nodiscard]] bool is_consistent() const;
  /// The credit alone holds senders back, and what it carries comes first in its time, by rank (Link::set_rank).
  void be_independent(std::uint32_t rank);
  /// Sees what that end sends and receives; nullptr removes it.
  void tap(const Switch& end, FrameTap* tap);
  /// On frames from a, and on frames from b; nullptr removes it.
  void set_faults(FrameFault* from_a, FrameFault* from_b);

 private:
  friend class EPort;
  friend class Fabric;
  void bring_up();
  /// Frames on it are lost.
  void take_down();
  [[nodiscard]] LinkEnd& end_of(const EPort& port) { return &port == &a_ ? link_.a : link_.b; }

  const LinkConfig config_;
  TopologyListener& listener_;
  EPort a_, b_;
  Link link_;
  bool plugged_ = true;  // what the owner of the fabric wants
  bool isolated_ = false;
  bool independent_ = false;
};

}  // namespace fc2
