// The peer pool (VI-DG 6.7): the VipConnectPeerRequests that have no connection yet, and which of them a CONNECT_RQST
// means.
#pragma once
#include <map>
#include <memory>
#include <vector>

#include "fcvi/peer_request.hpp"
#include "vi/peer_key.hpp"

namespace fcvi {

class PeerPool final : public PeerRequestOwner {
 public:
  PeerRequest& add(std::unique_ptr<PeerRequest> request);
  [[nodiscard]] bool anybody_waits() const { return requests_.size() != retired_.size(); }
  /// The oldest request that is free and asks for the host that `request` comes from, by the same discriminator
  /// (VI-DG 3.3.6: that of RemoteAddr on both sides; LocalAddr only names). nullptr if there is none.
  PeerRequest* match(const wire::fcvi::ConnectRqst& request, wire::FcId source);
  void superseded_resp1_received(std::uint64_t setup, machines::peer_arbitration::Resp1 resp1, wire::FcId port);
  void link_lost();
  void fabric_logged_in();
  void retire(const PeerRequest& request) override;
  /// Destroys those that are over.
  void bury();
  /// All requests are, whenever no function of any runs. Linear.
  [[nodiscard]] bool is_consistent() const;

 private:
  std::multimap<vi::PeerKey, std::unique_ptr<PeerRequest>> requests_;  // equal ones in order of arrival
  std::vector<vi::PeerKey> retired_;                                   // of those that are over, each once
};

}  // namespace fcvi
