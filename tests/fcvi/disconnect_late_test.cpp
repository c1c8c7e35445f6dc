// Disconnects that come late, or that nobody asked for: of a VI that stayed in Error while its ports went on, after a
// logout, and the provider's own, which must not be lost (FC-VI 5.3.5, 7.7.1, 8.4.2 e to g, D.1, D.2).
#include "tests/fcvi/setup_fixture.hpp"

namespace {
using support::Connect;
using support::Done;
using vi::Return;
using Opcode = wire::fcvi::Opcode;
using Level = vi::ReliabilityLevel;

class LateDisconnect : public support::FaultySetup {
 public:
  /// Two VIs more; the server connects, so that its handle is the one that its table hands out next.
  void connect_second_pair() {
    second_client = &client->make_vi(Level::ReliableDelivery);
    second_server = &server->make_vi(Level::ReliableDelivery);
    client->provider.connect_wait(client->net("the other way 16"), runtime::never, second_wait);
    server->provider.connect_request(*second_server, server->net("server, 16 bytes"), client->net("the other way 16"),
                                     runtime::never, second_request);
    ASSERT_TRUE(fabric.run_until([&] { return second_wait.result.has_value(); }));
    client->provider.connect_accept(second_wait.token, *second_client, second_accept);
    ASSERT_TRUE(fabric.run_until([&] { return second_request.result && second_accept.result; }));
    ASSERT_EQ(second_request.result, Return::Success);
    ASSERT_EQ(second_accept.result, Return::Success);
    settle(), frames();
  }
  void expect_second_pair_unhurt() {
    EXPECT_EQ(second_client->state(), vi::State::Connected);
    EXPECT_EQ(second_server->state(), vi::State::Connected);
    EXPECT_EQ(disconnect(*server, *second_server), Return::Success);
    EXPECT_EQ(disconnect(*client, *second_client), Return::Success);
    expect_nothing_left();
  }
  /// Its VI goes as VipCloseNic takes it.
  static void take_away(support::Host& host, vi::Vi& vi) {
    host.provider.detach(vi);
    vi.transport_context = nullptr;
  }
  void fail_at_the_client();
  /// Longer than anything rests.
  void rest() { fabric.run_for(25 * runtime::second); }

  vi::Vi *second_client = nullptr, *second_server = nullptr;
  Connect second_request;
  Done second_accept;
};

// FC-VI 8.4.2 f), D.2, D.1 rule 3: the server disconnects, its handle rests, and the same ports connect again; only
// then the client's application calls VipDisconnect for the first VI: 4Ah, and the new connection does not notice.
TEST_F(LateDisconnect, error_disconnectAfterNewConnection_sparesIt) {
  connect_pair();
  EXPECT_EQ(disconnect(*server, *server_vi), Return::Success);
  settle();
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  rest();
  connect_second_pair();
  const int told = server->count(vi::ErrorCode::ConnLost);
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  const auto resp = seen(Opcode::disconnect_resp);
  ASSERT_EQ(resp.size(), 1u);
  EXPECT_EQ(resp[0].word(3), 0x004A0000u);
  EXPECT_EQ(server->count(vi::ErrorCode::ConnLost), told);
  expect_second_pair_unhurt();
}

// FC-VI 7.7.1, 8.4.2 g), ruling 27: the connection ended with its login, and with it what the handle meant to the peer:
// VipDisconnect under a later login succeeds without an IU.
TEST_F(LateDisconnect, loggedOut_disconnectAfterNewLogin_sendsNothing) {
  connect_pair();
  client->port.remote_port(server->port.n_port_id()).log_out();
  settle();
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  EXPECT_EQ(disconnect(*server, *server_vi), Return::Success);
  rest();
  connect_second_pair();
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  EXPECT_EQ(client_vi->state(), vi::State::Idle);
  settle();
  EXPECT_TRUE(seen(Opcode::disconnect_rqst).empty());
  expect_second_pair_unhurt();
}

// ... nor does the set-up that failed under the old login, whose id the logout freed (FC-VI 8.5.3 c).
TEST_F(LateDisconnect, failedSetup_disconnectAfterNewLogin_sendsNothing) {
  faults.lose(Opcode::connect_rqst, 2);
  ask();
  EXPECT_EQ(asked(), Return::NotReachable);
  client->port.remote_port(server->port.n_port_id()).log_out();
  settle();
  connect_second_pair();
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  settle();
  EXPECT_TRUE(seen(Opcode::disconnect_rqst).empty());
  expect_second_pair_unhurt();
}

// FC-VI D.1 rule 1 b), 8.4.2 f): a VI goes away while connected, and the provider's DISCONNECT_RQST is lost: ABTS and
// one retry, as for the application's. The server hears of it, and the handle comes back.
TEST_F(LateDisconnect, viGoesAway_noticeLost_isRetried) {
  connect_pair();
  faults.lose(Opcode::disconnect_rqst);
  take_away(*client, *client_vi);
  fabric.run_for(t3 - 1);
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
  EXPECT_EQ(client->provider.handles_in_use(), 1u);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  EXPECT_EQ(log.count(wire::RCtl::abts), 1u);
  const auto rqst = seen(Opcode::disconnect_rqst);
  ASSERT_EQ(rqst.size(), 2u);
  EXPECT_EQ(rqst[1].flags(), 0u);                    // VI_APP_DISCON 0, no cause (5.9.4.6)
  EXPECT_EQ(client->provider.handles_in_use(), 0u);  // R_A_TOV is over, too
}

// ... however often it is lost: nobody else would ask again, and without an answer the handle must rest
// (FC-VI 8.4.2 f).
TEST_F(LateDisconnect, viGoesAway_noticeLostForLong_isAskedAgain) {
  connect_pair();
  faults.lose(Opcode::disconnect_rqst, 7);
  take_away(*client, *client_vi);
  fabric.run_for(100 * runtime::second);
  EXPECT_EQ(client->provider.handles_in_use(), 1u);
  fabric.run_for(100 * runtime::second);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  EXPECT_EQ(client->provider.handles_in_use(), 0u);
  EXPECT_EQ(disconnect(*server, *server_vi), Return::Success);
}

// ... nor when the VI goes while its VipDisconnect waits, which returns.
TEST_F(LateDisconnect, viGoesAway_whileItDisconnects_isAskedAgain) {
  connect_pair();
  faults.lose(Opcode::disconnect_rqst, 3);
  Done waiting;
  client->provider.disconnect(*client_vi, waiting);
  take_away(*client, *client_vi);
  EXPECT_TRUE(waiting.result.has_value());
  fabric.run_for(100 * runtime::second);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  EXPECT_EQ(client->provider.handles_in_use(), 0u);
}

// FC-VI 8.5.3 b), D.1 rule 2: the VI of a set-up that failed goes away: the provider ends what the server has of it.
TEST_F(LateDisconnect, failedSetup_viGoesAway_endsTheServersHalf) {
  faults.lose(Opcode::connect_resp1, 2);
  listen(), ask();
  accept_next();
  EXPECT_EQ(asked(), Return::NotReachable);
  settle(), frames();
  take_away(*client, *client_vi);
  EXPECT_EQ(accepted(), Return::Timeout);
  EXPECT_LT(elapsed(), 2 * t3 + runtime::second);  // not by T2
  const auto rqst = seen(Opcode::disconnect_rqst);
  ASSERT_EQ(rqst.size(), 1u);
  EXPECT_EQ(rqst[0].flags(), 0x04u);  // CONN_SETUP_ABORT
  fabric.run_for(10 * runtime::second);
  EXPECT_EQ(client->provider.handles_in_use(), 0u);
  EXPECT_EQ(client->provider.resting_connection_ids(), 0u);
}

// FC-VI 8.4.2 e), 5.3.5, ruling 35: a reliable connection fails at the server, whose own DISCONNECT_RQST is
// lost: once more.
TEST_F(LateDisconnect, localError_noticeLost_peerLearnsIt) {
  connect_pair();
  faults.lose(Opcode::disconnect_rqst);
  client_vi->post_send(client->descriptor(vi::control::immediate, {}, 0, {}, 1),
                       client->handle);  // no receive is posted there
  fabric.run_for(t3 + runtime::second);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  const auto rqst = seen(Opcode::disconnect_rqst);
  ASSERT_EQ(rqst.size(), 1u);  // the one that came through
  EXPECT_EQ(rqst[0].flags(), 0x01u);
  EXPECT_EQ(rqst[0].word(3), 0x00420000u);
  expect_nothing_left();
}

// FC-VI D.1 rule 2 a), 5.9.7.3.2: "Connection Setup Timeout" is T3's alone. A set-up that was refused with 21h tells
// no cause ...
TEST_F(LateDisconnect, setupRefusedWithError_tellsNoTimeout) {
  faults.alter(Opcode::connect_resp1, [](fc2::Frame& frame) {
    frame.bytes[24 + 5] |= 1;
    frame.bytes[24 + 13] = 0x21;
  });
  listen(), ask();
  accept_next();
  EXPECT_EQ(asked(), Return::NotReachable);
  settle(), frames();
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  const auto rqst = seen(Opcode::disconnect_rqst);
  ASSERT_EQ(rqst.size(), 1u);
  EXPECT_EQ(rqst[0].flags(), 0x06u);
  EXPECT_EQ(rqst[0].word(3), 0u);
}

// ... and T2, which is not the originator's, "Transport Error", as the client does in C.5.9.1.
TEST_F(LateDisconnect, t2_tellsTransportError) {
  faults.lose(Opcode::connect_resp2);
  faults.lose(wire::RCtl::abts, 2);
  listen(), ask();
  accept_next();
  EXPECT_EQ(accepted(), Return::Timeout);
  settle(), frames();
  EXPECT_EQ(disconnect(*server, *server_vi), Return::Success);
  const auto rqst = seen(Opcode::disconnect_rqst);
  ASSERT_EQ(rqst.size(), 1u);
  EXPECT_EQ(rqst[0].flags(), 0x07u);
  EXPECT_EQ(rqst[0].word(3), 0x00400000u);
}

/// The client's connection fails: a message comes, and no receive is posted.
void LateDisconnect::fail_at_the_client() {
  server_vi->post_send(server->descriptor(vi::control::immediate, {}, 0, {}, 1), server->handle);
  ASSERT_TRUE(fabric.run_until([&] { return client_vi->state() == vi::State::Error; }));
}

// FC-VI 8.4.2 f): the provider's DISCONNECT_RQST and the application's are under way at once, and both are answered:
// the handle rests once.
TEST_F(LateDisconnect, localError_bothDisconnectsAnswered_restsOnce) {
  connect_pair();
  faults.hold(Opcode::disconnect_rqst, 5 * runtime::millisecond);
  fail_at_the_client();
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  fabric.run_for(10 * runtime::millisecond);
  EXPECT_EQ(seen(Opcode::disconnect_resp).size(), 2u);
  EXPECT_EQ(client->provider.handles_in_use(), 1u);
  fabric.run_for(t3);
  EXPECT_EQ(client->provider.handles_in_use(), 0u);
}

// FC-VI 7.7.1, 8.4.2 g): a logout ends the provider's DISCONNECT_RQST, too: its retry would meet, under a later login,
// whoever has that handle.
TEST_F(LateDisconnect, localError_noticeLostThenLogout_isNotRetried) {
  connect_pair();
  faults.lose(Opcode::disconnect_rqst);
  fail_at_the_client();
  settle();
  client->port.remote_port(server->port.n_port_id()).log_out();
  settle();
  connect_second_pair();
  fabric.run_for(3 * t3);
  EXPECT_TRUE(seen(Opcode::disconnect_rqst).empty());
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  EXPECT_EQ(disconnect(*server, *server_vi), Return::Success);
  expect_second_pair_unhurt();
}

// FC-VI 8.4.2 g), B.2.4 rule 1 c): the handle of a connection that was disconnected rests; a logout frees it at once.
TEST_F(LateDisconnect, disconnected_logout_freesTheHandles) {
  connect_pair();
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  EXPECT_EQ(disconnect(*server, *server_vi), Return::Success);
  EXPECT_EQ(client->provider.handles_in_use() + server->provider.handles_in_use(), 2u);
  client->port.remote_port(server->port.n_port_id()).log_out();
  settle();
  EXPECT_EQ(client->provider.handles_in_use() + server->provider.handles_in_use(), 0u);
}

// VI-DG 6.3.1, FC-VI 8.4.2 f): a descriptor that cannot be posted takes a VI that has accepted to Error, and in the
// same instant the VI goes: what was to be done for that VI is not done without it, and its handle comes back.
TEST_F(LateDisconnect, accepting_badDescriptorAndViGoesAway_handleReturns) {
  faults.lose(Opcode::connect_resp2);
  listen(), ask();
  accept_next();
  server_vi->post_receive(1, server->handle);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  take_away(*server, *server_vi);
  EXPECT_TRUE(accept.result.has_value());
  fabric.run_for(60 * runtime::second);
  EXPECT_EQ(server->provider.handles_in_use(), 0u);
  EXPECT_EQ(server->provider.counters().connections_lost, 0u);
}

// FC-VI 8.4.2 e), 5.9.7.3: the connection failed at the client before RESP3, which never comes: that is told as it was,
// and T3 adds nothing.
TEST_F(LateDisconnect, awaitResp3_localErrorThenT3_firstCauseIsTold) {
  faults.lose(Opcode::connect_resp3);
  listen(), ask();
  accept_next();
  EXPECT_EQ(accepted(), Return::Success);
  fail_at_the_client();
  fabric.run_for(2 * t3);
  EXPECT_EQ(client->provider.counters().connections_lost, 1u);
  frames();
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  const auto rqst = seen(Opcode::disconnect_rqst);
  ASSERT_EQ(rqst.size(), 1u);
  EXPECT_EQ(rqst[0].word(3), 0x00420000u);
}
}  // namespace
