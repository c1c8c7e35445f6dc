// An inter-switch link (ISL): two E_Ports, and a channel in each direction. Can be tapped and given faults at either end.
#pragma once
#include <cstdint>

#include "fc2_fabric/link.hpp"
#include "fc2_fabric/switch_port.hpp"

namespace fc2 {
class InterSwitchLink;

/// A switch's end of an ISL.
class EPort final : public SwitchPort, private LinkUser {
 public:
  EPort(Switch& owner, InterSwitchLink& link) : SwitchPort(owner, Pace::Wait), link_(link) {}
  [[nodiscard]] Switch& owner() const { return switch_; }
  [[nodiscard]] InterSwitchLink& link() { return link_; }
  /// The other end of the ISL.
  [[nodiscard]] EPort& far_end();
  void receive(FramePtr frame) override;

 private:
  friend class InterSwitchLink;
  void hold() override;
  void proceed() override;
  // Credit as ELP tells it (FC-SW). Frames wait while the link is not active; paths change when it is taken down.
  void link_active() override;
  void link_offline() override {}

  InterSwitchLink& link_;
};

class InterSwitchLink {
 public:
  InterSwitchLink(Scheduler& scheduler, Switch& a, Switch& b, LinkConfig config);

  [[nodiscard]] EPort& a() { return a_; }
  [[nodiscard]] EPort& b() { return b_; }
  /// `owner` is at one end of it.
  [[nodiscard]] EPort& end_at(const Switch& owner);
  [[nodiscard]] const LinkConfig& config() const { return config_; }
  static constexpr std::uint32_t max_cost = 0xFFFF;
  /// As FSPF counts: 10^12 / bit rate, 1 to max_cost (FC-SW).
  [[nodiscard]] std::uint32_t cost() const;
  /// Light on it, and both switches run.
  [[nodiscard]] bool is_up() const { return a_.is_up(); }
  /// FC-SW: up, but it does not make one fabric of both, because their Domain_IDs overlap.
  [[nodiscard]] bool is_isolated() const { return isolated_; }

  /// Sees what that end sends and receives; nullptr takes it off.
  void tap(const Switch& end, FrameTap* tap);
  /// On what a sends, and on what b sends; nullptr takes it off.
  void set_faults(FrameFault* from_a, FrameFault* from_b);

 private:
  friend class EPort;
  friend class Fabric;
  void bring_up();
  /// Frames on it are lost.
  void take_down();
  [[nodiscard]] Channel& from(const EPort& end) { return &end == &a_ ? link_.a.output() : link_.b.output(); }

  const LinkConfig config_;
  EPort a_, b_;
  Link link_;
  bool plugged_ = true;    // what the owner of the fabric wants
  bool isolated_ = false;
};

}  // namespace fc2
