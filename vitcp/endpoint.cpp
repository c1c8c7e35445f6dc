#include "vitcp/endpoint.hpp"

#include <cassert>
#include <utility>

#include "state_machines/consistency.hpp"

namespace vitcp {
namespace ve = machines::vi_endpoint;

Endpoint::~Endpoint() = default;

bool Endpoint::is_consistent() const {
  const bool pending = vi_.state() == vi::State::ConnectPending;
  const bool connected = vi_.state() == vi::State::Connected;
  return (!pending || operation_ != nullptr) && (operation_ == nullptr || active_ != nullptr || peer_ != nullptr) &&
         (!connected || connection_ != nullptr || said_goodbye_) &&
         (disconnects_.empty() || connection_ != nullptr || said_goodbye_) &&
         (connection_ == nullptr || connection_->is_consistent()) && (active_ == nullptr || active_->is_consistent()) &&
         (peer_ == nullptr || peer_->is_consistent());
}

// --- set-ups -------------------------------------------------------------------------------------------------------

void Endpoint::connect(const ActiveSetup::Request& request, vi::ConnectOperation& operation) {
  operation_ = &operation;
  end_cause_ = {};
  vi_.endpoint_event(ve::ConnectRequested{});
  if (request.peer_to_peer) {
    PeerRequestOwner& owner = *this;
    peer_ = std::make_unique<PeerRequest>(services_, owner, owner_.peers(), vi_, request);
    return peer_->start();
  }
  ActiveSetupOwner& owner = *this;
  active_ = std::make_unique<ActiveSetup>(services_, owner, vi_, request);
  active_->start();
}

/// VipDisconnect, or what the model found, comes before its outcome: the call returns.
void Endpoint::end_request() {
  if (operation_ != nullptr) peer_ != nullptr ? peer_->disconnect() : active_->disconnect();
}

void Endpoint::setup_established(Established established) {
  const vi::ViAttributes remote = established.terms.peer;
  begin_connection(std::move(established));
  std::exchange(operation_, nullptr)->connected(remote);
  FCVI_ASSERT_CONSISTENT(*this);
}

void Endpoint::setup_failed(ConnectFailure failure) {
  owner_.bury(std::move(active_));
  fail_request(return_of(failure));
}

void Endpoint::peer_failed(vi::Return result) {
  owner_.bury(std::move(peer_));
  fail_request(result);
}

void Endpoint::peer_accepted(IncomingSetup& theirs) {
  Established established;
  [[maybe_unused]] const vi::Return result = theirs.accept(vi_, established);
  assert(result == vi::Return::Success && "its level is right");
  incoming_ = owner_.release(theirs);
  owner_.bury(std::move(peer_));
  setup_established(std::move(established));
}

/// A VI that left Pending Connect by itself, as by a bad descriptor, stays where it is.
void Endpoint::fail_request(vi::Return result) {
  if (vi_.state() == vi::State::ConnectPending)
    vi::end_request(result, is_reliable(vi_.attributes().reliability),
                    [this](const auto& event) { vi_.endpoint_event(event); });
  std::exchange(operation_, nullptr)->done(result);
  FCVI_ASSERT_CONSISTENT(*this);
}

void Endpoint::accepted(std::unique_ptr<IncomingSetup> setup, Established established) {
  incoming_ = std::move(setup);
  end_cause_ = {};
  vi_.endpoint_event(ve::AcceptRequested{});
  begin_connection(std::move(established));
  FCVI_ASSERT_CONSISTENT(*this);
}

/// The smaller MaxTransferSize binds the VI as long as it is connected (VI-TCP 2.2.1, ruling V-9).
void Endpoint::begin_connection(Established established) {
  own_transfer_size_ = vi_.attributes().max_transfer_size_bytes;
  vi_.set_max_transfer_size(established.terms.mtu_bytes);
  ConnectionOwner& owner = *this;
  connection_ = std::make_unique<Connection>(services_, owner, vi_, std::move(established));
  vi_.endpoint_event(ve::SetupSucceeded{});
  connection_->start();
}

void Endpoint::restore_attributes() {
  if (own_transfer_size_) vi_.set_max_transfer_size(*std::exchange(own_transfer_size_, std::nullopt));
}

// --- calls ---------------------------------------------------------------------------------------------------------

void Endpoint::send_posted() {
  if (connection_ != nullptr) connection_->send_posted();
}

void Endpoint::receive_posted() {
  if (connection_ != nullptr) connection_->receive_posted();
}

/// VI-DG 3.3.5: in any state. With a connection the call returns when its stream is gone (ruling V-17).
void Endpoint::disconnect(vi::Operation& operation) {
  end_request();
  if (connection_ == nullptr) {
    vi_.disconnect();
    restore_attributes();
    end_cause_ = {};
    return operation.done(vi::Return::Success);
  }
  disconnects_.push_back(&operation);
  vi_.endpoint_event(ve::DisconnectRequested{});
  connection_->disconnect();
  FCVI_ASSERT_CONSISTENT(*this);
}

void Endpoint::stopped() {
  end_request();
  if (connection_ != nullptr) connection_->stopped();
}

void Endpoint::say_goodbye() {
  if (connection_ == nullptr) return;
  said_goodbye_ = true;
  connection_->abandon(owner_.heir());
  owner_.take_over(std::move(connection_));
}

void Endpoint::abandon() {
  end_request();
  say_goodbye();
  complete_disconnects(vi::Return::Success);
}

void Endpoint::complete_disconnects(vi::Return result) {
  for (vi::Operation* operation : std::exchange(disconnects_, {})) operation->done(result);
}

// --- the end of the connection -------------------------------------------------------------------------------------

void Endpoint::connection_left(Connection&) {
  if (active_ != nullptr) active_->connection_ended();
  if (peer_ != nullptr) peer_->connection_ended();
  if (incoming_ != nullptr) incoming_->connection_ended();
}

void Endpoint::connection_over(Connection& connection) {
  end_cause_ = connection.end_cause();
  if (active_ != nullptr) owner_.bury(std::move(active_));
  if (peer_ != nullptr) owner_.bury(std::move(peer_));
  incoming_.reset();
  owner_.bury(std::move(connection_));
  if (disconnects_.empty()) return;
  vi_.endpoint_event(ve::DisconnectAnswered{});
  restore_attributes();
  end_cause_ = {};
  complete_disconnects(vi::Return::Success);
  FCVI_ASSERT_CONSISTENT(*this);
}

}  // namespace vitcp
