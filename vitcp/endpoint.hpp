// One VI of a provider: the set-up that is under way for it, or its connection.
#pragma once
#include <list>

#include "vitcp/connection.hpp"
#include "vitcp/peer_pool.hpp"

namespace vitcp {

/// What outlives an endpoint.
class EndpointOwner {
 public:
  /// Who hears of connections without a VI.
  [[nodiscard]] virtual ConnectionOwner& heir() = 0;
  /// VipConnectPeerRequests that have no connection yet.
  [[nodiscard]] virtual PeerPool& peers() = 0;
  /// A set-up that was accepted is the endpoint's.
  [[nodiscard]] virtual std::unique_ptr<IncomingSetup> release(IncomingSetup& setup) = 0;
  /// Such a connection: it ends in order by itself.
  virtual void take_over(std::unique_ptr<Connection> connection) = 0;
  /// Of the set-ups and connections of endpoints: destroyed later, not from within.
  virtual void bury(std::unique_ptr<ActiveSetup> setup) = 0;
  virtual void bury(std::unique_ptr<PeerRequest> request) = 0;
  virtual void bury(std::unique_ptr<Connection> connection) = 0;

 protected:
  ~EndpointOwner() = default;
};

class Endpoint final : private ActiveSetupOwner, private PeerRequestOwner, private ConnectionOwner {
 public:
  Endpoint(const Services& services, EndpointOwner& owner, vi::Vi& vi) : services_(services), owner_(owner), vi_(vi) {}
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  /// VipConnectRequest, or VipConnectPeerRequest. Pre: the VI is Idle.
  void connect(const ActiveSetup::Request& request, vi::ConnectOperation& operation);
  /// VipConnectAccept: what the set-up made of it. Pre: the VI is Idle.
  void accepted(std::unique_ptr<IncomingSetup> setup, Established established);
  void disconnect(vi::Operation& operation);
  void stopped();
  /// The VI goes, in whatever state it is: calls under way return, and it is not touched any more.
  void abandon();
  /// The process ends: the connection ends in order, and nothing is said to the VI.
  void say_goodbye();
  void send_posted();
  void receive_posted();

  [[nodiscard]] vi::Vi& vi() { return vi_; }
  [[nodiscard]] const vi::Vi& vi() const { return vi_; }
  [[nodiscard]] vi::EndCause end_cause() const {
    return connection_ == nullptr ? end_cause_ : connection_->end_cause();
  }
  [[nodiscard]] bool has_connection() const { return connection_ != nullptr; }
  [[nodiscard]] bool is_consistent() const;

 private:
  void begin_connection(Established established);
  void end_request();
  void fail_request(vi::Return result);
  void restore_attributes();
  void complete_disconnects(vi::Return result);

  // ActiveSetupOwner
  void setup_established(Established established) override;
  void setup_failed(ConnectFailure failure) override;
  // PeerRequestOwner
  void peer_established(Established established) override { setup_established(std::move(established)); }
  void peer_accepted(IncomingSetup& theirs) override;
  void peer_failed(vi::Return result) override;
  // ConnectionOwner
  void connection_left(Connection& connection) override;
  void connection_over(Connection& connection) override;

  const Services& services_;
  EndpointOwner& owner_;
  vi::Vi& vi_;
  vi::ConnectOperation* operation_ = nullptr;  // VipConnectRequest or VipConnectPeerRequest under way
  std::unique_ptr<ActiveSetup> active_;        // of it, and of the connection that it made
  std::unique_ptr<PeerRequest> peer_;          // the same, between peers
  std::unique_ptr<IncomingSetup> incoming_;    // of the connection that it made
  std::unique_ptr<Connection> connection_;
  bool said_goodbye_ = false;                       // the connection is not there any more, and the VI does not know
  std::list<vi::Operation*> disconnects_;           // VipDisconnect calls under way
  std::optional<std::uint32_t> own_transfer_size_;  // while the connection's binds the VI (ruling V-9)
  vi::EndCause end_cause_ = {};                     // of the connection that is gone
};

}  // namespace vitcp
