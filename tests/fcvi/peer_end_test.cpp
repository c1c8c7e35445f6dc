// Peer-to-peer requests that end, or are decided, while something else is under way (FC-VI 5.3.3, 5.3.4, 7.7.1, 8.2 c),
// C.3, C.4; VI-DG 3.3.6, 6.7).
#include "tests/fcvi/peer_wire_fixture.hpp"
#include "tests/fcvi/setup_faults.hpp"
#include "tests/support/times.hpp"
#include "wire/fcvi/disconnect_rqst.hpp"

namespace {
using support::Done;
using support::PeerWireHigher;
using support::s;
using support::ScriptedPeer;
using vi::Return;
using wire::fcvi::Reason;

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
  void accept() {
    post();
    respond(Reason::no_waiting_remote_connectionpoint);
    request();
    EXPECT_EQ(answered(), std::nullopt);  // RESP2 is to come
  }
  void vi_goes_away() {
    host.provider.detach(*vi), settle();
    EXPECT_TRUE(call.result.has_value());
    vi->transport_context = nullptr;
    fabric.run_for(120 * s);
    EXPECT_EQ(host.provider.handles_in_use(), 0u);
    EXPECT_EQ(host.provider.open_setups(), 0u);
  }
  void expect_lost_link() {
    host.port.log_out_of_fabric(), settle();
    EXPECT_EQ(call.result, Return::NotReachable);
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

// FC-VI 5.3.3, 8.2 c): our retry hears that nobody waits yet: the wait goes on, and the peer's request
// makes the connection.
TEST_F(PeerEnd, retried_noMatch_waitsOn) {
  post();
  fabric.run_for(10500 * runtime::millisecond);
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

// ... and the next search, which goes unanswered too, has a retry of its own.
TEST_F(PeerEnd, retriedTwice_noMatch_waitsOn) {
  post();
  fabric.run_for(10500 * runtime::millisecond);
  ASSERT_EQ(peer.rqsts, 2);
  respond(Reason::no_waiting_remote_connectionpoint);
  fabric.run_for(21 * s);
  ASSERT_EQ(peer.rqsts, 4);
  EXPECT_TRUE(peer.rqst->retry);
  respond(Reason::no_waiting_remote_connectionpoint);
  EXPECT_FALSE(call.result.has_value());
  request();
  EXPECT_EQ(answered(), std::nullopt);
  peer.send_resp2(), settle();
  EXPECT_EQ(call.result, Return::Success);
}

// FC-VI 7.7.1: between two searches nothing is set up: a logout of the port that was asked last ends nothing.
TEST_F(PeerEnd, waiting_askedPortLogsOut_waitsOn) {
  post();
  respond(Reason::no_waiting_remote_connectionpoint);
  peer.port.remote_port(host.port.n_port_id()).log_out(), settle();
  expect_waits();
  EXPECT_EQ(host.provider.handles_in_use(), 1u);
  peer.port.remote_port(host.port.n_port_id()).log_in(), settle();
  request();
  EXPECT_EQ(answered(), std::nullopt);
  peer.send_resp2(), settle();
  EXPECT_EQ(call.result, Return::Success);
  EXPECT_EQ(vi->state(), vi::State::Connected);
  const auto receive = host.descriptor(0, {{host.data, 64}});
  vi->post_receive(receive, host.handle);
  peer.port.remote_port(host.port.n_port_id()).log_out(), settle();
  EXPECT_EQ(vi->state(), vi::State::Error);
}

// VI-ARCH 5.2, FC-VI 8.5.3 d): the VI fails when the peer's request is accepted: the call ends, and RESP2 is refused.
TEST_F(PeerEnd, accepting_viFails_isOver) {
  accept();
  vi->fail_catastrophically();
  settle();
  ASSERT_TRUE(call.result.has_value());
  EXPECT_EQ(call.result, Return::NotReachable);
  EXPECT_EQ(vi->state(), vi::State::Error);
  EXPECT_EQ(host.provider.counters().connections_lost, 1u);
}

// FC-VI 8.2 c), VI-DG 3.3.6: the Timeout during our retry.
TEST_F(PeerEnd, retried_timeExpires_isTimeout) {
  post(15 * s);
  fabric.run_for(15 * s);
  ASSERT_EQ(peer.rqsts, 2);
  EXPECT_EQ(call.result, Return::Timeout);
  EXPECT_EQ(vi->state(), vi::State::Idle);
}

// VI-DG 6.7: the request that is held has other attributes, and nobody waited for ours: Connect Reject, and
// both hear why.
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

// FC-VI C.3 rule 4, 8.2 c): nobody answers our retry either: Error; the peer hears that nobody matches, and
// may wait on.
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

// FC-VI 7.7.1: the peer logs out, and the request that we hold is gone with the login; we log in again and
// ask once more.
TEST_F(PeerEnd, holding_peerLogsOut_asksAgain) {
  hold();
  peer.port.remote_port(host.port.n_port_id()).log_out(), settle();
  EXPECT_FALSE(call.result.has_value());
  ASSERT_EQ(peer.rqsts, 2);
  respond({});
  EXPECT_EQ(call.result, Return::Success);
  EXPECT_FALSE(peer.resp1.has_value());
}

// FC-VI 5.9.4.6, D.1 rule 2: ... or the peer takes back what was accepted: that ends it at once, and is accepted.
TEST_F(PeerEnd, withdrawn_setupAborted_isOver) {
  accept();
  EXPECT_EQ(disconnect(), Return::Success);
  const auto open = host.provider.open_setups();  // ours waits for RESP3
  peer.abort_setup(host.port.n_port_id()), settle();
  EXPECT_EQ(peer.disconnect_reason, Reason::disconnect_accept);
  EXPECT_EQ(host.provider.open_setups(), open - 1);
}

// VipCloseNic while a request is held, and when one is accepted: nothing is left over.
TEST_F(PeerEnd, holding_viGoesAway) { hold(), vi_goes_away(); }
TEST_F(PeerEnd, accepting_viGoesAway) { accept(), vi_goes_away(); }

// VI-DG 3.3.7 network partition.
TEST_F(PeerEnd, holding_linkLost) { hold(), expect_lost_link(); }
TEST_F(PeerEnd, accepting_linkLost) { accept(), expect_lost_link(); }

// ... also where our port was not online when the request was posted, and nobody waits at the peer yet.
TEST_F(PeerEnd, postedOffline_linkLostLater_isNotReachable) {
  fabric.detach(0), settle();
  ASSERT_FALSE(host.port.online());
  vi = &host.make_vi(vi::ReliabilityLevel::ReliableDelivery);
  const auto remote = vi::NetAddress::make(peer.address, host.net(discriminator).discriminator_bytes());
  ASSERT_EQ(host.provider.connect_peer_request(*vi, host.net("x"), remote, runtime::never, call), Return::Success);
  settle();
  fabric.attach(0), fabric.run_for(2 * s);
  ASSERT_TRUE(peer.rqst.has_value());
  respond(Reason::no_waiting_remote_connectionpoint);
  expect_waits();
  expect_lost_link();
}

// FC-VI C.4 rules 6, 11: the held request is aborted, and not held any more; ours is alone again, and connects.
TEST_F(PeerEnd, holding_heldIsGone_oursGoesOn) {
  hold();
  EXPECT_EQ(host.provider.open_setups(), 2u);
  peer.abort_rqst(), settle();
  EXPECT_EQ(host.provider.open_setups(), 1u);
  respond({});
  EXPECT_EQ(call.result, Return::Success);
  EXPECT_FALSE(peer.resp1.has_value());
}

// FC-VI 5.3.3, VI-DG 6.7 (in the pool until it has timed out): the held request is aborted, then ours hears that nobody
// waits: what is gone is not accepted. The peer asks anew, with RETRY or without.
TEST_F(PeerEnd, holding_heldIsAborted_isNotAccepted) {
  for (const bool retry : {false, true}) {
    SCOPED_TRACE(retry);
    call.result.reset(), peer.resp1.reset();
    hold();
    peer.abort_rqst(), settle();
    respond(Reason::no_waiting_remote_connectionpoint);
    EXPECT_FALSE(peer.resp1.has_value());
    expect_waits();
    request(retry);
    EXPECT_EQ(answered(), std::nullopt);
    EXPECT_EQ(peer.resp1->retry, retry);
    peer.send_resp2({}, retry), settle();
    EXPECT_EQ(call.result, Return::Success);
  }
}

// FC-VI 7.7.1, 8.5.3 c), C.4 rule 6 b): the peer logs out before RESP2: Error, VIP_NOT_REACHABLE.
TEST_F(PeerEnd, accepting_peerLogsOut) {
  accept();
  peer.port.remote_port(host.port.n_port_id()).log_out(), settle();
  EXPECT_EQ(call.result, Return::NotReachable);
  EXPECT_EQ(vi->state(), vi::State::Error);
  expect_nothing_left();
}

// FC-VI 8.5.3 a) 1), 8.5.4, ruling 68: neither our request nor its retry is answered: Error, at an
// unreliable level too.
TEST_F(PeerEnd, retried_unreliable_unanswered_isError) {
  post(runtime::never, vi::ReliabilityLevel::UnreliableDelivery);
  fabric.run_for(25 * s);
  EXPECT_EQ(call.result, Return::NotReachable);
  EXPECT_EQ(vi->state(), vi::State::Error);
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

// FC-VI 5.3.4 a), C.5.5: the peer's request comes during our retry, and is accepted; the connection stands whatever
// becomes of it.
TEST_F(PeerEndHigher, retried_matchingRqst_isAccepted) {
  post();
  fabric.run_for(10500 * runtime::millisecond);
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
  fabric.run_for(10500 * runtime::millisecond);
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
  fabric.run_for(10500 * runtime::millisecond);
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
  fabric.run_for(10500 * runtime::millisecond);
  ASSERT_EQ(peer.rqsts, 1);
  request();
  EXPECT_EQ(answered(), std::nullopt);
  peer.send_resp2(), settle();
  EXPECT_EQ(call.result, Return::Success);
  fabric.run_for(60 * s);
  EXPECT_EQ(peer.rqsts, 1);
  EXPECT_EQ(vi->state(), vi::State::Connected);
}

// --- two ports of one address: one is asked, the other one asks (FC-VI 7.6, ruling 71) ---------------------------

class TwoPorts : public ::testing::Test {
 public:
  TwoPorts() {
    fabric.bring_up();
    fabric.run_until([&] { return host.resolver.ready() && first.resolver.ready() && second.resolver.ready(); });
    for (const std::size_t peer : {1u, 2u}) fabric.log_in(peer, 0);
  }
  ~TwoPorts() override { fabric.run_for(60 * s); }
  void TearDown() override { EXPECT_EQ(host.port.counters().unexpected_events + vi->unexpected_events(), 0u); }
  /// Our request is out at one port, and that of the other is held.
  void hold(bool attributes_match = true) {
    vi = &host.make_vi(vi::ReliabilityLevel::ReliableDelivery);
    const auto remote = vi::NetAddress::make(first.address, host.net(discriminator).discriminator_bytes());
    ASSERT_EQ(host.provider.connect_peer_request(*vi, host.net("x"), remote, runtime::never, call), Return::Success);
    settle();
    asked = first.rqst ? &first : &second;
    other = first.rqst ? &second : &first;
    ASSERT_TRUE(asked->rqst && !other->rqst);
    asked->attributes = other->attributes = vi->attributes();
    if (!attributes_match) other->attributes.max_transfer_size_bytes = 1000;
    other->send_rqst(host.port.n_port_id(), host.address, discriminator), settle();
    ASSERT_FALSE(other->resp1.has_value());
  }
  void asked_logs_out() { asked->port.remote_port(host.port.n_port_id()).log_out(), settle(); }
  void settle() { fabric.run_for(100 * runtime::microsecond); }
  void expect_other_connects() {
    ASSERT_TRUE(other->resp1.has_value());
    EXPECT_FALSE(other->resp1->status.has_value());
    other->send_resp2(), settle();
    EXPECT_EQ(call.result, Return::Success);
    EXPECT_EQ(vi->state(), vi::State::Connected);
  }
  void expect_conflict() {
    EXPECT_EQ(other->resp1->status->reason, Reason::connect_reject);
    EXPECT_EQ(call.result, Return::InvalidMtu);
    EXPECT_EQ(vi->state(), vi::State::Idle);
  }
  static constexpr std::string_view discriminator = "peers of 16 byte";
  support::TestFabric fabric{3};
  support::Connect call;
  support::Host host{fabric, 0};
  ScriptedPeer first{fabric, 1}, second{fabric, 2, 1};
  ScriptedPeer *asked = nullptr, *other = nullptr;
  vi::Vi* vi = nullptr;
};

// The asked port logs out, or refuses: the one that asks is accepted.
TEST_F(TwoPorts, holding_askedLogsOut_otherConnects) {
  hold();
  asked_logs_out();
  expect_other_connects();
}
TEST_F(TwoPorts, holding_askedRefuses_otherConnects) {
  hold();
  asked->send_resp1(Reason::connect_reject), settle();
  expect_other_connects();
}

// VI-DG 6.7: ... unless its attributes do not match: then both hear so.
TEST_F(TwoPorts, holding_askedLogsOut_otherConflicts) {
  hold(false);
  asked_logs_out();
  expect_conflict();
}
TEST_F(TwoPorts, holding_askedRefuses_otherConflicts) {
  hold(false);
  asked->send_resp1(Reason::no_discriminator_match), settle();
  expect_conflict();
}

// FC-VI 5.9.10, D.1 rule 3: an id is its originator's: CONN_SETUP_ABORT of the other port means none of
// this one's set-ups.
TEST_F(TwoPorts, holding_askedAbortsTheId_otherIsStillHeld) {
  hold();
  asked->abort_setup(host.port.n_port_id(), wire::ConnectionId{0x7701}), settle();  // as the other one's request
  EXPECT_EQ(asked->disconnect_reason, Reason::connection_does_not_exist);
  EXPECT_EQ(host.provider.open_setups(), 2u);
  asked_logs_out();
  expect_other_connects();
}

// The asked port accepts: the other one hears that nobody matches, and waits on.
TEST_F(TwoPorts, holding_askedAccepts_otherWaitsOn) {
  hold();
  asked->send_resp1({}), settle();
  EXPECT_EQ(call.result, Return::Success);
  EXPECT_EQ(other->resp1->status->reason, Reason::no_discriminator_match);
  asked->send_resp3(), settle();
}

}  // namespace
