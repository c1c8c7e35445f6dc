#include "fc2_fabric/switch/inter_switch_link.hpp"

#include <algorithm>
#include <cassert>

#include "fc2_fabric/switch/switch.hpp"
#include "state_machines/consistency.hpp"

namespace fc2 {

EPort& EPort::far_end() { return this == &link_.a() ? link_.b() : link_.a(); }
void EPort::receive(FramePtr frame) {
  if (!is_up()) return;
  count_in();
  switch_.frame_from_link(*this, std::move(frame));
}
// FC-SW: ELP tells the credit of both.
void EPort::link_active() {
  Channel& output = link_.end_of(*this).output();
  link_is_up(output);
  output.set_bb_credit(link_.end_of(far_end()).output().own_bb_credit());
  link_.listener_.topology_changed();
  FCVI_ASSERT_CONSISTENT(*this);
}
void EPort::link_offline() {
  link_is_down();
  link_.isolated_ = false;
  link_.listener_.topology_changed();
  FCVI_ASSERT_CONSISTENT(*this);
}
// Ends that are independent hear of nothing sooner than the link carries it.
void EPort::hold() {
  if (!link_.independent_) link_.end_of(far_end()).output().pause();
}
void EPort::proceed() {
  if (!link_.independent_) link_.end_of(far_end()).output().resume();
}

InterSwitchLink::InterSwitchLink(Scheduler& scheduler, Switch& a, Switch& b, LinkConfig config,
                                 TopologyListener& listener)
    : config_(config), listener_(listener), a_(a, a, *this), b_(b, b, *this),
      link_(scheduler, config, a_, BufferUse::UntilForwarded, b_, BufferUse::UntilForwarded) {}

void InterSwitchLink::be_independent(std::uint32_t rank) {
  assert(config_.latency_ns > 0 && config_.bb_credit > 0);
  independent_ = true;
  link_.set_rank(rank);
}

EPort& InterSwitchLink::end_at(const Switch& owner) {
  assert(&owner == &a_.owner() || &owner == &b_.owner());
  return &owner == &a_.owner() ? a_ : b_;
}

std::uint32_t InterSwitchLink::cost() const {
  constexpr std::uint64_t reference = 1'000'000'000'000 / 8;  // in bytes
  if (config_.bytes_per_second == 0) return 1;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(reference / config_.bytes_per_second, 1, max_cost));
}

void InterSwitchLink::tap(const Switch& end, FrameTap* tap) {
  EPort& tapped = end_at(end);
  end_of(tapped).output().tap_sender(tap);
  end_of(tapped.far_end()).output().tap_receiver(tap);
}

void InterSwitchLink::set_faults(FrameFault* from_a, FrameFault* from_b) {
  link_.a.output().set_fault(from_a);
  link_.b.output().set_fault(from_b);
}

void InterSwitchLink::bring_up() {
  if (link_.joined())
    link_.mend();
  else
    link_.join(a_, b_);
}

void InterSwitchLink::take_down() {
  if (link_.joined()) link_.cut();
}

/// An end that the link made active is up, and only two fabrics that a link joins can be kept apart.
bool InterSwitchLink::is_consistent() const {
  const bool told = a_.is_up() == link_.a.online() && b_.is_up() == link_.b.online();
  return told && link_.is_consistent() && a_.is_consistent() && b_.is_consistent() && (is_up() || !isolated_) &&
         (plugged_ || !link_.joined() || link_.is_cut());
}

}  // namespace fc2
