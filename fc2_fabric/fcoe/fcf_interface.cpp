#include "fc2_fabric/fcoe/fcf_interface.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "fc2_fabric/switch/f_port.hpp"
#include "wire/fc_header.hpp"

namespace fc2::fcoe {
namespace fip = wire::fip;

FcfInterface::FcfInterface(Scheduler& scheduler, FramePool& pool, Switch& fabric, EthernetPort& ethernet,
                           const FcfConfig& config)
    : scheduler_(scheduler), pool_(pool), switch_(fabric), ethernet_(ethernet), config_(config),
      admission_(config.limits) {
  ethernet_.attach(this);
  ethernet_.listen(wire::group_mac::all_fcf);
  if (config_.vlan != 0) ethernet_.use_vlan(config_.vlan);
  advertise();
}

FcfInterface::~FcfInterface() {
  stop();
  links_.clear();
  ethernet_.ignore(wire::group_mac::all_fcf);
  ethernet_.attach(nullptr);
}

void FcfInterface::stop() {
  stopped_ = true;
  scheduler_.cancel(advertisement_timer_);
  clear_all("by the fabric");
}

FcfLink* FcfInterface::link_of(wire::FcId id) {
  const auto found = vn_ports_.find(id.value);
  return found == vn_ports_.end() ? nullptr : found->second;
}

bool FcfInterface::log_out(wire::FcId id) {
  FcfLink* link = link_of(id);
  return link != nullptr && link->log_out(id);
}

void FcfInterface::clear_all(std::string_view why) {
  for (const auto& [mac, link] : links_) link->clear(why);
}

// --- Ethernet ----------------------------------------------------------------------------------------------------

void FcfInterface::ethernet_received(EthernetFrame frame) {
  if (!frame.has_header()) return counters_.discard(FcoeDiscard::NotFcoe);
  if (frame.type() == wire::EtherType::fcoe) return fcoe_received(std::move(frame));
  if (frame.type() == wire::EtherType::fip) return fip_received(frame);
  counters_.discard(FcoeDiscard::NotFcoe);
}

void FcfInterface::ethernet_link_changed(bool up) {
  if (up) return advertise();
  scheduler_.cancel(advertisement_timer_);
  clear_all("the FCF has no carrier");
}

void FcfInterface::ethernet_resumed() {
  for (const auto& [mac, link] : links_) link->set_paused(false);
}

void FcfInterface::fcoe_received(EthernetFrame frame) {
  ++counters_.frames_in;
  if (frame.vlan != config_.vlan) return counters_.discard(FcoeDiscard::WrongVlan);
  if (const FcoeDiscard reason = examine(frame); reason != FcoeDiscard::Count) return counters_.discard(reason);
  if (frame.destination() != ethernet_.interface().mac) return counters_.discard(FcoeDiscard::WrongDestination);
  const wire::MacAddress source = frame.source();
  const wire::FcId id{wire::load_big<3>(source.bytes.data() + 3)};
  FcfLink* link = source == wire::mac_of(id, config_.fc_map) ? link_of(id) : nullptr;
  if (link == nullptr) return counters_.discard(FcoeDiscard::WrongSource);
  FramePtr inner = decapsulate(std::move(frame));
  if (s_id_of(*inner) != id) return counters_.discard(FcoeDiscard::ForgedSId);
  if (fip_type_of(*inner)) return counters_.discard(FcoeDiscard::UnexpectedFip);  // logins travel inside FIP only
  link->frame_received(std::move(inner));
}

// --- the fabric's side -------------------------------------------------------------------------------------------

// An ENode that comes back gets its former address, if it is still free, so that its exchanges may continue.
FPort* FcfInterface::attach_f_port(FcfLink& link) {
  const auto former = former_e_nodes_.find(link.e_node());
  const bool known = former != former_e_nodes_.end();
  const auto attach = [&] {
    return switch_.attach(link.output(), known ? std::optional(former->second.f_port) : std::nullopt);
  };
  FPort* port = attach();
  while (port == nullptr && !lifeless_.empty() && &lifeless_.front() != &link && make_room()) port = attach();
  if (port == nullptr) return nullptr;
  remember_f_port(link.e_node(), port->number());
  if (ethernet_.paused()) link.set_paused(true);
  if (config_.listener != nullptr) config_.listener->logins_changed();
  return port;
}

bool FcfInterface::remember(const wire::MacAddress& e_node, std::size_t f_port) {
  if (former_e_nodes_.size() >= config_.max_enodes || former_e_nodes_.contains(e_node)) return false;
  remember_f_port(e_node, f_port);
  former_e_nodes_[e_node].believes_in_login = true;
  return true;
}

void FcfInterface::remember_f_port(const wire::MacAddress& e_node, std::size_t number) {
  const auto [former, is_new] = former_e_nodes_.insert_or_assign(e_node, Former{.f_port = number});
  if (!is_new) return;
  oldest_former_.push_back(e_node);
  if (oldest_former_.size() <= config_.max_enodes) return;
  // ENodes that are here are kept. There is one to evict: there are no more links than that, and one of them is new.
  for (std::size_t looks = oldest_former_.size(); looks > 1 && links_.contains(oldest_former_.front()); --looks) {
    oldest_former_.push_back(oldest_former_.front());
    oldest_former_.pop_front();
  }
  former_e_nodes_.erase(oldest_former_.front());
  oldest_former_.pop_front();
}

void FcfInterface::detach_f_port(FPort& port) { switch_.detach(port); }

// A broadcast comes once for each F_Port: to the VN_Port that logged in by FLOGI.
void FcfInterface::link_sends(FcfLink& link, FramePtr frame) {
  const wire::FcId d_id = d_id_of(*frame);
  const bool to_all = d_id == wire::well_known::broadcast && !link.vn_ports().empty();
  const wire::FcId id = to_all ? link.vn_ports().front().id : d_id;
  if (link_of(id) != &link) return counters_.discard(FcoeDiscard::NotLoggedIn);
  if (wire::fcoe::frame_size(frame->size_bytes) > frame_limit()) return counters_.discard(FcoeDiscard::OverLong);
  ++counters_.frames_out;
  EthernetFrame out = encapsulate(wire::mac_of(id, config_.fc_map), ethernet_.interface().mac, std::move(frame));
  out.vlan = config_.vlan;
  ethernet_.send(std::move(out));
  if (!ethernet_.paused()) return;
  for (const auto& [mac, waiting] : links_) waiting->set_paused(true);
}

std::uint16_t FcfInterface::frame_limit() const {
  return static_cast<std::uint16_t>(wire::EthernetHeader::size() + ethernet_.interface().mtu);
}

void FcfInterface::vn_port_added(FcfLink& link, wire::FcId id) { vn_ports_[id.value] = &link; }
void FcfInterface::vn_port_removed(wire::FcId id) { vn_ports_.erase(id.value); }

void FcfInterface::link_idle() { scheduler_.schedule(sweep_timer_, scheduler_.now()); }

void FcfInterface::sweep() {
  const std::size_t gone = std::erase_if(links_, [](const auto& entry) { return entry.second->idle(); });
  if (gone != 0 && config_.listener != nullptr) config_.listener->logins_changed();
}

// --- FIP that answers --------------------------------------------------------------------------------------------

void FcfInterface::link_replies(FcfLink& link, const fip::FipMessage& message) { send_fip(message, link.e_node()); }

void FcfInterface::link_rejects(FcfLink& link, const fip::EncapsulatedFrame& request) {
  reject(request, link.e_node(), refusal_of(request));
}

// There is no F_Port for it, or no login that it could be of.
wire::els::LsRjt FcfInterface::refusal_of(const fip::EncapsulatedFrame& request) {
  wire::els::LsRjt why{.reason = wire::els::RejectReason::unable_to_perform,
                       .explanation = wire::els::RejectExplanation::insufficient_resources};
  if (request.type != fip::DescriptorType::flogi) why.explanation = wire::els::RejectExplanation::n_port_login_required;
  return why;
}

void FcfInterface::tell(FcfEvent event) {
  event.interface = ethernet_.interface().name;
  if (config_.listener != nullptr) config_.listener->happened(event);
}

void FcfInterface::link_event(FcfLink& link, const FcfEvent& event) {
  FcfEvent of_link = event;
  of_link.e_node = link.e_node();
  tell(of_link);
}

void FcfInterface::reject(const fip::EncapsulatedFrame& request, const wire::MacAddress& e_node,
                          const wire::els::LsRjt& why, std::string_view in_words) {
  tell({.kind = FcfEvent::Kind::Rejected,
        .e_node = e_node,
        .why = in_words.empty() ? to_string(why.explanation) : in_words});
  const auto asked = wire::FcHeader::parse(request.fc_frame);
  wire::FcHeader header = *asked;
  header.r_ctl = wire::RCtl::els_reply;
  std::swap(header.d_id, header.s_id);
  header.f_ctl = wire::f_ctl::exchange_responder | wire::f_ctl::last_sequence | wire::f_ctl::end_sequence;
  fip::EncapsulatedFrame reply{request.type, std::vector<std::uint8_t>(frame_header_bytes + wire::els::LsRjt::size())};
  header.write(reply.fc_frame);
  why.write(wire::MutableBytes(reply.fc_frame).subspan(frame_header_bytes));
  fip::FipMessage message{fip::Operation::link_service, fip::subcode::link_service_reply, fip::flag::fpma, {}, {}};
  message.descriptors.push_back(std::move(reply));
  send_fip(message, e_node);
}

void FcfInterface::link_cleared(FcfLink& link, const FcfVnPort* port) {
  fip::FipMessage message{fip::Operation::control, fip::subcode::clear_virtual_links, fip::flag::fpma, {}, {}};
  message.descriptors.push_back(fip::Mac{ethernet_.interface().mac});
  message.descriptors.push_back(fip::NameId{switch_.config().switch_name});
  if (port != nullptr)
    message.descriptors.push_back(fip::VnPort{wire::mac_of(port->id, config_.fc_map), port->id, port->port_name});
  tell({.kind = FcfEvent::Kind::Cleared,
        .e_node = link.e_node(),
        .n_port_id = port == nullptr ? wire::FcId{} : port->id,
        .port_name = port == nullptr ? wire::Wwn{} : port->port_name,
        .why = link.why_cleared()});
  const auto former = former_e_nodes_.find(link.e_node());
  if (port == nullptr && former != former_e_nodes_.end())
    former->second.believes_in_login = true;  // the message may be lost
  send_fip(message, link.e_node());
}

void FcfInterface::send_fip(const fip::FipMessage& message, const wire::MacAddress& destination) {
  send_fip(message, destination, config_.vlan);
}

void FcfInterface::send_fip(const fip::FipMessage& message, const wire::MacAddress& destination, std::uint16_t vlan) {
  if (!ethernet_.up()) return;
  ++counters_.fip_out;
  EthernetFrame frame = EthernetFrame::of(pool_, message.to_ethernet(destination, ethernet_.interface().mac));
  frame.vlan = vlan;
  ethernet_.send(std::move(frame));
}

}  // namespace fc2::fcoe
