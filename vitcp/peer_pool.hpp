// The peer pool (VI-DG 6.7): the VipConnectPeerRequests that have no connection yet, and which of them a ConnectRequest
// of a peer is for.
#pragma once
#include <map>

#include "vi/peer_key.hpp"
#include "vitcp/peer_request.hpp"
#include "vitcp/wait_book.hpp"

namespace vitcp {

class PeerPool {
 public:
  explicit PeerPool(WaitBook& waits) : waits_(waits) {}

  void add(PeerRequest& request);
  void remove(const PeerRequest& request);
  /// A ConnectRequest of its peer would be answered by this one, or would not any more.
  void waiting_changed(const PeerRequest& request, bool waits);
  /// The oldest that asks for the host that the ConnectRequest comes from, by the same discriminator (VI-DG 3.3.6: that
  /// of RemoteAddr on both sides; LocalAddr only names). nullptr if there is none.
  [[nodiscard]] PeerRequest* match(const IncomingSetup& theirs) const;
  [[nodiscard]] std::size_t size() const { return requests_.size(); }

 private:
  WaitBook& waits_;
  std::multimap<vi::PeerKey, PeerRequest*> requests_;  // equal ones in order of arrival
};

}  // namespace vitcp
