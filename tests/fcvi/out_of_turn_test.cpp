// Set-ups whose peer speaks out of turn, or ends things at another time than usual (FC-VI 5.3, 5.9.4.6, 7.7.1, 8.5,
// C.3, C.4, D.1).
#include "tests/fcvi/peer_wire_fixture.hpp"
#include "tests/fcvi/setup_fixture.hpp"
#include "tests/support/port_pair.hpp"
#include "tests/support/times.hpp"

namespace {
using support::ms;
using support::PeerWire;
using vi::Return;
using wire::fcvi::Reason;
using Opcode = wire::fcvi::Opcode;
constexpr runtime::TimeNs t3 = 10 * runtime::second;  // FCVI_ULP_TIMEOUT

class OutOfTurn : public PeerWire {
 public:
  [[nodiscard]] std::uint64_t discarded() const { return host.port.counters().discarded(fc2::Discard::UnexpectedIu); }
  /// The peer takes back what we asked for (5.9.4.6), by our handle.
  void peer_aborts_our_setup() {
    wire::fcvi::DisconnectRqst abort;
    abort.handle = peer.rqst->payload.handle;
    abort.conn_setup_abort = abort.vi_app_discon = true;
    abort.connection_id = peer.rqst->connection_id;
    send(abort);
  }
  void send(const wire::fcvi::DisconnectRqst& request) {
    std::vector<std::uint8_t> bytes(32);
    request.write(bytes);
    fc2::Exchange* exchange = peer.port.originate(host.port.n_port_id(), wire::Type::fc_vi, peer);
    peer.port.send(*exchange, wire::RCtl::unsolicited_control, bytes, {}, {.transfer_initiative = true});
    settle();
  }
  /// The last sequence of the exchange of the peer's request, and no RESP2.
  void end_their_exchange() {
    const std::vector<std::uint8_t> nonsense(32);
    peer.port.send(*std::exchange(peer.ours, nullptr), wire::RCtl::solicited_control, nonsense, {},
                   {.last_of_exchange = true});
    settle();
  }
  void connect_as_server(vi::ReliabilityLevel level = vi::ReliabilityLevel::ReliableDelivery) {
    offer(level);
    host.provider.connect_accept(wait.token, *vi, accept);
    settle();
    peer.send_resp2(), settle();
    ASSERT_EQ(accept.result, Return::Success);
  }
  void offer(vi::ReliabilityLevel level = vi::ReliabilityLevel::ReliableDelivery) {
    vi = &host.make_vi(level);
    peer.attributes = vi->attributes();
    peer.mode = wire::fcvi::ConnectMode::client_server;
    host.provider.connect_wait(host.net(discriminator), runtime::never, wait);
    request();
    ASSERT_EQ(wait.result, Return::Success);
  }
  support::Wait wait;
  support::Done accept;
};

// FC-VI 8.5.3 a), C.3 rule 4: RESP3 instead of RESP1, to the request and to its retry: it says nothing; T3 ends
// the wait, twice.
TEST_F(OutOfTurn, awaitResp1_resp3_isNoAnswer) {
  post();
  peer.send_resp3(), settle();
  EXPECT_EQ(discarded(), 1u);
  expect_waits();
  fabric.run_for(t3 + ms);
  ASSERT_EQ(peer.rqsts, 2);
  EXPECT_TRUE(peer.rqst->retry);
  peer.send_resp3(), settle();
  EXPECT_EQ(discarded(), 2u);
  expect_waits();
  fabric.run_for(t3 + ms);
  EXPECT_EQ(call.result, Return::NotReachable);
  EXPECT_EQ(vi->state(), vi::State::Error);
}

// FC-VI C.5.2: ... when the call is over already: the same, and its exchange ends by T3.
TEST_F(OutOfTurn, awaitResp1Withdrawn_resp3_isNoAnswer) {
  post(ms);
  fabric.run_for(2 * ms);
  EXPECT_EQ(call.result, Return::Timeout);
  peer.send_resp3(), settle();
  EXPECT_EQ(discarded(), 1u);
  fabric.run_for(60 * runtime::second);
  EXPECT_EQ(peer.rqsts, 1);
  EXPECT_EQ(host.provider.open_setups(), 0u);
}

// FC-VI 5.9.4.6: the peer takes back our request, or its retry: accepted, and the call says so at once.
TEST_F(OutOfTurn, awaitResp1_setupAborted_isNotReachable) {
  post();
  peer_aborts_our_setup();
  EXPECT_EQ(peer.disconnect_reason, Reason::disconnect_accept);
  EXPECT_EQ(call.result, Return::NotReachable);
  EXPECT_EQ(vi->state(), vi::State::Error);
}
TEST_F(OutOfTurn, awaitResp1Retry_setupAborted_isNotReachable) {
  post();
  fabric.run_for(t3 + ms);
  ASSERT_EQ(peer.rqsts, 2);
  peer_aborts_our_setup();
  EXPECT_EQ(peer.disconnect_reason, Reason::disconnect_accept);
  EXPECT_EQ(call.result, Return::NotReachable);
  EXPECT_EQ(vi->state(), vi::State::Error);
}

// FC-VI C.2: RESP1 a second time, in a sequence of its own behind our RESP2: counted; the connection is as
// RESP1 made it.
TEST_F(OutOfTurn, awaitResp3Connected_resp1Again_isCounted) {
  post();
  respond({});
  ASSERT_EQ(vi->state(), vi::State::Connected);
  peer.send_resp1(Reason::connect_reject), settle();
  EXPECT_EQ(discarded(), 1u);
  EXPECT_EQ(vi->state(), vi::State::Connected);
  EXPECT_EQ(call.result, Return::Success);
}
TEST_F(OutOfTurn, awaitResp3Closing_resp1Again_isCounted) {
  post();
  respond(Reason::connect_reject);
  EXPECT_EQ(call.result, Return::Reject);
  peer.send_resp1({}), settle();
  EXPECT_EQ(discarded(), 1u);
  EXPECT_EQ(vi->state(), vi::State::Idle);
  expect_nothing_left();
}

// --- the responder -----------------------------------------------------------------------------------------------

// FC-VI 8.5.3 d), 8.5.2 a): the peer ends the exchange of a request that was refused, without RESP2: nothing of it is
// left at once.
TEST_F(OutOfTurn, awaitResp2Refused_exchangeEnds_nothingIsLeft) {
  peer.mode = wire::fcvi::ConnectMode::client_server;
  request();
  ASSERT_EQ(answered(), Reason::no_waiting_remote_connectionpoint);
  end_their_exchange();
  EXPECT_EQ(host.provider.open_setups(), 0u);
  EXPECT_EQ(host.port.open_exchanges(), 0u);
}

// ... of one that the application had accepted, and then left by VipDisconnect.
TEST_F(OutOfTurn, awaitResp2Withdrawn_exchangeEnds_nothingIsLeft) {
  offer();
  host.provider.connect_accept(wait.token, *vi, accept);
  settle();
  support::Done done;
  host.provider.disconnect(*vi, done);
  EXPECT_EQ(done.result, Return::Success);
  EXPECT_EQ(host.provider.open_setups(), 1u);
  end_their_exchange();
  EXPECT_EQ(host.provider.open_setups(), 0u);
}

// FC-VI C.4 rule 9, 8.5.3 d): the client tries again though it is connected here, and ends that exchange without RESP2:
// it has no connection, and so neither have we.
TEST_F(OutOfTurn, connectedRetry_exchangeEnds_connectionIsLost) {
  connect_as_server();
  request(true);
  ASSERT_FALSE(answered().has_value());
  EXPECT_EQ(vi->state(), vi::State::Connected);
  end_their_exchange();
  EXPECT_EQ(vi->state(), vi::State::Error);
  EXPECT_EQ(host.count(vi::ErrorCode::ConnLost), 1);
  EXPECT_EQ(host.provider.open_setups(), 0u);
}

// FC-VI C.4 rule 6 a): peer to peer the connection goes on.
TEST_F(OutOfTurn, connectedRetry_exchangeEndsPeerToPeer_staysConnected) {
  post();
  respond(Reason::no_waiting_remote_connectionpoint);
  peer.send_resp3(), settle();
  request();
  ASSERT_FALSE(answered().has_value());
  peer.send_resp2(), settle();
  ASSERT_EQ(call.result, Return::Success);
  request(true);
  end_their_exchange();
  EXPECT_EQ(vi->state(), vi::State::Connected);
  fabric.run_for(60 * runtime::second);
  EXPECT_EQ(vi->state(), vi::State::Connected);
}

// --- the link of our port is lost: VI-DG 3.3.7 network partition -------------------------------------------------

class LinkLost : public PeerWire {
 public:
  void lose_link() {
    fabric.detach(0);
    fabric.run_for(ms);
    EXPECT_EQ(call.result, Return::NotReachable);
    EXPECT_EQ(vi->state(), vi::State::Error);
    EXPECT_EQ(host.provider.open_setups(), 0u);
  }
};
TEST_F(LinkLost, requesting_isNotReachable) {
  post();
  lose_link();
}
TEST_F(LinkLost, holding_isNotReachable) {
  post();
  request();
  EXPECT_FALSE(peer.resp1.has_value());
  lose_link();
}
TEST_F(LinkLost, accepting_isNotReachable) {
  post();
  respond(Reason::no_waiting_remote_connectionpoint);
  peer.send_resp3(), settle();
  request();
  EXPECT_FALSE(answered().has_value());
  expect_waits();
  lose_link();
}

// --- two of our nodes --------------------------------------------------------------------------------------------

class EndMeanwhile : public support::FaultySetup {};

// FC-VI C.4 rule 11, VI-DG 3.3.3: the client aborted, and its retry is under way when the application rejects:
// VipConnectReject succeeds, and the retry, when it comes, is a new request.
TEST_F(EndMeanwhile, awaitRetry_reject_retryIsANewRequest) {
  listen(), ask();
  ASSERT_TRUE(offered());
  faults.hold(Opcode::connect_rqst, 5 * runtime::second);  // the retry
  run_to(t3 + runtime::second);
  support::Done reject;
  server->provider.connect_reject(wait.token, reject);
  EXPECT_EQ(reject.result, Return::Success);
  settle();
  EXPECT_EQ(server->provider.open_setups(), 0u);
  run_to(t3 + 6 * runtime::second);
  EXPECT_EQ(request.result, Return::NoMatch);
  expect_nothing_left();
}

// FC-VI D.1 rule 6, 8.4.2 f): after the Disconnect the handle rests; a peer that takes back a set-up which that handle
// never had is told so.
TEST_F(EndMeanwhile, quarantined_abortOfUnknownSetup_isAProtocolError) {
  connect_pair();
  disconnect(*client, *client_vi), disconnect(*server, *server_vi);
  ASSERT_EQ(server->provider.handles_in_use(), 1u);
  wire::fcvi::DisconnectRqst rqst;
  rqst.handle = {server_handle};
  rqst.conn_setup_abort = rqst.vi_app_discon = true;
  rqst.connection_id = {0x4711};
  std::vector<std::uint8_t> bytes(32);
  rqst.write(bytes);
  support::RecordingUser peer;
  fc2::Exchange& exchange = *client->port.originate(server->port.n_port_id(), wire::Type::fc_vi, peer);
  client->port.send(exchange, wire::RCtl::unsolicited_control, bytes, {}, {.transfer_initiative = true});
  settle();
  if (peer.ius.empty()) client->port.release(exchange);
  ASSERT_EQ(peer.ius.size(), 1u);
  const auto answer = wire::fcvi::DisconnectResp::parse(peer.ius[0].header.device_header_size(), peer.ius[0].bytes);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status->reason, Reason::protocol_error);
  EXPECT_EQ(server->provider.handles_in_use(), 1u);
}

// FC-VI 7.7.1, 8.5.3 c): the link of the client goes while it waits for the end of its abort:
// VIP_NOT_REACHABLE at once.
TEST_F(EndMeanwhile, awaitRetryAbort_linkLost_isNotReachable) {
  faults.lose(Opcode::connect_rqst);
  faults.lose(wire::RCtl::abts);
  listen(), ask();
  run_to(t3 + runtime::second);
  EXPECT_FALSE(request.result.has_value());
  fabric.fabric.tap(client->port, nullptr);
  fabric.detach(0);
  fabric.run_for(ms);
  EXPECT_EQ(request.result, Return::NotReachable);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  fabric.attach(0);
  fabric.fabric.tap(client->port, &log);
  fabric.run_for(runtime::second);
}

}  // namespace
