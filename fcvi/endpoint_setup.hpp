// What a connection asks of the Connection Setup, or of the request of the peer pool, that it is for.
#pragma once

namespace fcvi {

/// A Connection Setup that is under way, ours or the peer's.
class EndpointSetup {
 public:
  /// The peer's, which RESP1 accepts: messages may come from then on (FC-VI C.5.5).
  [[nodiscard]] virtual bool is_peers() const = 0;
  /// The VI is to be disconnected, or goes away.
  virtual void disconnect_requested() = 0;
  /// DISCONNECT_RQST with CONN_SETUP_ABORT (FC-VI 5.9.4.6).
  virtual void disconnect_received() = 0;
  /// The endpoint is in Error.
  virtual void endpoint_errored() = 0;
  /// True: the set-up goes on with a new login, and the endpoint with it.
  virtual bool port_logged_out() = 0;
  /// The connection that was set up is over, or there will be none.
  virtual void connection_ended() = 0;

 protected:
  ~EndpointSetup() = default;
};

/// A VipConnectPeerRequest, whose endpoint may have several set-ups one after another, or none.
class EndpointRequest {
 public:
  virtual void disconnect_requested() = 0;

 protected:
  ~EndpointRequest() = default;
};

}  // namespace fcvi
