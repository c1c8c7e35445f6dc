#include "fc2_fabric/node/port_attachment.hpp"

#include <cassert>
#include <utility>

#include "fc2_fabric/frame/frame_header.hpp"
#include "fc2_fabric/node/remote_ports.hpp"
#include "state_machines/consistency.hpp"
#include "state_machines/row_effects.hpp"

namespace fc2 {
namespace pa = machines::port_attachment;

namespace {
// Point-to-point: what the port of the higher name gives itself and the other (FC-LS leaves the choice to it).
constexpr wire::FcId higher_name_id{0x010102}, lower_name_id{0x010101};
}  // namespace

PortAttachment::PortAttachment(const PortServices& port, PortState& state, const LoginServices& logins,
                               RemotePorts& remote_ports, AttachmentListener& listener)
    : port_(port), state_(state), remote_ports_(remote_ports), listener_(listener),
      topology_(port.config().is_fixed() ? Topology::Fixed : Topology::Fabric), fabric_login_(logins, *this) {
  state_.n_port_id = port.config().fixed_id;
  state_.e_d_tov = port.config().e_d_tov;
  state_.r_a_tov = port.config().r_a_tov;
}

bool PortAttachment::has_link() const { return !machine_.is_any_of<pa::Offline, pa::Interrupted>(); }

bool PortAttachment::is_consistent() const {
  const bool online = machine_.is_any_of<pa::PointToPoint, pa::WithoutFabric, pa::Attached, pa::Fixed>();
  return effects_.empty() && !settling_ && unsent_ == nullptr && state_.online == online &&
         has_link() == (output_ != nullptr) && interrupted() == interruption_timer_.pending() &&
         awaits_fan() == fan_timer_.pending() && awaits_plogi() == address_timer_.pending() &&
         (interrupted() || !others_may_have_moved_);
}

// Else our FLOGI is still asked. Of two ports of one name neither sends it.
bool PortAttachment::awaits_plogi() const {
  return may_be_assigned() && is_point_to_point() &&
         fabric_login_.peer_parameters().port_name != port_.config().port_name;
}

// --- the machine -------------------------------------------------------------------------------------------------

constexpr std::size_t most_effects =
    fsm::most_pending<pa::Def, pa::LogIn, pa::LeaveFabric, pa::UseOwnParameters, pa::UseFixedAddress, pa::GoOnlineSame,
                      pa::GoOnlineAsking, pa::GoOnlineChanged, pa::LogInToOther, pa::RenewOther, pa::GoOffline,
                      pa::Suspend, pa::EndInterruption, pa::DropLink, pa::ForgetTopology, pa::ConfirmFabricLogin,
                      pa::StartFanTimer, pa::StopFanTimer, pa::StartAddressTimer, pa::StopAddressTimer,
                      pa::ReportLoginFailed>;

// What an effect leads to comes after those that wait already: its event was fed while they were carried out.
template <class E>
void PortAttachment::process(const E& event) {
  machine_.process(event, *this);
  static_assert(most_effects <= decltype(effects_)::capacity);
  if (std::exchange(settling_, true)) return;
  effects_.drain([this](Effect effect) { carry_out(effect); });
  settling_ = false;
  unsent_ = nullptr;  // of an interruption that does not concern it
  FCVI_ASSERT_CONSISTENT(*this);
}

void PortAttachment::carry_out(Effect effect) {
  switch (effect) {
    case Effect::LogInToFabric: return do_log_in();
    case Effect::LeaveFabric: return do_leave_fabric();
    case Effect::UseOwnParameters: return take_own_parameters();
    case Effect::UseFixedAddress: return become_fixed();
    case Effect::GoOnlineSame: return become_online(Mappings::Same);
    case Effect::GoOnlineAsking: return become_online(Mappings::Ask);
    case Effect::GoOnlineChanged: return become_online(Mappings::Changed);
    case Effect::LogInToOther: return remote_ports_.at(lower_name_id).log_in();
    case Effect::RenewOther: return do_renew_other();
    case Effect::GoOffline: return become_offline();
    case Effect::Suspend: return do_suspend();
    case Effect::EndInterruption: return do_end_interruption();
    case Effect::DropLink: return do_drop_link();
    case Effect::ForgetTopology: topology_ = has_fixed_address() ? Topology::Fixed : Topology::Fabric; return;
    case Effect::ConfirmFabricLogin:
      fabric_login_.link_up();
      fabric_login_.validated();
      return;
    case Effect::StartFanTimer: return port_.scheduler().schedule_after(fan_timer_, state_.e_d_tov);
    case Effect::StopFanTimer: return port_.scheduler().cancel(fan_timer_);
    case Effect::StartAddressTimer: return port_.scheduler().schedule_after(address_timer_, 2 * state_.r_a_tov);
    case Effect::StopAddressTimer: return port_.scheduler().cancel(address_timer_);
    case Effect::ReportLoginFailed: return listener_.fabric_login_failed();
  }
}

void PortAttachment::on_row(const fsm::Row& row) { fsm::tell(port_.config().rows, row); }
void PortAttachment::unexpected(std::string_view, std::string_view, std::string_view) {
  ++port_.counters().unexpected_events;
}

// --- the link ----------------------------------------------------------------------------------------------------

// The link does not change within a report (AttachmentListener): effects that are left are the former link's.

void PortAttachment::begin_link(FrameOutput& output, Topology topology) {
  assert(!settling_);
  if (has_link()) link_down();
  topology_ = topology;
  output_ = &output;
  port_.transmitter().attach(&output);
}

void PortAttachment::link_up(FrameOutput& output) {
  begin_link(output, has_fixed_address() ? Topology::Fixed : Topology::Fabric);
  state_.al_pa = 0;
  process(pa::LinkUp{});
}

void PortAttachment::link_up_without_fabric(FrameOutput& output, wire::FcId own) {
  assert(own != wire::FcId{} && !has_fixed_address());
  if (has_link()) link_down();
  fabric_login_.implicit_logout();  // a loop that lost its FL_Port: of the former link
  begin_link(output, Topology::None);
  next_id_ = own;
  process(pa::LinkUpWithoutFabric{.same_address = own == state_.n_port_id});
}

void PortAttachment::link_up_on_public_loop(FrameOutput& output, std::uint8_t al_pa, bool login_required) {
  assert(!has_fixed_address() && al_pa != 0);  // 0 is the FL_Port's, and a port's that was not interrupted
  begin_link(output, Topology::PublicLoop);
  state_.al_pa = al_pa;
  const bool same = !login_required && fabric_login_.logged_in() && state_.n_port_id.port() == al_pa;
  process(pa::LinkUpOnPublicLoop{.may_be_confirmed = same});
}

void PortAttachment::link_interrupted(FramePtr unsent) {
  assert(!settling_);
  unsent_ = std::move(unsent);
  process(pa::LinkInterrupted{});
}

// Other ports may have lost their links together with ours and may log in later than we do. So each peer is asked by
// ADISC before frames go to it again: one that is not back yet would lose them.
void PortAttachment::fabric_interrupted() {
  link_interrupted(nullptr);
  others_may_have_moved_ = interrupted();
}

void PortAttachment::link_down() {
  assert(!settling_);
  process(pa::LinkDown{});
}
void PortAttachment::interruption_over() { process(pa::InterruptionOver{}); }

// --- the fabric --------------------------------------------------------------------------------------------------

void PortAttachment::fabric_login_accepted(wire::FcId id, const wire::els::Login& accept) {
  if (output_ != nullptr) output_->set_bb_credit(accept.bb_credit);
  if (!accept.has(wire::els::feature::f_port)) {
    const wire::Wwn ours = port_.config().port_name, theirs = accept.port_name;
    next_id_ = higher_name_id;
    return process(pa::NPortAccepted{ours > theirs    ? pa::Name::Higher
                                     : ours == theirs ? pa::Name::Equal
                                                      : pa::Name::Lower});
  }
  // On a loop FAN would have said so (FC-VI 7.7.4).
  const bool same =
      topology_ != Topology::PublicLoop && id == state_.n_port_id && is_same_fabric(accept.port_name, accept.node_name);
  take_parameters(accept);
  next_id_ = id;
  process(pa::FabricAccepted{.same = same});
}

bool PortAttachment::is_same_fabric(wire::Wwn port_name, wire::Wwn fabric_name) const {
  return port_name == fabric_port_name_ && fabric_name == fabric_name_;
}

// A fabric that tells no value leaves ours.
void PortAttachment::take_parameters(const wire::els::Login& fabric) {
  fabric_port_name_ = fabric.port_name;
  fabric_name_ = fabric.node_name;
  const bool in_ns = fabric.has(wire::els::feature::e_d_tov_ns);
  if (fabric.r_a_tov_ms() != 0) state_.r_a_tov = fabric.r_a_tov_ms() * millisecond;
  if (fabric.e_d_tov != 0) state_.e_d_tov = in_ns ? TimeNs{fabric.e_d_tov} : fabric.e_d_tov * millisecond;
  state_.in_order = (fabric.class_3.service_options & wire::els::class_option::sequential_delivery) != 0;
  state_.class_2 = port_.config().end_to_end_credit != 0 && fabric.class_2.valid();
}

void PortAttachment::fabric_login_lost() { process(pa::FabricLoginLost{}); }
void PortAttachment::fabric_login_ended() { process(pa::FabricLoggedOut{}); }
void PortAttachment::log_out_of_fabric() { fabric_login_.log_out(); }

// FC-LS: the F_Port's LOGO ends the fabric login, and with it every other.
void PortAttachment::fabric_logout_received(Exchange& exchange) {
  fabric_login_.logout_received(exchange);
  fabric_login_.log_in();
}

void PortAttachment::fan_received(const wire::els::Fan& fan) {
  if (!awaits_fan()) return;
  next_id_ = state_.n_port_id;
  process(pa::FanReceived{.same = is_same_fabric(fan.port_name, fan.fabric_name)});
}

void PortAttachment::fan_overdue() { process(pa::FanOverdue{}); }

// --- another N_Port: FC-VI 7.7.2 ---------------------------------------------------------------------------------

void PortAttachment::address_overdue() { process(pa::AddressOverdue{}); }

void PortAttachment::address_assigned(wire::FcId id) {
  next_id_ = id;
  process(pa::AddressAssigned{});
}

void PortAttachment::fabric_login_received(const wire::els::Login& login) {
  const bool may_be_alone = topology_ != Topology::None;  // VN2VN: FIP keeps the link
  if (may_be_alone && output_ != nullptr) output_->set_bb_credit(login.bb_credit);
  process(pa::FlogiReceived{});
}

// --- what the port says of itself --------------------------------------------------------------------------------

wire::els::Login PortAttachment::login_parameters(wire::els::Command command) const {
  namespace feature = wire::els::feature;
  wire::els::Login login{.command = command,
                         .bb_credit = output_ != nullptr ? output_->own_bb_credit() : std::uint16_t{0}};
  // FC-FS; ruling 12 for the bit of C. A FLOGI says nothing of relative offsets: there the bit means R_A_TOV.
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

// --- what the machine asks for: online ---------------------------------------------------------------------------

void PortAttachment::do_log_in() {
  fabric_login_.implicit_logout();  // of a public loop, which an interruption leaves
  fabric_login_.link_up();
  fabric_login_.log_in();
}

void PortAttachment::do_leave_fabric() {
  if (std::exchange(topology_, Topology::PointToPoint) == Topology::PointToPoint) return;
  take_own_parameters();
  fabric_login_.leave();
}

void PortAttachment::take_own_parameters() {
  state_.e_d_tov = port_.config().e_d_tov;
  state_.r_a_tov = port_.config().r_a_tov;
  state_.in_order = port_.config().in_order_without_fabric;
  state_.class_2 = port_.config().end_to_end_credit != 0;
}

void PortAttachment::become_fixed() {
  state_.online = true;
  for (auto& [id, port] : remote_ports_) port->link_up();
}

void PortAttachment::become_online(Mappings mappings) {
  const bool resumes = interruption_timer_.pending();
  others_may_have_moved_ = false;
  port_.scheduler().cancel(interruption_timer_);
  if (resumes && next_id_ != state_.n_port_id) listener_.own_address_lost(state_.n_port_id);
  state_.n_port_id = next_id_;
  state_.online = true;
  for (auto& [peer, port] : remote_ports_) port->link_up();
  if (resumes) validate_logins(mappings);
  listener_.fabric_logged_in();
}

// FC-VI 7.7.4: private ports of a public loop are asked even where the fabric is the same.
void PortAttachment::validate_logins(Mappings mappings) {
  for (auto& [peer, port] : remote_ports_) {
    const bool is_private = wire::FcId{peer}.domain() == 0 && wire::FcId{peer}.area() == 0;
    if (mappings == Mappings::Changed)
      port->validation_failed();
    else if (mappings == Mappings::Ask || (topology_ == Topology::PublicLoop && is_private))
      port->validate();
    else
      port->validated();
  }
  if (RemotePort* self = remote_ports_.find(state_.n_port_id)) self->resume();
}

// It waits for another PLOGI if its name is the lower one.
void PortAttachment::do_renew_other() {
  const bool higher = state_.n_port_id == higher_name_id;
  RemotePort& other = remote_ports_.at(higher ? lower_name_id : higher_name_id);
  higher ? other.log_in_anew() : other.implicit_logout();
}

// --- what the machine asks for: offline --------------------------------------------------------------------------

// Who hears that a login ends may ask for a port that was not known: that one is without a link from the beginning.
void PortAttachment::become_offline() {
  if (!state_.online) return;
  state_.online = false;
  for (auto& [peer, port] : remote_ports_) {
    port->link_down_if_up();
    if (port->suspended()) port->implicit_logout();  // it was being validated: nothing goes on that could
  }
  listener_.own_address_lost(state_.n_port_id);
  state_.n_port_id = port_.config().fixed_id;  // the next FLOGI is sent without an address
}

void PortAttachment::detach() {
  ++port_.counters().link_failures;
  port_.transmitter().attach(nullptr);
  output_ = nullptr;
  for (auto& [id, port] : remote_ports_) port->set_output_paused(false);  // the next link takes all
}

void PortAttachment::do_drop_link() {
  detach();
  fabric_login_.link_down_if_up();
}

void PortAttachment::do_suspend() {
  if (unsent_ != nullptr) keep(std::move(unsent_));
  while (FramePtr frame = port_.transmitter().take_back()) keep(std::move(frame));
  detach();
  state_.online = false;
  fabric_login_.link_down_if_up();
  for (auto& [peer, port] : remote_ports_) port->link_down_if_up();
  if (RemotePort* self = remote_ports_.find(state_.n_port_id)) self->suspend();
  port_.scheduler().schedule_after(interruption_timer_, state_.r_a_tov);
}

void PortAttachment::keep(FramePtr frame) {
  if (type_of(*frame) == wire::Type::els) return;
  const wire::FcId d_id = d_id_of(*frame);
  RemotePort* remote = remote_ports_.find(d_id);
  if (remote != nullptr && (remote->logged_in() || d_id == state_.n_port_id)) remote->hold(std::move(frame));
}

// What the fabric itself knows of us ends with NOS and OLS; a LIP does not concern it.
bool PortAttachment::keeps_login(wire::FcId peer) const {
  return interrupted() && (topology_ == Topology::PublicLoop || !wire::is_of_fabric(peer));
}

// The link did not come back in R_A_TOV, or not to a fabric that accepts us: no exchange can go on.
void PortAttachment::do_end_interruption() {
  others_may_have_moved_ = false;
  port_.scheduler().cancel(interruption_timer_);
  for (auto& [peer, port] : remote_ports_) port->implicit_logout();
  listener_.own_address_lost(state_.n_port_id);
  state_.n_port_id = port_.config().fixed_id;
}

}  // namespace fc2
