#include "fcvi/originated_setup.hpp"

#include <cassert>
#include <utility>

#include "fc2_fabric/node/remote_port.hpp"
#include "fcvi/connection.hpp"
#include "fcvi/conversions.hpp"
#include "fcvi/fc4.hpp"
#include "fcvi/setup_errors.hpp"
#include "state_machines/consistency.hpp"
#include "state_machines/row_effects.hpp"
#include "wire/fcvi/connect_resp2.hpp"
#include "wire/fcvi/connect_resp3.hpp"
#include "wire/fcvi/connect_rqst.hpp"

namespace fcvi {
namespace co = machines::connect_originator;
namespace ve = machines::vi_endpoint;
using wire::fcvi::Opcode;

namespace {
/// What a process that lives takes to answer a PLOGI, many times over. One that hangs does not keep us from the others.
constexpr runtime::TimeNs login_patience = 250 * runtime::millisecond;

vi::Return return_of(co::ConnectOutcome outcome, vi::Return refusal) {
  switch (outcome) {
    case co::ConnectOutcome::Success: return vi::Return::Success;
    case co::ConnectOutcome::NoMatch: return vi::Return::NoMatch;
    case co::ConnectOutcome::Reject: return refusal;
    case co::ConnectOutcome::Timeout: return vi::Return::Timeout;
    case co::ConnectOutcome::NotReachable: return vi::Return::NotReachable;
    case co::ConnectOutcome::Withdrawn: break;
  }
  return vi::Return::ErrorResource;
}
}  // namespace

OriginatedSetup::OriginatedSetup(const Services& services, SetupOwner& owner, std::uint64_t number,
                                 Connection& connection, const vi::NetAddress& local, const vi::NetAddress& remote,
                                 runtime::TimeNs deadline, vi::ConnectOperation& operation, SetupListener* peer)
    : services_(services), owner_(owner), number_(number), connection_(&connection), local_(local), remote_(remote),
      deadline_(deadline), operation_(&operation), peer_(peer) {}

OriginatedSetup::~OriginatedSetup() {
  services_.connection_ids.close(connection_id_);
  services_.port.forget_abort(*this);
  if (exchange_ != nullptr) services_.port.abort(*exchange_);
}

// --- before the first IU -----------------------------------------------------------------------------------------

void OriginatedSetup::start() {
  if (deadline_ != runtime::never) services_.scheduler.schedule(t1_, deadline_);
  try_next_port();
}

void OriginatedSetup::go_on(PortWalk walk) {
  walk_ = std::move(walk);
  start();
}

bool OriginatedSetup::waits_for(const wire::IpAddress& address) const {
  return is_resolving() && remote_.host == address;
}

void OriginatedSetup::resolved(std::span<const wire::FcId> n_port_ids) {
  if (!walk_.next(n_port_ids)) return give_up(walk_.outcome());
  log_in();
}

void OriginatedSetup::not_resolved() { give_up(vi::Return::NotReachable); }

/// The resolver, which hears of ports that go and come (FC-VI 7.7.5), says anew who is there; what it still knows costs
/// nothing.
void OriginatedSetup::try_next_port() {
  services_.scheduler.cancel(login_patience_);
  walk_.leave();
  owner_.resolve(remote_.host);
}

void OriginatedSetup::log_in() {
  fc2::RemotePort& remote = services_.port.remote_port(target());
  if (target() == services_.port.n_port_id() || remote.logged_in()) return begin_setup();
  if (walk_.others_wait()) services_.scheduler.schedule_after(login_patience_, login_patience);
  remote.log_in();
}

/// Its login goes on without us.
void OriginatedSetup::login_is_late() {
  walk_.login_is_late();
  try_next_port();
}

void OriginatedSetup::port_logged_in(wire::FcId) { begin_setup(); }
void OriginatedSetup::port_login_failed(wire::FcId) { try_next_port(); }

void OriginatedSetup::begin_setup() {
  services_.scheduler.cancel(login_patience_);
  // Loopback has no login. FC-VI 5.6: never with a port that does not advertise SEQ_CNT and continuously increasing
  // relative offset.
  const bool self = target() == services_.port.n_port_id();
  fc2::RemotePort& remote = services_.port.remote_port(target());
  if (!self && !remote.supports(fc4)) return asked_parameters_anew(remote) ? void() : try_next_port();
  connection_->set_peer_port(target());
  process(co::SetupRequested{});
}

/// What was told with the login that stands may be out of date, or was never the port's own word: it is asked once
/// more.
bool OriginatedSetup::asked_parameters_anew(fc2::RemotePort& remote) {
  if (!walk_.ask_parameters_anew()) return false;
  if (remote.logged_in()) remote.log_out();  // else another set-up did, and asks already
  remote.log_in();
  return true;
}

bool OriginatedSetup::target_logged_in() const {
  if (target() == services_.port.n_port_id()) return services_.port.online();  // loopback
  return services_.port.remote_port(target()).logged_in();
}

/// Nothing was set up: VI-DG 3.3.4, the VI of a reliable level goes to Error when the network is the cause. A peer may
/// still come and find us (VI-DG 6.7).
void OriginatedSetup::give_up(vi::Return result) {
  if (peer_ != nullptr) return leave();
  const bool retry_failed = machine_.is<co::AwaitRetryLogin>();  // 8.2 c): at every level
  vi::end_request(result, retry_failed || connection_->is_reliable(),
                  [this](const auto& event) { connection_->feed(event); });
  end(result);
}

/// No exchange is open.
void OriginatedSetup::end(vi::Return result) {
  finish(result);
  outbox_.push({Effect::Kind::Release, {}});
  settle();
}

void OriginatedSetup::finish(vi::Return result) {
  stop_t1();
  peer_ = nullptr;
  if (result == vi::Return::NoMatch || result == vi::Return::NotReachable) ask_address_anew();
  Connection& connection = *connection_;
  if (connection.vi()->state() == vi::State::Idle) connection.unbind();
  if (operation_ != nullptr) std::exchange(operation_, nullptr)->done(result);
}

// --- events ------------------------------------------------------------------------------------------------------

template <class E>
void OriginatedSetup::process(const E& event) {
  machine_.process(event, *this);
  settle();
}

void OriginatedSetup::settle() {
  static_assert(fsm::most_pending<co::Def, co::CompleteSuccess, co::CompleteRefused, co::CompleteTimeout,
                                  co::CompleteNotReachable, co::CompleteWithdrawn, co::LeaveWaitingForPeer,
                                  co::RenewLogin, co::AbortExchange, co::Release> <= decltype(outbox_)::capacity);
  outbox_.drain([this](Effect effect) { carry_out(effect); });
  FCVI_ASSERT_CONSISTENT(*this);
}

void OriginatedSetup::carry_out(Effect effect) {
  switch (effect.kind) {
    case Effect::Kind::Finish: return finish(return_of(effect.outcome, refusal_));
    case Effect::Kind::MoveOn: return move_on();
    case Effect::Kind::Leave: return nobody_waits_there();
    case Effect::Kind::RenewLogin: return log_in_again();
    case Effect::Kind::AbortFinished: return process(co::AbortFinished{});
    case Effect::Kind::Release: return release_all();
  }
}

void OriginatedSetup::release_all() {
  if (connection_ != nullptr) std::exchange(connection_, nullptr)->setup_released(*this);
  retire();
}

void OriginatedSetup::retire() {
  services_.scheduler.cancel(login_patience_);
  owner_.retire(*this);
}

/// While the machine is at rest no exchange is open, and nothing waits for one. Who still has a call that waits has its
/// endpoint, too. One port is asked at a time, and it is the one whose login is waited for, or that has the exchange.
bool OriginatedSetup::is_consistent() const {
  const bool rests = !is_at_rest() || (exchange_ == nullptr && !t3_.pending());
  const bool calls = connection_ != nullptr || (peer_ == nullptr && !t1_.pending());
  const bool asks = is_at_rest() || walk_.is_asking();
  return outbox_.empty() && rests && calls && asks && (!login_patience_.pending() || is_logging_in());
}

/// This exchange goes on to its RESP3; the call and the endpoint, still Pending Connect, go to the next port.
void OriginatedSetup::move_on() {
  Connection& connection = *std::exchange(connection_, nullptr);
  connection.detach_setup();
  OriginatedSetup& next = owner_.add_setup(connection, local_, remote_, deadline_, *std::exchange(operation_, nullptr),
                                           std::exchange(peer_, nullptr));
  next.go_on(walk_.continued());
}

/// A process with that address may start, or may have started since the resolver asked.
void OriginatedSetup::ask_address_anew() { services_.resolver.invalidate(remote_.host); }

/// FC-VI 5.3.3: at this port.
void OriginatedSetup::nobody_waits_there() {
  peer_->nobody_waits();
  walk_.another_may_match() ? move_on() : leave();
}

/// FC-VI 5.3.3: nobody waits at any port. The request stays in the pool; what is open here ends without it.
void OriginatedSetup::leave() {
  ask_address_anew();
  SetupListener& peer = *peer_;
  detach();
  peer.search_ended();
}

/// The exchange, if there is one, goes on alone.
void OriginatedSetup::detach() {
  std::exchange(connection_, nullptr)->detach_setup();
  peer_ = nullptr;
  if (is_at_rest()) retire();
}

/// A logout by the peer's own PLOGI is a new login already, and no partition however often it comes.
bool OriginatedSetup::login_renewable() const {
  return services_.port.online() && (!walk_.renewed() || target_logged_in());
}

void OriginatedSetup::log_in_again() {
  walk_.ask_again(!target_logged_in());
  connection_->set_peer_port({});               // nothing of it is lost with the old login
  if (peer_ != nullptr) peer_->nobody_waits();  // may go on without this set-up
  if (is_searching()) try_next_port();
}

void OriginatedSetup::withdraw() {
  if (!is_at_rest()) process(co::SupersededByPeer{});
  detach();
}

void OriginatedSetup::t1_expired() {
  if (!is_at_rest()) return process(co::T1Expired{});
  give_up(vi::Return::Timeout);
}

void OriginatedSetup::t3_expired() {
  failure_ = wire::fcvi::Reason::connection_setup_timeout;  // D.1 rule 2 a, 5.9.7.3.2
  process(co::SetupErrorDetected{});
}

void OriginatedSetup::disconnect_requested() {
  if (co::owns_endpoint(machine_))
    process(co::DisconnectRequested{});
  else if (is_at_rest())
    end(vi::Return::ErrorResource);
}

void OriginatedSetup::disconnect_received() {
  failure_ = {};
  if (machine_.is_any_of<co::AwaitResp1, co::AwaitRetryAbort, co::AwaitResp1Retry>()) process(co::DisconnectReceived{});
}

void OriginatedSetup::endpoint_errored() {
  if (!machine_.processing() && machine_.is<co::AwaitResp3Connected>()) process(co::EndpointErrored{});
}

bool OriginatedSetup::port_logged_out() {
  assert(exchange_ == nullptr);  // it failed with the login
  if (is_at_rest()) return false;
  machine_.process(co::PortLoggedOut{}, *this);
  const bool goes_on = outbox_.contains({Effect::Kind::RenewLogin, {}});
  settle();
  return goes_on;
}

void OriginatedSetup::sequence_received(fc2::Exchange& exchange, const wire::FcHeader& first,
                                        std::span<const std::uint8_t> iu) {
  const auto header = wire::fcvi::DeviceHeader::parse(first.device_header_size(), iu);
  const bool response = header && first.r_ctl == wire::RCtl::solicited_control;  // Table 1
  const bool ours = response && wire::ConnectionId{header->tot_len_or_connection_id} == connection_id_;
  if (ours && header->opcode == Opcode::connect_resp3) return resp3_received(exchange, *header);
  if (ours && header->opcode == Opcode::connect_resp1 && exchange.has_initiative())
    if (const auto resp1 = wire::fcvi::ConnectResp1::from(*header, iu.subspan(header->size())))
      return resp1_received(*resp1);
  services_.discard(ours ? fc2::Discard::UnexpectedIu : fc2::Discard::BadPayload);
  if (exchange.is_open()) return;                                  // T3 covers it
  exchange_failed(exchange, fc2::ExchangeFailure::SequenceError);  // 8.5.2 a: the last sequence, and not a RESP3
}

void OriginatedSetup::resp3_received(fc2::Exchange& exchange, const wire::fcvi::DeviceHeader& header) {
  ++services_.counters.ius_received;
  if (machine_.is_any_of<co::AwaitResp3Connected, co::AwaitResp3Closing>() || !exchange.is_open()) {
    exchange_ = nullptr;
    services_.port.release(exchange);  // the peer may have forgotten Last_Sequence (5.8.4)
  }
  // FC-VI 5.3.3: it confirms a connection by our handle; unassigned, there is none.
  const bool confirms = connection_ != nullptr && header.handle == connection_->handle();
  process(co::Resp3Received{confirms ? verdict_of(wire::fcvi::ConnectResp3::from(header).status)
                                     : co::Verdict::OtherError});
}

void OriginatedSetup::resp1_received(const wire::fcvi::ConnectResp1& resp1) {
  ++services_.counters.ius_received;
  auto verdict = verdict_of(resp1.status);
  const auto attributes = from_wire(resp1.payload.local_attributes);
  const bool usable = resp1.payload.handle != wire::FcviHandle::unassigned && attributes && agrees_with(*attributes);
  if (verdict == co::Verdict::Accept && !usable) verdict = co::Verdict::OtherError;  // accepts, but with nothing to use
  peer_handle_ = resp1.payload.handle;
  peer_attributes_ = resp1.payload.local_attributes;
  walk_.resp1_received(verdict == co::Verdict::NoMatch);
  failure_ = verdict == co::Verdict::TransportError ? std::optional(wire::fcvi::Reason::transport_error) : std::nullopt;
  if (peer_ != nullptr)
    peer_asked(resp1, verdict, attributes);
  else if (machine_.is<co::AwaitResp1Withdrawn>())  // whose request superseded ours still judges by what became of it
    owner_.superseded_resp1_received(number_, arbitrated(resp1.status, verdict), target());
  process(co::Resp1Received{verdict});
}

/// VI-ARCH 4.1, VI-DG 3.3.2: without equal reliability levels and transfer sizes there is no connection, whoever
/// accepts it.
bool OriginatedSetup::agrees_with(const vi::ViAttributes& theirs) const {
  const vi::Vi* vi = connection_ != nullptr ? connection_->vi() : nullptr;  // withdrawn: nothing comes of it anyway
  return vi == nullptr || conflict_between(vi->attributes(), theirs) == vi::Return::Success;
}

/// The arbitration hears of it first: the peer's own request may make the connection instead (FC-VI 5.3.4 b).
void OriginatedSetup::peer_asked(const wire::fcvi::ConnectResp1& resp1, co::Verdict verdict,
                                 const std::optional<vi::ViAttributes>& attributes) {
  assert((machine_.is_any_of<co::AwaitResp1,
                             co::AwaitResp1Retry>()));  // an aborted exchange brings none, nor do we wait behind RESP1
  if (verdict == co::Verdict::Reject && attributes)
    if (const auto conflict = conflict_between(connection_->vi()->attributes(), *attributes);
        conflict != vi::Return::Success)
      refusal_ = conflict;
  peer_->resp1_received(arbitrated(resp1.status, verdict));
}

void OriginatedSetup::exchange_failed(fc2::Exchange&, fc2::ExchangeFailure failure) {
  exchange_ = nullptr;
  failure_ = wire::fcvi::Reason::transport_error;
  if (failure != fc2::ExchangeFailure::PortLoggedOut) process(co::SetupErrorDetected{});
}

void OriginatedSetup::abort_finished() {
  if (!target_logged_in()) return;  // the logout ended it, and says so next: nothing to retry with
  process(co::AbortFinished{});
}

// --- effects -----------------------------------------------------------------------------------------------------

void OriginatedSetup::send_connect_rqst(bool retry) {
  retry_ = retry;
  services_.connection_ids.close(connection_id_);  // of the first try
  connection_id_ = services_.connection_ids.open(services_.now());
  connection_->set_setup_id(connection_id_);
  if (peer_ != nullptr) peer_->request_sent();
  exchange_ = services_.port.originate(target(), wire::Type::fc_vi, *this);
  if (exchange_ == nullptr) return;  // no exchange is free: T3 finds it out
  wire::fcvi::ConnectRqst request;
  request.connection_id = connection_id_;
  request.retry = retry;
  request.mode = peer_ != nullptr ? wire::fcvi::ConnectMode::peer_to_peer : wire::fcvi::ConnectMode::client_server;
  request.payload.handle = connection_->handle();
  request.payload.local_address = to_wire(local_);
  request.payload.remote_address = to_wire(remote_);
  request.payload.local_attributes =
      to_wire(connection_->vi()->attributes(), services_.config.pipeline_depth, connection_->options().preference);
  request.payload.connect_info = discriminator_lengths(local_, remote_);
  std::vector<std::uint8_t> iu(request.size());
  request.write(iu);
  services_.port.send(*exchange_, wire::RCtl::unsolicited_control, std::span(iu).first(32), std::span(iu).subspan(32),
                      {.transfer_initiative = true});
  ++services_.counters.ius_sent;
}

void OriginatedSetup::send_resp2(Resp2 answer) {
  wire::fcvi::ConnectResp2 resp2;
  // FC-VI 5.3.3: unassigned where nothing came of it, whatever a RESP1 that refuses says.
  resp2.handle = answer == Resp2::AcknowledgeRefusal ? wire::FcviHandle::unassigned : peer_handle_;
  resp2.connection_id = connection_id_;
  resp2.retry = retry_;
  if (answer == Resp2::ConnectTimeout) resp2.status = {.reason = wire::fcvi::Reason::connect_timeout};
  std::array<std::uint8_t, 32> bytes;
  resp2.write(bytes);
  services_.port.send(*exchange_, wire::RCtl::solicited_control, bytes, {}, {.transfer_initiative = true});
  ++services_.counters.ius_sent;
}

void OriginatedSetup::stop_t1() { services_.scheduler.cancel(t1_); }
void OriginatedSetup::start_t3() { services_.scheduler.schedule_after(t3_, services_.ulp_timeout()); }
void OriginatedSetup::stop_t3() { services_.scheduler.cancel(t3_); }

void OriginatedSetup::abort_exchange() {
  if (exchange_ != nullptr)
    services_.port.abort_and_report(*std::exchange(exchange_, nullptr), *this);
  else
    outbox_.push({Effect::Kind::AbortFinished, {}});  // it aborted already
}

void OriginatedSetup::quarantine_connection_id() {
  set_setup_error(services_, {ConnectionIds::Originator::Us, connection_id_, target()}, connection_);
}

void OriginatedSetup::allow_send_completions() { connection_->allow_send_completions(); }

void OriginatedSetup::endpoint_connected() {
  operation_->remote_attributes = *from_wire(peer_attributes_);
  connection_->set_peer(peer_handle_, peer_attributes_);
  connection_->feed(ve::SetupSucceeded{});
}

void OriginatedSetup::endpoint_refused() {
  if (!walk_.another_may_match()) connection_->feed(ve::SetupRefused{});
}

void OriginatedSetup::complete_request(ConnectOutcome outcome) {
  if (walk_.another_may_match())
    outbox_.push({Effect::Kind::MoveOn, {}});
  else
    outbox_.push({Effect::Kind::Finish, outcome});
}
void OriginatedSetup::endpoint_timed_out() { connection_->feed(ve::ConnectTimedOut{}); }
void OriginatedSetup::endpoint_retrying() { connection_->endpoint_retrying(); }
void OriginatedSetup::endpoint_failed() {
  connection_->set_setup_failure(failure_);
  connection_->feed(ve::SetupFailed{});
}
void OriginatedSetup::endpoint_lost() {
  ++services_.counters.connections_lost;
  connection_->set_setup_failure(wire::fcvi::Reason::transport_error);  // C.5.9.1
  connection_->feed(ve::ConnectionLost{});
}
void OriginatedSetup::count_stale() { services_.discard(fc2::Discard::UnexpectedIu); }
void OriginatedSetup::on_row(const fsm::Row& row) { services_.fired(row); }
void OriginatedSetup::unexpected(std::string_view, std::string_view, std::string_view) { services_.unexpected(); }

}  // namespace fcvi
