// Set-ups and disconnects that do not go the straight way, on the wire (FC-VI 5.3, 5.9, 6.8 to 6.13, 8.3 to 8.6, C.3
// to C.5, D.1).
#include "tests/fcvi/wire_fixture.hpp"

namespace {
using Level = vi::ReliabilityLevel;
using support::Expected;
using support::expect_frame;
using support::WireFrame;
using vi::Return;

class WireSetup : public support::WireNodes {
 public:
  WireSetup() {
    client_vi = &client->make_vi(Level::ReliableDelivery);
    server_vi = &server->make_vi(Level::ReliableDelivery);
  }
  void ask(runtime::TimeNs timeout = runtime::never) {
    client->provider.connect_request(*client_vi, client->net("client, 16 bytes"), server->net("service of 16 by"),
                                     timeout, request);
  }
  void listen() { server->provider.connect_wait(server->net("service of 16 by"), runtime::never, wait); }
  void accept_offer() { server->provider.connect_accept(wait.token, *server_vi, accept); }
  bool offered() {
    return fabric.run_until([&] { return wait.result.has_value(); });
  }
  bool ended() {
    return fabric.run_until([&] { return request.result.has_value(); });
  }
  std::vector<WireFrame> settled() {
    fabric.run_for(runtime::millisecond);
    return frames();
  }
  void TearDown() override { EXPECT_EQ(unexpected(), 0u); }
};

// FC-VI 5.3.3, 5.9.7.2.1: nobody waits: 03h in RESP1; unassigned handles in RESP2 and RESP3 say that nothing
// came of it.
TEST_F(WireSetup, refused_nobodyWaits) {
  ask();
  ASSERT_TRUE(ended());
  const auto iu = settled();
  ASSERT_EQ(iu.size(), 4u);
  expect_frame(iu[0], {true, 0x02, 0x290008, 2, 0x10, 0x01, nobody, 0, 0, 0, 0, connection_id, 340}, "CONNECT_RQST");
  expect_frame(iu[1], {false, 0x03, 0x890008, 2, 0x18, 0x01, nobody, 0, 0x00030000, 0, 0, connection_id, 340},
               "CONNECT_RESP1");
  EXPECT_EQ(iu[1].payload(2), nobody);  // ruling 3
  expect_frame(iu[2], {true, 0x03, 0x090008, 2, 0x19, 0x00, nobody, 0, 0, 0, 0, connection_id, 0, 1}, "CONNECT_RESP2");
  expect_frame(iu[3], {false, 0x03, 0x980008, 2, 0x1A, 0x00, nobody, 0, 0, 0, 0, connection_id, 0, 1}, "CONNECT_RESP3");
}

// FC-VI 5.9.7.2.1: somebody waits, but for another discriminator: 01h.
TEST_F(WireSetup, refused_otherDiscriminator) {
  server->provider.connect_wait(server->net("other"), 100 * runtime::second, wait);
  ask();
  ASSERT_TRUE(ended());
  const auto iu = settled();
  ASSERT_EQ(iu.size(), 4u);
  EXPECT_EQ(iu[1].flags(), 0x01u);
  EXPECT_EQ(iu[1].word(3), 0x00010000u);
}

// FC-VI 5.9.7.2.1: VipConnectReject is 04h.
TEST_F(WireSetup, refused_rejected) {
  listen(), ask();
  ASSERT_TRUE(offered());
  server->provider.connect_reject(wait.token, accept);
  ASSERT_TRUE(ended());
  const auto iu = settled();
  ASSERT_EQ(iu.size(), 4u);
  EXPECT_EQ(iu[1].flags(), 0x01u);
  EXPECT_EQ(iu[1].word(3), 0x00040000u);
}

// FC-VI 5.9.7.2.1, C.5.2, C.5.6: T1 is over: RESP2 "Connect Timeout" to the handle of RESP1; RESP3
// confirms no connection.
TEST_F(WireSetup, timedOut_resp2SaysConnectTimeout) {
  listen(), ask(runtime::second);
  ASSERT_TRUE(offered());
  ASSERT_TRUE(ended());
  accept_offer();
  const auto iu = settled();
  ASSERT_EQ(iu.size(), 4u);
  expect_frame(iu[2], {true, 0x03, 0x090008, 2, 0x19, 0x01, server_handle, 0, 0x00020000, 0, 0, connection_id, 0, 1},
               "CONNECT_RESP2");
  expect_frame(iu[3], {false, 0x03, 0x980008, 2, 0x1A, 0x00, nobody, 0, 0, 0, 0, connection_id, 0, 1}, "CONNECT_RESP3");
}

// FC-VI 8.5.4, C.3 rule 3: T3 after exactly FCVI_ULP_TIMEOUT: ABTS; then the same handle, a new id and exchange, and
// RETRY in all four IUs (5.9.4.4, 5.9.4.5).
TEST_F(WireSetup, retried_hasRetryInAllIus) {
  listen(), ask();
  ASSERT_TRUE(offered());
  const auto first = frames();
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].flags(), 0x01u);
  fabric.run_for(11 * runtime::second);
  accept_offer();
  ASSERT_TRUE(ended());
  const auto iu = settled();
  ASSERT_EQ(iu.size(), 4u);
  const std::uint32_t id = connection_id + 1;
  expect_frame(iu[0], {true, 0x02, 0x290008, 2, 0x10, 0x11, nobody, 0, 0, 0, 0, id, 340}, "CONNECT_RQST");
  EXPECT_EQ(iu[0].payload(2), client_handle);
  EXPECT_NE(iu[0].fc.ox_id, first[0].fc.ox_id);
  expect_frame(iu[1], {false, 0x03, 0x890008, 2, 0x18, 0x04, nobody, 0, 0, 0, 0, id, 340}, "CONNECT_RESP1");
  EXPECT_EQ(iu[1].payload(2), server_handle);
  expect_frame(iu[2], {true, 0x03, 0x090008, 2, 0x19, 0x04, server_handle, 0, 0, 0, 0, id, 0, 1}, "CONNECT_RESP2");
  expect_frame(iu[3], {false, 0x03, 0x980008, 2, 0x1A, 0x04, client_handle, 0, 0, 0, 0, id, 0, 1}, "CONNECT_RESP3");
}

// FC-VI D.1 rule 2, 6.12.2: VipDisconnect after the retry failed too: CONN_SETUP_ABORT, 49h, no handle, the last id.
// The server's offer is gone with it: it accepts (5.9.4.6); for another one it does not exist (D.1 rule 3).
TEST_F(WireSetup, failed_disconnectAbortsSetup) {
  listen(), ask();
  ASSERT_TRUE(ended());
  EXPECT_EQ(request.result, Return::NotReachable);
  frames();
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  const auto iu = settled();
  ASSERT_EQ(iu.size(), 2u);
  const std::uint32_t id = connection_id + 1;
  expect_frame(iu[0], {true, 0x02, 0x290008, 2, 0x12, 0x07, nobody, 0, 0x00490000, 0, 0, id}, "DISCONNECT_RQST");
  expect_frame(iu[1], {false, 0x03, 0x980008, 2, 0x1B, 0x07, nobody, 0, 0x004B0000, 0, 0, id}, "DISCONNECT_RESP");
  accept_offer();
  EXPECT_EQ(accept.result, Return::Timeout);
}

// FC-VI D.1 rule 3, C.5.7.2, 6.13.2: a connection that the other end knows nothing of: 4Ah, id as received.
TEST_F(WireSetup, disconnectUnknown_doesNotExist) {
  struct Listener final : fc2::ExchangeUser {
    void sequence_received(fc2::Exchange&, const wire::FcHeader&, std::span<const std::uint8_t>) override {}
    void exchange_failed(fc2::Exchange&, fc2::ExchangeFailure) override {}
  } user;
  ask();  // logs the ports in
  ASSERT_TRUE(ended());
  settled();
  std::array<std::uint8_t, 32> bytes{};
  wire::fcvi::DisconnectRqst{.handle = {0x4711},
                             .last_msg_id = {},
                             .connection_id = {77},
                             .conn_setup_abort = true,
                             .vi_app_discon = true,
                             .status = {}}
      .write(bytes);
  fc2::Exchange* exchange = client->port.originate(server->port.n_port_id(), wire::Type::fc_vi, user);
  client->port.send(*exchange, wire::RCtl::unsolicited_control, bytes, {}, {.transfer_initiative = true});
  const auto iu = settled();
  ASSERT_EQ(iu.size(), 2u);
  expect_frame(iu[1], {false, 0x03, 0x980008, 2, 0x1B, 0x07, nobody, 0, 0x004A0000, 0, 0, 77}, "DISCONNECT_RESP");
}

// FC-VI D.1 rule 6, 5.9.4.6, 5.9.7.3.2: our handle, the id of no set-up of it, CONN_SETUP_ABORT: 48h to the
// originator's handle, flags as received; the connection stands. Ruling 5: FFFFFFFFh as the id of a connection's
// Disconnect is accepted.
TEST_F(WireSetup, disconnectOfUnknownSetup_isAProtocolError) {
  struct Listener final : fc2::ExchangeUser {
    void sequence_received(fc2::Exchange&, const wire::FcHeader&, std::span<const std::uint8_t>) override {}
    void exchange_failed(fc2::Exchange&, fc2::ExchangeFailure) override {}
  } user;
  const auto disconnect_with = [&](std::uint32_t id, bool abort, bool app) {
    std::array<std::uint8_t, 32> bytes{};
    wire::fcvi::DisconnectRqst{.handle = {server_handle},
                               .last_msg_id = {},
                               .connection_id = {id},
                               .conn_setup_abort = abort,
                               .vi_app_discon = app,
                               .status = {}}
        .write(bytes);
    fc2::Exchange* exchange = client->port.originate(server->port.n_port_id(), wire::Type::fc_vi, user);
    client->port.send(*exchange, wire::RCtl::unsolicited_control, bytes, {}, {.transfer_initiative = true});
    return settled();
  };
  listen(), ask();
  ASSERT_TRUE(offered());
  accept_offer();
  ASSERT_TRUE(ended());
  settled();
  for (const bool app : {false, true}) {
    const auto iu = disconnect_with(77, true, app);
    ASSERT_EQ(iu.size(), 2u);
    expect_frame(iu[1], {false, 0x03, 0x980008, 2, 0x1B, app ? 0x07u : 0x05u, client_handle, 0, 0x00480000, 0, 0, 77},
                 "DISCONNECT_RESP");
    EXPECT_EQ(server_vi->state(), vi::State::Connected);
  }
  const auto iu = disconnect_with(nobody, false, true);
  ASSERT_EQ(iu.size(), 2u);
  expect_frame(iu[1], {false, 0x03, 0x980008, 2, 0x1B, 0x03, client_handle, 0, 0x004B0000, 0, 0, nobody},
               "DISCONNECT_RESP");
  EXPECT_EQ(server_vi->state(), vi::State::Error);
}

// FC-VI 8.6.2 b), 8.6.3 a), D.1 rule 1 b): no answer within FCVI_ULP_TIMEOUT: ABTS, one retry in a new exchange, ABTS.
TEST_F(WireSetup, disconnect_unanswered_isRetriedOnce) {
  listen(), ask();
  ASSERT_TRUE(offered());
  accept_offer();
  ASSERT_TRUE(ended());
  settled();
  fabric.silence(1);
  EXPECT_EQ(disconnect(*client, *client_vi), Return::NotReachable);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(log.count(wire::RCtl::abts), 3u);  // of the first, again after R_A_TOV (FC-FS), of the second
  const auto iu = frames();
  ASSERT_EQ(iu.size(), 2u);
  const Expected rqst{true, 0x02, 0x290008, 2, 0x12, 0x02, server_handle};
  expect_frame(iu[0], rqst, "DISCONNECT_RQST");
  expect_frame(iu[1], rqst, "DISCONNECT_RQST, retried");
  EXPECT_NE(iu[0].fc.ox_id, iu[1].fc.ox_id);
}
}  // namespace
