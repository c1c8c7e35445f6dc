// A CONNECT_RQST with RETRY whose connection stands already (FC-VI 8.5.2 c, 8.5.3 d, C.4 rules 6, 9, 10, 12): the
// server is ours, the client made by hand.
#include "fc2_fabric/node/remote_port.hpp"
#include "tests/fcvi/peer_wire_fixture.hpp"

namespace {
using support::Done;
using vi::Return;
using wire::fcvi::Reason;

class RetriedConnection : public support::PeerWire {
 public:
  void connect_server() {
    vi = &host.make_vi(vi::ReliabilityLevel::ReliableDelivery);
    peer.attributes = vi->attributes();
    peer.mode = wire::fcvi::ConnectMode::client_server;
    host.provider.connect_wait(host.net(discriminator), runtime::never, wait);
    request();
    host.provider.connect_accept(wait.token, *vi, accept);
    settle();
    peer.send_resp2(), settle();
    ASSERT_EQ(accept.result, Return::Success);
  }
  void connect_peers() {
    post();
    respond(Reason::no_waiting_remote_connectionpoint);
    request();
    peer.send_resp2(), settle();
    ASSERT_EQ(call.result, Return::Success);
  }
  /// Rule 9: RESP1 as before, but for RETRY.
  void retry() {
    const auto handle = peer.resp1->payload.handle;
    peer.resp1.reset(), peer.resp3.reset();
    request(true);
    ASSERT_TRUE(peer.resp1.has_value());
    EXPECT_TRUE(peer.resp1->retry);
    EXPECT_FALSE(peer.resp1->status.has_value());
    EXPECT_EQ(peer.resp1->payload.handle, handle);
  }
  void confirm(support::ScriptedPeer::Status status = {}) {
    peer.send_resp2(status, true), settle();
    ASSERT_TRUE(peer.resp3.has_value());
    EXPECT_TRUE(peer.resp3->retry);
  }
  void expect_connected() {
    EXPECT_EQ(vi->state(), vi::State::Connected);
    EXPECT_TRUE(host.errors.empty());
  }
  void expect_lost() {
    EXPECT_EQ(vi->state(), vi::State::Error);
    EXPECT_EQ(host.count(vi::ErrorCode::ConnLost), 1);
  }
  /// The peer goes; then nothing is left over.
  void expect_end() {
    peer.port.remote_port(host.port.n_port_id()).log_out();
    fabric.run_for(runtime::second);
    Done done;
    host.provider.disconnect(*vi, done);
    fabric.run_for(60 * runtime::second);
    EXPECT_EQ(done.result, Return::Success);
    EXPECT_EQ(host.provider.handles_in_use(), 0u);
    EXPECT_EQ(host.provider.open_setups(), 0u);
    EXPECT_EQ(host.provider.resting_connection_ids(), 0u);
    EXPECT_EQ(host.port.open_exchanges(), 0u);
  }
  static constexpr runtime::TimeNs t2 = 20 * runtime::second;
  support::Wait wait;
  Done accept;
};

// FC-VI C.4 rules 9, 10, 12: RESP2 comes: RESP3 with RETRY to the same handle; T2 is over with it.
TEST_F(RetriedConnection, confirmed_staysConnected) {
  for (const bool peers : {false, true}) {
    if (peers) peer.mode = wire::fcvi::ConnectMode::peer_to_peer, peer.rqst.reset();
    peers ? connect_peers() : connect_server();
    retry(), retry();
    confirm();
    EXPECT_FALSE(peer.resp3->status.has_value());
    EXPECT_EQ(peer.resp3->handle.value, 0x7000u);
    fabric.run_for(2 * t2);
    expect_connected();
    EXPECT_EQ(host.port.open_exchanges(), 0u);
    expect_end();
    host.errors.clear();
    fabric.log_in(1, 0);
  }
}

// FC-VI C.4 rule 9: a request with RETRY that asks for something else is not the connection's: 21h. It stands, and its
// own retry is still taken for one.
TEST_F(RetriedConnection, otherTerms_isRefused) {
  connect_server();
  const auto accepted = peer.resp1;
  const auto refused = [&](auto& changed, auto value) {
    const auto before = std::exchange(changed, value);
    peer.resp1.reset(), peer.resp3.reset();
    request(true);
    EXPECT_EQ(answered(), Reason::connect_reject_protocol_error);
    peer.send_resp2({}, true), settle();
    changed = before;
  };
  refused(peer.mode, wire::fcvi::ConnectMode::peer_to_peer);
  refused(peer.address, wire::IpAddress::v4(10, 0, 0, 9));
  refused(peer.attributes.max_transfer_size_bytes, peer.attributes.max_transfer_size_bytes - 1);
  expect_connected();
  EXPECT_EQ(host.provider.open_setups(), 1u);
  peer.resp1 = accepted;
  retry();
  confirm();
  expect_connected();
  expect_end();
}

// FC-VI 8.5.2 c), 8.5.3 d), C.4 rule 6 b): it does not come within T2 from the RESP1 that it is to answer: Error and
// VIP_ERROR_CONN_LOST, CSerr for the retry's id.
TEST_F(RetriedConnection, noResp2_isLostAfterT2) {
  connect_server();
  retry();
  fabric.run_for(t2 - runtime::second);
  retry();
  fabric.run_for(t2 - runtime::millisecond);
  expect_connected();
  fabric.run_for(2 * runtime::millisecond);
  expect_lost();
  EXPECT_EQ(host.provider.resting_connection_ids(), 1u);
  EXPECT_EQ(host.provider.open_setups(), 0u);
  expect_end();
}

// FC-VI 8.5.4: the client aborts its retry, and has no other: the same.
TEST_F(RetriedConnection, aborted_isLostAfterT2) {
  connect_server();
  retry();
  peer.abort_rqst(), settle();
  expect_connected();
  fabric.run_for(t2);
  expect_lost();
  expect_end();
}

// FC-VI C.4 rule 6 a): peer to peer the connection stands; what was open of the retry is not.
TEST_F(RetriedConnection, peers_noResp2_staysConnected) {
  connect_peers();
  retry();
  fabric.run_for(t2 - runtime::millisecond);
  EXPECT_NE(peer.ours, nullptr);
  fabric.run_for(2 * runtime::millisecond);
  EXPECT_EQ(peer.ours, nullptr) << "aborted";
  fabric.run_for(30 * runtime::second);
  expect_connected();
  EXPECT_EQ(host.port.open_exchanges(), 0u);
  retry();
  confirm();
  expect_connected();
  expect_end();
}

// FC-VI C.4 rule 6 a): ... the peer has aborted its retry before T2 is over: there is nothing to abort, and
// the connection stands.
TEST_F(RetriedConnection, peers_aborted_staysConnected) {
  connect_peers();
  retry();
  peer.abort_rqst(), settle();
  fabric.run_for(t2 + runtime::millisecond);
  expect_connected();
  EXPECT_EQ(host.port.open_exchanges(), 0u);
  expect_end();
}

// FC-VI C.4 rule 6 a), D.2: ... and what T2 aborted is aborted once: the connection may end while that is under way.
TEST_F(RetriedConnection, peers_noResp2AndDisconnect_leavesNothing) {
  connect_peers();
  retry();
  fabric.run_for(t2 + runtime::millisecond);
  expect_connected();
  Done done;
  host.provider.disconnect(*vi, done), settle();
  peer.port.remote_port(host.port.n_port_id()).log_out(), settle();
  EXPECT_EQ(done.result, Return::Success);
  EXPECT_EQ(host.provider.open_setups(), 0u);
  EXPECT_EQ(host.port.open_exchanges(), 0u);
}

// FC-VI C.5.2, 8.2 d): the client's time ended while it retried: RESP3 confirms that there is no
// connection, here neither.
TEST_F(RetriedConnection, refused_isLost) {
  connect_server();
  retry();
  confirm(Reason::connect_timeout);
  EXPECT_EQ(peer.resp3->handle, wire::FcviHandle::unassigned);
  expect_lost();
  expect_end();
}

// FC-VI 8.2 d): VipDisconnect meanwhile: RESP3 refuses.
TEST_F(RetriedConnection, disconnecting_resp2_isRefused) {
  connect_server();
  retry();
  Done done;
  host.provider.disconnect(*vi, done);
  settle();
  confirm();
  ASSERT_TRUE(peer.resp3->status.has_value());
  EXPECT_EQ(peer.resp3->status->reason, Reason::connect_reject);
  fabric.run_for(60 * runtime::second);
  EXPECT_EQ(done.result, Return::NotReachable);  // this peer answers no DISCONNECT_RQST
  expect_end();
}

// FC-VI 7.7.1, D.2: a logout meanwhile, and the application's Disconnect behind it.
TEST_F(RetriedConnection, logout_endsIt) {
  connect_server();
  retry();
  expect_end();
}
}  // namespace
