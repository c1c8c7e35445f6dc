// Findings of a review, peer to peer: states of peer_arbitration that no test above the machine reaches. Not in CMake.
#include "tests/fcvi/scripted_peer.hpp"

namespace {
using support::Connect;
using support::Done;
using support::Host;
using support::ScriptedPeer;
using vi::Return;
using wire::fcvi::Reason;

class ReviewPeers : public ::testing::Test {
 public:
  ReviewPeers() : fabric(2), host(fabric, 0), peer(fabric, 1) {
    fabric.bring_up();
    fabric.run_until([&] { return host.resolver.ready() && peer.resolver.ready(); });
    fabric.log_in(1, 0);
  }
  ~ReviewPeers() override { fabric.run_for(60 * fc2::second); }
  void TearDown() override {
    EXPECT_EQ(host.port.counters().unexpected_events, 0u);
    EXPECT_EQ(vi == nullptr ? 0u : vi->unexpected_events(), 0u);
  }
  void post(fc2::TimeNs timeout = vi::infinite, vi::ReliabilityLevel level = vi::ReliabilityLevel::ReliableDelivery) {
    vi = &host.make_vi(level);
    peer.attributes = vi->attributes();
    const auto remote = vi::NetAddress::make(peer.address, host.net(discriminator).discriminator_bytes());
    ASSERT_EQ(host.provider.connect_peer_request(*vi, host.net("x"), remote, timeout, call), Return::Success);
    settle();
    ASSERT_TRUE(peer.rqst.has_value());
  }
  void request(bool retry = false) { peer.send_rqst(host.port.n_port_id(), host.address, discriminator, retry), settle(); }
  void settle() { fabric.run_for(100 * fc2::microsecond); }
  void nothing_left() {
    Done done;
    host.provider.disconnect(*vi, done);
    fabric.run_for(120 * fc2::second);
    EXPECT_TRUE(done.result.has_value());
    EXPECT_EQ(host.provider.handles_in_use(), 0u);
    EXPECT_EQ(host.provider.open_setups(), 0u);
  }
  static constexpr std::string_view discriminator = "peers of 16 byte";
  support::TestFabric fabric;
  Connect call;
  Host host;
  ScriptedPeer peer;
  vi::Vi* vi = nullptr;
};

TEST_F(ReviewPeers, holding_peerLogsOut) {
  post(), request();
  peer.port.remote_port(host.port.n_port_id()).log_out(), settle();
  EXPECT_FALSE(call.result.has_value());
  nothing_left();
}
TEST_F(ReviewPeers, holding_disconnect) {
  post(), request();
  Done done;
  host.provider.disconnect(*vi, done), settle();
  EXPECT_TRUE(call.result.has_value());
  ASSERT_TRUE(peer.resp1.has_value());
  nothing_left();
}
TEST_F(ReviewPeers, holding_detached) {
  post(), request();
  host.provider.detach(*vi), settle();
  EXPECT_TRUE(call.result.has_value());
  vi->transport_context = nullptr;
  fabric.run_for(120 * fc2::second);
  EXPECT_EQ(host.provider.handles_in_use(), 0u);
}
TEST_F(ReviewPeers, holding_linkLost) {
  post(), request();
  host.port.log_out_of_fabric(), settle();
  EXPECT_EQ(call.result, Return::NotReachable);
}
TEST_F(ReviewPeers, accepting_linkLost) {
  post();
  peer.send_resp1(Reason::no_waiting_remote_connectionpoint), settle();
  request();  // accepted, RESP2 is to come
  host.port.log_out_of_fabric(), settle();
  EXPECT_EQ(call.result, Return::NotReachable);
}
TEST_F(ReviewPeers, accepting_disconnect) {
  post();
  peer.send_resp1(Reason::no_waiting_remote_connectionpoint), settle();
  request();
  Done done;
  host.provider.disconnect(*vi, done), settle();
  EXPECT_TRUE(call.result.has_value());
  EXPECT_TRUE(done.result.has_value());
  peer.send_resp2(), settle();
  ASSERT_TRUE(peer.resp3.has_value());
  EXPECT_TRUE(peer.resp3->status.has_value());
  nothing_left();
}
TEST_F(ReviewPeers, accepting_detached) {
  post();
  peer.send_resp1(Reason::no_waiting_remote_connectionpoint), settle();
  request();
  host.provider.detach(*vi), settle();
  vi->transport_context = nullptr;
  EXPECT_TRUE(call.result.has_value());
  fabric.run_for(120 * fc2::second);
  EXPECT_EQ(host.provider.handles_in_use(), 0u);
}
TEST_F(ReviewPeers, accepting_peerLogsOut) {
  post();
  peer.send_resp1(Reason::no_waiting_remote_connectionpoint), settle();
  request();
  peer.port.remote_port(host.port.n_port_id()).log_out(), settle();
  nothing_left();
}
// Ruling 68 says Idle; FC-VI 8.5.3 a) 1), 8.5.4 say Error at every level, and so does the code: the ruling is to be mended.
TEST_F(ReviewPeers, unreliable_setupFailsTwice_state) {
  post(vi::infinite, vi::ReliabilityLevel::UnreliableDelivery);
  fabric.run_for(25 * fc2::second);  // never answered, retried, never answered
  EXPECT_EQ(call.result, Return::NotReachable);
  EXPECT_EQ(vi->state(), vi::State::Idle);  // ruling 68
}
// FC-VI C.4 rule 6, VI-DG 6.7 (in the pool until it has timed out), issue 4 item 9 (a new connection succeeds): the held request was
// aborted by its peer, then ours hears "No Waiting Remote Connectionpoint": the aborted one is "accepted" all the same, for T2, and
// the call ends with VIP_NOT_REACHABLE, though the peer asks anew meanwhile.
TEST_F(ReviewPeers, holding_heldIsAborted_isNotAccepted) {
  post(), request();
  peer.abort_rqst(), settle();
  peer.send_resp1(Reason::no_waiting_remote_connectionpoint), settle();
  request();  // a new one, without RETRY
  ASSERT_TRUE(peer.resp1.has_value());
  EXPECT_FALSE(peer.resp1->status.has_value()) << static_cast<int>(peer.resp1->status->reason);
  fabric.run_for(25 * fc2::second);
  EXPECT_NE(call.result, Return::NotReachable);
  EXPECT_NE(vi->state(), vi::State::Error);
}
}  // namespace
