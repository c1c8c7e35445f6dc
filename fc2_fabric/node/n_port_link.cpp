// An N_Port's link: how it comes by its N_Port_ID, how it loses it, and whether logins survive that (FC-VI 7.7).
#include <cassert>

#include "fc2_fabric/node/attached_n_port.hpp"
#include "fc2_fabric/node/link_services.hpp"
#include "fc2_fabric/node/login_session.hpp"
#include "fc2_fabric/node/n_port.hpp"
#include "fc2_fabric/node/remote_ports.hpp"
#include "wire/els/fan.hpp"

namespace fc2 {
namespace {
// Point-to-point: what the port of the higher name gives itself and the other (FC-LS leaves the choice to it).
constexpr wire::FcId higher_name_id{0x010102}, lower_name_id{0x010101};
}  // namespace

void AttachedNPort::link_active() { port_.link_up(end_.output()); }
void AttachedNPort::link_offline() { port_.link_interrupted(); }

// --- up ----------------------------------------------------------------------------------------------------------

void NPort::begin_link(FrameOutput& output, Attachment attachment) {
  if (link_up_) link_down();
  attachment_ = attachment;
  output_ = &output;
  transmitter_.attach(&output);
  link_up_ = true;
}

void NPort::link_up(FrameOutput& output) {
  if (is_fixed()) {
    begin_link(output, Attachment::Fixed);
    online_ = true;
    for (auto& [id, port] : *remote_ports_) port->link_up();
    return;
  }
  begin_link(output, Attachment::Fabric);
  al_pa_ = 0;
  log_in_to_fabric();
}

void NPort::log_in_to_fabric() {
  fabric_login_->implicit_logout();  // of a public loop, which an interruption leaves
  fabric_login_->link_up();
  fabric_login_->log_in();
}

void NPort::link_up_without_fabric(FrameOutput& output, wire::FcId own) {
  assert(own != wire::FcId{} && !is_fixed());
  begin_link(output, Attachment::None);
  fabric_login_->implicit_logout();  // a loop that lost its FL_Port
  use_own_parameters();
  go_online(own, own == n_port_id_ ? Mappings::Ask : Mappings::Changed);
}

void NPort::link_up_on_public_loop(FrameOutput& output, std::uint8_t al_pa, bool login_required) {
  assert(!is_fixed() && al_pa != 0);  // 0 is the FL_Port's, and a port's that was not interrupted
  begin_link(output, Attachment::PublicLoop);
  awaits_fan_ = !login_required && fabric_login_->logged_in() && n_port_id_.port() == al_pa;
  al_pa_ = al_pa;
  if (awaits_fan_) return scheduler_.schedule_after(fan_timer_, e_d_tov_);
  fabric_changed();
}

void NPort::use_own_parameters() {
  e_d_tov_ = config_.e_d_tov;
  r_a_tov_ = config_.r_a_tov;
  in_order_ = config_.in_order_without_fabric;
  class_2_ = config_.end_to_end_credit != 0;
}

void NPort::fabric_login_accepted(wire::FcId id, const wire::els::Login& accept) {
  if (output_ != nullptr) output_->set_bb_credit(accept.bb_credit);
  if (!accept.has(wire::els::feature::f_port)) return begin_point_to_point(accept.port_name);
  const bool same = !fabric_has_changed_ && id == n_port_id_ && is_same_fabric(accept.port_name, accept.node_name);
  fabric_has_changed_ = false;
  fabric_port_name_ = accept.port_name;
  fabric_name_ = accept.node_name;
  take_timeouts(accept);
  in_order_ = (accept.class_3.service_options & wire::els::class_option::sequential_delivery) != 0;
  class_2_ = config_.end_to_end_credit != 0 && accept.class_2.valid();
  const Mappings unchanged = others_may_have_moved_ ? Mappings::Ask : Mappings::Same;
  go_online(id, same ? unchanged : Mappings::Changed);
}

bool NPort::is_same_fabric(wire::Wwn port_name, wire::Wwn fabric_name) const {
  return port_name == fabric_port_name_ && fabric_name == fabric_name_;
}

// A fabric that tells no value leaves ours.
void NPort::take_timeouts(const wire::els::Login& fabric) {
  const bool in_ns = fabric.has(wire::els::feature::e_d_tov_ns);
  if (fabric.r_a_tov_ms() != 0) r_a_tov_ = fabric.r_a_tov_ms() * millisecond;
  if (fabric.e_d_tov != 0) e_d_tov_ = in_ns ? TimeNs{fabric.e_d_tov} : fabric.e_d_tov * millisecond;
}

void NPort::go_online(wire::FcId id, Mappings mappings) {
  const bool resumes = std::exchange(interrupted_, false);
  others_may_have_moved_ = false;
  scheduler_.cancel(interruption_timer_);
  if (resumes && id != n_port_id_) log_out_of_self();
  n_port_id_ = id;
  online_ = true;
  for (auto& [peer, port] : *remote_ports_) port->link_up();
  if (resumes) validate_logins(mappings);
  for (PortListener* listener : listeners_) listener->fabric_logged_in();
}

// --- what the port says of itself --------------------------------------------------------------------------------

wire::els::Login NPort::login_parameters(wire::els::Command command) const {
  namespace feature = wire::els::feature;
  wire::els::Login login{.command = command,
                         .bb_credit = output_ != nullptr ? output_->own_bb_credit() : std::uint16_t{0}};
  // FC-VI 5.6; ruling 12 for the bit of C. A FLOGI says nothing of relative offsets: there the bit means R_A_TOV.
  if (config_.continuously_increasing_seq_cnt) login.features |= feature::seq_cnt;
  if (config_.continuously_increasing_relative_offset && command != wire::els::Command::flogi)
    login.features |= feature::continuously_increasing_relative_offset;
  if (output_ != nullptr && output_->alternate_bb_credit()) login.features |= feature::alternate_bb_credit;
  login.receive_data_field_size = config_.receive_data_field_bytes;
  login.total_concurrent_sequences = 255;
  login.relative_offset_by_category = 0x00FF;
  login.e_d_tov = static_cast<std::uint32_t>(e_d_tov_ / millisecond);
  login.port_name = config_.port_name;
  login.node_name = config_.node_name;
  login.class_3.service_options = wire::els::class_option::valid | wire::els::class_option::sequential_delivery;
  login.class_3.receive_data_field_size = config_.receive_data_field_bytes;
  login.class_3.concurrent_sequences = 255;
  login.class_3.open_sequences_per_exchange = 1;
  if (config_.end_to_end_credit == 0) return login;
  login.class_2 = login.class_3;
  login.class_2.end_to_end_credit = config_.end_to_end_credit;
  if (config_.ack_0) {
    login.class_2.initiator_control = wire::els::class_control::initiator_ack_0;
    login.class_2.recipient_control = wire::els::class_control::recipient_ack_0;
  }
  return login;
}

// --- point-to-point: FC-VI 7.7.2 ---------------------------------------------------------------------------------

// FC-LS: FLOGI was answered by an N_Port. The one of the higher Port_Name assigns both addresses, by its PLOGI.
void NPort::begin_point_to_point(wire::Wwn other) {
  leave_fabric();
  if (config_.port_name > other) {
    go_online(higher_name_id, Mappings::Changed);
    remote_port(lower_name_id).log_in();
  } else if (config_.port_name == other) {  // a plug that returns what we send, or two ports of one name
    for (PortListener* listener : listeners_) listener->fabric_login_failed();
  }
}

void NPort::leave_fabric() {
  attachment_ = Attachment::PointToPoint;
  use_own_parameters();
  fabric_login_->leave();
}

bool NPort::may_be_assigned() const {
  return link_up_ && !online_ && (attachment_ == Attachment::PointToPoint || other_n_port_);
}

void NPort::address_assigned(wire::FcId id) {
  if (attachment_ != Attachment::PointToPoint) leave_fabric();
  go_online(id, Mappings::Changed);
}

// A port that asks again has forgotten its login; it waits for another PLOGI if its name is the lower one.
void NPort::fabric_login_received(const wire::els::Login& login) {
  if (attachment_ == Attachment::None) return;  // VN2VN: FIP keeps the link
  if (output_ != nullptr) output_->set_bb_credit(login.bb_credit);
  if (!online_) {
    other_n_port_ = true;
    return;
  }
  const bool higher = n_port_id_ == higher_name_id;
  RemotePort& other = remote_port(higher ? lower_name_id : higher_name_id);
  other.implicit_logout();
  if (higher) other.log_in();
}

// --- down --------------------------------------------------------------------------------------------------------

void NPort::link_is_gone() {
  link_up_ = false;
  ++counters_.link_failures;
  awaits_fan_ = other_n_port_ = false;
  scheduler_.cancel(fan_timer_);
  transmitter_.attach(nullptr);
  output_ = nullptr;
  for (auto& [id, port] : *remote_ports_) port->set_output_paused(false);  // the next link takes all
}

void NPort::pause_output(wire::FcId id) {
  if (RemotePort* remote = find_remote_port(id); remote != nullptr && link_up_) remote->set_output_paused(true);
}

void NPort::resume_output(wire::FcId id) {
  RemotePort* remote = find_remote_port(id);
  if (remote == nullptr) return;
  remote->set_output_paused(false);
  transmitter_.resume();
}

void NPort::link_down() {
  if (!link_up_) return end_interruption();
  link_is_gone();
  fabric_login_->link_down_if_up();
  end_interruption();
  set_offline();
  attachment_ = is_fixed() ? Attachment::Fixed : Attachment::Fabric;
}

void NPort::log_out_of_fabric() { fabric_login_->log_out(); }

void NPort::fabric_login_ended() { set_offline(); }

void NPort::set_offline() {
  if (!online_) return;
  online_ = false;
  for (auto& [peer, port] : *remote_ports_) port->link_down();
  log_out_of_self();
  n_port_id_ = config_.fixed_id;  // the next FLOGI is sent without an address
}

// With oneself there is no login that could end (FC-VI 7.7.2 asks none of a loopback), but what was under way is lost
// too.
void NPort::log_out_of_self() {
  fail_exchanges(n_port_id_, ExchangeFailure::PortLoggedOut);
  RemotePort* self = find_remote_port(n_port_id_);
  if (self == nullptr) return;  // nobody asked for it
  self->forget_suspension();
  for (PortListener* listener : listeners_) listener->remote_port_logged_out(*self);
}

// --- interrupted: FC-VI 7.7.3 to 7.7.5 ---------------------------------------------------------------------------

// A port that is not online yet, or is point-to-point, has nothing that it could keep (FC-VI 7.7.2).
void NPort::link_interrupted(FramePtr unsent) {
  if (!link_up_) return;
  if (!online_ || attachment_ == Attachment::PointToPoint || is_fixed()) {
    if (!interrupted_) return link_down();
    link_is_gone();  // once more before it was online again
    return fabric_login_->link_down_if_up();
  }
  interrupted_ = true;
  if (unsent != nullptr) keep(std::move(unsent));
  while (FramePtr frame = transmitter_.take_back()) keep(std::move(frame));
  link_is_gone();
  online_ = false;
  fabric_login_->link_down_if_up();
  for (auto& [peer, port] : *remote_ports_) port->link_down();
  if (RemotePort* self = find_remote_port(n_port_id_)) self->suspend();
  scheduler_.schedule_after(interruption_timer_, r_a_tov_);
}

// Who went with us may come back later than we do: what waits for it would be lost if it were sent at once.
void NPort::fabric_interrupted() {
  link_interrupted();
  others_may_have_moved_ = interrupted_;
}

// What the fabric itself knows of us ends with NOS and OLS; a LIP does not concern it.
bool NPort::keeps_login(wire::FcId peer) const {
  return interrupted_ && (attachment_ == Attachment::PublicLoop || !wire::is_of_fabric(peer));
}

void NPort::keep(FramePtr frame) {
  const auto header = wire::FcHeader::read(frame->content().first<wire::FcHeader::size()>());
  if (header.type == wire::Type::els) return;
  RemotePort* remote = find_remote_port(header.d_id);
  if (remote != nullptr && (remote->logged_in() || header.d_id == n_port_id_)) remote->hold(std::move(frame));
}

// FC-VI 7.7.4: private ports of a public loop are asked even where the fabric is the same.
void NPort::validate_logins(Mappings mappings) {
  for (auto& [peer, port] : *remote_ports_) {
    const bool is_private = wire::FcId{peer}.domain() == 0 && wire::FcId{peer}.area() == 0;
    if (mappings == Mappings::Changed)
      port->validation_failed();
    else if (mappings == Mappings::Ask || (attachment_ == Attachment::PublicLoop && is_private))
      port->validate();
    else
      port->validated();
  }
  if (RemotePort* self = find_remote_port(n_port_id_)) self->resume();
}

// The link did not come back in R_A_TOV, or not to a fabric that accepts us: no exchange can go on.
void NPort::end_interruption() {
  if (!std::exchange(interrupted_, false)) return;
  scheduler_.cancel(interruption_timer_);
  for (auto& [peer, port] : *remote_ports_) port->implicit_logout();
  log_out_of_self();
  n_port_id_ = config_.fixed_id;
  if (!awaits_fan_) return;  // FAN would confirm an address that is no more
  scheduler_.cancel(fan_timer_);
  fan_overdue();
}

// --- public loop: FC-VI 7.7.4 ------------------------------------------------------------------------------------

void NPort::fan_received(const wire::els::Fan& fan) {
  if (!std::exchange(awaits_fan_, false)) return;
  scheduler_.cancel(fan_timer_);
  if (!is_same_fabric(fan.port_name, fan.fabric_name)) return fabric_changed();
  fabric_login_->link_up();
  fabric_login_->validated();
  go_online(n_port_id_, Mappings::Same);
}

void NPort::fan_overdue() {
  awaits_fan_ = false;
  fabric_changed();
}

void NPort::fabric_changed() {
  fabric_has_changed_ = interrupted_;
  log_in_to_fabric();
}

}  // namespace fc2
