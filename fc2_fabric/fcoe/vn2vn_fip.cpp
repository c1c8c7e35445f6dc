// The VN2VN node's FIP messages, in and out (FC-BB-6).
#include <algorithm>

#include "fc2_fabric/fcoe/fip_rules.hpp"
#include "fc2_fabric/fcoe/vn2vn_node.hpp"
#include "fc2_fabric/node/remote_port.hpp"
#include "wire/els/login.hpp"
#include "wire/fc_header.hpp"

namespace fc2::fcoe {
namespace fip = wire::fip;
namespace vn = machines::fip_vn2vn;

namespace {
constexpr std::size_t max_flogis = 64;  // received and unanswered

// FC-4 TYPEs that the port offers, as RFT_ID has them.
fip::Fc4Features fc4_features(const NPort& port) {
  fip::Fc4Features features;
  for (const wire::Type offered : port.fc4_types()) {
    const std::size_t type = static_cast<std::size_t>(offered), word = type / 32, bit = type % 32;
    features.types[4 * word + 3 - bit / 8] |= static_cast<std::uint8_t>(1U << bit % 8);
  }
  return features;
}
}  // namespace

void Vn2vnNode::fip_received(const EthernetFrame& frame) {
  ++counters_.fip_in;
  const wire::MacAddress destination = frame.destination();
  const bool ours = destination == ethernet_.interface().mac || (up() && destination == vn_mac());
  if (!ours && destination != wire::group_mac::all_vn2vn) return counters_.discard(FcoeDiscard::WrongDestination);
  const std::vector<std::uint8_t> bytes = frame.to_bytes();
  const auto message = fip::FipMessage::parse(wire::Bytes(bytes).subspan(wire::EthernetHeader::size()));
  if (!message || !is_sound(*message)) return counters_.discard(FcoeDiscard::BadFip);
  if (machine_.is<vn::Offline>()) return counters_.discard(FcoeDiscard::UnexpectedFip);
  if (message->operation == fip::Operation::vn2vn) return vn2vn_message(*message);
  if (message->operation == fip::Operation::link_service && message->subcode == fip::subcode::link_service_request)
    return flogi_received(*message, frame.source());
  counters_.discard(FcoeDiscard::UnexpectedFip);
}

void Vn2vnNode::vn2vn_message(const fip::FipMessage& message) {
  const auto* mac = message.find<fip::Mac>();
  const auto* name = message.find<fip::NameId>();
  const auto* port = message.find<fip::VnPort>();
  if (mac->address.is_group() || port->n_port_id.value == 0 || port->n_port_id.value >= 0xFFFF ||
      port->address != wire::mac_of(port->n_port_id, wire::vn2vn_fc_map))
    return counters_.discard(FcoeDiscard::BadFip);
  const Vn2vnNeighbour sender{port->n_port_id, port->port_name, name->name_id, mac->address};
  if (sender.port_name == port_.n_port.config().port_name)
    return counters_.discard(FcoeDiscard::UnexpectedFip);  // ours, back
  if (sender.id == id_) return contest(message.subcode, sender);
  if (message.subcode == fip::subcode::claim_notification) return claim_heard(message, sender);
  if (message.subcode == fip::subcode::claim_response) return add_neighbour(sender);
  if (message.subcode == fip::subcode::beacon) return beacon_heard(sender);
  if (message.subcode > fip::subcode::beacon || message.subcode == 0) counters_.discard(FcoeDiscard::UnexpectedFip);
}

// It has to do with our address.
void Vn2vnNode::contest(std::uint8_t subcode, const Vn2vnNeighbour& sender) {
  sender_ = sender.e_node;
  const bool ours_wins = port_.n_port.config().port_name > sender.port_name;
  if (subcode == fip::subcode::probe_request) return process(vn::ProbeHeard{ours_wins});
  if (subcode == fip::subcode::probe_reply) return process(vn::ProbeAnswered{});
  if (subcode == fip::subcode::claim_notification || subcode == fip::subcode::beacon)
    return process(vn::ClaimHeard{ours_wins});
  counters_.discard(FcoeDiscard::UnexpectedFip);
}

// The response is as long as its largest frame, to show that such frames come through.
void Vn2vnNode::claim_heard(const fip::FipMessage& message, const Vn2vnNeighbour& sender) {
  if (!machine_.is_any_of<vn::Claiming, vn::Claimed>()) return;
  fip::FipMessage response = this->message(fip::subcode::claim_response);
  describe_port(response);
  const auto* size = message.find<fip::MaxFcoeSize>();
  const std::uint16_t own = max_fcoe_size(ethernet_.interface().mtu);
  const std::size_t wanted = std::min(own, size == nullptr ? own : size->size_bytes);
  if (response.size() < wanted) response.padding.resize(wanted - response.size());
  send_fip(response, sender.e_node, ethernet_.interface().mac);
  add_neighbour(sender);
}

// From an unknown neighbour: a claim makes it announce itself. Not more often than once in a claim's waiting time.
void Vn2vnNode::beacon_heard(const Vn2vnNeighbour& sender) {
  const auto known = neighbours_.find(sender.id);
  const bool same = known != neighbours_.end() && known->second.port_name == sender.port_name;
  if (same) {
    known->second.heard = scheduler_.now();
    return;
  }
  if (known != neighbours_.end()) drop_neighbour(sender.id);
  if (up() && scheduler_.now() - last_claim_ >= config_.claim_wait) send_claim();
}

// --- FLOGI of the neighbours (Linux asks for it before PLOGI) ----------------------------------------------------

void Vn2vnNode::flogi_received(const fip::FipMessage& message, const wire::MacAddress& source) {
  const auto* request = message.find<fip::EncapsulatedFrame>();
  if (request == nullptr || request->fc_frame.size() <= frame_header_bytes)
    return counters_.discard(FcoeDiscard::BadFip);
  const auto header = wire::FcHeader::parse(request->fc_frame);
  const auto login = wire::els::Login::parse(wire::Bytes(request->fc_frame).subspan(frame_header_bytes));
  const bool flogi =
      login && login->command == wire::els::Command::flogi && request->type == fip::DescriptorType::flogi;
  if (!header || !flogi || header->r_ctl != wire::RCtl::els_request) return counters_.discard(FcoeDiscard::BadFip);
  if (!up() || header->d_id != id_) return counters_.discard(FcoeDiscard::UnexpectedFip);
  const auto known = neighbours_.find(header->s_id);
  if (known == neighbours_.end() || known->second.e_node != source) return counters_.discard(FcoeDiscard::ForgedSId);
  if (flogis_.size() == max_flogis) flogis_.erase(flogis_.begin());
  flogis_.push_back({header->s_id, header->ox_id, login->port_name});
  FramePtr frame = pool_.take();
  frame->sof = wire::Sof::i3;
  frame->eof = wire::Eof::t;
  frame->size_bytes = static_cast<std::uint16_t>(request->fc_frame.size());
  std::copy(request->fc_frame.begin(), request->fc_frame.end(), frame->bytes.begin());
  port_.deliver(std::move(frame));
}

// The reply to one goes inside FIP, as it came. Then the higher name logs in (FC-LS), for the other waits.
bool Vn2vnNode::answers_flogi(const Frame& frame) {
  if (flogis_.empty()) return false;
  const auto header = wire::FcHeader::parse(frame.content());
  if (!header || header->r_ctl != wire::RCtl::els_reply) return false;
  const auto found = std::find_if(flogis_.begin(), flogis_.end(), [&](const ReceivedFlogi& flogi) {
    return flogi.peer == header->d_id && flogi.ox_id == header->ox_id;
  });
  if (found == flogis_.end()) return false;
  const ReceivedFlogi flogi = *found;
  flogis_.erase(found);
  const auto neighbour = neighbours_.find(flogi.peer);
  if (neighbour == neighbours_.end()) return true;
  fip::FipMessage reply{fip::Operation::link_service, fip::subcode::link_service_reply, 0, {}, {}};
  const auto content = frame.content();
  reply.descriptors.push_back(fip::EncapsulatedFrame{fip::DescriptorType::flogi, {content.begin(), content.end()}});
  reply.descriptors.push_back(fip::Mac{vn_mac()});
  send_fip(reply, neighbour->second.e_node, ethernet_.interface().mac);
  RemotePort& remote = port_.n_port.remote_port(flogi.peer);
  remote.implicit_logout();  // who asks for a FLOGI has no login
  if (port_.n_port.config().port_name > flogi.port_name) remote.log_in();
  return true;
}

// Nobody is asked for a fabric login here.
void Vn2vnNode::vn_port_sends_els(VnPort&, const Frame&, fip::DescriptorType) {
  counters_.discard(FcoeDiscard::NotLoggedIn);
}

// --- what we say of ourselves ------------------------------------------------------------------------------------

fip::FipMessage Vn2vnNode::message(std::uint8_t subcode) const {
  fip::FipMessage message{fip::Operation::vn2vn, subcode, 0, {}, {}};
  message.descriptors.push_back(fip::Mac{ethernet_.interface().mac});
  message.descriptors.push_back(fip::NameId{port_.n_port.config().node_name});
  message.descriptors.push_back(fip::VnPort{vn_mac(), id_, port_.n_port.config().port_name});
  return message;
}

void Vn2vnNode::describe_port(fip::FipMessage& message) const {
  message.descriptors.push_back(fc4_features(port_.n_port));
  message.descriptors.push_back(fip::MaxFcoeSize{max_fcoe_size(ethernet_.interface().mtu)});
}

void Vn2vnNode::send_probe() {
  send_fip(message(fip::subcode::probe_request), wire::group_mac::all_vn2vn, ethernet_.interface().mac);
}
void Vn2vnNode::send_probe_reply() { send_fip(message(fip::subcode::probe_reply), sender_, ethernet_.interface().mac); }

void Vn2vnNode::send_claim() {
  fip::FipMessage claim = message(fip::subcode::claim_notification);
  describe_port(claim);
  last_claim_ = scheduler_.now();
  send_fip(claim, wire::group_mac::all_vn2vn, ethernet_.interface().mac);
}

// The only one that comes from the VN_Port's own address (as Linux sends it).
void Vn2vnNode::send_beacon() { send_fip(message(fip::subcode::beacon), wire::group_mac::all_vn2vn, vn_mac()); }

void Vn2vnNode::send_fip(const fip::FipMessage& message, const wire::MacAddress& destination,
                         const wire::MacAddress& source) {
  ++counters_.fip_out;
  send(EthernetFrame::of(pool_, message.to_ethernet(destination, source)));
}

}  // namespace fc2::fcoe
