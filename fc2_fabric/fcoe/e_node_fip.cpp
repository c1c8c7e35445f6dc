// The ENode's FIP messages, in and out (FC-BB-5).
#include <algorithm>

#include "fc2_fabric/fcoe/e_node.hpp"
#include "fc2_fabric/fcoe/fip_rules.hpp"
#include "wire/els/command.hpp"
#include "wire/fc_header.hpp"

namespace fc2::fcoe {
namespace fip = wire::fip;
namespace fn = machines::fip_node;

namespace {
constexpr std::size_t max_vlans = 16;  // a solicitation each
constexpr std::uint16_t greatest_vlan = 4094;

std::vector<fip::VnPort> vn_ports_of(const fip::FipMessage& message) {
  std::vector<fip::VnPort> ports;
  for (const fip::Descriptor& descriptor : message.descriptors)
    if (const auto* port = std::get_if<fip::VnPort>(&descriptor)) ports.push_back(*port);
  return ports;
}
}  // namespace

void ENode::fip_received(const EthernetFrame& frame) {
  ++counters_.fip_in;
  const wire::MacAddress destination = frame.destination();
  if (destination != ethernet_.interface().mac && destination != wire::group_mac::all_enode)
    return counters_.discard(FcoeDiscard::WrongDestination);
  const std::vector<std::uint8_t> bytes = frame.to_bytes();
  const auto message = fip::FipMessage::parse(wire::Bytes(bytes).subspan(wire::EthernetHeader::size()));
  if (!message || !is_sound(*message)) return counters_.discard(FcoeDiscard::BadFip);
  if (machine_.is<fn::Disabled>()) return counters_.discard(FcoeDiscard::UnexpectedFip);
  const auto is = [&](fip::Operation operation, std::uint8_t subcode) {
    return message->operation == operation && message->subcode == subcode;
  };
  if (is(fip::Operation::discovery, fip::subcode::discovery_advertisement)) return advertisement(*message, frame);
  if (is(fip::Operation::link_service, fip::subcode::link_service_reply)) return link_service_reply(*message, frame);
  if (is(fip::Operation::control, fip::subcode::clear_virtual_links)) return clear_virtual_links(*message, frame);
  if (is(fip::Operation::vlan, fip::subcode::vlan_notification)) return vlan_notification(*message, frame);
  counters_.discard(FcoeDiscard::UnexpectedFip);
}

// --- discovery ---------------------------------------------------------------------------------------------------

void ENode::advertisement(const fip::FipMessage& message, const EthernetFrame& frame) {
  auto heard = FcfTable::read(message);
  if (!heard) return counters_.discard(FcoeDiscard::BadFip);
  heard->vlan = frame.vlan;
  if (config_.switch_name != wire::Wwn{} && heard->switch_name != config_.switch_name) return;  // not ours to use
  const KnownFcf* known = fcfs_.find(heard->address());
  const bool was_usable = known != nullptr && known->usable(), crowded = known == nullptr && fcfs_.full();
  if (crowded) {
    fcfs_.make_room(selected_ ? selected_->address() : FcfAddress{});
    ++counters_.evicted;
  }
  KnownFcf* fcf = &fcfs_.update(*heard);
  const TimeNs now = scheduler_.now();
  fcf->expires = now + FcfTable::patience(fcf->period);
  const bool full_size = frame.size_bytes >= wire::EthernetHeader::size() + max_fcoe_size(ethernet_.interface().mtu);
  if (message.has(fip::flag::solicited) && full_size) fcf->verified = true;
  // One that is new may not carry full frames: its answer of full size shows it (FC-BB-5). Unless it was just asked for
  // one. Where there are so many that some had to go all are asked at once: those that exist answer, and stay.
  const TimeNs asked = std::max(fcf->solicited, solicited_all_);
  if (!fcf->verified && !message.has(fip::flag::solicited) && now - asked >= FcfTable::least_period) {
    fcf->solicited = now;
    crowded ? send_solicitation() : solicit(fcf->address());
  }
  watch_fcfs();
  renew_selected(*fcf);
  const bool awaited = machine_.is<fn::Discovering>();
  if (fcf->usable() && (awaited || !was_usable)) process(fn::FcfBecameUsable{});
}

// What it says of itself may change; if it is another FCF with the same address, the one that we know is gone.
void ENode::renew_selected(const KnownFcf& fcf) {
  if (!selected_ || selected_->address() != fcf.address()) return;
  if (selected_->fabric_name != fcf.fabric_name || selected_->switch_name != fcf.switch_name ||
      selected_->fc_map != fcf.fc_map)
    return process(fn::FcfLost{});
  selected_ = fcf;
  if (!fcf.keep_alives_wanted)
    scheduler_.cancel(keep_alive_);
  else if (logged_in() && !keep_alive_.pending())
    scheduler_.schedule_after(keep_alive_, fcf.period);
}

void ENode::watch_fcfs() {
  const TimeNs next = fcfs_.next_expiry();
  if (next == never)
    scheduler_.cancel(expiry_);
  else
    scheduler_.schedule(expiry_, next);
}

void ENode::expire_fcfs() {
  const auto gone = fcfs_.expire(scheduler_.now());
  watch_fcfs();
  if (selected_ && std::find(gone.begin(), gone.end(), selected_->address()) != gone.end()) process(fn::FcfLost{});
}

void ENode::solicit(const FcfAddress& destination) {
  const wire::MacAddress& mac = ethernet_.interface().mac;
  fip::FipMessage message{fip::Operation::discovery, fip::subcode::discovery_solicitation, fip::flag::fpma, {}, {}};
  message.descriptors.push_back(fip::Mac{mac});
  message.descriptors.push_back(fip::NameId{first().n_port.config().node_name});
  message.descriptors.push_back(fip::MaxFcoeSize{max_fcoe_size(ethernet_.interface().mtu)});
  send_fip(message, destination, mac);
}

void ENode::send_solicitation() {
  solicited_all_ = scheduler_.now();
  solicit({wire::group_mac::all_fcf, config_.vlan});
  for (const std::uint16_t vlan : vlans_) solicit({wire::group_mac::all_fcf, vlan});
}

void ENode::solicit_new_vlans() {
  for (const std::uint16_t vlan : new_vlans_) solicit({wire::group_mac::all_fcf, vlan});
}

void ENode::send_vlan_request() {
  const wire::MacAddress& mac = ethernet_.interface().mac;
  fip::FipMessage message{fip::Operation::vlan, fip::subcode::vlan_request, fip::flag::fpma, {}, {}};
  message.descriptors.push_back(fip::Mac{mac});
  message.descriptors.push_back(fip::NameId{first().n_port.config().node_name});
  send_fip(message, {wire::group_mac::all_fcf, config_.vlan}, mac);
}

void ENode::vlan_notification(const fip::FipMessage& message, const EthernetFrame& frame) {
  if (!config_.discover_vlans || frame.vlan != config_.vlan) return counters_.discard(FcoeDiscard::UnexpectedFip);
  if (message.find<fip::Mac>()->address != frame.source()) return counters_.discard(FcoeDiscard::WrongSource);
  new_vlans_.clear();
  for (const fip::Descriptor& descriptor : message.descriptors) {
    const auto* vlan = std::get_if<fip::Vlan>(&descriptor);
    const bool possible = vlan != nullptr && vlan->vlan_id != 0 && vlan->vlan_id <= greatest_vlan;
    if (!possible || listens_on(vlan->vlan_id) || new_vlans_.size() == max_vlans) continue;
    if (vlans_.size() == max_vlans && !make_room_for_vlan()) break;
    vlans_.push_back(vlan->vlan_id);
    new_vlans_.push_back(vlan->vlan_id);
    ethernet_.use_vlan(vlan->vlan_id);
  }
  if (!new_vlans_.empty()) process(fn::VlanNotified{});
}

// That of the FCF in use, those where one answers as it should, those where one advertises, all others.
int ENode::worth_of(std::uint16_t vlan) const {
  if (selected_ && selected_->vlan == vlan) return 3;
  int worth = 0;
  for (const KnownFcf& fcf : fcfs_.fcfs())
    if (fcf.vlan == vlan) worth = std::max(worth, fcf.usable() ? 2 : 1);
  return worth;
}

// Anybody can send a notification: invented VLANs must not shut out the one that the FCF tells when it is asked
// the next time.
bool ENode::make_room_for_vlan() {
  const auto least = std::min_element(vlans_.begin(), vlans_.end(),
                                      [&](auto one, auto other) { return worth_of(one) < worth_of(other); });
  const bool told_just_now = std::find(new_vlans_.begin(), new_vlans_.end(), *least) != new_vlans_.end();
  if (worth_of(*least) > 1 || told_just_now) return false;
  vlans_.erase(least);
  return true;
}

// --- logins ------------------------------------------------------------------------------------------------------

VnPort* ENode::waiting_for(const fip::EncapsulatedFrame& reply, wire::OxId ox_id) const {
  for (const auto& port : ports_)
    if (port->pending && port->pending->type == reply.type && port->pending->ox_id == ox_id) return port.get();
  return nullptr;
}

void ENode::link_service_reply(const fip::FipMessage& message, const EthernetFrame& frame) {
  const auto* reply = message.find<fip::EncapsulatedFrame>();
  const auto header = reply == nullptr ? wire::FcHeader::parse({}) : wire::FcHeader::parse(reply->fc_frame);
  if (!header || reply->fc_frame.size() <= frame_header_bytes) return counters_.discard(FcoeDiscard::BadFip);
  if (!is_of_selected(frame)) return counters_.discard(FcoeDiscard::WrongSource);
  VnPort* port = waiting_for(*reply, header->ox_id);
  if (port == nullptr || header->r_ctl != wire::RCtl::els_reply) return counters_.discard(FcoeDiscard::UnexpectedFip);
  const bool logout = reply->type == fip::DescriptorType::logo;
  const bool accepted = reply->fc_frame[frame_header_bytes] == static_cast<std::uint8_t>(wire::els::Command::ls_acc);
  const auto* mac = message.find<fip::Mac>();
  const wire::MacAddress expected = wire::mac_of(header->d_id, selected_->fc_map);
  if (!logout && accepted && (mac == nullptr || mac->address != expected))
    return counters_.discard(FcoeDiscard::BadFip);
  port->pending.reset();
  if (logout)
    forget_address(*port);
  else if (accepted)
    granted(*port, expected, header->d_id);
  const bool of_first = port == &first();
  if (logout && of_first) release_virtual_ports();
  deliver(*port, *reply);
  if (of_first && logout)
    process(fn::LogoutAnswered{});
  else if (of_first && accepted)
    process(fn::LoginAccepted{});
}

void ENode::deliver(VnPort& port, const fip::EncapsulatedFrame& reply) {
  FramePtr frame = pool_.take();
  frame->sof = wire::Sof::i3;
  frame->eof = wire::Eof::t;
  frame->size_bytes = static_cast<std::uint16_t>(reply.fc_frame.size());
  std::copy(reply.fc_frame.begin(), reply.fc_frame.end(), frame->bytes.begin());
  port.deliver(std::move(frame));
}

// FC-BB-5: an FCF sends it from its own address, which Linux does not look at.
void ENode::clear_virtual_links(const fip::FipMessage& message, const EthernetFrame& frame) {
  const auto* mac = message.find<fip::Mac>();
  const auto* name = message.find<fip::NameId>();
  if (!selected_ || mac->address != selected_->mac || name->name_id != selected_->switch_name)
    return counters_.discard(FcoeDiscard::UnexpectedFip);
  if (!is_of_selected(frame)) return counters_.discard(FcoeDiscard::WrongSource);
  const auto cleared = vn_ports_of(message);
  const auto concerns = [&](const VnPort& port) {
    return std::any_of(cleared.begin(), cleared.end(), [&](const fip::VnPort& entry) {
      return entry.address == port.mac && entry.n_port_id == port.id &&
             entry.port_name == port.n_port.config().port_name;
    });
  };
  if (cleared.empty() || concerns(first())) return process(fn::LinksCleared{});
  for (auto port = ports_.begin() + 1; port != ports_.end(); ++port) {
    if (!concerns(**port)) continue;
    interrupt(**port);
    take_up(**port);  // logs in again
  }
}

// --- keep-alives -------------------------------------------------------------------------------------------------

void ENode::send_keep_alive() {
  const wire::MacAddress& mac = ethernet_.interface().mac;
  fip::FipMessage message{fip::Operation::control, fip::subcode::keep_alive, fip::flag::fpma, {fip::Mac{mac}}, {}};
  send_fip(message, selected_->address(), mac);
  ++keep_alives_sent_;
  latest_keep_alive_ = scheduler_.now();
  scheduler_.schedule_after(keep_alive_, selected_->period);
}

void ENode::send_vn_port_keep_alives() {
  for (const auto& port : ports_) {
    if (!port->mac) continue;
    fip::FipMessage message{fip::Operation::control, fip::subcode::keep_alive, fip::flag::fpma, {}, {}};
    message.descriptors.push_back(fip::Mac{ethernet_.interface().mac});
    message.descriptors.push_back(fip::VnPort{*port->mac, port->id, port->n_port.config().port_name});
    send_fip(message, selected_->address(), *port->mac);
  }
  scheduler_.schedule_after(vn_port_keep_alive_, config_.vn_port_keep_alive_period);
}

void ENode::send_fip(const fip::FipMessage& message, const FcfAddress& destination, const wire::MacAddress& source) {
  ++counters_.fip_out;
  EthernetFrame frame = EthernetFrame::of(pool_, message.to_ethernet(destination.mac, source));
  frame.vlan = destination.vlan;
  ethernet_.send(std::move(frame));
}

}  // namespace fc2::fcoe
