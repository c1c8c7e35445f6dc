#include "vitcp/peer_request.hpp"

#include <tuple>
#include <utility>

#include "state_machines/consistency.hpp"
#include "state_machines/row_effects.hpp"
#include "vitcp/conversions.hpp"
#include "vitcp/peer_pool.hpp"

namespace vitcp {
namespace pr = machines::vitcp_peer;

namespace {

pr::Addresses compare(const wire::IpAddress& ours, const wire::IpAddress& theirs) {
  if (ours == theirs) return pr::Addresses::Equal;
  return theirs < ours ? pr::Addresses::OursHigher : pr::Addresses::OursLower;
}

vi::Return return_of(pr::PeerFailure failure) {
  switch (failure) {
    case pr::PeerFailure::Timeout: return vi::Return::Timeout;
    case pr::PeerFailure::AttributesConflict: return vi::Return::InvalidReliabilityLevel;
    case pr::PeerFailure::Withdrawn: break;
  }
  return vi::Return::ErrorResource;
}

}  // namespace

PeerRequest::PeerRequest(const Services& services, PeerRequestOwner& owner, PeerPool& pool, const vi::Vi& vi,
                         const ActiveSetup::Request& request)
    : services_(services), owner_(owner), pool_(pool), vi_(vi), request_(request) {}

/// We ask as long as it is ours to ask; the time of who waits only is kept here.
bool PeerRequest::is_consistent() const {
  const bool asks = machine_.is_any_of<pr::Asking, pr::Contending, pr::Requesting>();
  return outbox_.empty() && (!asks || ours_ != nullptr) && (machine_.is<pr::Waiting>() || !timeout_.pending()) &&
         (!is_over() || !told_waiting_) && (ours_ == nullptr || ours_->is_consistent());
}

template <class Event>
void PeerRequest::process(const Event& event) {
  machine_.process(event, *this);
  settle();
}

void PeerRequest::settle() {
  static_assert(
      fsm::most_pending<pr::Def, pr::Ask, pr::WithdrawSetup, pr::WithdrawRequest, pr::AcceptRequest, pr::RejectRequest,
                        pr::AnswerNoMatch, pr::FailTimeout, pr::FailConflict, pr::FailWithdrawn> <=
      decltype(outbox_)::capacity);
  tell_waiting();
  outbox_.drain([this](Effect effect) { carry_out(effect); });
  FCVI_ASSERT_CONSISTENT(*this);
}

/// While our own ConnectRequest is out, whoever listens for us could hand it back to us.
void PeerRequest::tell_waiting() {
  const bool waits = machine_.is_any_of<pr::Waiting, pr::Contending>();
  if (waits != std::exchange(told_waiting_, waits)) pool_.waiting_changed(*this, waits);
}

void PeerRequest::carry_out(Effect effect) {
  switch (effect) {
    case Effect::Ask: {
      ActiveSetupOwner& owner = *this;
      ours_ = std::make_unique<ActiveSetup>(services_, owner, vi_, request_);
      return ours_->start();
    }
    case Effect::WithdrawSetup: return ours_->supersede();
    case Effect::WithdrawRequest: return ours_->disconnect();
    case Effect::Accept: return owner_.peer_accepted(*theirs_);
    case Effect::Reject: return theirs_->reject();
    case Effect::AnswerNoMatch: return theirs_->answer_no_match();
    case Effect::Fail: return owner_.peer_failed(return_of(failure_));
  }
}

// --- events --------------------------------------------------------------------------------------------------------

void PeerRequest::start() {
  pool_.add(*this);
  process(pr::RequestPosted{compare(request_.local.host, request_.remote.host)});
}

void PeerRequest::disconnect() { process(pr::DisconnectRequested{}); }
void PeerRequest::time_expired() { process(pr::TimeExpired{}); }
void PeerRequest::request_sent() { process(pr::RequestSent{}); }
void PeerRequest::request_ended() { process(pr::RequestEnded{}); }

void PeerRequest::setup_established(Established established) {
  process(pr::SetupSucceeded{});
  owner_.peer_established(std::move(established));
}

void PeerRequest::setup_failed(ConnectFailure failure) {
  process(pr::SetupFailed{});
  owner_.peer_failed(vitcp::return_of(failure));
}

bool PeerRequest::may_match(const IncomingSetup& theirs) const {
  const bool own = ours_ != nullptr && ours_->stream_address() == theirs.remote();
  return !own && theirs.wanted().host == request_.local.host;
}

void PeerRequest::requested_by(IncomingSetup& theirs) {
  theirs_ = &theirs;
  process(pr::PeerRequested{compare_requests(theirs)});
  theirs_ = nullptr;
}

/// Ruling V-13. It does not matter unless ours is out.
PeerRequest::Requests PeerRequest::compare_requests(const IncomingSetup& theirs) const {
  if (ours_ == nullptr) return Requests::OursLower;
  const auto key = [](const wire::vitcp::Segment& request) {
    return std::make_tuple(request.ce.calling.octets, request.header.message_number.value);
  };
  const auto own = key(ours_->sent()), other = key(theirs.request());
  return own > other ? Requests::OursHigher : own < other ? Requests::OursLower : Requests::Equal;
}

// --- effects -------------------------------------------------------------------------------------------------------

void PeerRequest::start_timeout() {
  if (request_.timeout != runtime::never) services_.scheduler.schedule_after(timeout_, request_.timeout);
}

void PeerRequest::fail_request(PeerFailure failure) {
  failure_ = failure;
  outbox_.push(Effect::Fail);
}

void PeerRequest::leave_pool() { pool_.remove(*this); }

/// VI-TCP 3.3; transfer sizes need not be the same (2.2.1).
bool PeerRequest::attributes_match() const {
  return theirs_->request().ce.level == to_wire(vi_.attributes().reliability);
}

void PeerRequest::unexpected(std::string_view, std::string_view, std::string_view) {
  ++services_.counters.unexpected_events;
}

}  // namespace vitcp
