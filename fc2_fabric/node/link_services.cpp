#include "fc2_fabric/node/link_services.hpp"

#include <algorithm>

#include "fc2_fabric/node/exchange_table.hpp"
#include "fc2_fabric/node/frames_before_login.hpp"
#include "fc2_fabric/node/iu_sender.hpp"
#include "fc2_fabric/node/port_attachment.hpp"
#include "fc2_fabric/node/remote_ports.hpp"
#include "state_machines/consistency.hpp"
#include "wire/els/adisc.hpp"
#include "wire/els/echo.hpp"
#include "wire/els/farp.hpp"
#include "wire/els/logo.hpp"
#include "wire/els/ls_acc.hpp"
#include "wire/els/prli.hpp"
#include "wire/els/rnid.hpp"
#include "wire/els/rrq.hpp"
#include "wire/els/rtv.hpp"
#include "wire/header_fields.hpp"

namespace fc2 {
using wire::els::Command;
using wire::els::RejectExplanation;
using wire::els::RejectReason;

template <class Message>
void LinkServices::reply(Exchange& exchange, const Message& message) {
  std::vector<std::uint8_t> payload(message.size());
  message.write(payload);
  sender_.accept_els(exchange, payload);
}

/// A request that does not parse.
void LinkServices::refuse(Exchange& exchange) {
  port_.counters().discard(Discard::BadPayload);
  sender_.reject_els(exchange, RejectReason::logical_error, RejectExplanation::invalid_payload_length);
}

void LinkServices::sequence_received(Exchange& exchange, const wire::FcHeader& first,
                                     std::span<const std::uint8_t> iu) {
  if (exchange.is_originator()) return exchanges_.release(exchange);  // the answer to deny()
  if (iu.empty() || first.r_ctl != wire::RCtl::els_request) {
    port_.counters().discard(Discard::BadPayload);
    return exchanges_.release(exchange);
  }
  if (!port_.online() && !counts_offline(first, iu)) {  // else only answers to our FLOGI count before it is accepted
    port_.counters().discard(Discard::NotLoggedIn);
    return exchanges_.release(exchange);
  }
  for (ElsUser* user : users_)
    if (user->els_received(exchange, first, iu)) return;
  const auto command = wire::els::command_of(iu);
  // Nobody answers a broadcast, nor an exchange that its originator ended, as a FAN's may be.
  if (command == Command::fan) return fabric_address(exchange, iu);
  if (command == Command::farp_req || command == Command::farp_reply) return leave_farp(exchange, command, iu);
  if (first.d_id == wire::well_known::broadcast || !exchange.has_initiative()) return exchanges_.release(exchange);
  answer(exchange, command, iu);
}

/// Point-to-point: another N_Port's FLOGI, and the PLOGI that assigns our address. On a public loop: FAN; and a private
/// port that asks for our address may come before it (FC-VI 7.7.3, 7.7.4).
bool LinkServices::counts_offline(const wire::FcHeader& first, std::span<const std::uint8_t> iu) {
  const auto command = wire::els::command_of(iu);
  if (command == Command::flogi) return first.d_id == wire::well_known::f_port;
  if (command == Command::adisc) return attachment_.awaits_fan();
  if (command == Command::fan) return attachment_.awaits_fan() && first.s_id == wire::well_known::f_port;
  if (command != Command::plogi || !attachment_.may_be_assigned() || !wire::els::Login::parse(iu)) return false;
  attachment_.address_assigned(first.d_id);
  return true;
}

/// FC-VI 7.5: no ULP acts on it, and neither has a reply.
void LinkServices::leave_farp(Exchange& exchange, Command command, std::span<const std::uint8_t> payload) {
  const auto reply = wire::els::FarpReply::parse(payload);
  const bool is_good = command == Command::farp_req ? wire::els::FarpRequest::parse(payload).has_value()
                                                    : reply && reply->responding_n_port_id != wire::FcId{};
  if (!is_good)
    port_.counters().discard(Discard::BadPayload);
  else if (reply)
    port_.counters().discard(Discard::UnexpectedIu);
  exchanges_.release(exchange);
}

void LinkServices::answer(Exchange& exchange, Command command, std::span<const std::uint8_t> payload) {
  switch (command) {
    case Command::plogi: return login(exchange, payload);
    case Command::logo: return logout(exchange, payload);
    case Command::adisc: return discover_address(exchange, payload);
    case Command::prli: return process_login(exchange, payload);
    case Command::echo: return echo(exchange, payload);
    case Command::rtv: return read_timeouts(exchange);
    case Command::rls: return read_link_errors(exchange, payload);
    case Command::rnid: return identify_node(exchange, payload);
    case Command::rrq: return reinstate(exchange, payload);
    case Command::flogi:
      if ((port_.online() && attachment_.has_fabric()) || port_.config().is_fixed()) break;
      return fabric_login(exchange, payload);
    case Command::rscn:
    case Command::prlo: return accept(exchange);
    case Command::ls_rjt:
    case Command::ls_acc:
    case Command::fan:  // see sequence_received
    case Command::fdisc:
    case Command::rec:
    case Command::farp_req:
    case Command::farp_reply:  // likewise
    case Command::scr: break;
  }
  sender_.reject_els(exchange, RejectReason::not_supported, RejectExplanation::none);
}

void LinkServices::login(Exchange& exchange, std::span<const std::uint8_t> payload) {
  const auto request = wire::els::Login::parse(payload);
  if (!request) return refuse(exchange);
  if (!request->class_3.valid())
    return sender_.reject_els(exchange, RejectReason::logical_error, RejectExplanation::service_parameter_options);
  if (request->class_3.receive_data_field_size < min_data_field_bytes)
    return sender_.reject_els(exchange, RejectReason::logical_error,
                              RejectExplanation::service_parameter_receive_data_field_size);
  if (request->port_name.value == 0)
    return sender_.reject_els(exchange, RejectReason::logical_error, RejectExplanation::invalid_port_or_fabric_name);
  if (!remote_ports_.make_room_for_login(exchange.peer())) {
    port_.counters().discard(Discard::NoResources);
    return sender_.reject_els(exchange, RejectReason::unable_to_perform, RejectExplanation::insufficient_resources);
  }
  remote_ports_.at(exchange.peer()).login_received(exchange, *request);
}

// Where there is no fabric the other N_Port answers, without the F_Port bit (FC-LS); VN2VN ports ask each other before
// PLOGI.
void LinkServices::fabric_login(Exchange& exchange, std::span<const std::uint8_t> payload) {
  const auto request = wire::els::Login::parse(payload);
  if (!request) return refuse(exchange);
  auto parameters = attachment_.login_parameters(Command::flogi);
  parameters.command = Command::ls_acc;
  reply(exchange, parameters);
  attachment_.fabric_login_received(*request);
}

// FC-FS: LOGO to a port that sends without a login. It believes in one that ended here when our link or our host went,
// and would wait for ever (FC-VI 7.7.1). Where our PLOGI is out its LS_ACC was lost: PLOGI again says the same, and
// begins a new login at once. On an out-of-order fabric the frame may have overtaken it: then E_D_TOV later, if it has
// not come.
void LinkServices::deny(wire::FcId peer) {
  if (!port_.online()) return;
  if (!remote_ports_.make_room_for_stranger(peer)) return port_.counters().discard(Discard::NoResources);
  RemotePort& remote = remote_ports_.at(peer);
  if (remote.logged_in() || !remote.may_be_denied() || remote.login_presumed() ||
      (remote.logging_in() && !port_.in_order()))
    return;
  std::array<std::uint8_t, wire::els::Logo::size()> payload;
  wire::els::Logo{.n_port_id = port_.n_port_id(), .port_name = port_.config().port_name}.write(payload);
  make_room_for_denial();
  Exchange* denial =
      sender_.request(peer, wire::RCtl::els_request, wire::Type::els, payload, *this, 2 * port_.r_a_tov());
  if (denial == nullptr) return;
  denial->context = this;
  denials_.push_back(denial);
  FCVI_ASSERT_CONSISTENT(*this);
}

// Strangers that have no end do not answer either: what we tell them takes a quarter of our exchanges at most.
std::size_t LinkServices::max_denials() const { return std::max<std::size_t>(port_.config().max_exchanges / 4, 1); }

void LinkServices::make_room_for_denial() {
  if (denials_.size() < max_denials()) return;
  Exchange& oldest = *denials_.front();
  denials_.pop_front();
  if (oldest.context == this) exchanges_.release(oldest);  // else another's by now
}

/// Each is a LOGO of ours, or it is over, and its exchange may be another's.
bool LinkServices::is_consistent() const {
  const auto is_ours = [this](const Exchange* denial) {
    return denial->context != this || !denial->is_open() ||
           (denial->is_originator() && denial->type() == wire::Type::els);
  };
  return denials_.empty() ||
         (denials_.size() <= max_denials() && std::all_of(denials_.begin(), denials_.end(), is_ours));
}

void LinkServices::login_missing(const ReceivedFrame& frame) {
  const wire::FcId peer = frame.header.s_id;
  const RemotePort* remote = remote_ports_.find(peer);
  const bool may_have_overtaken = !port_.in_order() && remote != nullptr && remote->logging_in();
  if (!may_have_overtaken || !frames_before_login_.keep(frame)) port_.counters().discard(Discard::NotLoggedIn);
  deny(peer);
}

// FC-LS: LOGO without a login is accepted. The F_Port's ends the fabric login, and with it every other.
void LinkServices::logout(Exchange& exchange, std::span<const std::uint8_t> payload) {
  if (exchange.peer() == wire::well_known::f_port && attachment_.has_fabric())
    return attachment_.fabric_logout_received(exchange);
  if (const auto logo = wire::els::Logo::parse(payload)) logout_of_former_address(exchange.peer(), *logo);
  RemotePort* remote = remote_ports_.find(exchange.peer());
  if (remote != nullptr)
    remote->logout_received(exchange);
  else
    accept(exchange);
}

// FC-VI 7.7.3 to 7.7.5: a port whose own address changed logs out the one that it had; its name proves that it may.
void LinkServices::logout_of_former_address(wire::FcId sender, const wire::els::Logo& logo) {
  RemotePort* former = logo.n_port_id == sender ? nullptr : remote_ports_.find(logo.n_port_id);
  if (former != nullptr && former->peer_parameters().port_name == logo.port_name) former->implicit_logout();
}

// FC-VI 7.7.4. Nobody answers it (FC-LS).
void LinkServices::fabric_address(Exchange& exchange, std::span<const std::uint8_t> payload) {
  const bool from_fabric = exchange.peer() == wire::well_known::f_port;
  exchanges_.release(exchange);
  const auto fan = wire::els::Fan::parse(payload);
  if (!fan) return port_.counters().discard(Discard::BadPayload);
  if (from_fabric) attachment_.fan_received(*fan);
}

void LinkServices::reinstate(Exchange& exchange, std::span<const std::uint8_t> payload) {
  if (const auto request = wire::els::Rrq::parse(payload))
    exchanges_.reinstate(exchange.peer(), request->ox_id);
  else
    port_.counters().discard(Discard::BadPayload);
  accept(exchange);
}

// FC-VI 7.7.3: who asks with the addresses of its login is validated by that, too.
void LinkServices::discover_address(Exchange& exchange, std::span<const std::uint8_t> payload) {
  RemotePort* remote = remote_ports_.find(exchange.peer());
  const auto request = wire::els::Adisc::parse(payload);
  if (!request) port_.counters().discard(Discard::BadPayload);
  if (remote == nullptr || !remote->logged_in())
    return sender_.reject_els(exchange, RejectReason::unable_to_perform, RejectExplanation::n_port_login_required);
  reply(exchange, wire::els::Adisc{.command = Command::ls_acc,
                                   .port_name = port_.config().port_name,
                                   .node_name = port_.config().node_name,
                                   .n_port_id = port_.n_port_id()});
  if (!request) return;
  if (remote->confirms(*request))
    remote->validated();
  else
    remote->validation_failed();
}

// A peer that speaks FCP is told "executed, no image pair, no roles": a reject would make it ask for ever.
void LinkServices::process_login(Exchange& exchange, std::span<const std::uint8_t> payload) {
  auto request = wire::els::Prli::parse(payload);
  if (!request) return refuse(exchange);
  const RemotePort* remote = remote_ports_.find(exchange.peer());
  if (remote == nullptr || !remote->logged_in())
    return sender_.reject_els(exchange, RejectReason::unable_to_perform, RejectExplanation::n_port_login_required);
  request->command = Command::ls_acc;
  for (auto& page : request->pages)
    page = {.type = page.type, .type_extension = page.type_extension, .flags = wire::els::PrliPage::request_executed};
  reply(exchange, *request);
}

void LinkServices::echo(Exchange& exchange, std::span<const std::uint8_t> payload) {
  auto request = wire::els::Echo::parse(payload);
  if (!request) return refuse(exchange);
  request->command = Command::ls_acc;
  reply(exchange, *request);
}

void LinkServices::read_timeouts(Exchange& exchange) {
  reply(exchange, wire::els::RtvAcc{.r_a_tov_ms = static_cast<std::uint32_t>(port_.r_a_tov() / millisecond),
                                    .e_d_tov = static_cast<std::uint32_t>(port_.e_d_tov() / millisecond)});
}

// FC-LS: of this port, which 0 names as well.
void LinkServices::read_link_errors(Exchange& exchange, std::span<const std::uint8_t> payload) {
  const auto request = wire::els::Rls::parse(payload);
  if (!request) return refuse(exchange);
  if (request->n_port_id != wire::FcId{} && request->n_port_id != port_.n_port_id())
    return sender_.reject_els(exchange, RejectReason::unable_to_perform, RejectExplanation::invalid_n_port_id);
  reply(exchange, link_errors(port_.counters()));
}

wire::els::RlsAcc link_errors(const Counters& counters) {
  return {.link_failures = static_cast<std::uint32_t>(counters.link_failures),
          .invalid_crcs = static_cast<std::uint32_t>(counters.discarded(Discard::BadCrc))};
}

// FC-LS: a format that is not known here is answered with the common data.
void LinkServices::identify_node(Exchange& exchange, std::span<const std::uint8_t> payload) {
  const auto request = wire::els::Rnid::parse(payload);
  if (!request) return refuse(exchange);
  const NPortConfig& config = port_.config();
  if (request->format != wire::els::RnidFormat::topology)
    return reply(exchange, wire::els::RnidAcc{.port_name = config.port_name, .node_name = config.node_name});
  reply(exchange, wire::els::RnidTopologyAcc{
                      .port_name = config.port_name,
                      .node_name = config.node_name,
                      .type = port_.config().is_fixed() ? wire::els::RnidType::switch_ : wire::els::RnidType::host,
                      .attached_nodes = 1});
}

void LinkServices::accept(Exchange& exchange) { reply(exchange, wire::els::LsAcc{}); }

}  // namespace fc2
