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

  // --- calls; those that begin a set-up want an Idle VI -----------------------------------------------------------
  void connect(const vi::NetAddress& local, const vi::NetAddress& remote, vi::TimeNs timeout_ns,
               vi::ConnectOperation& operation);
  void connect_peer(const vi::NetAddress& local, const vi::NetAddress& remote, vi::TimeNs timeout_ns,
                    vi::ConnectOperation& operation);
  /// Of an offer: the server's decision.
  void accepted_by(Endpoint& server);
  void rejected() { end_setup(vi::Return::Reject); }
  /// The VI is Idle afterwards.
  void disconnect();
  /// The model took the VI to Error.
  void stopped();
  /// The VI goes, in whatever state it is.
  void abandon() { leave({"the peer's VI was destroyed", true}); }

  // --- for the others ---------------------------------------------------------------------------------------------
  vi::Vi& vi() { return vi_; }
  Hub& hub() { return hub_; }
  MessageMover& mover() { return mover_; }
  /// nullptr: not connected.
  [[nodiscard]] Endpoint* peer() const { return peer_; }
  /// Pre: both are in the peer pool (VI-DG 3.3.6).
  [[nodiscard]] bool is_asked_for_by(const Endpoint& other) const;
  /// In the peer pool.
  [[nodiscard]] bool waits_for_peer() const { return setup_ && setup_->peer_to_peer; }
  /// A Connected VI has a peer, whose peer it is; one that is Pending Connect has a request; others have neither, and
  /// no time runs without a request. Its mover too. Between calls and events.
  [[nodiscard]] bool is_consistent() const;
  /// Neither can reach the other any more; both hear of it by lost().
  void unlink();
  /// To Error, if the VI is still Connected.
  void lost(vi::EndCause cause);
  void set_end_cause(vi::EndCause cause) { end_cause_ = cause; }
  [[nodiscard]] vi::EndCause end_cause() const { return end_cause_; }

 private:
  /// A request that was not answered yet.
  struct Setup {
    vi::NetAddress local, remote;
    vi::ConnectOperation* operation;
    vi::ConnectionToken token = {};  // of the offer, if it is one
    bool peer_to_peer = false;
  };
  void begin_setup(const vi::NetAddress& local, const vi::NetAddress& remote, vi::TimeNs timeout_ns,
                   vi::ConnectOperation& operation, bool peer_to_peer);
  bool offer_request();
  void look_for_peer();
  void meet(Endpoint& other);
  void connected(Endpoint& other);
  void time_expired();
  void leave(vi::EndCause told_to_peer);
  /// Without a connection: the VI's state follows from the result.
  void end_setup(vi::Return result);
  /// The same where the state is settled already.
  void withdraw_setup();
  vi::ConnectOperation& take_setup();

  Hub& hub_;
  vi::Vi& vi_;
  Endpoint* peer_ = nullptr;
  vi::EndCause end_cause_ = {};
  std::optional<Setup> setup_;
  MessageMover mover_{*this};
  runtime::Timer<Endpoint, &Endpoint::time_expired> timeout_{*this};
  runtime::Timer<Endpoint, &Endpoint::look_for_peer> search_{*this};
};

}  // namespace loopback
