#include "fc2_fabric/switch.hpp"

#include <cassert>
#include <utility>

#include "fc2_fabric/class_2.hpp"
#include "fc2_fabric/f_port.hpp"
#include "fc2_fabric/fabric_controller.hpp"
#include "fc2_fabric/fabric_service.hpp"
#include "fc2_fabric/name_server.hpp"
#include "fc2_fabric/remote_port.hpp"
#include "wire/bytes.hpp"

namespace fc2 {
namespace {
namespace well_known = wire::well_known;

// The two addresses where they stand in the frame: all that routing reads.
wire::FcId d_id_of(const Frame& frame) { return {wire::load_big<3>(frame.bytes.data() + 1)}; }
wire::FcId s_id_of(const Frame& frame) { return {wire::load_big<3>(frame.bytes.data() + 5)}; }

NPortConfig service_config(const SwitchConfig& config, const char* name, wire::FcId id) {
  NPortConfig service;
  service.name = config.name + " " + name;
  service.port_name = {config.switch_name.value + (id.value & 0xFF)};
  service.node_name = config.switch_name;
  service.fixed_id = id;
  service.e_d_tov = config.e_d_tov;
  service.r_a_tov = config.r_a_tov;
  service.max_exchanges = 0xFFFE;  // every port may have one open
  return service;
}
}  // namespace

// --- services ----------------------------------------------------------------------------------------------------

FabricService::FabricService(Switch& fabric, const char* name, wire::FcId id)
    : switch_(fabric), port_(fabric.scheduler_, fabric.pool_, service_config(fabric.config_, name, id)),
      output_(fabric.scheduler_, LinkConfig{}, *this) {
  port_.link_up(output_);
}

void FabricService::receive(FramePtr frame) { switch_.frame_from_service(std::move(frame)); }

void FabricService::port_logged_out(wire::FcId id) {
  if (RemotePort* remote = port_.find_remote_port(id)) remote->implicit_logout();
}

// --- links -------------------------------------------------------------------------------------------------------

Switch::Switch(Scheduler& scheduler, FramePool& pool, SwitchConfig config)
    : scheduler_(scheduler), pool_(pool), config_(std::move(config)),
      name_service_(std::make_unique<FabricService>(*this, "Name Server", well_known::name_server)),
      controller_service_(std::make_unique<FabricService>(*this, "Fabric Controller", well_known::fabric_controller)),
      name_server_(std::make_unique<NameServer>(name_service_->port())),
      fabric_controller_(std::make_unique<FabricController>(controller_service_->port(), config_.state_change_delay)) {
  assert(config_.domain >= 1 && config_.domain <= 239 && config_.max_ports <= 65280);
}

Switch::~Switch() {
  for (const auto& port : f_ports_)
    if (port->connected()) take_link_down(*port);
}

// Area by area, so that a small fabric's addresses read 010100h, 010200h, ...; then port by port.
wire::FcId Switch::address_of(std::size_t number) const {
  const std::size_t area = number % 255 + 1, port = number / 255;
  return {static_cast<std::uint32_t>(std::size_t{config_.domain} << 16 | area << 8 | port)};
}

FPort* Switch::find(wire::FcId id) {
  if (id.domain() != config_.domain || id.area() == 0) return nullptr;
  const std::size_t number = id.port() * std::size_t{255} + id.area() - 1;
  return number < f_ports_.size() ? f_ports_[number].get() : nullptr;
}

FPort* Switch::take_f_port() {
  if (!free_f_ports_.empty()) {
    FPort* port = f_ports_[free_f_ports_.front()].get();
    free_f_ports_.pop_front();
    return port;
  }
  const std::size_t number = f_ports_.size();
  if (number == config_.max_ports) return nullptr;
  return f_ports_.emplace_back(std::make_unique<FPort>(*this, number, address_of(number))).get();
}

bool Switch::attach(NPort& port, LinkConfig link) {
  assert(!is_attached(port));
  FPort* f_port = take_f_port();
  if (f_port == nullptr) return false;
  links_[&port] = f_port;
  f_port->connect(port, link);
  return true;
}

void Switch::detach(NPort& port) {
  const auto found = links_.find(&port);
  if (found == links_.end()) return;
  FPort* f_port = found->second;
  links_.erase(found);
  take_link_down(*f_port);
}

FPort* Switch::attach(FrameOutput& output, FrameFeeder& feeder) {
  FPort* f_port = take_f_port();
  if (f_port != nullptr) f_port->connect(output, feeder);
  return f_port;
}

void Switch::detach(FPort& port) {
  assert(port.connected());
  take_link_down(port);
}

void Switch::take_link_down(FPort& port) {
  port.disconnect();
  free_f_ports_.push_back(port.number());
}

void Switch::tap(NPort& port, FrameTap* tap) {
  const auto found = links_.find(&port);
  assert(found != links_.end());
  found->second->tap(tap);
}

void Switch::set_faults(NPort& port, FrameFault* sent, FrameFault* received) {
  const auto found = links_.find(&port);
  assert(found != links_.end());
  found->second->set_faults(sent, received);
}

FrameReceiver* Switch::ingress_of(const NPort& port) {
  const auto found = links_.find(&port);
  return found == links_.end() ? nullptr : found->second;
}

NPort& Switch::service_port(wire::FcId id) {
  assert(id == well_known::name_server || id == well_known::fabric_controller);
  return id == well_known::name_server ? name_service_->port() : controller_service_->port();
}

// --- logins ------------------------------------------------------------------------------------------------------

// Of two ports with one name, the one that was there first stays: a name that moves logs out before.
bool Switch::admits_name(const FPort& port, wire::Wwn port_name) const {
  const auto found = names_.find(port_name.value);
  return port_name.value != 0 && (found == names_.end() || found->second == &port);
}

void Switch::port_logged_in(FPort& port) {
  names_[port.login().port_name.value] = &port;
  name_server_->port_logged_in(port.address(), port.login().port_name, port.login().node_name);
  fabric_controller_->state_changed(port.address());
}

void Switch::port_logged_out(FPort& port) {
  names_.erase(port.login().port_name.value);
  name_server_->port_logged_out(port.address());
  fabric_controller_->forget(port.address());
  name_service_->port_logged_out(port.address());
  controller_service_->port_logged_out(port.address());
  fabric_controller_->state_changed(port.address());
}

// --- routing -----------------------------------------------------------------------------------------------------

Discard Switch::admits(const FPort& ingress, const Frame& frame) const {
  if (frame.crc_error) return Discard::BadCrc;
  if (frame.size_bytes < frame_header_bytes) return Discard::Truncated;
  if (wire::class_of_service(frame.sof) == 0 || (frame.eof != wire::Eof::n && frame.eof != wire::Eof::t)) return Discard::BadHeader;
  const wire::FcId s_id = s_id_of(frame);
  if (ingress.logged_in() && s_id == ingress.address()) return Discard::Count;
  const bool before_login = s_id == well_known::unidentified && d_id_of(frame) == well_known::f_port;
  return before_login ? Discard::Count : Discard::WrongAddress;
}

void Switch::frame_from_port(FPort& ingress, FramePtr frame) {
  ++counters_.frames_received;
  if (const Discard reason = admits(ingress, *frame); reason != Discard::Count) return counters_.discard(reason);
  if (d_id_of(*frame) == well_known::f_port) ingress.receive_control(std::move(frame));
  else forward(std::move(frame), &ingress);
}

void Switch::frame_from_service(FramePtr frame) { forward(std::move(frame), nullptr); }

void Switch::forward(FramePtr frame, FPort* ingress) {
  const wire::FcId d_id = d_id_of(*frame);
  if (FPort* egress = find(d_id); egress != nullptr && egress->logged_in()) {
    ++frames_forwarded_;
    return egress->send(std::move(frame), ingress);
  }
  if (d_id == well_known::broadcast) return broadcast(std::move(frame), ingress);
  if (d_id == well_known::name_server) return name_service_->port().receive(std::move(frame));
  if (d_id == well_known::fabric_controller) return controller_service_->port().receive(std::move(frame));
  counters_.discard(Discard::Unroutable);
  answer_class_2(*frame, wire::RCtl::f_rjt);
}

/// In class 2 the fabric says what became of a data frame that it did not deliver (FC-FS): F_RJT where nobody has the
/// address, F_BSY where the port takes no frames; the latter to an ACK too.
void Switch::answer_class_2(const Frame& frame, wire::RCtl r_ctl) {
  const auto header = wire::FcHeader::parse(frame.content());
  if (wire::class_of_service(frame.sof) != 2 || !header) return;
  const bool ack = header->r_ctl == wire::RCtl::ack_1 || header->r_ctl == wire::RCtl::ack_0;
  if (wire::is_link_control(header->r_ctl) && !(ack && r_ctl == wire::RCtl::f_bsy_data)) return;
  FPort* sender = find(header->s_id);
  if (sender == nullptr || !sender->logged_in()) return;
  const wire::LinkReject reject{.action = wire::RejectAction::non_retryable,
                                .reason = wire::LinkRejectReason::n_port_not_available_permanently};
  const std::uint32_t parameter = r_ctl == wire::RCtl::f_rjt ? reject.to_parameter() : 0;
  if (!ack) return sender->send(make_link_control(pool_, *header, r_ctl, parameter), nullptr);
  sender->send(make_link_control(pool_, *header, wire::RCtl::f_bsy_link, header->parameter,
                                 header->f_ctl & wire::f_ctl::abort_condition_mask), nullptr);
}

void Switch::broadcast(FramePtr frame, FPort* ingress) {
  for (const auto& port : f_ports_) {
    if (port.get() == ingress || !port->logged_in()) continue;
    ++frames_forwarded_;
    port->send(pool_.copy(*frame), ingress);
  }
}

}  // namespace fc2
