#include "fc2_fabric/fcoe/e_node.hpp"

#include <algorithm>
#include <utility>

#include "fc2_fabric/frame/frame_header.hpp"

namespace fc2::fcoe {
namespace fip = wire::fip;
namespace fn = machines::fip_node;

ENode::ENode(Scheduler& scheduler, FramePool& pool, EthernetPort& ethernet, NPort& port, ENodeConfig config)
    : scheduler_(scheduler), pool_(pool), ethernet_(ethernet), config_(config) {
  VnPortUser& user = *this;
  ports_.push_back(std::make_unique<VnPort>(scheduler, port, user));
  port.add_listener(*this);
  ethernet_.attach(this);
  ethernet_.listen(wire::group_mac::all_enode);
  if (config_.vlan != 0) ethernet_.use_vlan(config_.vlan);
  if (ethernet_.up()) process(fn::LinkUp{});
}

ENode::~ENode() {
  first().n_port.remove_listener(*this);
  for (auto port = ports_.rbegin(); port != ports_.rend(); ++port) release(**port);
  ethernet_.ignore(wire::group_mac::all_enode);
  ethernet_.attach(nullptr);
}

bool ENode::add_virtual_port(NPort& port) {
  if (ports_.size() > config_.max_virtual_ports) return false;
  VnPortUser& user = *this;
  VnPort& added = *ports_.emplace_back(std::make_unique<VnPort>(scheduler_, port, user));
  if (logged_in() && first().n_port.online()) take_up(added);
  return true;
}

void ENode::remove_virtual_port(NPort& port) {
  const auto found =
      std::find_if(ports_.begin() + 1, ports_.end(), [&](const auto& known) { return &known->n_port == &port; });
  if (found == ports_.end()) return;
  release(**found);
  ports_.erase(found);
}

void ENode::tap(NPort& port, FrameTap* tap) {
  if (VnPort* known = find(port)) known->link.tap(tap);
}

void ENode::set_faults(NPort& port, FrameFault* sent, FrameFault* received) {
  if (VnPort* known = find(port)) known->link.set_faults(sent, received);
}

std::optional<wire::MacAddress> ENode::mac_of(const NPort& port) const {
  const VnPort* known = find(port);
  return known == nullptr ? std::nullopt : known->mac;
}

VnPort* ENode::find(const NPort& port) const {
  for (const auto& known : ports_)
    if (&known->n_port == &port) return known.get();
  return nullptr;
}

// --- Ethernet ----------------------------------------------------------------------------------------------------

void ENode::ethernet_received(EthernetFrame frame) {
  if (!frame.has_header()) return counters_.discard(FcoeDiscard::NotFcoe);
  if (!listens_on(frame.vlan)) return counters_.discard(FcoeDiscard::WrongVlan);
  if (frame.type() == wire::EtherType::fcoe) return fcoe_received(std::move(frame));
  if (frame.type() == wire::EtherType::fip) return fip_received(frame);
  counters_.discard(FcoeDiscard::NotFcoe);
}

void ENode::ethernet_link_changed(bool up) {
  if (up == !machine_.is<fn::Disabled>()) return;
  if (up) return process(fn::LinkUp{});
  process(fn::LinkDown{});
  fcfs_.clear();
  vlans_.clear();
  watch_fcfs();
}

bool ENode::listens_on(std::uint16_t vlan) const {
  return vlan == config_.vlan || std::find(vlans_.begin(), vlans_.end(), vlan) != vlans_.end();
}

bool ENode::is_of_selected(const EthernetFrame& frame) const {
  return selected_ && selected_->address() == FcfAddress(frame.source(), frame.vlan);
}

void ENode::ethernet_resumed() {
  for (const auto& port : ports_) port->link.to_wire.resume();
}

void ENode::fcoe_received(EthernetFrame frame) {
  ++counters_.frames_in;
  if (const FcoeDiscard reason = examine(frame); reason != FcoeDiscard::Count) return counters_.discard(reason);
  const wire::MacAddress destination = frame.destination();
  const auto port =
      std::find_if(ports_.begin(), ports_.end(), [&](const auto& known) { return known->mac == destination; });
  if (port == ports_.end()) return counters_.discard(FcoeDiscard::WrongDestination);
  if (!is_of_selected(frame)) return counters_.discard(FcoeDiscard::WrongSource);
  FramePtr inner = decapsulate(std::move(frame));
  const wire::FcId d_id = d_id_of(*inner);
  if (d_id != (*port)->id && d_id != wire::well_known::broadcast)
    return counters_.discard(FcoeDiscard::WrongDestination);
  (*port)->deliver(std::move(inner));
}

// --- what the N_Ports send ---------------------------------------------------------------------------------------

void ENode::vn_port_sends_els(VnPort& port, const Frame& frame, fip::DescriptorType type) {
  if (!selected_) return counters_.discard(FcoeDiscard::NotLoggedIn);
  fip::FipMessage message{fip::Operation::link_service, fip::subcode::link_service_request, fip::flag::fpma, {}, {}};
  const auto content = frame.content();
  message.descriptors.push_back(fip::EncapsulatedFrame{type, {content.begin(), content.end()}});
  message.descriptors.push_back(
      fip::Mac{type == fip::DescriptorType::logo && port.mac ? *port.mac : wire::MacAddress{}});
  port.pending = PendingEls{type, ox_id_of(frame)};
  if (type != fip::DescriptorType::logo) forget_address(port);
  if (type == fip::DescriptorType::flogi) {
    interrupt_virtual_ports();
    process(fn::LoginRequested{});
  }
  send_fip(message, selected_->address(), ethernet_.interface().mac);
}

void ENode::vn_port_sends(VnPort& port, FramePtr frame) {
  if (!selected_ || !port.mac || s_id_of(*frame) != port.id) return counters_.discard(FcoeDiscard::NotLoggedIn);
  if (wire::fcoe::frame_size(frame->size_bytes) > wire::EthernetHeader::size() + ethernet_.interface().mtu)
    return counters_.discard(FcoeDiscard::OverLong);
  ++counters_.frames_out;
  EthernetFrame out = encapsulate(selected_->mac, *port.mac, std::move(frame));
  out.vlan = selected_->vlan;
  ethernet_.send(std::move(out));
  if (!ethernet_.paused()) return;
  for (const auto& waiting : ports_) waiting->link.to_wire.pause();
}

void ENode::granted(VnPort& port, const wire::MacAddress& mac, wire::FcId id) {
  forget_address(port);
  port.mac = mac;
  port.id = id;
  ethernet_.listen(mac);
}

void ENode::forget_address(VnPort& port) {
  if (port.mac) ethernet_.ignore(*port.mac);
  port.mac.reset();
  port.id = {};
}

void ENode::take_up(VnPort& port) {
  port.take_up();
  if (ethernet_.paused()) port.link.to_wire.pause();
}

void ENode::release(VnPort& port) {
  forget_address(port);
  port.take_down();
}

void ENode::interrupt(VnPort& port) {
  forget_address(port);
  port.interrupt();
}

// Their logins hang on that of the first (FC-LS): FLOGI ends them, and FDISC shows whether they come back the same.
void ENode::interrupt_virtual_ports() {
  for (auto port = ports_.begin() + 1; port != ports_.end(); ++port) interrupt(**port);
}

void ENode::release_virtual_ports() {
  for (auto port = ports_.begin() + 1; port != ports_.end(); ++port) release(**port);
}

// --- the first N_Port's fabric login -----------------------------------------------------------------------------

void ENode::fabric_logged_in() {
  for (auto port = ports_.begin() + 1; port != ports_.end(); ++port) take_up(**port);
}

// The N_Port gave up; its link must not go down while it tells us.
void ENode::fabric_login_failed() {
  const bool wanted = !machine_.processing() && machine_.is_any_of<fn::LoginPending, fn::LoggedIn>();
  if (wanted) scheduler_.schedule(login_failure_, scheduler_.now());
}

void ENode::login_failed() {
  if (machine_.is_any_of<fn::LoginPending, fn::LoggedIn>()) process(fn::LoginFailed{});
}

// --- machines::fip_node ------------------------------------------------------------------------------------------

/// An FCF is selected from the choice on, and gone with the virtual links; addresses are granted by it. One time runs
/// until then, others while the first N_Port is logged in.
bool ENode::is_consistent() const {
  const bool chosen = machine_.is_any_of<fn::LoginPending, fn::LoggedIn, fn::LoggedOut>();
  const bool links = selected_.has_value() == chosen && first().is_up() == chosen;
  const bool granted =
      chosen || std::none_of(ports_.begin(), ports_.end(), [](const auto& port) { return port->mac.has_value(); });
  const bool times = timer_.pending() == machine_.is_any_of<fn::Discovering, fn::Choosing>() &&
                     vn_port_keep_alive_.pending() == logged_in() && (!keep_alive_.pending() || logged_in()) &&
                     (!login_failure_.pending() || chosen);
  return links && granted && times;
}

void ENode::time_out() { process(fn::Timeout{}); }

void ENode::select_fcf() {
  selected_ = *fcfs_.best(preferred_fabric_);
  preferred_fabric_ = selected_->fabric_name;
}

void ENode::take_link_up() { take_up(first()); }

void ENode::interrupt_links() {
  scheduler_.cancel(login_failure_);
  for (auto port = ports_.rbegin(); port != ports_.rend(); ++port) interrupt(**port);
  selected_.reset();
}

void ENode::start_keep_alives() {
  if (selected_->keep_alives_wanted) scheduler_.schedule_after(keep_alive_, selected_->period);
  scheduler_.schedule_after(vn_port_keep_alive_, config_.vn_port_keep_alive_period);
}

void ENode::stop_keep_alives() {
  scheduler_.cancel(keep_alive_);
  scheduler_.cancel(vn_port_keep_alive_);
}

}  // namespace fc2::fcoe
