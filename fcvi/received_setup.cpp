#include "fcvi/received_setup.hpp"

#include <cassert>
#include <utility>

#include "fcvi/connection.hpp"
#include "fcvi/conversions.hpp"
#include "fcvi/setup_errors.hpp"
#include "state_machines/consistency.hpp"
#include "state_machines/row_effects.hpp"
#include "wire/fcvi/connect_resp1.hpp"
#include "wire/fcvi/connect_resp2.hpp"
#include "wire/fcvi/connect_resp3.hpp"

namespace fcvi {
namespace cr = machines::connect_responder;
namespace ve = machines::vi_endpoint;

static vi::Return return_of(cr::AcceptOutcome outcome) {
  switch (outcome) {
    case cr::AcceptOutcome::Success: return vi::Return::Success;
    case cr::AcceptOutcome::Timeout: return vi::Return::Timeout;
    case cr::AcceptOutcome::NotReachable: return vi::Return::NotReachable;
    case cr::AcceptOutcome::Withdrawn: break;
  }
  return vi::Return::ErrorResource;
}

ReceivedSetup::ReceivedSetup(const Services& services, SetupOwner& owner, std::uint64_t number, fc2::Exchange& exchange,
                             const wire::fcvi::ConnectRqst& request)
    : services_(services), owner_(owner), number_(number), exchange_(&exchange), request_(request),
      peer_port_(exchange.peer()) {
  exchange.hand_over(*this);
}

ReceivedSetup::~ReceivedSetup() {
  if (exchange_ != nullptr) services_.port.abort(*exchange_);
}

template <class E>
void ReceivedSetup::process(const E& event) {
  machine_.process(event, *this);
  settle();
}

void ReceivedSetup::settle() {
  static_assert(fsm::most_pending<cr::Def, cr::CompleteSuccess, cr::CompleteTimeout, cr::CompleteNotReachable,
                                  cr::CompleteWithdrawn, cr::LeaveWaitingForPeer, cr::Release> <=
                decltype(outbox_)::capacity);
  outbox_.drain([this](Effect effect) { carry_out(effect); });
  FCVI_ASSERT_CONSISTENT(*this);
}

void ReceivedSetup::carry_out(Effect effect) {
  switch (effect.kind) {
    case Effect::Kind::Finish: return finish(effect.outcome);
    case Effect::Kind::Leave: return peer_->acceptance_refused();
    case Effect::Kind::Release: return release_all();
  }
}

void ReceivedSetup::finish(AcceptOutcome outcome) {
  if (connection_->vi()->state() == vi::State::Idle) connection_->unbind();
  operation_->done(return_of(outcome));
}

/// Its exchange, if one is open, is aborted behind what the application does now (Figure C.5): 8.5.3 d) asks no ABTS.
void ReceivedSetup::release_all() {
  if (connection_ != nullptr) connection_->setup_released(*this);
  owner_.retire(*this);
}

/// What is offered has no endpoint yet, and waits for the application; what is over waits for nothing.
bool ReceivedSetup::is_consistent() const {
  const bool offers = !offered() || (connection_ == nullptr && machine_.is_any_of<cr::AwaitDecision, cr::AwaitRetry>());
  const bool accepts = operation_ == nullptr || connection_ != nullptr || is_peer_to_peer();
  return outbox_.empty() && offers && accepts && (!is_over() || (!offered() && !t2_.pending()));
}

// --- events ------------------------------------------------------------------------------------------------------

void ReceivedSetup::matched(vi::ConnectWaitOperation& waiting, const vi::ViAttributes& attributes) {
  process(cr::RqstMatched{});
  waiting.matched(offer_, local_address(request_.payload), attributes);
}

void ReceivedSetup::matched(SetupListener& request) {
  peer_ = &request;
  process(cr::RqstMatched{});
  request.matched(*this);
}

void ReceivedSetup::end_offer() {
  if (offered()) owner_.offer_over(std::exchange(offer_, {}));
}

void ReceivedSetup::refuse(Answer answer) { process(cr::RqstRefused{answer}); }

void ReceivedSetup::retried(fc2::Exchange& exchange, const wire::fcvi::ConnectRqst& request) {
  const Retry retry{exchange, request};
  retry_ = &retry;
  process(cr::RqstRetried{});
  retry_ = nullptr;
}

void ReceivedSetup::accept(Connection& connection, vi::Operation& operation) {
  connection_ = &connection;
  operation_ = &operation;
  end_offer();
  connection.attach_setup(*this);
  connection.set_setup_id(request_.connection_id);
  connection.set_peer_port(peer_port_);
  connection.set_peer(request_.payload.handle, request_.payload.local_attributes);
  process(cr::AcceptRequested{});
}

void ReceivedSetup::reject(Answer answer, const vi::Vi* told) {
  end_offer();
  if (told != nullptr)
    told_ = to_wire(told->attributes(), services_.config.pipeline_depth, owner_.options_of(*told).preference);
  process(cr::RejectRequested{answer});
}

void ReceivedSetup::disconnect_requested() {
  if (machine_.is_any_of<cr::AwaitResp2Accepted, cr::AcceptedAwaitRetry>()) process(cr::DisconnectRequested{});
}
/// Lost before RESP2 came, of the set-up or of its retry: what is left of it refuses.
void ReceivedSetup::endpoint_errored() {
  if (!machine_.processing() &&
      machine_.is_any_of<cr::AwaitResp2Accepted, cr::AcceptedAwaitRetry, cr::ConnectedRetry>())
    process(cr::EndpointErrored{});
}
bool ReceivedSetup::awaits_retry() const { return connection_ == nullptr || !connection_->is_stopped(); }
bool ReceivedSetup::has_endpoint() const { return connection_ != nullptr && connection_->vi() != nullptr; }
bool ReceivedSetup::is_retry(const wire::fcvi::ConnectRqst& request) const {
  const auto &first = request_.payload, &again = request.payload;
  return request.mode == request_.mode && again.local_address == first.local_address &&
         again.remote_address == first.remote_address && again.local_attributes == first.local_attributes;
}
void ReceivedSetup::disconnect_received() {
  failure_ = {};
  process(cr::DisconnectReceived{});
}
void ReceivedSetup::connection_ended() {
  if (machine_.is_any_of<cr::Connected, cr::ConnectedRetry>()) process(cr::ConnectionEnded{});
}
bool ReceivedSetup::port_logged_out() {
  if (offered()) owner_.offer_unreachable(offer_);
  assert(exchange_ == nullptr);  // it failed with the login
  process(cr::PortLoggedOut{});
  return false;
}
void ReceivedSetup::t2_expired() {
  failure_ = wire::fcvi::Reason::transport_error;  // "Connection Setup Timeout" is the originator's (5.9.7.3.2)
  process(cr::T2Expired{});
}

void ReceivedSetup::sequence_received(fc2::Exchange& exchange, const wire::FcHeader& first,
                                      std::span<const std::uint8_t> iu) {
  if (is_over()) return services_.discard(Discard::DeadSetup);  // in the instant in which T2 ran out
  const auto resp2 = wire::fcvi::ConnectResp2::parse(first.device_header_size(), iu);
  const bool ours =
      resp2 && first.r_ctl == wire::RCtl::solicited_control && resp2->connection_id == request_.connection_id;
  if (!ours || !exchange.has_initiative()) {
    services_.discard(fc2::Discard::BadPayload);
    if (exchange.is_open()) return;  // T2 covers it
    return exchange_failed(exchange,
                           fc2::ExchangeFailure::SequenceError);  // 8.5.2 a: its last sequence, no RESP3 can go
  }
  ++services_.counters.ius_received;
  const bool accepted = !resp2->status && connection_ != nullptr && resp2->handle == connection_->handle();
  process(cr::Resp2Received{.accepted = accepted});
}

void ReceivedSetup::exchange_failed(fc2::Exchange&, fc2::ExchangeFailure failure) {
  exchange_ = nullptr;
  if (is_over()) return;
  failure_ = wire::fcvi::Reason::transport_error;
  switch (failure) {
    case fc2::ExchangeFailure::AbortedByPeer: return process(cr::AbortedByPeer{});
    case fc2::ExchangeFailure::ReplyTimeout:
    case fc2::ExchangeFailure::SequenceError:
    case fc2::ExchangeFailure::Busy:
    case fc2::ExchangeFailure::Rejected:
    case fc2::ExchangeFailure::AbortDemanded:
    case fc2::ExchangeFailure::NotAcknowledged: return process(cr::ExchangeError{});
    case fc2::ExchangeFailure::PortLoggedOut: break;  // port_logged_out() follows
  }
}

// --- effects -----------------------------------------------------------------------------------------------------

void ReceivedSetup::send_resp1(Answer answer) {
  answer_ = answer;
  if (exchange_ == nullptr) return;  // aborted: T2 ends the wait
  answered_ = true;
  const bool accepted = answer == Answer::Accept;
  wire::fcvi::ConnectResp1 resp1;
  resp1.connection_id = request_.connection_id;
  resp1.retry = request_.retry;
  resp1.status = status_of(answer);
  resp1.payload.handle = accepted ? connection_->handle() : wire::FcviHandle::unassigned;  // ruling 3
  resp1.payload.local_address = request_.payload.remote_address;
  resp1.payload.remote_address = request_.payload.local_address;
  if (told_) resp1.payload.local_attributes = *told_;
  if (accepted)
    resp1.payload.local_attributes =
        to_wire(connection_->vi()->attributes(), services_.config.pipeline_depth, connection_->options().preference);
  std::vector<std::uint8_t> iu(resp1.size());
  resp1.write(iu);
  services_.port.send(*exchange_, wire::RCtl::solicited_control, std::span(iu).first(32), std::span(iu).subspan(32),
                      {.transfer_initiative = true});
  ++services_.counters.ius_sent;
}

void ReceivedSetup::send_resp3(Resp3 result) {
  wire::fcvi::ConnectResp3 resp3;
  resp3.handle = result == Resp3::Confirm ? request_.payload.handle : wire::FcviHandle::unassigned;  // FC-VI 5.3.3
  resp3.connection_id = request_.connection_id;
  resp3.retry = request_.retry;
  resp3.status = status_of(result == Resp3::ConnectReject ? Answer::ConnectReject : Answer::Accept);
  std::array<std::uint8_t, 32> bytes;
  resp3.write(bytes);
  exchange_->hand_over(services_.replies);  // class 2: the ACK may come when this set-up is gone
  services_.port.send(*std::exchange(exchange_, nullptr), wire::RCtl::solicited_control, bytes, {},
                      {.last_of_exchange = true});
  ++services_.counters.ius_sent;
}

void ReceivedSetup::adopt_retry() {
  if (exchange_ != nullptr) services_.port.release(*exchange_);
  exchange_ = &retry_->exchange;
  exchange_->hand_over(*this);
  request_ = retry_->request;
  if (connection_ != nullptr) connection_->set_setup_id(request_.connection_id);
}

void ReceivedSetup::set_cserr() {
  set_setup_error(services_, {ConnectionIds::Originator::Peer, request_.connection_id, peer_port_}, connection_);
}

void ReceivedSetup::start_t2() { services_.scheduler.schedule_after(t2_, 2 * services_.ulp_timeout()); }
void ReceivedSetup::stop_t2() { services_.scheduler.cancel(t2_); }
void ReceivedSetup::abort_exchange() {
  if (exchange_ != nullptr) services_.port.abort(*std::exchange(exchange_, nullptr));
}

void ReceivedSetup::endpoint_accepting() {
  if (!is_peer_to_peer()) connection_->feed(ve::AcceptRequested{});  // a peer's VI is Pending Connect already
  connection_->receive_early();
}

void ReceivedSetup::offer_request() {
  if (peer_ == nullptr) offer_ = owner_.offer_made(*this);
}

void ReceivedSetup::withdraw_request() {
  end_offer();
  if (peer_ != nullptr) peer_->request_withdrawn();
}

void ReceivedSetup::leave_waiting_for_peer() {
  Connection& connection = *std::exchange(connection_, nullptr);
  connection.withdraw_early_reception();
  connection.detach_setup();
  outbox_.push({Effect::Kind::Leave, {}});
}

void ReceivedSetup::endpoint_connected() {
  connection_->feed(ve::SetupSucceeded{});
  connection_->allow_send_completions();
}
void ReceivedSetup::endpoint_refused() { connection_->feed(ve::SetupRefused{}); }
void ReceivedSetup::endpoint_lost() {
  ++services_.counters.connections_lost;
  connection_->set_setup_failure(failure_);
  connection_->feed(ve::ConnectionLost{});
}
void ReceivedSetup::count_stale() { services_.discard(fc2::Discard::UnexpectedIu); }
void ReceivedSetup::on_row(const fsm::Row& row) { services_.fired(row); }
void ReceivedSetup::unexpected(std::string_view, std::string_view, std::string_view) { services_.unexpected(); }

}  // namespace fcvi
