// Peer-to-peer requests that end, or are decided, while something else is under way (FC-VI 5.3.3, 5.3.4, 7.7.1, 8.2 c), C.3, C.4;
// VI-DG 3.3.6, 6.7).
#include "tests/fcvi/peer_wire_fixture.hpp"
#include "tests/fcvi/setup_faults.hpp"
#include "wire/fcvi/disconnect_rqst.hpp"

namespace {
using support::Done;
using support::PeerWireHigher;
using support::ScriptedPeer;
using vi::Return;
using wire::fcvi::Reason;
constexpr auto s = fc2::second;

class PeerEnd : public support::PeerWire {
 public:
  Return disconnect() {
    Done done;
    host.provider.disconnect(*vi, done);
    settle();
    EXPECT_TRUE(done.result.has_value());
    return done.result.value_or(Return::NotDone);
  }
  void hold() {
    post();
    request();
    EXPECT_FALSE(peer.resp1.has_value());
  }
};

// VI-DG 3.3.6: the Timeout while only our request is out: its RESP1 comes too late, and hears so.
TEST_F(PeerEnd, requesting_timeExpires_isTimeout) {
  post(s);
  fabric.run_for(s);
  EXPECT_EQ(call.result, Return::Timeout);
  EXPECT_EQ(vi->state(), vi::State::Idle);
  respond({});
  EXPECT_EQ(peer.resp2->status->reason, Reason::connect_timeout);
}

// FC-VI 5.3.3, 8.2 c): our retry hears that nobody waits yet: the wait goes on, and the peer's request makes the connection.
TEST_F(PeerEnd, retried_noMatch_waitsOn) {
  post();
  fabric.run_for(10500 * fc2::millisecond);
  ASSERT_EQ(peer.rqsts, 2);
  EXPECT_TRUE(peer.rqst->retry);
  respond(Reason::no_waiting_remote_connectionpoint);
  EXPECT_EQ(peer.resp2->handle, wire::FcviHandle::unassigned);
  EXPECT_FALSE(call.result.has_value());
  request();
  EXPECT_EQ(answered(), std::nullopt);
  peer.send_resp2(), settle();
  EXPECT_EQ(call.result, Return::Success);
}

// FC-VI 8.2 c), VI-DG 3.3.6: the Timeout during our retry.
TEST_F(PeerEnd, retried_timeExpires_isTimeout) {
  post(15 * s);
  fabric.run_for(15 * s);
  ASSERT_EQ(peer.rqsts, 2);
  EXPECT_EQ(call.result, Return::Timeout);
  EXPECT_EQ(vi->state(), vi::State::Idle);
}

// VI-DG 6.7: the request that is held has other attributes, and nobody waited for ours: Connect Reject, and both hear why.
TEST_F(PeerEnd, holding_attributesConflict_isRejected) {
  for (const Reason nobody : {Reason::no_discriminator_match, Reason::no_waiting_remote_connectionpoint}) {
    call.result.reset(), peer.resp1.reset();
    post();
    peer.attributes.max_transfer_size_bytes = vi->attributes().max_transfer_size_bytes / 2;
    request();
    EXPECT_FALSE(peer.resp1.has_value());
    respond(nobody);
    EXPECT_EQ(answered(), Reason::connect_reject);
    EXPECT_EQ(call.result, Return::InvalidMtu);
    EXPECT_EQ(vi->state(), vi::State::Idle);
    peer.send_resp2(), settle();
  }
}

// FC-VI 5.9.4.6, C.4 rule 6: the peer takes back the request that we hold: ours goes on alone.
TEST_F(PeerEnd, holding_heldIsTakenBack_oursGoesOn) {
  hold();
  peer.abort_setup(host.port.n_port_id()), settle();
  EXPECT_EQ(peer.disconnect_reason, Reason::disconnect_accept);
  EXPECT_FALSE(call.result.has_value());
  respond(Reason::no_waiting_remote_connectionpoint);
  EXPECT_FALSE(call.result.has_value());  // there is none that could be accepted
  request();
  EXPECT_EQ(answered(), std::nullopt);
  peer.send_resp2(), settle();
  EXPECT_EQ(call.result, Return::Success);
}

// FC-VI C.3 rule 4, 8.2 c): nobody answers our retry either: Error; the peer hears that nobody matches, and may wait on.
TEST_F(PeerEnd, holding_retryUnanswered_isNotReachable) {
  hold();
  fabric.run_for(19 * s);
  EXPECT_FALSE(peer.resp1.has_value());
  fabric.run_for(2 * s);
  EXPECT_EQ(call.result, Return::NotReachable);
  EXPECT_EQ(vi->state(), vi::State::Error);
  EXPECT_EQ(answered(), Reason::no_discriminator_match);
}

// VI-ARCH 5.2, VI-DG 3.3.5: VipDisconnect while a request is held: Idle; the peer hears that nobody matches.
TEST_F(PeerEnd, holding_disconnect_isIdle) {
  hold();
  EXPECT_EQ(disconnect(), Return::Success);
  EXPECT_EQ(call.result, Return::ErrorResource);
  EXPECT_EQ(vi->state(), vi::State::Idle);
  EXPECT_EQ(answered(), Reason::no_discriminator_match);
  respond({});
  EXPECT_EQ(peer.resp2->status->reason, Reason::connect_timeout);
}

// FC-VI 7.7.1: the peer logs out, and the request that we hold is gone with the login; we log in again and ask once more.
TEST_F(PeerEnd, holding_peerLogsOut_asksAgain) {
  hold();
  peer.port.remote_port(host.port.n_port_id()).log_out(), settle();
  EXPECT_FALSE(call.result.has_value());
  ASSERT_EQ(peer.rqsts, 2);
  respond({});
  EXPECT_EQ(call.result, Return::Success);
  EXPECT_FALSE(peer.resp1.has_value());
}

// VI-ARCH 5.2: VipDisconnect when the peer's request is accepted: Idle; its RESP2 is refused in RESP3.
TEST_F(PeerEnd, accepting_disconnect_resp3Refuses) {
  post();
  respond(Reason::no_waiting_remote_connectionpoint);
  request();
  EXPECT_EQ(answered(), std::nullopt);
  EXPECT_EQ(disconnect(), Return::Success);
  EXPECT_EQ(call.result, Return::ErrorResource);
  EXPECT_EQ(vi->state(), vi::State::Idle);
  peer.send_resp2(), settle();
  EXPECT_EQ(peer.resp3->status->reason, Reason::connect_reject);
}

// --- the higher Port_Name, whose own request is retried (C.4 rule 6 a) -------------------------------------------

class PeerEndHigher : public PeerWireHigher {
 public:
  ~PeerEndHigher() override { fabric.fabric.set_fault(host.port, nullptr); }
  support::IuFaults faults{fabric.pool};
};

// FC-VI 5.3.4 a), C.5.5: the peer's request comes during our retry, and is accepted; the connection stands whatever becomes of it.
TEST_F(PeerEndHigher, retried_matchingRqst_isAccepted) {
  post();
  fabric.run_for(10500 * fc2::millisecond);
  ASSERT_EQ(peer.rqsts, 2);
  request();
  EXPECT_EQ(answered(), std::nullopt);
  peer.send_resp2(), settle();
  EXPECT_EQ(call.result, Return::Success);
  fabric.run_for(60 * s);
  EXPECT_EQ(vi->state(), vi::State::Connected);
}

// FC-VI C.5.2: ... and where that peer's time is over before RESP2 ours waits on, and asks again.
TEST_F(PeerEndHigher, retried_acceptedPeerTimedOut_waitsOn) {
  post();
  fabric.run_for(10500 * fc2::millisecond);
  request();
  peer.send_resp2(Reason::connect_timeout), settle();
  EXPECT_FALSE(call.result.has_value());
  EXPECT_EQ(vi->state(), vi::State::ConnectPending);
  EXPECT_EQ(peer.rqsts, 3);
  respond({});
  EXPECT_EQ(call.result, Return::Success);
}

// FC-VI 8.2 c), C.4 rule 6 b): ... and where RESP2 never comes ours is in Error.
TEST_F(PeerEndHigher, retried_acceptedPeerIsSilent_isNotReachable) {
  post();
  fabric.run_for(10500 * fc2::millisecond);
  request();
  fabric.run_for(19 * s);
  EXPECT_FALSE(call.result.has_value());
  fabric.run_for(2 * s);
  EXPECT_EQ(call.result, Return::NotReachable);
  EXPECT_EQ(vi->state(), vi::State::Error);
}

// FC-VI 5.3.4 a), C.4 rule 6 a): ... while the first try is still being aborted: then there is no retry.
TEST_F(PeerEndHigher, retryAborting_matchingRqst_isAccepted) {
  fabric.fabric.set_fault(host.port, &faults);
  faults.lose(wire::RCtl::ba_acc, 2);
  post();
  fabric.run_for(10500 * fc2::millisecond);
  ASSERT_EQ(peer.rqsts, 1);
  request();
  EXPECT_EQ(answered(), std::nullopt);
  peer.send_resp2(), settle();
  EXPECT_EQ(call.result, Return::Success);
  fabric.run_for(60 * s);
  EXPECT_EQ(peer.rqsts, 1);
  EXPECT_EQ(vi->state(), vi::State::Connected);
}

}  // namespace
