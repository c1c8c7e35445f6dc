// Connection Setup and Disconnect beyond the undisturbed path: refusals, timers, bad frames (FC-VI 5.3, 8.2
// to 8.6, C.5).
#include <random>

#include "tests/fcvi/setup_calls.hpp"
#include "tests/support/made_frame.hpp"

namespace {
using Level = vi::ReliabilityLevel;
using support::Setup;
using support::TwoNodes;
using vi::Return;

// FC-VI 5.9.7.2.1 03h, VI-DG 3.3.4: nobody waits: VIP_NO_MATCH at once, Idle, receives stay posted.
TEST_F(Setup, idle_connectNobodyWaits_isNoMatch) {
  client_vi->post_receive(client->descriptor(0, {{client->data, 10}}), client->handle);
  ask();
  EXPECT_EQ(outcome(), Return::NoMatch);
  EXPECT_LT(took, runtime::millisecond);
  EXPECT_EQ(client_vi->state(), vi::State::Idle);
  EXPECT_FALSE(client_vi->receive_queue_empty());
  EXPECT_EQ(client->receives_completed, 0);
}

// FC-VI 5.9.7.2.1 01h: somebody waits, for another discriminator.
TEST_F(Setup, idle_connectOtherDiscriminator_isNoMatch) {
  listen("other");
  ask();
  EXPECT_EQ(outcome(), Return::NoMatch);
  EXPECT_FALSE(wait.result.has_value());
}

// vipl-in-the-wild 3: a tight retry loop, 100,000 tries in a second or two: what is open at once stays small.
TEST_F(Setup, idle_connectRetriedOften_leaksNothing) {
  std::size_t exchanges = 0, handles = 0, setups = 0, events = 0;
  for (int i = 0; i < 100'000; ++i) {
    ask();
    ASSERT_EQ(outcome(), Return::NoMatch);
    exchanges = std::max(exchanges, client->port.open_exchanges() + server->port.open_exchanges());
    handles = std::max(handles, client->provider.handles_in_use());
    setups = std::max(setups, client->provider.open_setups() + server->provider.open_setups());
    events = std::max(events, fabric.scheduler.pending_count());
  }
  EXPECT_LE(handles,
            2u);  // 8.4.2 f) concerns connections: that of a set-up which came to nothing is free with its exchange
  EXPECT_LE(exchanges, 10u);
  EXPECT_LE(setups, 5u);
  EXPECT_LE(events, 50u);
  fabric.run_for(60 * runtime::second);
  EXPECT_EQ(client->port.open_exchanges() + server->port.open_exchanges(), 0u);
  EXPECT_EQ(client->provider.handles_in_use() + server->provider.handles_in_use(), 0u);
  listen();
  ask();
  ASSERT_TRUE(offered());
  server->provider.connect_accept(wait.token, *server_vi, accept);
  EXPECT_EQ(outcome(), Return::Success);
}

// FC-VI 5.9.7.2.1 04h: VipConnectReject.
TEST_F(Setup, pending_rejected) {
  listen();
  ask();
  ASSERT_TRUE(offered());
  EXPECT_EQ(wait.remote_address.discriminator_length, 6);
  server->provider.connect_reject(wait.token, accept);
  EXPECT_EQ(accept.result, Return::Success);
  EXPECT_EQ(outcome(), Return::Reject);
  EXPECT_EQ(client_vi->state(), vi::State::Idle);
}

// vipl-in-the-wild 4, ruling 21: binary discriminators of every length keep it.
TEST_F(Setup, pending_discriminatorLengths_areKept) {
  for (const std::size_t length :
       {std::size_t{0}, std::size_t{4}, std::size_t{15}, std::size_t{16}, std::size_t{17}, std::size_t{128}}) {
    const std::vector<std::uint8_t> bytes(length, 0xA5);
    const auto local = vi::NetAddress::make(client->address, bytes),
               remote = vi::NetAddress::make(server->address, bytes);
    wait.result.reset();
    server->provider.connect_wait(remote, runtime::second, wait);
    request.result.reset();
    client->provider.connect_request(*client_vi, local, remote, runtime::second, request);
    ASSERT_TRUE(offered());
    EXPECT_EQ(wait.remote_address.discriminator_length, length);
    EXPECT_TRUE(wait.remote_address.same_discriminator(local));
    server->provider.connect_reject(wait.token, accept);
    EXPECT_EQ(outcome(), Return::Reject);
  }
}

// VI-DG 3.3.2: attributes that do not match fail the accept; the offer stays valid.
TEST_F(Setup, pending_acceptWithOtherLevel_canBeRepeated) {
  listen();
  ask();
  ASSERT_TRUE(offered());
  vi::Vi& wrong = server->make_vi(Level::ReliableReception);
  server->provider.connect_accept(wait.token, wrong, accept);
  EXPECT_EQ(accepted(), Return::InvalidReliabilityLevel);
  accept.result.reset();
  server->provider.connect_accept(wait.token, *server_vi, accept);
  EXPECT_EQ(accepted(), Return::Success);
  EXPECT_EQ(outcome(), Return::Success);
}

// FC-VI C.5.2, C.5.6: T1 expires; the server's late accept learns it as VIP_TIMEOUT.
TEST_F(Setup, pending_t1Expires_bothTimeOut) {
  listen();
  ask(3 * runtime::second);
  ASSERT_TRUE(offered());
  EXPECT_EQ(outcome(), Return::Timeout);
  EXPECT_EQ(took, 3 * runtime::second);
  EXPECT_EQ(client_vi->state(), vi::State::Idle);
  server->provider.connect_accept(wait.token, *server_vi, accept);
  EXPECT_EQ(accepted(), Return::Timeout);
  EXPECT_EQ(server_vi->state(), vi::State::Idle);
}

// FC-VI C.5.2: T0.
TEST_F(Setup, idle_waitTimesOut) {
  listen("service", 2 * runtime::second);
  const auto begun = fabric.scheduler.now();
  ASSERT_TRUE(fabric.run_until([&] { return wait.result.has_value(); }));
  EXPECT_EQ(wait.result, Return::Timeout);
  EXPECT_EQ(fabric.scheduler.now() - begun, 2 * runtime::second);
}

// FC-VI 8.5.4, C.3 rule 3: the server decides after T3 (10 s) but before the retry's T3: the retried set-up connects.
TEST_F(Setup, pending_t3Expires_retryConnects) {
  listen();
  ask(runtime::never);
  ASSERT_TRUE(offered());
  fabric.run_for(12 * runtime::second);
  EXPECT_EQ(client_vi->endpoint_state_name(), "PendingConnectRetry");
  server->provider.connect_accept(wait.token, *server_vi, accept);
  EXPECT_EQ(outcome(), Return::Success);
  EXPECT_EQ(accepted(), Return::Success);
  EXPECT_EQ(client_vi->state(), vi::State::Connected);
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
}

// FC-VI C.3 rule 4: the retry fails too: VIP_NOT_REACHABLE, Error, after twice T3.
TEST_F(Setup, pendingRetry_t3Expires_isNotReachable) {
  listen();
  ask(runtime::never);
  ASSERT_TRUE(offered());
  EXPECT_EQ(outcome(), Return::NotReachable);
  EXPECT_GE(took, 20 * runtime::second);
  EXPECT_LT(took, 21 * runtime::second);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);  // D.1 rule 2
  EXPECT_EQ(client_vi->state(), vi::State::Idle);
}

// FC-VI 8.5.3 d), C.5.2: T2, two times FCVI_ULP_TIMEOUT: VIP_TIMEOUT and VIP_ERROR_CONN_LOST.
TEST_F(Setup, accepting_t2Expires_isTimeout) {
  listen();
  ask();
  ASSERT_TRUE(offered());
  fabric.silence(0);
  const auto begun = fabric.scheduler.now();
  server->provider.connect_accept(wait.token, *server_vi, accept);
  EXPECT_EQ(accepted(), Return::Timeout);
  EXPECT_EQ(fabric.scheduler.now() - begun, 20 * runtime::second);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  EXPECT_EQ(server->count(vi::ErrorCode::ConnLost), 1);
}

// FC-VI 8.6.3 a), VI-DG 3.3.5, ruling 20: a Disconnect that nobody answers, retried once: VIP_NOT_REACHABLE, the VI
// stays in Error.
TEST_F(TwoNodes, connected_disconnectUnanswered_isNotReachable) {
  connect(Level::ReliableDelivery);
  fabric.silence(1);
  const auto begun = fabric.scheduler.now();
  EXPECT_EQ(disconnect(*client, *client_vi), Return::NotReachable);
  EXPECT_EQ(fabric.scheduler.now() - begun, 20 * runtime::second);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
}

// VI-ARCH 5.2: VipDisconnect while the request is pending: Idle at once; the server's accept learns it.
TEST_F(Setup, pending_disconnect_isIdle) {
  listen();
  ask();
  ASSERT_TRUE(offered());
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  EXPECT_EQ(client_vi->state(), vi::State::Idle);
  EXPECT_EQ(request.result, Return::ErrorResource);
  server->provider.connect_accept(wait.token, *server_vi, accept);
  EXPECT_EQ(accepted(), Return::Timeout);
}

// FC-VI 7.7.1: an explicit logout ends every connection with that port, on both sides.
TEST_F(TwoNodes, connected_portLogout_losesConnection) {
  connect(Level::ReliableDelivery);
  server->port.remote_port(client->port.n_port_id()).log_out();
  fabric.run_for(runtime::second);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  EXPECT_EQ(client->count(vi::ErrorCode::ConnLost), 1);
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);  // needs no answer
  EXPECT_EQ(disconnect(*server, *server_vi), Return::Success);
  EXPECT_EQ(unexpected(), 0u);
}

// FC-VI 8.4.2 f): after the Disconnect the handle rests for R_A_TOV, and a new connection gets another one.
TEST_F(TwoNodes, connected_thousandTimes_leaksNothing) {
  connect(Level::ReliableDelivery);
  for (int i = 0; i < 300; ++i) {
    ASSERT_EQ(disconnect(*client, *client_vi), Return::Success);
    ASSERT_EQ(disconnect(*server, *server_vi), Return::Success);
    wait.result.reset(), request.result.reset(), accept.result.reset();
    server->provider.connect_wait(server->net("again"), runtime::second, wait);
    client->provider.connect_request(*client_vi, client->net("c"), server->net("again"), runtime::second, request);
    ASSERT_TRUE(fabric.run_until([&] { return wait.result.has_value(); }));
    server->provider.connect_accept(wait.token, *server_vi, accept);
    ASSERT_TRUE(fabric.run_until([&] { return accept.result && request.result; }));
    ASSERT_EQ(request.result, Return::Success);
  }
  fabric.run_for(60 * runtime::second);
  EXPECT_EQ(client->port.open_exchanges() + server->port.open_exchanges(), 0u);
  EXPECT_EQ(unexpected(), 0u);
}

// FC-VI 5.9.5, 8: truncated and garbled FC-VI frames are counted and discarded; the connection stands.
TEST_F(TwoNodes, connected_garbageFrames_areCountedAndDiscarded) {
  connect(Level::ReliableDelivery);
  std::mt19937 random(20261121);
  std::uint64_t sent = 0;
  for (int i = 0; i < 20000; ++i, ++sent) {
    const wire::FcHeader header{.r_ctl = static_cast<wire::RCtl>(random() % 8),
                                .d_id = server->port.n_port_id(),
                                .s_id = {0x010900},  // a port that has no connection
                                .type = wire::Type::fc_vi,
                                .f_ctl = static_cast<std::uint32_t>(random()) & 0xFFFFFF,
                                .df_ctl = static_cast<std::uint8_t>(random() % 4),
                                .seq_cnt = {static_cast<std::uint16_t>(random() % 3)},
                                .ox_id = {static_cast<std::uint16_t>(random() % 5)}};
    std::vector<std::uint8_t> data(random() % 700 / 4 * 4);
    for (std::uint8_t& byte : data) byte = static_cast<std::uint8_t>(random());
    if (data.size() > 4) data[4] = static_cast<std::uint8_t>(random() % 0x20);
    auto bytes = support::bytes_of_frame(header, data);
    if (random() % 10 == 0) bytes.resize(random() % 24);
    const wire::Sof sof = random() % 2 == 0 ? wire::Sof::i3 : wire::Sof::n3;
    const wire::Eof eof = random() % 2 == 0 ? wire::Eof::t : wire::Eof::n;
    server->port.receive(support::raw_frame(fabric.pool, bytes, sof, eof));
  }
  EXPECT_GE(server->discarded(), sent * 9 / 10);
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
  const auto receive = server->descriptor(0, {{server->data, 100}});
  server_vi->post_receive(receive, server->handle);
  client_vi->post_send(client->descriptor(0, {{client->data, 9}}), client->handle);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(server->status(receive), vi::status::done | vi::status::op_receive);
  EXPECT_EQ(unexpected(), 0u);
}
}  // namespace
