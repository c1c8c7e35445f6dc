#include "fcvi/received_setup.hpp"

#include <cassert>
#include <new>
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
    : services_(services), owner_(owner), number_(number), course_(std::make_unique<Course>(*this, request)),
      peer_port_(exchange.peer()), peer_handle_(request.payload.handle), connection_id_(request.connection_id),
      mode_(request.mode), retry_(request.retry) {
  take(exchange);
}

ReceivedSetup::~ReceivedSetup() {
  if (course_ != nullptr && course_->exchange != nullptr) services_.port.abort(*course_->exchange);
}

void ReceivedSetup::take(fc2::Exchange& exchange) {
  course_->exchange = &exchange;
  exchange.hand_over(*this);
}

void ReceivedSetup::rest() {
  if (course_ == nullptr || !machine_.is<cr::Connected>()) return;
  assert(course_->exchange == nullptr && !course_->t2.pending());  // RESP3 was the last of it
  try {
    terms_ = RequestTerms(course_->request);
  } catch (const std::bad_alloc&) {
    return;  // it is as right with its course, only larger
  }
  course_.reset();
  FCVI_ASSERT_CONSISTENT(*this);
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
  if (course_ != nullptr && machine_.is<cr::Connected>()) owner_.has_connected(*this);
  FCVI_ASSERT_CONSISTENT(*this);
}

void ReceivedSetup::carry_out(Effect effect) {
  switch (effect.kind) {
    case Effect::Kind::Finish: return finish(effect.outcome);
    case Effect::Kind::Leave: return course_->peer->acceptance_refused();
    case Effect::Kind::Release: return release_all();
  }
}

void ReceivedSetup::finish(AcceptOutcome outcome) {
  if (connection_->vi()->state() == vi::State::Idle) connection_->unbind();
  course_->operation->done(return_of(outcome));
}

/// Its exchange, if one is open, is aborted behind what the application does now (Figure C.5): 8.5.3 d) asks no ABTS.
void ReceivedSetup::release_all() {
  if (connection_ != nullptr) connection_->setup_released(*this);
  owner_.retire(*this);
}

/// What is offered has no endpoint yet, and waits for the application; what is over waits for nothing. Only a
/// connection goes on without what its set-up needed.
bool ReceivedSetup::is_consistent() const {
  if (course_ == nullptr)
    return outbox_.empty() && (is_over() || (machine_.is<cr::Connected>() && connection_ != nullptr));
  const bool offers = !offered() || (connection_ == nullptr && machine_.is_any_of<cr::AwaitDecision, cr::AwaitRetry>());
  const bool accepts = course_->operation == nullptr || connection_ != nullptr || is_peer_to_peer();
  return outbox_.empty() && offers && accepts && (!is_over() || (!offered() && !course_->t2.pending()));
}

// --- events ------------------------------------------------------------------------------------------------------

void ReceivedSetup::matched(vi::ConnectWaitOperation& waiting, const vi::ViAttributes& attributes) {
  process(cr::RqstMatched{});
  waiting.matched(course_->offer, local_address(course_->request.payload), attributes);
}

void ReceivedSetup::matched(SetupListener& request) {
  course_->peer = &request;
  process(cr::RqstMatched{});
  request.matched(*this);
}

void ReceivedSetup::end_offer() {
  if (offered()) owner_.offer_over(std::exchange(course_->offer, {}));
}

void ReceivedSetup::refuse(Answer answer) { process(cr::RqstRefused{answer}); }

void ReceivedSetup::retried(fc2::Exchange& exchange, const wire::fcvi::ConnectRqst& request) {
  if (course_ == nullptr) course_ = std::make_unique<Course>(*this, request);
  const Retry retry{exchange, request};
  course_->retry = &retry;
  process(cr::RqstRetried{});
  course_->retry = nullptr;
}

void ReceivedSetup::accept(Connection& connection, vi::Operation& operation) {
  connection_ = &connection;
  course_->operation = &operation;
  end_offer();
  connection.attach_setup(*this);
  connection.set_setup_id(connection_id_);
  connection.set_peer_port(peer_port_);
  connection.set_peer(peer_handle_, course_->request.payload.local_attributes);
  process(cr::AcceptRequested{});
}

void ReceivedSetup::reject(Answer answer, const vi::Vi* told) {
  end_offer();
  if (told != nullptr)
    course_->told = to_wire(told->attributes(), services_.config.pipeline_depth, owner_.options_of(*told).preference);
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
  if (course_ == nullptr) return terms_.are_of(request);
  const auto &first = course_->request.payload, &again = request.payload;
  return request.mode == mode_ && again.local_address == first.local_address &&
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
  if (offered()) owner_.offer_unreachable(course_->offer);
  assert(course_ == nullptr || course_->exchange == nullptr);  // it failed with the login
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
  const bool ours = resp2 && first.r_ctl == wire::RCtl::solicited_control && resp2->connection_id == connection_id_;
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
  course_->exchange = nullptr;
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
  if (course_->exchange == nullptr) return;  // aborted: T2 ends the wait
  answered_ = true;
  const bool accepted = answer == Answer::Accept;
  wire::fcvi::ConnectResp1 resp1;
  resp1.connection_id = connection_id_;
  resp1.retry = retry_;
  resp1.status = status_of(answer);
  resp1.payload.handle = accepted ? connection_->handle() : wire::FcviHandle::unassigned;  // ruling 3
  resp1.payload.local_address = course_->request.payload.remote_address;
  resp1.payload.remote_address = course_->request.payload.local_address;
  if (course_->told) resp1.payload.local_attributes = *course_->told;
  if (accepted)
    resp1.payload.local_attributes =
        to_wire(connection_->vi()->attributes(), services_.config.pipeline_depth, connection_->options().preference);
  std::vector<std::uint8_t> iu(resp1.size());
  resp1.write(iu);
  services_.port.send(*course_->exchange, wire::RCtl::solicited_control, std::span(iu).first(32),
                      std::span(iu).subspan(32), {.transfer_initiative = true});
  ++services_.counters.ius_sent;
}

void ReceivedSetup::send_resp3(Resp3 result) {
  wire::fcvi::ConnectResp3 resp3;
  resp3.handle = result == Resp3::Confirm ? peer_handle_ : wire::FcviHandle::unassigned;  // FC-VI 5.3.3
  resp3.connection_id = connection_id_;
  resp3.retry = retry_;
  resp3.status = status_of(result == Resp3::ConnectReject ? Answer::ConnectReject : Answer::Accept);
  std::array<std::uint8_t, 32> bytes;
  resp3.write(bytes);
  course_->exchange->hand_over(services_.replies);  // class 2: the ACK may come when this set-up is gone
  services_.port.send(*std::exchange(course_->exchange, nullptr), wire::RCtl::solicited_control, bytes, {},
                      {.last_of_exchange = true});
  ++services_.counters.ius_sent;
}

void ReceivedSetup::adopt_retry() {
  if (course_->exchange != nullptr) services_.port.release(*course_->exchange);
  take(course_->retry->exchange);
  course_->request = course_->retry->request;
  connection_id_ = course_->request.connection_id;
  retry_ = course_->request.retry;
  if (connection_ != nullptr) connection_->set_setup_id(connection_id_);
}

void ReceivedSetup::set_cserr() {
  set_setup_error(services_, {ConnectionIds::Originator::Peer, connection_id_, peer_port_}, connection_);
}

void ReceivedSetup::start_t2() { services_.scheduler.schedule_after(course_->t2, 2 * services_.ulp_timeout()); }
void ReceivedSetup::stop_t2() { services_.scheduler.cancel(course_->t2); }
void ReceivedSetup::abort_exchange() {
  if (course_->exchange != nullptr) services_.port.abort(*std::exchange(course_->exchange, nullptr));
}

void ReceivedSetup::endpoint_accepting() {
  if (!is_peer_to_peer()) connection_->feed(ve::AcceptRequested{});  // a peer's VI is Pending Connect already
  connection_->receive_early();
}

void ReceivedSetup::offer_request() {
  if (course_->peer == nullptr) course_->offer = owner_.offer_made(*this);
}

void ReceivedSetup::withdraw_request() {
  end_offer();
  if (course_->peer != nullptr) course_->peer->request_withdrawn();
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
