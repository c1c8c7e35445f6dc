// What has to be the same for two VipConnectPeerRequests to meet.
#pragma once
#include <array>

#include "vi/types.hpp"

namespace vi {

/// Host and discriminator of RemoteAddr: VI-DG 3.3.6 names that of RemoteAddr on both sides, LocalAddr only names.
struct PeerKey {
  wire::IpAddress host;
  std::array<std::uint8_t, NetAddress::max_discriminator_bytes> discriminator;
  friend auto operator<=>(const PeerKey&, const PeerKey&) = default;

  /// Of a request of ours.
  static PeerKey of(const NetAddress& remote) { return {remote.host, remote.discriminator}; }
  /// Of the request of ours that a peer's, with these addresses of its own, asks for.
  static PeerKey asked_by(const NetAddress& local, const NetAddress& remote) {
    return {local.host, remote.discriminator};
  }
};

}  // namespace vi
