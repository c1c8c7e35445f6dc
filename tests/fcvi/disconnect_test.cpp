// Disconnects of connections and of half-done set-ups, reason codes both ways, and logouts (FC-VI 5.3.5, 5.9.4.6, 6.12,
// 6.13, 7.7.1, 8.6, D.1, D.2).
#include "tests/fcvi/setup_fixture.hpp"
#include "tests/support/times.hpp"
#include "wire/fcvi/disconnect_rqst.hpp"

namespace {
using support::Done;
using support::expect_frame;
using support::ms;
using support::WireFrame;
using vi::Return;
using Opcode = wire::fcvi::Opcode;
using Level = vi::ReliabilityLevel;

class Disconnect : public support::FaultySetup {
 public:
  /// Both sides' asynchronous VIP_ERROR_CONN_LOST.
  void expect_lost(int at_client, int at_server) {
    EXPECT_EQ(client->count(vi::ErrorCode::ConnLost), at_client);
    EXPECT_EQ(server->count(vi::ErrorCode::ConnLost), at_server);
  }
  Return result_of(const Done& done) {
    EXPECT_TRUE(fabric.run_until([&] { return done.result.has_value(); }));
    return done.result.value_or(Return::NotDone);
  }
  /// A RESP1 that accepts is lost twice: the client fails, the server has accepted.
  void half_set_up() {
    faults.lose(Opcode::connect_resp1, 2);
    listen(), ask();
    accept_next();
    EXPECT_EQ(asked(), Return::NotReachable);
    settle(), frames();
  }
};

// FC-VI 6.12.2, 6.13.2, D.1 rule 1 a): both sides tell the last FCVI_MSG_ID that they completed: 2 by the client, 1
// by the server.
TEST_F(Disconnect, connected_lastMsgId_isTold) {
  connect_pair();
  EXPECT_TRUE(message_flows());
  for (int i = 0; i < 2; ++i) {
    client_vi->post_receive(client->descriptor(0, {{client->data, 64}}), client->handle);
    server_vi->post_send(server->descriptor(0, {{server->data, 4}}), server->handle);
  }
  settle(), frames();
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  const auto iu = frames();
  ASSERT_EQ(iu.size(), 2u);
  expect_frame(iu[0], {true, 0x02, 0x290008, 2, 0x12, 0x02, server_handle, 2}, "DISCONNECT_RQST");
  expect_frame(iu[1], {false, 0x03, 0x980008, 2, 0x1B, 0x03, client_handle, 1, 0x004B0000}, "DISCONNECT_RESP");
  expect_nothing_left();
}

// FC-VI D.2: both sides at once, the requests cross: both are answered 4Bh, both calls succeed, nobody is told
// of a loss.
TEST_F(Disconnect, connected_bothAtOnce) {
  connect_pair();
  Done ours, theirs;
  client->provider.disconnect(*client_vi, ours);
  server->provider.disconnect(*server_vi, theirs);
  EXPECT_EQ(result_of(ours), Return::Success);
  EXPECT_EQ(result_of(theirs), Return::Success);
  settle();
  const auto iu = frames();
  ASSERT_EQ(iu.size(), 4u);
  EXPECT_EQ(iu[2].opcode(), 0x1Bu);
  EXPECT_EQ(iu[3].opcode(), 0x1Bu);
  EXPECT_EQ(iu[2].word(3) | iu[3].word(3), 0x004B0000u);
  expect_lost(0, 0);
  expect_nothing_left();
}

// FC-VI D.2: the client is Idle when the server's own DISCONNECT_RQST comes: answered, no callback.
TEST_F(Disconnect, connected_oneAfterTheOther) {
  connect_pair();
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  expect_lost(0, 1);
  EXPECT_EQ(disconnect(*server, *server_vi), Return::Success);
  const auto iu = frames();
  ASSERT_EQ(iu.size(), 4u);
  EXPECT_EQ(iu[3].word(3), 0x004B0000u);
  expect_lost(0, 1);
}

// FC-VI 8.6.2 b), D.1 rule 1 b): the DISCONNECT_RESP is lost: ABTS, one retry, which is answered; the server hears
// of one loss.
TEST_F(Disconnect, connected_respLost_retrySucceeds) {
  connect_pair();
  faults.lose(Opcode::disconnect_resp);
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  settle();
  EXPECT_EQ(log.count(wire::RCtl::abts), 1u);
  EXPECT_EQ(seen(Opcode::disconnect_rqst).size(), 2u);
  expect_lost(0, 1);
  expect_nothing_left();
}

// FC-VI 5.2.1 table 1: R_CTL of a DISCONNECT_RESP is 03h: one that comes otherwise is none, and with it the exchange
// ended: the request is retried (8.6.2 a).
TEST_F(Disconnect, connected_respOfAnotherCategory_isNone) {
  connect_pair();
  faults.alter(Opcode::disconnect_resp,
               [](fc2::Frame& frame) { frame.bytes[0] = static_cast<std::uint8_t>(wire::RCtl::unsolicited_control); });
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  EXPECT_EQ(seen(Opcode::disconnect_rqst).size(), 2u);
  EXPECT_EQ(discarded(*client, fc2::Discard::BadPayload), 1u);
  expect_lost(0, 1);
  expect_nothing_left();
}

// FC-VI 6.13.1: the exchange is over with the DISCONNECT_RESP, also where the peer forgot to say Last_Sequence (5.8.4).
TEST_F(Disconnect, connected_respWithoutLastSequence_endsTheExchange) {
  connect_pair();
  faults.alter(Opcode::disconnect_resp, [](fc2::Frame& frame) {
    auto header = *wire::FcHeader::parse(frame.content());
    header.f_ctl &= ~wire::f_ctl::last_sequence;
    header.write(frame.bytes);
  });
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  EXPECT_EQ(client->port.open_exchanges(), 0u);
  expect_nothing_left();
}

// FC-VI 8.6.3 a), D.1 rule 1 c), 8.2 e): unanswered: VIP_NOT_REACHABLE, Error; the application may try again,
// and then succeeds.
TEST_F(Disconnect, connected_unanswered_mayBeTriedAgain) {
  connect_pair();
  faults.lose(Opcode::disconnect_rqst, 2);
  EXPECT_EQ(disconnect(*client, *client_vi), Return::NotReachable);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  EXPECT_EQ(client_vi->state(), vi::State::Idle);
  expect_nothing_left();
}

// FC-VI 5.9.4.6, 5.9.10, 6.13.2, C.5.8, C.5.9.2, D.1 rule 2: the retry failed, and the server has accepted:
// CONN_SETUP_ABORT with the last id: 4Bh; its VipConnectAccept ends, at once and not at T2, its endpoint is in Error.
TEST_F(Disconnect, halfSetUp_endsTheServersHalf) {
  half_set_up();
  EXPECT_FALSE(accept.result.has_value());
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  const auto iu = frames();
  ASSERT_EQ(iu.size(), 2u);
  expect_frame(iu[0], {true, 0x02, 0x290008, 2, 0x12, 0x07, nobody, 0, 0x00490000, 0, 0, connection_id + 1},
               "DISCONNECT_RQST");
  expect_frame(iu[1], {false, 0x03, 0x980008, 2, 0x1B, 0x07, client_handle, 0, 0x004B0000, 0, 0, connection_id + 1},
               "DISCONNECT_RESP");
  EXPECT_EQ(accept.result, Return::Timeout);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  expect_lost(0, 1);
  expect_nothing_left();
}

// FC-VI D.1 rule 2 b): that request is not answered either: ABTS, one retry, ABTS, VIP_NOT_REACHABLE; it may
// be tried again.
TEST_F(Disconnect, halfSetUp_unanswered_isRetriedOnce) {
  half_set_up();
  log.clear();
  faults.lose(Opcode::disconnect_rqst, 2);
  const auto started = fabric.scheduler.now();
  EXPECT_EQ(disconnect(*client, *client_vi), Return::NotReachable);
  EXPECT_EQ(fabric.scheduler.now(), started + 2 * t3);
  settle();
  EXPECT_EQ(log.count(wire::RCtl::abts), 2u);
  EXPECT_EQ(seen(Opcode::disconnect_rqst).size(), 2u);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  expect_nothing_left();
}

// D.1 rule 2, VI-ARCH 5.2: both sides end a half-done set-up at once: the server's VipDisconnect needs no answer.
TEST_F(Disconnect, halfSetUp_bothAtOnce) {
  half_set_up();
  Done ours, theirs;
  client->provider.disconnect(*client_vi, ours);
  server->provider.disconnect(*server_vi, theirs);
  EXPECT_EQ(accept.result, Return::ErrorResource);
  EXPECT_EQ(result_of(ours), Return::Success);
  EXPECT_EQ(result_of(theirs), Return::Success);
  expect_lost(0, 0);
  expect_nothing_left();
}

// FC-VI 5.9.4.5, 6.11.2, Table 12: the accepting endpoint goes away before RESP2: RESP3 refuses; the client, Connected
// since RESP2, loses the connection.
TEST_F(Disconnect, accepting_disconnect_resp3Refuses) {
  faults.hold(Opcode::connect_resp2, runtime::second);
  listen(), ask();
  accept_next();
  EXPECT_EQ(asked(), Return::Success);
  EXPECT_EQ(disconnect(*server, *server_vi), Return::Success);
  EXPECT_EQ(accept.result, Return::ErrorResource);
  fabric.run_for(runtime::second + ms);
  const auto resp3 = seen(Opcode::connect_resp3);
  ASSERT_EQ(resp3.size(), 1u);
  expect_frame(resp3[0], {false, 0x03, 0x980008, 2, 0x1A, 0x01, nobody, 0, 0x00040000, 0, 0, connection_id, 0, 1},
               "CONNECT_RESP3");
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  expect_lost(1, 0);
  expect_nothing_left();
}

// FC-VI 5.3.5, VI-ARCH 5.4, VI-DG 6.2: a message meets a receive that is too small: the model and the transport
// both see that error, which ends the connection once: both ends are told once, here beside the descriptor, there
// by the DISCONNECT_RQST.
TEST_F(Disconnect, connected_receiveTooSmall_isOneError) {
  connect_pair();
  const auto receive = server->descriptor(0, {{server->data, 8}});
  server_vi->post_receive(receive, server->handle);
  client_vi->post_send(client->descriptor(0, {{client->data, 64}}), client->handle);
  settle();
  EXPECT_EQ(server->status(receive) & vi::status::length_error, vi::status::length_error);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  EXPECT_EQ(seen(Opcode::disconnect_rqst).size(), 1u);
  expect_lost(1, 1);
  expect_nothing_left();
}

// --- reason codes ------------------------------------------------------------------------------------------------

void say(fc2::Frame& frame, unsigned reason) {
  frame.bytes[24 + 5] |= 1;  // CONN_STS
  frame.bytes[24 + 13] = static_cast<std::uint8_t>(reason);
}

// FC-VI 5.9.7.2, Table 12, 8.2 b), ruling 25: every reason code in a RESP1; its acknowledgement
// confirms nothing (5.3.3).
TEST_F(Disconnect, everyReason_inResp1) {
  for (unsigned reason = 0; reason < 256; ++reason) {
    SCOPED_TRACE(reason);
    client_vi = &client->make_vi(Level::ReliableDelivery);
    server_vi = &server->make_vi(Level::ReliableDelivery);
    faults.alter(Opcode::connect_resp1, [reason](fc2::Frame& frame) { say(frame, reason); });
    listen(), ask();
    accept_next();
    if (reason == 0x22) {  // "Transport Error": the one retry, which is accepted
      EXPECT_EQ(asked(), Return::Success);
      EXPECT_EQ(accepted(), Return::Success);
      settle(), frames();
      continue;
    }
    const bool non_error = reason >= 0x01 && reason <= 0x1F, no_match = reason == 0x01 || reason == 0x03;
    EXPECT_EQ(asked(), no_match ? Return::NoMatch : non_error ? Return::Reject : Return::NotReachable);
    EXPECT_EQ(client_vi->state(), non_error ? vi::State::Idle : vi::State::Error);
    EXPECT_EQ(accepted(), Return::Timeout);
    EXPECT_EQ(server_vi->state(), vi::State::Idle);
    settle();
    const auto iu = frames();
    ASSERT_EQ(iu.size(), 4u);
    EXPECT_EQ(iu[2].word(0), nobody);
    EXPECT_EQ(iu[2].flags(), 0u);
    EXPECT_EQ(iu[3].word(0), nobody);
  }
}

// FC-VI C.5.2, C.5.6, ruling 24: whatever code a RESP2 has, it does not confirm: VIP_TIMEOUT, Idle, an empty RESP3.
TEST_F(Disconnect, everyReason_inResp2) {
  for (unsigned reason = 0; reason < 256; ++reason) {
    SCOPED_TRACE(reason);
    server_vi = &server->make_vi(Level::ReliableDelivery);
    client_vi = &client->make_vi(Level::ReliableDelivery);
    faults.alter(Opcode::connect_resp2, [reason](fc2::Frame& frame) { say(frame, reason); });
    listen(), ask();
    accept_next();
    EXPECT_EQ(accepted(), Return::Timeout);
    EXPECT_EQ(server_vi->state(), vi::State::Idle);
    settle();
    const auto resp3 = seen(Opcode::connect_resp3);
    ASSERT_EQ(resp3.size(), 1u);
    EXPECT_EQ(resp3[0].word(0), nobody);
  }
  EXPECT_EQ(server->count(vi::ErrorCode::ConnLost), 0);
}

// FC-VI 5.9.4.5, 8.5.3 a) 3): whatever code a RESP3 has: no connection: Error, VIP_ERROR_CONN_LOST.
TEST_F(Disconnect, everyReason_inResp3) {
  for (unsigned reason = 0; reason < 256; ++reason) {
    SCOPED_TRACE(reason);
    server_vi = &server->make_vi(Level::ReliableDelivery);
    client_vi = &client->make_vi(Level::ReliableDelivery);
    faults.alter(Opcode::connect_resp3, [reason](fc2::Frame& frame) { say(frame, reason); });
    listen(), ask();
    accept_next();
    EXPECT_EQ(accepted(), Return::Success);
    settle();
    EXPECT_EQ(client_vi->state(), vi::State::Error);
    EXPECT_EQ(client->count(vi::ErrorCode::ConnLost), static_cast<int>(reason) + 1);
  }
}

// FC-VI 5.9.7.3, C.5.7.2, 6.13.2: whatever code a DISCONNECT_RQST has, it is accepted; whatever code the
// DISCONNECT_RESP has, it is the answer.
TEST_F(Disconnect, everyReason_inDisconnectIus) {
  for (unsigned reason = 0; reason < 256; ++reason) {
    SCOPED_TRACE(reason);
    server_vi = &server->make_vi(Level::ReliableDelivery);
    client_vi = &client->make_vi(Level::ReliableDelivery);
    connect_pair();
    faults.alter(Opcode::disconnect_rqst, [reason](fc2::Frame& frame) { say(frame, reason); });
    EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
    const auto resp = seen(Opcode::disconnect_resp);
    ASSERT_EQ(resp.size(), 1u);
    EXPECT_EQ(resp[0].word(3), 0x004B0000u);
    EXPECT_EQ(server_vi->state(), vi::State::Error);
    faults.alter(Opcode::disconnect_resp, [reason](fc2::Frame& frame) { say(frame, reason); });
    EXPECT_EQ(disconnect(*server, *server_vi), Return::Success);
    EXPECT_EQ(server_vi->state(), vi::State::Idle);
  }
}

// FC-VI 5.9.4.5, 5.9.5: without CONN_STS the parameter is nothing.
TEST_F(Disconnect, parameterWithoutConnSts_isIgnored) {
  for (const Opcode opcode : {Opcode::connect_resp1, Opcode::connect_resp2, Opcode::connect_resp3})
    faults.alter(opcode, [](fc2::Frame& frame) { frame.bytes[24 + 13] = 0x21; });
  connect_pair();
  EXPECT_TRUE(message_flows());
  expect_nothing_left();
}

// --- logouts -----------------------------------------------------------------------------------------------------

struct End {
  const char* name;
  void (*act)(Disconnect&);
};
class Logout : public Disconnect, public ::testing::WithParamInterface<End> {};

// FC-VI 7.7.1, 8.4.2 g), 8.5.3 c), B.2.4 rule 1 c), C.2 rule 1 c): explicit or implicit, sent or received, a logout
// ends every connection with that port, completes what was posted, and frees handles and ids at once; a new connection
// can be made.
TEST_P(Logout, endsEverythingWithThatPort) {
  faults.lose(Opcode::connect_resp1);  // a retry: CSerr on both sides
  connect_pair();
  vi::Vi &resting = *client_vi, &resting_peer = *server_vi;
  EXPECT_EQ(disconnect(*client, resting),
            Return::Success);  // Herr: the handle rests; the peer's waits for its Disconnect
  client_vi = &client->make_vi(Level::ReliableReception);
  server_vi = &server->make_vi(Level::ReliableReception);
  connect_pair();
  const auto posted = client->descriptor(0, {{client->data, 8}});
  client_vi->post_receive(posted, client->handle);
  EXPECT_EQ(client->provider.handles_in_use() + server->provider.handles_in_use(), 4u);
  EXPECT_EQ(client->provider.resting_connection_ids() + server->provider.resting_connection_ids(), 2u);
  GetParam().act(*this);
  fabric.run_for(ms);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  expect_lost(1, 2);
  EXPECT_EQ(client->status(posted), vi::status::done | vi::status::flushed | vi::status::op_receive);
  EXPECT_EQ(client->provider.resting_connection_ids() + server->provider.resting_connection_ids(), 0u);
  EXPECT_EQ(client->provider.handles_in_use(), 1u);  // of a VI in Error
  EXPECT_EQ(server->provider.handles_in_use(), 2u);
  frames();
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  EXPECT_EQ(disconnect(*server, *server_vi), Return::Success);
  EXPECT_EQ(disconnect(*server, resting_peer), Return::Success);
  fabric.run_for(1);
  EXPECT_EQ(client->provider.handles_in_use() + server->provider.handles_in_use(), 0u);
  EXPECT_EQ(frames().size(), 0u);  // no Disconnect IU: there is no login
  fabric.run_for(runtime::second);
  connect_pair();
  EXPECT_TRUE(message_flows());
  expect_nothing_left();
}
fc2::RemotePort& peer_of(support::Host& host, support::Host& peer) {
  return host.port.remote_port(peer.port.n_port_id());
}
INSTANTIATE_TEST_SUITE_P(
    Ends, Logout,
    ::testing::Values(End{"ClientLogsOut", [](Disconnect& test) { peer_of(*test.client, *test.server).log_out(); }},
                      End{"ServerLogsOut", [](Disconnect& test) { peer_of(*test.server, *test.client).log_out(); }},
                      End{"BothLogOut",
                          [](Disconnect& test) {
                            peer_of(*test.client, *test.server).log_out();
                            peer_of(*test.server, *test.client).log_out();
                          }}),
    [](const auto& tested) { return tested.param.name; });

// FC-VI 7.7.1, FC-LS: the client's process comes back under the same address and logs in: its PLOGI is an implicit
// logout at the server.
TEST_F(Disconnect, plogi_isAnImplicitLogout) {
  connect_pair();
  server_vi->post_receive(server->descriptor(0, {{server->data, 8}}), server->handle);
  std::array<std::uint8_t, wire::els::Login::size()> plogi;
  client->port.login_parameters(wire::els::Command::plogi).write(plogi);
  struct Ignores final : fc2::ExchangeUser {
    void sequence_received(fc2::Exchange&, const wire::FcHeader&, std::span<const std::uint8_t>) override {}
    void exchange_failed(fc2::Exchange&, fc2::ExchangeFailure) override {}
  } user;
  client->port.request(server->port.n_port_id(), wire::RCtl::els_request, wire::Type::els, plogi, user,
                       runtime::second);
  settle();
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  expect_lost(0, 1);
  EXPECT_EQ(server->receives_completed, 1);
  EXPECT_TRUE(peer_of(*server, *client).logged_in());
  EXPECT_EQ(disconnect(*server, *server_vi), Return::Success);
  expect_nothing_left();
}
}  // namespace
