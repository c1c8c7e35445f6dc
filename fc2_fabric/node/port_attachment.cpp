#include "fc2_fabric/node/port_attachment.hpp"

#include <cassert>
#include <utility>

#include "fc2_fabric/node/remote_ports.hpp"

namespace fc2 {
namespace {
// Point-to-point: what the port of the higher name gives itself and the other (FC-LS leaves the choice to it).
constexpr wire::FcId higher_name_id{0x010102}, lower_name_id{0x010101};
}  // namespace

PortAttachment::PortAttachment(const PortServices& port, PortState& state, const LoginServices& logins,
                               RemotePorts& remote_ports, AttachmentListener& listener)
    : port_(port), state_(state), remote_ports_(remote_ports), listener_(listener),
      attachment_(port.config().is_fixed() ? Attachment::Fixed : Attachment::Fabric), fabric_login_(logins, *this) {
  state_.n_port_id = port.config().fixed_id;
  state_.e_d_tov = port.config().e_d_tov;
  state_.r_a_tov = port.config().r_a_tov;
}

bool PortAttachment::is_consistent() const {
  const bool linked = link_up_ == (output_ != nullptr) && (link_up_ || (!state_.online && !awaits_fan_));
  return linked && !(interrupted_ && state_.online) && interrupted_ == interruption_timer_.pending() &&
         awaits_fan_ == fan_timer_.pending() && (interrupted_ || !others_may_have_moved_);
}

// --- up ----------------------------------------------------------------------------------------------------------

void PortAttachment::begin_link(FrameOutput& output, Attachment attachment) {
  if (link_up_) link_down();
  attachment_ = attachment;
  output_ = &output;
  port_.transmitter().attach(&output);
  link_up_ = true;
}

void PortAttachment::link_up(FrameOutput& output) {
  if (port_.config().is_fixed()) {
    begin_link(output, Attachment::Fixed);
    state_.online = true;
    for (auto& [id, port] : remote_ports_) port->link_up();
    return;
  }
  begin_link(output, Attachment::Fabric);
  state_.al_pa = 0;
  log_in_to_fabric();
}

void PortAttachment::log_in_to_fabric() {
  fabric_login_.implicit_logout();  // of a public loop, which an interruption leaves
  fabric_login_.link_up();
  fabric_login_.log_in();
}

void PortAttachment::link_up_without_fabric(FrameOutput& output, wire::FcId own) {
  assert(own != wire::FcId{} && !port_.config().is_fixed());
  begin_link(output, Attachment::None);
  fabric_login_.implicit_logout();  // a loop that lost its FL_Port
  use_own_parameters();
  go_online(own, own == state_.n_port_id ? Mappings::Ask : Mappings::Changed);
}

void PortAttachment::link_up_on_public_loop(FrameOutput& output, std::uint8_t al_pa, bool login_required) {
  assert(!port_.config().is_fixed() && al_pa != 0);  // 0 is the FL_Port's, and a port's that was not interrupted
  begin_link(output, Attachment::PublicLoop);
  awaits_fan_ = !login_required && fabric_login_.logged_in() && state_.n_port_id.port() == al_pa;
  state_.al_pa = al_pa;
  if (awaits_fan_) return port_.scheduler().schedule_after(fan_timer_, state_.e_d_tov);
  fabric_changed();
}

void PortAttachment::use_own_parameters() {
  state_.e_d_tov = port_.config().e_d_tov;
  state_.r_a_tov = port_.config().r_a_tov;
  state_.in_order = port_.config().in_order_without_fabric;
  state_.class_2 = port_.config().end_to_end_credit != 0;
}

void PortAttachment::fabric_login_accepted(wire::FcId id, const wire::els::Login& accept) {
  if (output_ != nullptr) output_->set_bb_credit(accept.bb_credit);
  if (!accept.has(wire::els::feature::f_port)) return begin_point_to_point(accept.port_name);
  const bool same =
      !fabric_has_changed_ && id == state_.n_port_id && is_same_fabric(accept.port_name, accept.node_name);
  fabric_has_changed_ = false;
  fabric_port_name_ = accept.port_name;
  fabric_name_ = accept.node_name;
  take_timeouts(accept);
  state_.in_order = (accept.class_3.service_options & wire::els::class_option::sequential_delivery) != 0;
  state_.class_2 = port_.config().end_to_end_credit != 0 && accept.class_2.valid();
  const Mappings unchanged = others_may_have_moved_ ? Mappings::Ask : Mappings::Same;
  go_online(id, same ? unchanged : Mappings::Changed);
}

bool PortAttachment::is_same_fabric(wire::Wwn port_name, wire::Wwn fabric_name) const {
  return port_name == fabric_port_name_ && fabric_name == fabric_name_;
}

// A fabric that tells no value leaves ours.
void PortAttachment::take_timeouts(const wire::els::Login& fabric) {
  const bool in_ns = fabric.has(wire::els::feature::e_d_tov_ns);
  if (fabric.r_a_tov_ms() != 0) state_.r_a_tov = fabric.r_a_tov_ms() * millisecond;
  if (fabric.e_d_tov != 0) state_.e_d_tov = in_ns ? TimeNs{fabric.e_d_tov} : fabric.e_d_tov * millisecond;
}

void PortAttachment::go_online(wire::FcId id, Mappings mappings) {
  const bool resumes = std::exchange(interrupted_, false);
  others_may_have_moved_ = false;
  port_.scheduler().cancel(interruption_timer_);
  if (resumes && id != state_.n_port_id) listener_.own_address_lost(state_.n_port_id);
  state_.n_port_id = id;
  state_.online = true;
  for (auto& [peer, port] : remote_ports_) port->link_up();
  if (resumes) validate_logins(mappings);
  listener_.fabric_logged_in();
}

// --- what the port says of itself --------------------------------------------------------------------------------

wire::els::Login PortAttachment::login_parameters(wire::els::Command command) const {
  namespace feature = wire::els::feature;
  wire::els::Login login{.command = command,
                         .bb_credit = output_ != nullptr ? output_->own_bb_credit() : std::uint16_t{0}};
  // FC-VI 5.6; ruling 12 for the bit of C. A FLOGI says nothing of relative offsets: there the bit means R_A_TOV.
  if (port_.config().continuously_increasing_seq_cnt) login.features |= feature::seq_cnt;
  if (port_.config().continuously_increasing_relative_offset && command != wire::els::Command::flogi)
    login.features |= feature::continuously_increasing_relative_offset;
  if (output_ != nullptr && output_->alternate_bb_credit()) login.features |= feature::alternate_bb_credit;
  login.receive_data_field_size = port_.config().receive_data_field_bytes;
  login.total_concurrent_sequences = 255;
  login.relative_offset_by_category = 0x00FF;
  login.e_d_tov = static_cast<std::uint32_t>(state_.e_d_tov / millisecond);
  login.port_name = port_.config().port_name;
  login.node_name = port_.config().node_name;
  login.class_3.service_options = wire::els::class_option::valid | wire::els::class_option::sequential_delivery;
  login.class_3.receive_data_field_size = port_.config().receive_data_field_bytes;
  login.class_3.concurrent_sequences = 255;
  login.class_3.open_sequences_per_exchange = 1;
  if (port_.config().end_to_end_credit == 0) return login;
  login.class_2 = login.class_3;
  login.class_2.end_to_end_credit = port_.config().end_to_end_credit;
  if (port_.config().ack_0) {
    login.class_2.initiator_control = wire::els::class_control::initiator_ack_0;
    login.class_2.recipient_control = wire::els::class_control::recipient_ack_0;
  }
  return login;
}

// --- point-to-point: FC-VI 7.7.2 ---------------------------------------------------------------------------------

// FC-LS: FLOGI was answered by an N_Port. The one of the higher Port_Name assigns both addresses, by its PLOGI.
void PortAttachment::begin_point_to_point(wire::Wwn other) {
  leave_fabric();
  if (port_.config().port_name > other) {
    go_online(higher_name_id, Mappings::Changed);
    remote_ports_.at(lower_name_id).log_in();
  } else if (port_.config().port_name == other) {  // a plug that returns what we send, or two ports of one name
    listener_.fabric_login_failed();
  }
}

void PortAttachment::leave_fabric() {
  attachment_ = Attachment::PointToPoint;
  use_own_parameters();
  fabric_login_.leave();
}

bool PortAttachment::may_be_assigned() const {
  return link_up_ && !state_.online && (attachment_ == Attachment::PointToPoint || other_n_port_);
}

void PortAttachment::address_assigned(wire::FcId id) {
  if (attachment_ != Attachment::PointToPoint) leave_fabric();
  go_online(id, Mappings::Changed);
}

// A port that asks again has forgotten its login; it waits for another PLOGI if its name is the lower one.
void PortAttachment::fabric_login_received(const wire::els::Login& login) {
  if (attachment_ == Attachment::None) return;  // VN2VN: FIP keeps the link
  if (output_ != nullptr) output_->set_bb_credit(login.bb_credit);
  if (!state_.online) {
    other_n_port_ = true;
    return;
  }
  const bool higher = state_.n_port_id == higher_name_id;
  RemotePort& other = remote_ports_.at(higher ? lower_name_id : higher_name_id);
  other.implicit_logout();
  if (higher) other.log_in();
}

// --- down --------------------------------------------------------------------------------------------------------

void PortAttachment::link_is_gone() {
  link_up_ = false;
  ++port_.counters().link_failures;
  awaits_fan_ = other_n_port_ = false;
  port_.scheduler().cancel(fan_timer_);
  port_.transmitter().attach(nullptr);
  output_ = nullptr;
  for (auto& [id, port] : remote_ports_) port->set_output_paused(false);  // the next link takes all
}

void PortAttachment::link_down() {
  if (!link_up_) return end_interruption();
  link_is_gone();
  fabric_login_.link_down_if_up();
  end_interruption();
  set_offline();
  attachment_ = port_.config().is_fixed() ? Attachment::Fixed : Attachment::Fabric;
}

void PortAttachment::log_out_of_fabric() { fabric_login_.log_out(); }

void PortAttachment::fabric_login_ended() { set_offline(); }

// Where the link is away it may come back once more.
void PortAttachment::fabric_login_lost() {
  if (link_up_) end_interruption();
}

void PortAttachment::fabric_login_failed() { listener_.fabric_login_failed(); }

// FC-LS: the F_Port's LOGO ends the fabric login, and with it every other.
void PortAttachment::fabric_logout_received(Exchange& exchange) {
  fabric_login_.logout_received(exchange);
  fabric_login_.log_in();
}

void PortAttachment::set_offline() {
  if (!state_.online) return;
  state_.online = false;
  for (auto& [peer, port] : remote_ports_) port->link_down();
  listener_.own_address_lost(state_.n_port_id);
  state_.n_port_id = port_.config().fixed_id;  // the next FLOGI is sent without an address
}

// --- interrupted: FC-VI 7.7.3 to 7.7.5 ---------------------------------------------------------------------------

// A port that is not online yet, or is point-to-point, has nothing that it could keep (FC-VI 7.7.2).
void PortAttachment::link_interrupted(FramePtr unsent) {
  if (!link_up_) return;
  if (!state_.online || attachment_ == Attachment::PointToPoint || port_.config().is_fixed()) {
    if (!interrupted_) return link_down();
    link_is_gone();  // once more before it was online again
    return fabric_login_.link_down_if_up();
  }
  interrupted_ = true;
  if (unsent != nullptr) keep(std::move(unsent));
  while (FramePtr frame = port_.transmitter().take_back()) keep(std::move(frame));
  link_is_gone();
  state_.online = false;
  fabric_login_.link_down_if_up();
  for (auto& [peer, port] : remote_ports_) port->link_down();
  if (RemotePort* self = remote_ports_.find(state_.n_port_id)) self->suspend();
  port_.scheduler().schedule_after(interruption_timer_, state_.r_a_tov);
}

// Who went with us may come back later than we do: what waits for it would be lost if it were sent at once.
void PortAttachment::fabric_interrupted() {
  link_interrupted(nullptr);
  others_may_have_moved_ = interrupted_;
}

// What the fabric itself knows of us ends with NOS and OLS; a LIP does not concern it.
bool PortAttachment::keeps_login(wire::FcId peer) const {
  return interrupted_ && (attachment_ == Attachment::PublicLoop || !wire::is_of_fabric(peer));
}

void PortAttachment::keep(FramePtr frame) {
  const auto header = wire::FcHeader::read(frame->content().first<wire::FcHeader::size()>());
  if (header.type == wire::Type::els) return;
  RemotePort* remote = remote_ports_.find(header.d_id);
  if (remote != nullptr && (remote->logged_in() || header.d_id == state_.n_port_id)) remote->hold(std::move(frame));
}

// FC-VI 7.7.4: private ports of a public loop are asked even where the fabric is the same.
void PortAttachment::validate_logins(Mappings mappings) {
  for (auto& [peer, port] : remote_ports_) {
    const bool is_private = wire::FcId{peer}.domain() == 0 && wire::FcId{peer}.area() == 0;
    if (mappings == Mappings::Changed)
      port->validation_failed();
    else if (mappings == Mappings::Ask || (attachment_ == Attachment::PublicLoop && is_private))
      port->validate();
    else
      port->validated();
  }
  if (RemotePort* self = remote_ports_.find(state_.n_port_id)) self->resume();
}

// The link did not come back in R_A_TOV, or not to a fabric that accepts us: no exchange can go on.
void PortAttachment::end_interruption() {
  if (!std::exchange(interrupted_, false)) return;
  port_.scheduler().cancel(interruption_timer_);
  for (auto& [peer, port] : remote_ports_) port->implicit_logout();
  listener_.own_address_lost(state_.n_port_id);
  state_.n_port_id = port_.config().fixed_id;
  if (!awaits_fan_) return;  // FAN would confirm an address that is no more
  port_.scheduler().cancel(fan_timer_);
  fan_overdue();
}

// --- public loop: FC-VI 7.7.4 ------------------------------------------------------------------------------------

void PortAttachment::fan_received(const wire::els::Fan& fan) {
  if (!std::exchange(awaits_fan_, false)) return;
  port_.scheduler().cancel(fan_timer_);
  if (!is_same_fabric(fan.port_name, fan.fabric_name)) return fabric_changed();
  fabric_login_.link_up();
  fabric_login_.validated();
  go_online(state_.n_port_id, Mappings::Same);
}

void PortAttachment::fan_overdue() {
  awaits_fan_ = false;
  fabric_changed();
}

void PortAttachment::fabric_changed() {
  fabric_has_changed_ = interrupted_;
  log_in_to_fabric();
}

}  // namespace fc2
