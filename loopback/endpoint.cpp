#include "loopback/endpoint.hpp"

#include <utility>

#include "loopback/hub.hpp"
#include "state_machines/consistency.hpp"
#include "vi/peer_key.hpp"

namespace loopback {
namespace ve = machines::vi_endpoint;

bool Endpoint::is_consistent() const {
  const bool connected = (vi_.state() == vi::State::Connected) == (peer_ != nullptr);
  const bool pending = (vi_.state() == vi::State::ConnectPending) == request_.has_value();
  const bool mutual = peer_ == nullptr || peer_->peer_ == this;
  const bool times = (!timeout_.pending() || request_) && (!search_.pending() || waits_for_peer());
  const bool told = vi_.state() != vi::State::Idle || end_cause_.text.empty();
  return connected && pending && mutual && times && told && mover_.is_consistent();
}

// --- set-ups -----------------------------------------------------------------------------------------------------

/// Of a peer the call itself must return before.
void Endpoint::connect(const Request& request, vi::TimeNs timeout_ns) {
  request_ = request;
  vi_.endpoint_event(ve::ConnectRequested{});
  if (timeout_ns != runtime::never) hub_.scheduler().schedule_after(timeout_, timeout_ns);
  if (request.peer_to_peer) {
    hub_.add_peer(*this);
    return hub_.scheduler().schedule(search_, hub_.scheduler().now());
  }
  if (!hub_.has_host(request.remote.host)) return refuse(vi::Return::NotReachable);
  if (!offer_request()) refuse(vi::Return::NoMatch);
}

/// VI-DG 3.3.1. False: nobody waits for it.
bool Endpoint::offer_request() {
  if (hub_.offers().full()) return false;
  request_->token = hub_.offers().add(*this);  // first: without memory for it the waiter goes on waiting
  vi::ConnectWaitOperation* waiting = hub_.points().take(request_->remote);
  if (waiting == nullptr) return false;  // take_operation() removes the offer
  waiting->matched(request_->token, request_->local, vi_.attributes());
  return true;
}

void Endpoint::accepted_by(Endpoint& server) {
  server.vi_.endpoint_event(ve::AcceptRequested{});
  connected(server);
}

bool Endpoint::is_asked_for_by(const Endpoint& other) const {
  return vi::PeerKey::of(other.request_->remote) == vi::PeerKey::asked_by(request_->local, request_->remote);
}

/// VI-DG 3.3.6, 6.7: two requests that ask for each other meet; whether they fit is the result of both.
void Endpoint::look_for_peer() {
  Endpoint* other = hub_.find_peer(*this);
  if (other == nullptr) return;
  const vi::Return conflict = conflict_between(vi_.attributes(), other->vi_.attributes());
  if (conflict == vi::Return::Success) return connected(*other);
  for (Endpoint* end : {other, this}) end->refuse(conflict);
}

/// Both VIs before either call returns.
void Endpoint::connected(Endpoint& other) {
  peer_ = &other;
  other.peer_ = this;
  for (Endpoint* end : {this, &other}) end->vi_.endpoint_event(ve::SetupSucceeded{});
  for (Endpoint* end : {this, &other})
    if (end->request_)  // the server's call has an operation of its own
      end->take_operation().connected(end->peer_->vi_.attributes());
}

vi::ConnectOperation& Endpoint::take_operation() {
  hub_.scheduler().cancel(timeout_);
  hub_.scheduler().cancel(search_);
  hub_.offers().remove(request_->token);
  if (waits_for_peer()) hub_.remove_peer(*this);
  return *std::exchange(request_, std::nullopt)->operation;
}

void Endpoint::refuse(vi::Return result) {
  vi::ConnectOperation& operation = take_operation();
  vi::end_request(result, is_reliable(vi_.attributes().reliability),
                  [this](const auto& event) { vi_.endpoint_event(event); });
  operation.done(result);
  FCVI_ASSERT_CONSISTENT(*this);
}

// --- the end -----------------------------------------------------------------------------------------------------

void Endpoint::unlink(vi::EndCause here, vi::EndCause at_peer) {
  end_cause_ = here;
  peer_->end_cause_ = at_peer;
  for (Endpoint* end : {peer_, this}) {
    end->mover_.stop();
    end->peer_ = nullptr;
  }
}

void Endpoint::lost() {
  if (vi_.state() == vi::State::Connected) vi_.endpoint_event(ve::ConnectionLost{});
}

void Endpoint::disconnect() {
  leave({}, {"the peer disconnected", true});
  vi_.disconnect();  // the peer is in this process: it has answered
  end_cause_ = {};
}

void Endpoint::stopped() {
  leave({"a descriptor of this VI failed before"}, {"the peer ended the connection: a descriptor failed there"});
}

void Endpoint::leave(vi::EndCause here, vi::EndCause at_peer) {
  if (request_) take_operation().done(vi::Return::ErrorResource);
  if (peer_ == nullptr) return;
  Endpoint& other = *peer_;
  unlink(here, at_peer);
  other.lost();
}

}  // namespace loopback
