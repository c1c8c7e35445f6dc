#include "vitcp/endpoint.hpp"

#include <utility>

#include "state_machines/consistency.hpp"

namespace vitcp {
namespace ve = machines::vi_endpoint;

namespace {

vi::Return return_of(ConnectFailure failure) {
  switch (failure) {
    case ConnectFailure::NoMatch: return vi::Return::NoMatch;
    case ConnectFailure::Reject: return vi::Return::Reject;
    case ConnectFailure::Timeout: return vi::Return::Timeout;
    case ConnectFailure::NotReachable: return vi::Return::NotReachable;
    case ConnectFailure::AttributesConflict: return vi::Return::InvalidReliabilityLevel;
    case ConnectFailure::Withdrawn: break;
  }
  return vi::Return::ErrorResource;
}

}  // namespace

Endpoint::~Endpoint() = default;

bool Endpoint::is_consistent() const {
  const bool pending = vi_.state() == vi::State::ConnectPending;
  const bool connected = vi_.state() == vi::State::Connected;
  return (!pending || operation_ != nullptr) && (operation_ == nullptr || active_ != nullptr) &&
         (!connected || connection_ != nullptr || said_goodbye_) &&
         (disconnects_.empty() || connection_ != nullptr || said_goodbye_) &&
         (connection_ == nullptr || connection_->is_consistent()) && (active_ == nullptr || active_->is_consistent());
}

// --- set-ups -------------------------------------------------------------------------------------------------------

void Endpoint::connect(const ActiveSetup::Request& request, vi::ConnectOperation& operation) {
  operation_ = &operation;
  end_cause_ = {};
  vi_.endpoint_event(ve::ConnectRequested{});
  ActiveSetupOwner& owner = *this;
  active_ = std::make_unique<ActiveSetup>(services_, owner, vi_, request);
  active_->start();
}

void Endpoint::setup_established(Established established) {
  const vi::ViAttributes remote = established.terms.peer;
  begin_connection(std::move(established));
  std::exchange(operation_, nullptr)->connected(remote);
  FCVI_ASSERT_CONSISTENT(*this);
}

/// A VI that left Pending Connect by itself, as by a bad descriptor, stays where it is.
void Endpoint::setup_failed(ConnectFailure failure) {
  const vi::Return result = return_of(failure);
  owner_.bury(std::move(active_));
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
  if (operation_ != nullptr) active_->disconnect();
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
  if (operation_ != nullptr) active_->disconnect();
  if (connection_ != nullptr) connection_->stopped();
}

void Endpoint::say_goodbye() {
  if (connection_ == nullptr) return;
  said_goodbye_ = true;
  connection_->abandon(owner_.heir());
  owner_.take_over(std::move(connection_));
}

void Endpoint::abandon() {
  if (operation_ != nullptr) active_->disconnect();
  say_goodbye();
  complete_disconnects(vi::Return::Success);
}

void Endpoint::complete_disconnects(vi::Return result) {
  for (vi::Operation* operation : std::exchange(disconnects_, {})) operation->done(result);
}

// --- the end of the connection -------------------------------------------------------------------------------------

void Endpoint::connection_left(Connection&) {
  if (active_ != nullptr) active_->connection_ended();
  if (incoming_ != nullptr) incoming_->connection_ended();
}

void Endpoint::connection_over(Connection& connection) {
  end_cause_ = connection.end_cause();
  if (active_ != nullptr) owner_.bury(std::move(active_));
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
