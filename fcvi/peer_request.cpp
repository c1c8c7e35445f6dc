#include "fcvi/peer_request.hpp"

#include <utility>

#include "fc2_fabric/node/remote_port.hpp"
#include "fcvi/connection.hpp"
#include "fcvi/conversions.hpp"
#include "fcvi/originated_setup.hpp"
#include "fcvi/received_setup.hpp"
#include "state_machines/consistency.hpp"
#include "state_machines/row_effects.hpp"

namespace fcvi {
namespace pa = machines::peer_arbitration;
namespace ve = machines::vi_endpoint;

PeerRequest::PeerRequest(const Services& services, SetupOwner& owner, PeerRequestOwner& pool, Connection& connection,
                         const vi::NetAddress& local, const vi::NetAddress& remote, vi::ConnectOperation& operation)
    : services_(services), owner_(owner), pool_(pool), connection_(connection), local_(local), remote_(remote),
      operation_(operation) {
  connection.set_peer_request(this);
}

PeerRequest::~PeerRequest() = default;

void PeerRequest::start(runtime::TimeNs deadline) {
  if (deadline != runtime::never) services_.scheduler.schedule(t1_, deadline);
  process(pa::SearchDue{});
}

// --- events ------------------------------------------------------------------------------------------------------

template <class E>
void PeerRequest::process(const E& event) {
  machine_.process(event, *this);
  settle();
}

void PeerRequest::settle() {
  static_assert(
      fsm::most_pending<pa::Def, pa::Search, pa::CompleteSuccess, pa::CompleteTimeout, pa::CompleteNotReachable,
                        pa::CompleteConflict, pa::CompleteWithdrawn, pa::CompleteFailure> <=
      decltype(outbox_)::capacity);
  outbox_.drain([this](Effect effect) { carry_out(effect); });
  FCVI_ASSERT_CONSISTENT(*this);
}

void PeerRequest::carry_out(Effect effect) {
  switch (effect.kind) {
    case Effect::Kind::Search: return ask_all_ports();
    case Effect::Kind::Conclude: return conclude(effect.outcome);
  }
}

/// Once it is over nothing is under way. The peer's set-up is known while its request is held or accepted.
bool PeerRequest::is_consistent() const {
  const bool holds = !machine_.is_any_of<pa::Holding, pa::Accepting>() || theirs_ != nullptr;
  const bool ended = !is_over() || (!next_search_.pending() && !t1_.pending());
  return outbox_.empty() && holds && ended;
}

bool PeerRequest::may_match(const wire::fcvi::ConnectRqst& request, wire::FcId source) const {
  const bool own = source == services_.port.n_port_id() && request.payload.handle == connection_.handle();
  return pa::is_free(machine_) && !own && remote_address(request.payload).host == local_.host;  // 4.2
}

void PeerRequest::matched(ReceivedSetup& theirs) {
  theirs_ = &theirs;
  conflict_ = conflict();
  process(pa::RqstMatched{compare_port_names()});
}

void PeerRequest::disconnect_requested() { process(pa::DisconnectRequested{}); }
void PeerRequest::link_lost() { process(pa::LinkLost{}); }
void PeerRequest::time_expired() { process(pa::TimeExpired{}); }
void PeerRequest::search_due() { process(pa::SearchDue{}); }
void PeerRequest::request_sent() { process(pa::RqstSent{}); }
void PeerRequest::nobody_waits() { process(pa::NobodyWaits{.same_port = holds_same_port()}); }

void PeerRequest::search_again() {
  if (machine_.is<pa::Waiting>() && ours_ == nullptr) process(pa::SearchDue{});
}

bool PeerRequest::holds_same_port() const {
  return machine_.is<pa::Holding>() && theirs_->peer_port() == ours_->target();
}

void PeerRequest::resp1_received(pa::Resp1 resp1) {
  process(pa::Resp1Received{.resp1 = resp1, .same_port = holds_same_port()});
}

void PeerRequest::superseded_resp1_received(std::uint64_t setup, pa::Resp1 resp1, wire::FcId port) {
  if (setup != superseded_ || !machine_.is<pa::Accepting>()) return;
  process(pa::Resp1Received{.resp1 = resp1, .same_port = theirs_->peer_port() == port});
}

void PeerRequest::search_ended() {
  ours_ = nullptr;
  process(pa::SearchEnded{});
}

void PeerRequest::request_withdrawn() { process(pa::RqstWithdrawn{}); }
void PeerRequest::acceptance_refused() { process(pa::AcceptRefused{}); }

void PeerRequest::acceptance_done(vi::Return result) {
  if (theirs_ == nullptr) return;  // withdrawn
  remote_attributes = *from_wire(std::exchange(theirs_, nullptr)->request().payload.local_attributes);
  if (result == vi::Return::Success)
    process(pa::AcceptSucceeded{});
  else
    process(pa::AcceptFailed{});
}

void PeerRequest::done(vi::Return result) {
  switch (result) {
    case vi::Return::Reject:
    case vi::Return::InvalidReliabilityLevel:
    case vi::Return::InvalidMtu: conflict_ = result; return process(pa::SetupFailed{PeerOutcome::Refused});
    case vi::Return::Success: return process(pa::SetupSucceeded{});
    default: return process(pa::SetupFailed{PeerOutcome::NotReachable});
  }
}

// --- the search --------------------------------------------------------------------------------------------------

void PeerRequest::ask_all_ports() {
  services_.scheduler.cancel(next_search_);
  OriginatedSetup& setup = owner_.add_setup(connection_, local_, remote_, runtime::never, *this, this);
  setup.start();
  const bool from_memory = ours_ != nullptr && !ours_->is_resolving();
  mapping_is_old_ = from_memory && !std::exchange(again_at_once_, false);
}

/// The peer finds us when it comes; what we do again covers what was lost or not known yet. What the resolver
/// remembered may have been without the peer's port: then at once, and once: of our own address it always knows.
void PeerRequest::schedule_search() {
  again_at_once_ = std::exchange(mapping_is_old_, false);
  services_.scheduler.schedule_after(next_search_, again_at_once_ ? 0 : services_.ulp_timeout());
}

/// FC-VI 5.3.4: between two requests of one N_Port, which share the Port_Name, the FCVI_HANDLEs decide.
PeerRequest::PortNames PeerRequest::compare_port_names() const {
  fc2::NPort& port = services_.port;
  const bool own = theirs_->peer_port() == port.n_port_id();
  const fc2::RemotePort& remote = port.remote_port(theirs_->peer_port());
  const std::uint64_t ours = own ? connection_.handle().value : port.config().port_name.value;
  const std::uint64_t theirs = own ? theirs_->request().payload.handle.value : remote.peer_parameters().port_name.value;
  return ours > theirs ? PortNames::OursHigher : ours < theirs ? PortNames::OursLower : PortNames::Equal;
}

vi::Return PeerRequest::conflict() const {
  return conflict_between(connection_.vi()->attributes(), *from_wire(theirs_->request().payload.local_attributes));
}

bool PeerRequest::attributes_match() const { return conflict_ == vi::Return::Success; }

// --- the end -----------------------------------------------------------------------------------------------------

/// What the call returns where the two do not fit, or the peer does not want it, is `conflict_`.
void PeerRequest::conclude(PeerOutcome outcome) {
  services_.scheduler.cancel(t1_);
  connection_.set_peer_request(nullptr);
  if (connection_.vi() != nullptr && connection_.vi()->state() == vi::State::Idle) connection_.unbind();
  pool_.retire(*this);
  operation_.remote_attributes = remote_attributes;
  switch (outcome) {
    case PeerOutcome::Success: return operation_.done(vi::Return::Success);
    case PeerOutcome::Timeout: return operation_.done(vi::Return::Timeout);
    case PeerOutcome::NotReachable: return operation_.done(vi::Return::NotReachable);
    case PeerOutcome::AttributesConflict:
    case PeerOutcome::Refused: return operation_.done(conflict_);
    case PeerOutcome::Withdrawn: return operation_.done(vi::Return::ErrorResource);
  }
}

// --- effects -----------------------------------------------------------------------------------------------------

void PeerRequest::withdraw_setup() {
  services_.scheduler.cancel(next_search_);
  if (ours_ == nullptr) return;
  superseded_ = ours_->number();
  std::exchange(ours_, nullptr)->withdraw();
}

void PeerRequest::accept_request() { theirs_->accept(connection_, acceptance_); }

void PeerRequest::answer_request(Answer answer) {
  using To = machines::connect_responder::Answer;
  ReceivedSetup& theirs = *std::exchange(theirs_, nullptr);
  switch (answer) {
    case Answer::NoDiscriminatorMatch: return theirs.reject(To::NoDiscriminatorMatch);
    case Answer::ConnectReject: return theirs.reject(To::ConnectReject, connection_.vi());
    case Answer::ConcurrentPeers: return theirs.reject(To::ConcurrentPeers);
    case Answer::ProtocolError: return theirs.reject(To::ProtocolError);
  }
}

void PeerRequest::withdraw_acceptance() { std::exchange(theirs_, nullptr)->disconnect_requested(); }

void PeerRequest::endpoint_timed_out() { connection_.feed(ve::ConnectTimedOut{}); }
void PeerRequest::endpoint_refused() { connection_.feed(ve::SetupRefused{}); }

void PeerRequest::endpoint_failed() {
  if (connection_.is_reliable())
    connection_.feed(ve::SetupFailed{});
  else
    connection_.feed(ve::SetupRefused{});
}

void PeerRequest::endpoint_erred() { connection_.feed(ve::SetupFailed{}); }

void PeerRequest::on_row(const fsm::Row& row) { services_.fired(row); }
void PeerRequest::unexpected(std::string_view, std::string_view, std::string_view) { services_.unexpected(); }

}  // namespace fcvi
