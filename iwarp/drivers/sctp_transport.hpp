// RDMA over SCTP for the streams of a host: its associations, and their sessions.
#pragma once
#include "iwarp/drivers/host.hpp"
#include "iwarp/drivers/udp_associations.hpp"
#include "iwarp/sctp_peers.hpp"

namespace iwarp::drivers {

class SctpTransport {
 public:
  /// Inside. All outlive it; time-outs of all sessions are `config`'s.
  SctpTransport(Host& host, const Config& config)
      : host_(host), services_(host.services(config)), associations_(host.sockets(), host.scheduler()) {}

  /// Inside.
  [[nodiscard]] SctpPeers& peers() { return peers_; }
  /// Outside, when the process ends, whose system does not go on for it: associations end in order, within 2 s, so that
  /// what was sent arrives. The host's streams are not used any more.
  void finish();
  /// In the child of a fork(), inside.
  void abandon_in_child() { associations_.abandon_in_child(); }

 private:
  [[nodiscard]] bool end_all();
  [[nodiscard]] bool is_over();

  Host& host_;
  const Services services_;
  UdpAssociations associations_;
  SctpPeers peers_{services_, associations_};
};

}  // namespace iwarp::drivers
