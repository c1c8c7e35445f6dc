#include "fc2_fabric/switch/f_port.hpp"

#include <algorithm>
#include <utility>

#include "fc2_fabric/node/link_services.hpp"
#include "fc2_fabric/node/shared_link.hpp"
#include "state_machines/consistency.hpp"
#include "wire/els/fan.hpp"
#include "wire/header_fields.hpp"

namespace fc2 {
using wire::els::RejectExplanation;
using wire::els::RejectReason;

namespace {
// The switch's name as NAA 2, which has 12 bits for the number of a port.
wire::Wwn f_port_name(wire::Wwn switch_name, std::size_t number) {
  constexpr std::uint64_t naa_2 = std::uint64_t{2} << 60, low_48 = (std::uint64_t{1} << 48) - 1;
  const std::uint64_t port = number + 1;
  return {naa_2 | (port & 0xFFF) << 48 | (((switch_name.value & low_48) + (port >> 12 << 24)) & low_48)};
}

NPortConfig controller_config(const SwitchConfig& config, std::size_t number) {
  NPortConfig controller;
  controller.name = config.name + " F_Port " + std::to_string(number);
  controller.rows = config.rows;
  controller.port_name = f_port_name(config.switch_name, number);
  controller.node_name = config.fabric_name;
  controller.fixed_id = wire::well_known::f_port;
  controller.e_d_tov = config.e_d_tov;
  controller.r_a_tov = config.r_a_tov;
  controller.max_exchanges = 16;  // one N_Port asks, one thing at a time
  controller.max_remote_ports = 16;
  controller.max_assembled_iu_bytes = max_data_field_bytes;
  return controller;
}
}  // namespace

FPort::FPort(SwitchServices& fabric, std::size_t number)
    : SwitchPort(fabric, Pace::Queue), number_(number),
      controller_(fabric.scheduler(), fabric.pool(), controller_config(fabric.config(), number)),
      controller_output_(*this), controller_channel_(fabric.scheduler(), LinkConfig{}, controller_output_) {
  controller_.add_els_user(*this);
}

/// To one far end at most.
bool FPort::one_link() const {
  const int far_ends =
      (n_port_ ? 1 : 0) + (shared_link_ != nullptr ? 1 : 0) + (far_output_ != nullptr ? 1 : 0) + (fl_port_ ? 1 : 0);
  return far_ends <= 1 && link_.has_value() == (n_port_ || shared_link_ != nullptr) &&
         (feeder_ == nullptr || far_output_ != nullptr) && (link_ || !cut_by_switch_);
}

/// Further N_Port_IDs come after the first one, but on a loop; who returns is away until its accept is out; and nobody
/// is away, or an offline link up, for ever.
bool FPort::logins_have_a_link() const {
  const bool returning =
      std::all_of(returning_.begin(), returning_.end(), [&](wire::FcId id) { return has(id) && is_away(id); });
  const bool offline = is_up() && link_ && !link_->a.online();
  return returning && (is_up() || !has_logins()) && (login_ || on_loop() || virtual_logins_.empty()) &&
         (away_timer_.pending() || !(any_away() || offline));
}

bool FPort::is_consistent() const { return SwitchPort::is_consistent() && one_link() && logins_have_a_link(); }

// --- link --------------------------------------------------------------------------------------------------------

void FPort::connect(NPort& port, LinkConfig link) {
  link_.emplace(switch_.scheduler(), link, *this, BufferUse::UntilForwarded, port, BufferUse::UntilProcessed);
  n_port_.emplace(port, link_->b);
  cut_by_switch_ = false;
  if (switch_.online()) switch_online();
}

void FPort::connect(SharedLink& ports, LinkConfig link) {
  link_.emplace(switch_.scheduler(), link, *this, BufferUse::UntilForwarded, ports, BufferUse::UntilProcessed);
  ports.set_end(link_->b);
  shared_link_ = &ports;
  cut_by_switch_ = false;
  if (switch_.online()) switch_online();
}

void FPort::connect(FrameOutput& output, FrameFeeder* feeder) {
  far_output_ = &output;
  feeder_ = feeder;
  former_address_ = {};
  if (switch_.online()) switch_online();
}

void FPort::connect(Loop& loop, const LoopPlace& place) {
  fl_port_.emplace(*this, loop, place);
  if (switch_.online()) switch_online();
}

void FPort::disconnect() {
  feeder_ = nullptr;  // it is told nothing any more
  far_output_ = nullptr;
  link_is_over();
  tap_output(nullptr);
  if (fl_port_) fl_port_->leave();
  fl_port_.reset();
  if (!link_) return;
  link_->a.output().clear();
  link_->b.output().clear();
  if (n_port_)
    n_port_->port().link_down();
  else
    shared_link_->link_down();
  shared_link_ = nullptr;
  n_port_.reset();
  link_.reset();
  cut_by_switch_ = false;
}

void FPort::move_to(FPort& other) {
  NPort& port = n_port_->port();
  const LinkConfig config = link_->config();
  link_is_over();
  link_->a.output().clear();
  link_->b.output().clear();
  port.link_interrupted();
  n_port_.reset();
  link_.reset();
  cut_by_switch_ = false;
  other.connect(port, config);
}

LinkUser& FPort::far_user() {
  if (n_port_) return *n_port_;
  return *shared_link_;
}

// A link of this program sees light when the switch runs, and none while it does not.
void FPort::switch_online() {
  if (far_output_ != nullptr) {
    link_begins(*far_output_);
    return tell_old_address();
  }
  if (fl_port_) return fl_port_->join();
  if (!link_) return;
  if (!link_->joined()) return link_->join(*this, far_user());
  if (std::exchange(cut_by_switch_, false)) link_->mend();
  if (!is_up()) reset_link();
}

void FPort::switch_offline() {
  if (link_ && link_->joined() && !link_->is_cut()) {
    cut_by_switch_ = true;
    link_->cut();
  }
  link_is_over();
  if (fl_port_) fl_port_->leave();
}

void FPort::link_active() {
  if (switch_.online()) link_begins(link_->a.output());
  FCVI_ASSERT_CONSISTENT(*this);
}

void FPort::link_begins(FrameOutput& output) {
  address_ = switch_.address_of(*this);
  link_is_up(output);
  controller_.link_up(controller_channel_);
}

// FC-VI 7.7.5: the N_Port will log in, and if its addresses are unchanged its exchanges continue. Until then frames for
// it wait here, as for a port that takes no frames. It must log in anew with the fabric's services.
void FPort::link_offline() {
  if (!is_up()) return;
  if (!has_logins()) return link_is_over();
  // The hold time begins when the first of them goes away; it begins anew only after all of them were back.
  if (!any_away()) switch_.scheduler().schedule_after(away_timer_, switch_.config().hold_time);
  controller_.link_down();
  controller_channel_.clear();
  returning_.clear();
  for (const wire::FcId id : logins()) {
    if (is_away(id)) continue;
    go_away(id);
    leave_services(id);
  }
  FCVI_ASSERT_CONSISTENT(*this);
}

std::vector<wire::FcId> FPort::logins() const {
  std::vector<wire::FcId> ids;
  if (login_) ids.push_back(address_);
  for (const VirtualLogin& login : virtual_logins_) ids.push_back(login.id);
  return ids;
}

void FPort::leave_services(wire::FcId id) { switch_.leave_services(id); }

// A port that is away logs in elsewhere: it will not come back there.
void FPort::forget_where_away(wire::Wwn port_name, wire::FcId id) {
  const auto former = switch_.address_of_name(port_name);
  if (!former || *former == id) return;
  FPort* port = switch_.find(*former);
  if (port != nullptr && port->is_away(*former)) port->log_out(*former);
}

void FPort::away_for_too_long() {
  for (const wire::FcId id : logins())
    if (is_away(id)) log_out(id);
  if (!link_->a.online()) link_is_over();
  FCVI_ASSERT_CONSISTENT(*this);
}

void FPort::link_is_over() {
  if (!is_up()) return;
  switch_.scheduler().cancel(away_timer_);
  if (login_) former_address_ = address_;
  log_out_all();
  controller_.link_down();
  controller_channel_.clear();
  link_is_down();
}

// An N_Port elsewhere may not have noticed that its link was down: LOGO from the F_Port ends its login (FC-LS).
void FPort::tell_old_address() {
  if (const wire::FcId id = std::exchange(former_address_, {}); id != wire::FcId{}) controller_.deny(id);
}

void FPort::reset_link() {
  if (link_) {
    log_out_all();
    return link_->a.go_offline();
  }
  if (fl_port_) {  // the next LIP says that no login stands
    link_is_over();
    fl_port_->leave();
    return fl_port_->join();
  }
  if (far_output_ == nullptr || !is_up()) return;
  link_is_over();
  switch_online();
}

void FPort::tap(FrameTap* tap) {
  if (!link_) return tap_output(tap);
  link_->b.output().tap_sender(tap);
  link_->a.output().tap_receiver(tap);
}

void FPort::set_faults(FrameFault* from_port, FrameFault* to_port) {
  link_->b.output().set_fault(from_port);
  link_->a.output().set_fault(to_port);
}

void FPort::hold() {
  if (feeder_ != nullptr)
    feeder_->hold();
  else if (fl_port_)
    fl_port_->hold();
  else if (link_)
    link_->b.output().pause();
}

void FPort::proceed() {
  if (feeder_ != nullptr)
    feeder_->proceed();
  else if (fl_port_)
    fl_port_->proceed();
  else if (link_)
    link_->b.output().resume();
}

FPort::Hold FPort::hold_kind() const {
  if (feeder_ != nullptr) return feeder_->holds_by_destination() ? Hold::ForOne : Hold::Whole;
  return far_output_ != nullptr ? Hold::Never : Hold::Whole;
}

void FPort::hold_for(wire::FcId id) {
  if (feeder_ != nullptr) feeder_->hold_for(id);
}

void FPort::proceed_for(wire::FcId id) {
  if (feeder_ != nullptr) feeder_->proceed_for(id);
}

void FPort::receive(FramePtr frame) {
  if (!is_up()) return;
  count_in();
  if (output_tap() != nullptr) output_tap()->frame_passed(switch_.scheduler().now(), *frame, true);
  switch_.frame_from_port(*this, std::move(frame));
}

std::size_t FPort::receive_run(const FrameRun& run) {
  if (!is_up() || output_tap() != nullptr) return 0;
  const std::size_t taken = switch_.run_from_port(*this, run);
  count_in(taken);
  return taken;
}

// --- F_Port Controller -------------------------------------------------------------------------------------------

bool FPort::has(wire::FcId id) const {
  if (login_ && id == address_) return true;
  return std::any_of(virtual_logins_.begin(), virtual_logins_.end(),
                     [&](const VirtualLogin& login) { return login.id == id; });
}

bool FPort::els_received(Exchange& exchange, const wire::FcHeader& header, std::span<const std::uint8_t> payload) {
  switch (wire::els::command_of(payload)) {
    case wire::els::Command::flogi:
      return on_loop() ? log_in_on_loop(exchange, payload) : log_in(exchange, payload), true;
    case wire::els::Command::fdisc: return discover(exchange, payload), true;
    case wire::els::Command::logo: return log_out(header.s_id), false;  // link services answer
    case wire::els::Command::rls: return read_link_errors(exchange, payload);
    default: return false;  // they know the rest
  }
}

// FC-LS: the Port_Name of this end of the link, in the answer to a logged-in port.
bool FPort::read_link_errors(Exchange& exchange, std::span<const std::uint8_t> payload) {
  const auto request = wire::els::Rls::parse(payload);
  if (!request || !has(request->n_port_id)) return false;
  std::array<std::uint8_t, wire::els::RlsAcc::size()> accept;
  link_errors(controller_.counters()).write(accept);
  controller_.accept_els(exchange, accept);
  return true;
}

void FPort::ControllerOutput::receive(FramePtr frame) {
  port_.put_out(std::move(frame), nullptr);
  for (const wire::FcId id : std::exchange(port_.returning_, {})) port_.come_back(id);
}

// What FLOGI and FDISC have in common. Nothing: it was rejected.
std::optional<wire::els::Login> FPort::admitted(Exchange& exchange, std::span<const std::uint8_t> payload,
                                                wire::FcId id) {
  const auto reject = [&](RejectReason reason, RejectExplanation why) {
    controller_.reject_els(exchange, reason, why);
    return std::nullopt;
  };
  const auto request = wire::els::Login::parse(payload);
  if (!request) {
    controller_.counters().discard(Discard::BadPayload);
    return reject(RejectReason::logical_error, RejectExplanation::invalid_payload_length);
  }
  if (!request->class_3.valid())
    return reject(RejectReason::logical_error, RejectExplanation::service_parameter_options);
  if (request->receive_data_field_size < min_data_field_bytes)  // FC-FS: 256 to 2112. The classes of a FLOGI have none
    return reject(RejectReason::logical_error, RejectExplanation::service_parameter_receive_data_field_size);
  forget_where_away(request->port_name, id);
  if (!switch_.admits_name(request->port_name, id))
    return reject(RejectReason::logical_error, RejectExplanation::invalid_port_or_fabric_name);
  return *request;
}

void FPort::log_in(Exchange& exchange, std::span<const std::uint8_t> payload) {
  const VirtualLogin* named =
      virtual_login(payload);  // a FLOGI ends every login of this link, and may have any one's name
  const auto request = admitted(exchange, payload, named != nullptr ? named->id : address_);
  if (!request) return;
  const bool returns = login_ && is_away(address_) && request->port_name == login_->port_name;
  if (!returns) log_out_all();  // a FLOGI ends the login before it (FC-LS)
  login_ = *request;
  output().set_bb_credit(login_->bb_credit);
  grant(exchange, address_, *request);
}

// FC-LS: FDISC comes without an address, from a link that is logged in, with a Port_Name of its own. The same again:
// the accept was lost, or the N_Port began anew, which ends its login as a FLOGI would.
void FPort::discover(Exchange& exchange, std::span<const std::uint8_t> payload) {
  if (!login_ || is_away(address_) || exchange.peer() != wire::well_known::unidentified)
    return controller_.reject_els(exchange, RejectReason::unable_to_perform,
                                  RejectExplanation::invalid_originator_s_id);
  const VirtualLogin* named = virtual_login(payload);
  const wire::FcId former = named != nullptr ? named->id : wire::FcId{};
  const auto request = admitted(exchange, payload, former);
  if (!request) return;
  if (former != wire::FcId{}) {
    if (!is_away(former)) login_ended(former, request->port_name);
    for (VirtualLogin& login : virtual_logins_)
      if (login.id == former) login.parameters = *request;
    return grant(exchange, former, *request);
  }
  const wire::FcId id =
      virtual_logins_.size() < switch_.config().max_virtual_ports ? switch_.take_address(*this) : wire::FcId{};
  if (id == wire::FcId{})
    return controller_.reject_els(exchange, RejectReason::unable_to_perform, RejectExplanation::insufficient_resources);
  virtual_logins_.push_back({id, *request});
  grant(exchange, id, *request);
}

const FPort::VirtualLogin* FPort::virtual_login(std::span<const std::uint8_t> payload) const {
  const auto request = wire::els::Login::parse(payload);
  const auto found = std::find_if(virtual_logins_.begin(), virtual_logins_.end(), [&](const VirtualLogin& login) {
    return request && login.parameters.port_name == request->port_name;
  });
  return found == virtual_logins_.end() ? nullptr : &*found;
}

void FPort::grant(Exchange& exchange, wire::FcId id, const wire::els::Login& login) {
  exchange.redirect(id);
  std::array<std::uint8_t, wire::els::Login::size()> accept;
  accept_parameters(login).write(accept);
  controller_.accept_els(exchange, accept);
  if (is_away(id)) returning_.push_back(id);
  switch_.port_logged_in(*this, id, login);
}

void FPort::log_out(wire::FcId id) {
  if (id == address_ && !on_loop()) return log_out_all();
  const auto found =
      std::find_if(virtual_logins_.begin(), virtual_logins_.end(), [&](const VirtualLogin& l) { return l.id == id; });
  if (found == virtual_logins_.end()) return;
  const wire::Wwn port_name = found->parameters.port_name;
  virtual_logins_.erase(found);
  login_ended(id, port_name);
  if (!on_loop()) switch_.give_back_address(id);
}

void FPort::log_out_all() {
  while (!virtual_logins_.empty()) log_out(virtual_logins_.back().id);
  if (const auto login = std::exchange(login_, std::nullopt)) login_ended(address_, login->port_name);
}

void FPort::login_ended(wire::FcId id, wire::Wwn port_name) {
  switch_.port_logged_out(id, port_name);
  std::erase(returning_, id);
  if (is_away(id)) stay_away(id);
  if (login_listener_ != nullptr) login_listener_->login_ended(id);
}

// --- FL_Port -----------------------------------------------------------------------------------------------------

// FC-LS: FLOGI comes without an address, or on a loop with the AL_PA alone.
bool FPort::may_log_in(wire::FcId s_id) const {
  return on_loop() ? FlPort::is_loop_address(s_id) : s_id == wire::well_known::unidentified;
}

void FPort::log_in_on_loop(Exchange& exchange, std::span<const std::uint8_t> payload) {
  const wire::FcId id{address_.value | exchange.peer().port()};
  const auto request = admitted(exchange, payload, id);
  if (!request) return;
  log_out(id);  // a FLOGI ends the login before it (FC-LS)
  virtual_logins_.push_back({id, *request});
  grant(exchange, id, *request);
}

// FC-AL: a logged-in port has claimed its AL_PA in LIFA, or is not on the loop any more.
void FPort::loop_initialized(const AlPaMap& assigned) {
  std::vector<wire::FcId> ids;
  for (const VirtualLogin& login : virtual_logins_) ids.push_back(login.id);
  for (const wire::FcId id : ids) {
    if (assigned.test(al_pa_position(id.port())))
      announce(id);
    else
      log_out(id);
  }
}

// FC-LS FAN, FC-VI 7.7.4: to each logged-in port; there is no answer.
void FPort::announce(wire::FcId id) {
  const wire::els::Fan fan{.loop_fabric_address = address_, .port_name = name(), .fabric_name = switch_.fabric_name()};
  std::array<std::uint8_t, wire::els::Fan::size()> payload;
  fan.write(payload);
  if (Exchange* exchange = controller_.originate(id, wire::Type::els, *this))
    controller_.send(*exchange, wire::RCtl::els_request, {}, payload, {.last_of_exchange = true});
}

void FPort::sequence_received(Exchange& exchange, const wire::FcHeader&, std::span<const std::uint8_t>) {
  if (exchange.is_open()) controller_.release(exchange);  // an answer to a FAN, which has none
}

void FPort::frame_returned(const Frame& frame) { switch_.undeliverable(frame); }

wire::els::Login FPort::accept_parameters(const wire::els::Login& request) {
  namespace feature = wire::els::feature;
  const SwitchConfig& config = switch_.config();
  wire::els::Login accept{
      .command = wire::els::Command::ls_acc, .bb_credit = output().own_bb_credit(), .features = feature::f_port};
  accept.receive_data_field_size = config.receive_data_field_bytes;
  accept.set_r_a_tov_ms(static_cast<std::uint32_t>(config.r_a_tov / millisecond));
  const bool whole_ms = config.e_d_tov % millisecond == 0;
  if (output().alternate_bb_credit()) accept.features |= feature::alternate_bb_credit;
  if (!whole_ms) accept.features |= feature::e_d_tov_ns;
  accept.e_d_tov = static_cast<std::uint32_t>(whole_ms ? config.e_d_tov / millisecond : config.e_d_tov);
  accept.port_name = controller_.config().port_name;
  accept.node_name = switch_.fabric_name();
  accept.class_3.service_options = wire::els::class_option::valid;
  if (config.in_order) accept.class_3.service_options |= wire::els::class_option::sequential_delivery;
  accept.class_3.receive_data_field_size = config.receive_data_field_bytes;
  if (request.class_2.valid()) accept.class_2 = accept.class_3;
  return accept;
}

}  // namespace fc2
