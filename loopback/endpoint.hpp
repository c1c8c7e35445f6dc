// One VI of the loop-back transport: its connection, from the request to the end.
#pragma once
#include <optional>

#include "loopback/message_mover.hpp"
#include "vi/vi.hpp"

namespace loopback {
class Hub;

class Endpoint {
 public:
  Endpoint(Hub& hub, vi::Vi& vi) : hub_(hub), vi_(vi) {}

  /// A call for a connection, until it is answered.
  struct Request {
    vi::NetAddress local, remote;
    vi::ConnectOperation* operation;
    bool peer_to_peer = false;
    vi::ConnectionToken token = {};  // of the offer, if it is one
  };

  // --- calls -------------------------------------------------------------------------------------------------------
  /// Pre: the VI is Idle.
  void connect(const Request& request, vi::TimeNs timeout_ns);
  /// Of an offer: the server's decision.
  void accepted_by(Endpoint& server);
  void rejected() { refuse(vi::Return::Reject); }
  /// The VI is Idle afterwards.
  void disconnect();
  /// The model took the VI to Error.
  void stopped();
  /// The VI goes, in whatever state it is.
  void abandon() { leave({}, {"the peer's VI was destroyed", true}); }

  // --- for the others ---------------------------------------------------------------------------------------------
  vi::Vi& vi() { return vi_; }
  Hub& hub() { return hub_; }
  MessageMover& mover() { return mover_; }
  /// nullptr: not connected.
  [[nodiscard]] Endpoint* peer() const { return peer_; }
  /// Pre: both are in the peer pool (VI-DG 3.3.6).
  [[nodiscard]] bool is_asked_for_by(const Endpoint& other) const;
  /// In the peer pool.
  [[nodiscard]] bool waits_for_peer() const { return request_ && request_->peer_to_peer; }
  /// A Connected VI has a peer, whose peer it is; one that is Pending Connect has a request; others have neither, and
  /// no time runs without a request. An Idle one has no end to tell of. Its mover too. Between calls and events.
  [[nodiscard]] bool is_consistent() const;
  /// Neither can reach the other any more; why, is told of each. Both hear of it by lost().
  void unlink(vi::EndCause here, vi::EndCause at_peer);
  /// To Error, if the VI is still Connected.
  void lost();
  [[nodiscard]] vi::EndCause end_cause() const { return end_cause_; }

 private:
  bool offer_request();
  void look_for_peer();
  void connected(Endpoint& other);
  void time_expired() { refuse(vi::Return::Timeout); }
  void leave(vi::EndCause here, vi::EndCause at_peer);
  /// Without a connection: the VI's state follows from the result.
  void refuse(vi::Return result);
  vi::ConnectOperation& take_operation();

  Hub& hub_;
  vi::Vi& vi_;
  Endpoint* peer_ = nullptr;
  vi::EndCause end_cause_ = {};
  std::optional<Request> request_;  // not answered yet
  MessageMover mover_{*this};
  runtime::Timer<Endpoint, &Endpoint::time_expired> timeout_{*this};
  runtime::Timer<Endpoint, &Endpoint::look_for_peer> search_{*this};
};

}  // namespace loopback
