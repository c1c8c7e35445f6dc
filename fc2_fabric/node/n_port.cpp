#include "fc2_fabric/node/n_port.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "fc2_fabric/node/attached_n_port.hpp"
#include "fc2_fabric/node/class_2.hpp"
#include "fc2_fabric/node/exchange_table.hpp"
#include "fc2_fabric/node/frame_sorter.hpp"
#include "fc2_fabric/node/frames_before_login.hpp"
#include "fc2_fabric/node/iu_sender.hpp"
#include "fc2_fabric/node/link_services.hpp"
#include "fc2_fabric/node/port_attachment.hpp"
#include "fc2_fabric/node/remote_ports.hpp"
#include "state_machines/consistency.hpp"

namespace fc2 {

void AttachedNPort::link_active() { port_.link_up(end_.output()); }
void AttachedNPort::link_offline() { port_.link_interrupted(); }
fsm::RowListener* AttachedNPort::row_listener() const { return port_.config().rows; }

/// Each uses those above it, and LoginServices those below; the last one goes first.
struct NPort::Parts {
  Parts(NPort& port, PortState& state)
      : frames_before_login(port.scheduler(), port), logins{port.services_, sender, frames_before_login, attachment},
        remote_ports(logins, port), acknowledger(port.services_, remote_ports), exchanges(port.services_, remote_ports),
        sender(port.services_, exchanges, acknowledger), attachment(port.services_, state, logins, remote_ports, port),
        link_services(port.services_, attachment, remote_ports, exchanges, sender, frames_before_login),
        sorter(port.services_, attachment, remote_ports, exchanges, acknowledger, link_services) {}

  FramesBeforeLogin frames_before_login;
  LoginServices logins;
  RemotePorts remote_ports;
  FrameAcknowledger acknowledger;
  ExchangeTable exchanges;
  IuSender sender;
  PortAttachment attachment;
  LinkServices link_services;
  FrameSorter sorter;
};

NPort::NPort(Scheduler& scheduler, FramePool& pool, NPortConfig config)
    : config_(std::move(config)), transmitter_(scheduler, pool),
      services_(*this, scheduler, pool, config_, counters_, transmitter_, state_),
      parts_(std::make_unique<Parts>(*this, state_)) {}

NPort::~NPort() = default;

bool NPort::is_consistent() const {
  const bool logins = std::all_of(parts_->remote_ports.begin(), parts_->remote_ports.end(),
                                  [](const auto& entry) { return entry.second->is_consistent(); });
  return logins && parts_->remote_ports.is_consistent() && parts_->acknowledger.is_consistent() &&
         parts_->exchanges.is_consistent() && parts_->attachment.is_consistent_throughout() &&
         parts_->link_services.is_consistent() && parts_->sorter.is_consistent() && transmitter_.is_consistent();
}

// --- link --------------------------------------------------------------------------------------------------------

void NPort::link_up(FrameOutput& output) { parts_->attachment.link_up(output); }
void NPort::link_up_without_fabric(FrameOutput& output, wire::FcId own) {
  parts_->attachment.link_up_without_fabric(output, own);
}
void NPort::link_up_on_public_loop(FrameOutput& output, std::uint8_t al_pa, bool login_required) {
  parts_->attachment.link_up_on_public_loop(output, al_pa, login_required);
}
void NPort::link_interrupted(FramePtr unsent) { parts_->attachment.link_interrupted(std::move(unsent)); }
void NPort::fabric_interrupted() { parts_->attachment.fabric_interrupted(); }
void NPort::link_down() { parts_->attachment.link_down(); }

void NPort::pause_output(wire::FcId id) {
  if (RemotePort* remote = find_remote_port(id); remote != nullptr && transmitter_.attached())
    remote->set_output_paused(true);
}

void NPort::resume_output(wire::FcId id) {
  RemotePort* remote = find_remote_port(id);
  if (remote == nullptr) return;
  remote->set_output_paused(false);
  transmitter_.resume();
}

void NPort::receive(FramePtr frame) {
  parts_->sorter.receive(std::move(frame));
  FCVI_ASSERT_CONSISTENT(*this);
}
std::size_t NPort::receive_run(const FrameRun& run) {
  const std::size_t taken = parts_->sorter.receive_run(run);
  FCVI_ASSERT_CONSISTENT(*this);
  return taken;
}
void NPort::log_out_of_fabric() { parts_->attachment.log_out_of_fabric(); }

bool NPort::has_fabric() const { return parts_->attachment.has_fabric(); }
bool NPort::is_point_to_point() const { return parts_->attachment.is_point_to_point(); }
bool NPort::interrupted() const { return parts_->attachment.interrupted(); }
wire::els::Login NPort::login_parameters(wire::els::Command command) const {
  return parts_->attachment.login_parameters(command);
}
FrameAcknowledger& NPort::acknowledger() { return parts_->acknowledger; }

// --- users -------------------------------------------------------------------------------------------------------

void NPort::set_user(wire::Type type, ExchangeUser& user) { parts_->sorter.set_user(type, user); }
void NPort::set_user(const Fc4& fc4, ExchangeUser& user) {
  parts_->exchanges.add_fc4(fc4);
  parts_->sorter.set_user(fc4.type, user);
}
void NPort::set_data_user(const Fc4& fc4, DataFrameUser& user) {
  parts_->exchanges.add_fc4(fc4);
  parts_->sorter.set_data_user(fc4.type, user);
}
void NPort::remove_user(wire::Type type) {
  parts_->exchanges.remove_fc4(type);
  parts_->sorter.remove_user(type);
}
const std::vector<wire::Type>& NPort::fc4_types() const { return parts_->exchanges.fc4s().types(); }
bool NPort::has_fc4(wire::Type type) const { return parts_->exchanges.fc4s().has(type); }
void NPort::add_els_user(ElsUser& user) { parts_->link_services.add_user(user); }
void NPort::remove_els_user(ElsUser& user) { parts_->link_services.remove_user(user); }
void NPort::accept_els(Exchange& exchange, std::span<const std::uint8_t> payload) {
  parts_->sender.accept_els(exchange, payload);
}
void NPort::reject_els(Exchange& exchange, wire::els::RejectReason reason, wire::els::RejectExplanation explanation) {
  parts_->sender.reject_els(exchange, reason, explanation);
}

// --- remote ports ------------------------------------------------------------------------------------------------

RemotePort& NPort::remote_port(wire::FcId id) { return parts_->remote_ports.at(id); }
RemotePort* NPort::find_remote_port(wire::FcId id) { return parts_->remote_ports.find(id); }
std::size_t NPort::known_ports() const { return parts_->remote_ports.size(); }

std::vector<wire::FcId> NPort::logged_in_ports() const {
  std::vector<wire::FcId> ids;
  for (const auto& [id, port] : parts_->remote_ports)
    if (port->logged_in()) ids.push_back({id});
  return ids;
}

std::vector<wire::FcId> NPort::awaited_ports() const {
  std::vector<wire::FcId> ids;
  for (const auto& [id, port] : parts_->remote_ports)
    if (port->logging_in()) ids.push_back({id});
  return ids;
}

void NPort::deny(wire::FcId id) { parts_->link_services.deny(id); }

void NPort::remote_port_logged_in(RemotePort& port) {
  parts_->remote_ports.login_begins(port);
  for (PortListener* listener : listeners_) listener->remote_port_logged_in(port);
  parts_->frames_before_login.logged_in(port.peer());
}

void NPort::remote_port_login_failed(RemotePort& port) {
  parts_->frames_before_login.forget(port.peer());
  for (PortListener* listener : listeners_) listener->remote_port_login_failed(port);
}

void NPort::remote_port_logged_out(RemotePort& port) {
  parts_->remote_ports.login_ends(port);
  fail_exchanges(port.peer(), ExchangeFailure::PortLoggedOut);
  for (PortListener* listener : listeners_) listener->remote_port_logged_out(port);
}

void NPort::fabric_logged_in() {
  for (PortListener* listener : listeners_) listener->fabric_logged_in();
}

void NPort::fabric_login_failed() {
  for (PortListener* listener : listeners_) listener->fabric_login_failed();
}

// With oneself there is no login that could end (FC-VI 7.7.2 asks none of a loopback), but what was under way is lost
// too.
void NPort::own_address_lost(wire::FcId own) {
  fail_exchanges(own, ExchangeFailure::PortLoggedOut);
  RemotePort* self = find_remote_port(own);
  if (self == nullptr) return;  // nobody asked for it
  self->forget_suspension();
  for (PortListener* listener : listeners_) listener->remote_port_logged_out(*self);
}

// --- exchanges ---------------------------------------------------------------------------------------------------

Exchange* NPort::originate(wire::FcId d_id, wire::Type type, ExchangeUser& user) {
  return parts_->exchanges.originate(d_id, type, user);
}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wattributes"
[[gnu::always_inline]] std::optional<OneFrameExchange> NPort::begin_one_frame_exchange(RemotePort& remote) {
  return OneFrameExchange::begin(parts_->exchanges, remote);
}
#pragma GCC diagnostic pop
Exchange* NPort::open_for_reply(const ReceivedFrame& frame, DataFrameUser& user) {
  return parts_->exchanges.open_for_reply(frame, user);
}
void NPort::send(Exchange& exchange, wire::RCtl r_ctl, std::span<const std::uint8_t> device_header,
                 std::span<const std::uint8_t> payload, SequenceEnd end, TimeNs reply_timeout, std::uint8_t cs_ctl) {
  parts_->sender.send(exchange, r_ctl, device_header, payload, end, reply_timeout, cs_ctl);
}
Exchange* NPort::request(wire::FcId d_id, wire::RCtl r_ctl, wire::Type type, std::span<const std::uint8_t> payload,
                         ExchangeUser& user, TimeNs reply_timeout) {
  return parts_->sender.request(d_id, r_ctl, type, payload, user, reply_timeout);
}
void NPort::abort(Exchange& exchange) { parts_->exchanges.abort(exchange); }
void NPort::abort_and_report(Exchange& exchange, ExchangeUser& listener) {
  parts_->exchanges.abort_and_report(exchange, listener);
}
void NPort::forget_abort(const ExchangeUser& listener) { parts_->exchanges.forget_abort(listener); }
void NPort::release(Exchange& exchange) { parts_->exchanges.release(exchange); }
std::size_t NPort::open_exchanges() const { return parts_->exchanges.open_exchanges(); }
std::size_t NPort::assembled_bytes() const { return parts_->exchanges.assembled_bytes(); }
void NPort::reinstate(wire::FcId peer, wire::OxId ox_id) { parts_->exchanges.reinstate(peer, ox_id); }

void NPort::fail_exchanges(wire::FcId peer, ExchangeFailure failure) {
  assert(failure == ExchangeFailure::PortLoggedOut);
  static_cast<void>(failure);
  parts_->acknowledger.logged_out(peer);
  parts_->exchanges.logged_out(peer);
}

}  // namespace fc2
