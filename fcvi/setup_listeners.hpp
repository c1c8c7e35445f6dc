// What a Connection Setup tells those above it: the request of the peer pool that it is for, and the book that owns it.
#pragma once
#include <cstdint>

#include "fcvi/configuration.hpp"
#include "state_machines/peer_arbitration.hpp"
#include "vi/transport.hpp"
#include "wire/types.hpp"

namespace fcvi {
class Connection;
class OriginatedSetup;
class ReceivedSetup;

/// Peer to peer (FC-VI 5.3.3, 5.3.4): the VipConnectPeerRequest of both kinds of set-up.
class SetupListener {
 public:
  // --- of ours ---------------------------------------------------------------------------------------------------
  /// From here on `setup` acts for the endpoint.
  virtual void set_up_by(OriginatedSetup& setup) = 0;
  virtual void request_sent() = 0;
  virtual void resp1_received(machines::peer_arbitration::Resp1 resp1) = 0;
  /// At the port that was asked.
  virtual void nobody_waits() = 0;
  /// At no port; the set-up acts for the endpoint no more.
  virtual void search_ended() = 0;
  // --- of the peer's ---------------------------------------------------------------------------------------------
  /// Decides, now or later, by accept() or reject().
  virtual void matched(ReceivedSetup& theirs) = 0;
  virtual void request_withdrawn() = 0;
  virtual void acceptance_refused() = 0;

 protected:
  ~SetupListener() = default;
};

/// Who owns all set-ups of a port.
class SetupOwner {
 public:
  /// A set-up of `connection`, which is Pending Connect, that was not started. `peer` is nullptr for VipConnectRequest.
  virtual OriginatedSetup& add_setup(Connection& connection, const vi::NetAddress& local, const vi::NetAddress& remote,
                                     runtime::TimeNs deadline, vi::ConnectOperation& operation,
                                     SetupListener* peer) = 0;
  /// Every set-up that waits for this address hears of it.
  virtual void resolve(const wire::IpAddress& host) = 0;
  /// To the set-up of that number, which the peer's request superseded, from `port`.
  virtual void superseded_resp1_received(std::uint64_t setup, machines::peer_arbitration::Resp1 resp1,
                                         wire::FcId port) = 0;
  /// A request is offered to the application until it is decided or withdrawn: the token that names it meanwhile.
  virtual vi::ConnectionToken offer_made(ReceivedSetup& setup) = 0;
  virtual void offer_over(vi::ConnectionToken token) = 0;
  /// Its client's port was logged out while the request was offered: who answers it learns that (VI-DG 3.3.2, 3.3.3).
  virtual void offer_unreachable(vi::ConnectionToken token) = 0;
  /// Of the VI's next connection.
  [[nodiscard]] virtual ConnectionOptions options_of(const vi::Vi& vi) const = 0;
  /// It is not under way any more, and rests as soon as nothing of it runs.
  virtual void has_connected(ReceivedSetup& setup) = 0;
  /// They are over; bury_soon() destroys them.
  virtual void retire(OriginatedSetup& setup) = 0;
  virtual void retire(ReceivedSetup& setup) = 0;

 protected:
  ~SetupOwner() = default;
};

}  // namespace fcvi
