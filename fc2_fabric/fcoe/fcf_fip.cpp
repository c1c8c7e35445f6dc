// The FIP messages that an FCF receives on one interface, and its advertisements (FC-BB-5).
#include <algorithm>

#include "fc2_fabric/fcoe/fcf_interface.hpp"
#include "fc2_fabric/fcoe/fcf_table.hpp"
#include "fc2_fabric/fcoe/fip_rules.hpp"
#include "wire/els/command.hpp"
#include "wire/els/login.hpp"
#include "wire/els/ls_rjt.hpp"
#include "wire/fc_header.hpp"
#include "wire/header_fields.hpp"

namespace fc2::fcoe {
namespace fip = wire::fip;

// On a timer of its own: whatever else is done, ENodes must not miss it for 2.5 periods.
void FcfInterface::advertise() {
  if (stopped_ || !ethernet_.up()) return;
  scheduler_.schedule_after(advertisement_timer_, config_.period);
  if (switch_.online()) send_fip(advertisement(0), wire::group_mac::all_enode);
}

// Exactly these descriptors: any other would make Linux discard it.
fip::FipMessage FcfInterface::advertisement(std::uint16_t flags) const {
  namespace flag = fip::flag;
  const auto available = available_ ? flag::available : std::uint16_t{0};
  fip::FipMessage message{fip::Operation::discovery,
                          fip::subcode::discovery_advertisement,
                          static_cast<std::uint16_t>(flag::fpma | flag::f_port | available | flags),
                          {},
                          {}};
  message.descriptors.push_back(fip::Priority{config_.priority});
  message.descriptors.push_back(fip::Mac{ethernet_.interface().mac});
  message.descriptors.push_back(fip::NameId{switch_.config().switch_name});
  message.descriptors.push_back(fip::Fabric{config_.vf_id, config_.fc_map, switch_.fabric_name()});
  const auto period_ms = static_cast<std::uint32_t>(config_.period / millisecond);
  message.descriptors.push_back(fip::FkaAdvPeriod{!config_.keep_alives, period_ms});
  return message;
}

void FcfInterface::fip_received(const EthernetFrame& frame) {
  ++counters_.fip_in;
  const wire::MacAddress destination = frame.destination();
  if (destination != ethernet_.interface().mac && destination != wire::group_mac::all_fcf)
    return counters_.discard(FcoeDiscard::WrongDestination);
  if (frame.source().is_group()) return counters_.discard(FcoeDiscard::WrongSource);
  const std::vector<std::uint8_t> bytes = frame.to_bytes();
  const auto message = fip::FipMessage::parse(wire::Bytes(bytes).subspan(wire::EthernetHeader::size()));
  if (!message || !is_sound(*message)) return counters_.discard(FcoeDiscard::BadFip);
  if (message->has(fip::flag::f_port))
    return counters_.discard(FcoeDiscard::UnexpectedFip);  // of an FCF: there are no VE_Ports here
  const auto is = [&](fip::Operation operation, std::uint8_t subcode) {
    return !stopped_ && switch_.online() && message->operation == operation && message->subcode == subcode;
  };
  if (is(fip::Operation::vlan, fip::subcode::vlan_request)) return vlan_request(frame);  // on any VLAN
  if (frame.vlan != config_.vlan) return counters_.discard(FcoeDiscard::WrongVlan);
  if (is(fip::Operation::discovery, fip::subcode::discovery_solicitation)) return discovery(*message, frame);
  if (is(fip::Operation::link_service, fip::subcode::link_service_request)) return link_service(*message, frame);
  if (is(fip::Operation::control, fip::subcode::keep_alive)) return keep_alive(*message, frame);
  counters_.discard(FcoeDiscard::UnexpectedFip);
}

FcfLink* FcfInterface::find_link(const wire::MacAddress& e_node) const {
  const auto found = links_.find(e_node);
  return found == links_.end() || found->second->idle() ? nullptr : found->second.get();
}

// The answer is as long as the ENode's largest frame, to show that such frames come through.
void FcfInterface::discovery(const fip::FipMessage& message, const EthernetFrame& frame) {
  const auto* mac = message.find<fip::Mac>();
  const auto* size = message.find<fip::MaxFcoeSize>();
  if (mac->address != frame.source()) return counters_.discard(FcoeDiscard::BadFip);
  if (!admission_.take(mac->address, scheduler_.now())) return counters_.discard(FcoeDiscard::TooOften);
  looks_for_fcf(mac->address);
  fip::FipMessage reply = advertisement(fip::flag::solicited);
  const std::size_t wanted = std::min(max_fcoe_size(ethernet_.interface().mtu), size->size_bytes);
  if (reply.size() < wanted) reply.padding.resize(wanted - reply.size());
  send_fip(reply, mac->address);
}

// By a solicitation or FLOGI. One that is logged in may look for others, and go on with its keep-alives.
void FcfInterface::looks_for_fcf(const wire::MacAddress& e_node) {
  if (FcfLink* link = find_link(e_node)) return link->solicitation_received();
  const auto former = former_e_nodes_.find(e_node);
  if (former == former_e_nodes_.end()) return;
  former->second.believes_in_login = false;
  former->second.alive_since = never;
}

namespace {
// A FLOGI, FDISC or LOGO as its descriptor says, from an address that may send it.
bool is_sound(const fip::EncapsulatedFrame& request) {
  const auto header = wire::FcHeader::parse(request.fc_frame);
  if (!header || request.fc_frame.size() <= frame_header_bytes) return false;
  if (header->r_ctl != wire::RCtl::els_request || header->d_id != wire::well_known::f_port) return false;
  const auto command = wire::els::command_of(wire::Bytes(request.fc_frame).subspan(frame_header_bytes));
  if (request.type == fip::DescriptorType::flogi) return command == wire::els::Command::flogi;
  if (request.type == fip::DescriptorType::fdisc) return command == wire::els::Command::fdisc;
  return request.type == fip::DescriptorType::logo && command == wire::els::Command::logo;
}

// FC-BB-5: the ENode takes only addresses that it provides itself (SPMA), which nobody grants here.
constexpr wire::els::LsRjt no_such_addressing{
    .reason = wire::els::RejectReason::fip_error,
    .explanation = wire::els::RejectExplanation::mac_addressing_mode_not_supported};
constexpr wire::els::LsRjt not_allowed{.reason = wire::els::RejectReason::unable_to_perform};
constexpr wire::els::LsRjt too_many_logins{.reason = wire::els::RejectReason::unable_to_perform,
                                           .explanation = wire::els::RejectExplanation::insufficient_resources};
}  // namespace

// A station that asks too often hears nothing; one that may not log in hears that.
bool FcfInterface::admitted(const fip::EncapsulatedFrame& request, const wire::MacAddress& e_node) {
  const bool flogi = request.type == fip::DescriptorType::flogi;
  if (flogi && !admission_.take(e_node, scheduler_.now())) return counters_.discard(FcoeDiscard::TooOften), false;
  const auto login = wire::els::Login::parse(wire::Bytes(request.fc_frame).subspan(frame_header_bytes));
  if (login && !admission_.allows(e_node, login->port_name, login->node_name)) {
    counters_.discard(FcoeDiscard::NotAllowed);
    return reject(request, e_node, not_allowed, to_string(FcoeDiscard::NotAllowed)), false;
  }
  const FcfLink* link = find_link(e_node);
  if (flogi || link == nullptr || link->vn_ports().size() < admission_.limits().logins_per_enode) return true;
  const auto again = [&](const FcfVnPort& port) { return login && port.port_name == login->port_name; };  // ruling 229
  if (std::any_of(link->vn_ports().begin(), link->vn_ports().end(), again)) return true;
  counters_.discard(FcoeDiscard::TooManyLogins);
  return reject(request, e_node, too_many_logins, to_string(FcoeDiscard::TooManyLogins)), false;
}

void FcfInterface::link_service(const fip::FipMessage& message, const EthernetFrame& frame) {
  const auto* request = message.find<fip::EncapsulatedFrame>();
  if (request == nullptr || !is_sound(*request)) return counters_.discard(FcoeDiscard::BadFip);
  const wire::MacAddress e_node = frame.source();
  const wire::FcId s_id = wire::s_id_of(request->fc_frame);
  const bool logout = request->type == fip::DescriptorType::logo;
  if (!logout && !message.has(fip::flag::fpma)) return reject(*request, e_node, no_such_addressing);
  const FcfLink* owner = link_of(s_id);
  const bool forged = logout ? owner == nullptr || owner->e_node() != e_node : s_id != wire::well_known::unidentified;
  if (forged) return counters_.discard(FcoeDiscard::ForgedSId);
  if (request->type == fip::DescriptorType::flogi) looks_for_fcf(e_node);
  if (!logout && !admitted(*request, e_node)) return;
  FcfLink* link = link_for(*request, e_node);
  if (link == nullptr) return reject(*request, e_node, refusal_of(*request));
  link->els_received(*request);
  if (link->idle()) link_idle();
}

// Of the ENode, made for its first FLOGI; nullptr: there is none.
FcfLink* FcfInterface::link_for(const fip::EncapsulatedFrame& request, const wire::MacAddress& e_node) {
  const auto found = links_.find(e_node);
  if (found != links_.end()) return found->second.get();
  if (request.type != fip::DescriptorType::flogi || !available_) return nullptr;
  if (links_.size() >= config_.max_enodes && !make_room()) {
    counters_.discard(FcoeDiscard::NoResources);
    return nullptr;
  }
  const std::uint16_t room = data_field_bytes(ethernet_.interface().mtu);
  FcfLinkUser& user = *this;
  FcfLink& link =
      *links_.emplace(e_node, std::make_unique<FcfLink>(scheduler_, pool_, user, config_, e_node, room)).first->second;
  lifeless_.push_back(link);
  return &link;
}

// An ENode that is one sends keep-alives, and frames to the fabric's services as soon as it is logged in.
bool FcfInterface::make_room() {
  if (lifeless_.empty()) return false;
  FcfLink& oldest = lifeless_.front();
  const wire::MacAddress e_node = oldest.e_node();
  oldest.clear("no life since FLOGI, and no room");
  links_.erase(e_node);
  ++counters_.evicted;
  tell({.kind = FcfEvent::Kind::Evicted, .e_node = e_node, .why = "no life since FLOGI, and no room"});
  return true;
}

void FcfInterface::keep_alive(const fip::FipMessage& message, const EthernetFrame& frame) {
  const auto* mac = message.find<fip::Mac>();
  const auto* port = message.find<fip::VnPort>();
  if (mac->address.is_group()) return counters_.discard(FcoeDiscard::BadFip);
  const wire::MacAddress expected = port == nullptr ? mac->address : wire::mac_of(port->n_port_id, config_.fc_map);
  if (frame.source() != expected) return counters_.discard(FcoeDiscard::WrongSource);
  FcfLink* link = find_link(mac->address);
  const bool foreign = port != nullptr && link_of(port->n_port_id) != nullptr && link_of(port->n_port_id) != link;
  if (foreign) return counters_.discard(FcoeDiscard::WrongSource);  // a station with a login may send only for itself
  if (link == nullptr) return keep_alive_without_login(mac->address, port != nullptr);
  if (port == nullptr)
    link->keep_alive_received();
  else
    link->vn_port_keep_alive_received(*port);
}

namespace {
constexpr TimeNs flogi_comes_again = 5 * second;  // where one was lost: Linux waits 4 s, with keep-alives meanwhile
}  // namespace

// It was told that its login ended and has not looked for an FCF since, or it goes on with keep-alives for so long
// without FLOGI that it must believe in the login that was missed while it looked for others.
bool FcfInterface::believes_in_login(const wire::MacAddress& e_node) {
  const auto former = former_e_nodes_.find(e_node);
  if (former == former_e_nodes_.end()) return false;
  const TimeNs now = scheduler_.now(), patience = std::max(FcfTable::patience(config_.period), flogi_comes_again);
  FcfInterface::Former& e = former->second;
  if (e.alive_since == never || now - e.alive_until >= patience) e.alive_since = now;
  e.alive_until = now;
  return e.believes_in_login || now - e.alive_since >= patience;
}

// An ENode that believes in a login that does not exist gets Clear Virtual Links: we may have been restarted. But
// ENodes send keep-alives before their first FLOGI too (Linux and iPXE do), and Clear Virtual Links would make
// them start over.
void FcfInterface::keep_alive_without_login(const wire::MacAddress& e_node, bool of_vn_port) {
  counters_.discard(FcoeDiscard::UnexpectedFip);
  if (!of_vn_port && !believes_in_login(e_node)) return;
  tell({.kind = FcfEvent::Kind::Cleared, .e_node = e_node, .why = "keep-alive without a login"});
  fip::FipMessage message{fip::Operation::control, fip::subcode::clear_virtual_links, fip::flag::fpma, {}, {}};
  message.descriptors.push_back(fip::Mac{ethernet_.interface().mac});
  message.descriptors.push_back(fip::NameId{switch_.config().switch_name});
  send_fip(message, e_node);
}

// Without a VLAN there is nothing to announce: an ENode without an answer uses none (iPXE would create VLAN 0).
void FcfInterface::vlan_request(const EthernetFrame& frame) {
  if (config_.vlan == 0) return;
  fip::FipMessage message{fip::Operation::vlan, fip::subcode::vlan_notification, fip::flag::f_port, {}, {}};
  message.descriptors.push_back(fip::Mac{ethernet_.interface().mac});
  message.descriptors.push_back(fip::Vlan{config_.vlan});
  send_fip(message, frame.source(), frame.vlan);
}

}  // namespace fc2::fcoe
