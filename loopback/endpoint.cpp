#include "loopback/endpoint.hpp"

#include <utility>

#include "loopback/hub.hpp"
#include "state_machines/consistency.hpp"
#include "vi/peer_key.hpp"

namespace loopback {
namespace ve = machines::vi_endpoint;

bool Endpoint::is_consistent() const {
  const bool connected = (vi_.state() == vi::State::Connected) == (peer_ != nullptr);
  const bool pending = (vi_.state() == vi::State::ConnectPending) == setup_.has_value();
  const bool mutual = peer_ == nullptr || peer_->peer_ == this;
  const bool times = (!timeout_.pending() || setup_) && (!search_.pending() || waits_for_peer());
  return connected && pending && mutual && times && mover_.is_consistent();
}

// --- set-ups -----------------------------------------------------------------------------------------------------

void Endpoint::begin_setup(const vi::NetAddress& local, const vi::NetAddress& remote, vi::TimeNs timeout_ns,
                           vi::ConnectOperation& operation, bool peer_to_peer) {
  end_cause_ = {};
  setup_ = Setup{.local = local, .remote = remote, .operation = &operation, .peer_to_peer = peer_to_peer};
  vi_.endpoint_event(ve::ConnectRequested{});
  if (timeout_ns != runtime::never) hub_.scheduler().schedule_after(timeout_, timeout_ns);
}

void Endpoint::connect(const vi::NetAddress& local, const vi::NetAddress& remote, vi::TimeNs timeout_ns,
                       vi::ConnectOperation& operation) {
  begin_setup(local, remote, timeout_ns, operation, false);
  if (!hub_.has_host(remote.host)) return end_setup(vi::Return::NotReachable);
  if (!offer_request()) end_setup(vi::Return::NoMatch);
}

/// VI-DG 3.3.1. False: nobody waits for it.
bool Endpoint::offer_request() {
  if (hub_.offers().full()) return false;
  setup_->token = hub_.offers().add(*this);  // first: without memory for it the waiter goes on waiting
  vi::ConnectWaitOperation* waiting = hub_.points().take(setup_->remote);
  if (waiting == nullptr) return false;  // take_setup() removes the offer
  waiting->remote_address = setup_->local;
  waiting->remote_attributes = vi_.attributes();
  waiting->remote_attributes.ptag = {};  // a tag means something to its own NIC only
  waiting->token = setup_->token;
  waiting->done(vi::Return::Success);
  return true;
}

void Endpoint::accepted_by(Endpoint& server) {
  server.end_cause_ = {};
  server.vi_.endpoint_event(ve::AcceptRequested{});
  connected(server);
}

void Endpoint::connect_peer(const vi::NetAddress& local, const vi::NetAddress& remote, vi::TimeNs timeout_ns,
                            vi::ConnectOperation& operation) {
  begin_setup(local, remote, timeout_ns, operation, true);
  hub_.add_peer(*this);
  hub_.scheduler().schedule(search_, hub_.scheduler().now());  // the call itself must return before
}

bool Endpoint::is_asked_for_by(const Endpoint& other) const {
  return vi::PeerKey::of(other.setup_->remote) == vi::PeerKey::asked_by(setup_->local, setup_->remote);
}

void Endpoint::look_for_peer() {
  if (Endpoint* other = hub_.find_peer(*this)) meet(*other);
  FCVI_ASSERT_CONSISTENT(*this);
}

/// VI-DG 3.3.6, 6.7: two requests that ask for each other meet; whether they fit is the result of both.
void Endpoint::meet(Endpoint& other) {
  const vi::Return conflict = conflict_between(vi_.attributes(), other.vi_.attributes());
  if (conflict == vi::Return::Success) return connected(other);
  other.end_setup(conflict);
  end_setup(conflict);
}

/// Both VIs before either call returns.
void Endpoint::connected(Endpoint& other) {
  peer_ = &other;
  other.peer_ = this;
  for (Endpoint* end : {this, &other}) end->vi_.endpoint_event(ve::SetupSucceeded{});
  for (Endpoint* end : {this, &other}) {
    if (!end->setup_) continue;  // the server's call has an operation of its own
    vi::ConnectOperation& operation = end->take_setup();
    operation.remote_attributes = end->peer_->vi_.attributes();
    operation.remote_attributes.ptag = {};
    operation.done(vi::Return::Success);
  }
}

vi::ConnectOperation& Endpoint::take_setup() {
  hub_.scheduler().cancel(timeout_);
  hub_.scheduler().cancel(search_);
  hub_.offers().remove(setup_->token);
  if (setup_->peer_to_peer) hub_.remove_peer(*this);
  vi::ConnectOperation& operation = *setup_->operation;
  setup_.reset();
  return operation;
}

void Endpoint::end_setup(vi::Return result) {
  vi::ConnectOperation& operation = take_setup();
  if (result == vi::Return::Timeout)
    vi_.endpoint_event(ve::ConnectTimedOut{});
  else if (result == vi::Return::NotReachable && is_reliable(vi_.attributes().reliability))
    vi_.endpoint_event(ve::SetupFailed{});  // VI-DG 3.3.4
  else
    vi_.endpoint_event(ve::SetupRefused{});
  operation.done(result);
}

void Endpoint::time_expired() {
  end_setup(vi::Return::Timeout);
  FCVI_ASSERT_CONSISTENT(*this);
}

void Endpoint::withdraw_setup() {
  if (setup_) take_setup().done(vi::Return::ErrorResource);
}

// --- the end -----------------------------------------------------------------------------------------------------

void Endpoint::unlink() {
  for (Endpoint* end : {peer_, this}) {
    end->mover_.stop();
    end->peer_ = nullptr;
  }
}

void Endpoint::lost(vi::EndCause cause) {
  if (vi_.state() != vi::State::Connected) return;
  if (end_cause_.text.empty()) end_cause_ = cause;
  vi_.endpoint_event(ve::ConnectionLost{});
}

void Endpoint::disconnect() {
  withdraw_setup();
  Endpoint* other = peer_;
  if (other != nullptr) unlink();
  // The peer is in this process: it has answered.
  if (vi_.endpoint_event(ve::DisconnectRequested{}).disconnect_requested) vi_.endpoint_event(ve::DisconnectAnswered{});
  end_cause_ = {};
  if (other != nullptr) other->lost({"the peer disconnected", true});
}

void Endpoint::stopped() {
  if (peer_ != nullptr && end_cause_.text.empty()) end_cause_ = {"a descriptor of this VI failed before"};
  leave({"the peer ended the connection: a descriptor failed there"});
}

void Endpoint::leave(vi::EndCause told_to_peer) {
  withdraw_setup();
  if (peer_ == nullptr) return;
  Endpoint& other = *peer_;
  unlink();
  other.lost(told_to_peer);
}

}  // namespace loopback
