// Limits, hostile peers, and what outlives what.
#include "fcvi/provider.hpp"
#include "tests/fcvi/wire_fixture.hpp"
#include "tests/support/made_frame.hpp"
#include "wire/fcvi/disconnect_resp.hpp"

namespace {
using Level = vi::ReliabilityLevel;
using support::Connect;
using support::Done;
using support::Host;
using support::Wait;
using vi::Return;

/// Many VIs of two hosts, connected pair by pair.
class Many : public support::TwoNodes {
 public:
  explicit Many(fcvi::ProviderConfig config = {}, support::TestFabric::Adjust adjust = {})
      : TwoNodes(config, {.latency_ns = runtime::microsecond, .bytes_per_second = 0}, std::move(adjust)) {}
  void connect_pairs(std::size_t count, Level level) {
    for (std::size_t i = 0; i < count; ++i) {
      wait.result.reset(), request.result.reset(), accept.result.reset();
      clients.push_back(&client->make_vi(level));
      servers.push_back(&server->make_vi(level));
      server->provider.connect_wait(server->net("many"), runtime::second, wait);
      client->provider.connect_request(*clients.back(), client->net("c"), server->net("many"), runtime::second,
                                       request);
      fabric.run_until([&] { return wait.result.has_value() || request.result.has_value(); });
      server->provider.connect_accept(wait.token, *servers.back(), accept);
      fabric.run_until([&] { return request.result.has_value() && accept.result.has_value(); });
      ASSERT_EQ(request.result, Return::Success) << i;
      ASSERT_EQ(accept.result, Return::Success) << i;
    }
  }
  void TearDown() override { EXPECT_EQ(unexpected(), 0u); }
  std::vector<vi::Vi*> clients, servers;
};

// FC-VI 4.2, 5.2.1 note, 7.7.1: connections are not bounded by exchanges, nor by max_pending_requests; a set-up that
// was accepted pends no more.
TEST_F(Many, connected_twoThousand) {
  connect_pairs(2000, Level::ReliableDelivery);
  EXPECT_EQ(server->provider.handles_in_use(), 2000u);
  server->port.remote_port(client->port.n_port_id()).log_out();
  fabric.run_for(runtime::second);
  EXPECT_EQ(server->count(vi::ErrorCode::ConnLost), 2000);
  EXPECT_EQ(client->count(vi::ErrorCode::ConnLost), 2000);
}

// FC-VI 4.1, 5.5: more messages at once than two ports have SEQ_IDs (255, one kept): the rest waits, none is lost.
TEST_F(Many, connected_300SendAtOnce_allArrive) {
  constexpr std::uint32_t length = 20000;
  connect_pairs(300, Level::ReliableReception);
  std::vector<std::uint64_t> sends, receives;
  for (std::size_t i = 0; i < 300; ++i) {
    std::memset(client->bytes(client->data + i * length), static_cast<int>(i % 251), length);
    receives.push_back(server->descriptor(0, {{server->data + i * length, length}}));
    sends.push_back(client->descriptor(0, {{client->data + i * length, length}}));
    servers[i]->post_receive(receives[i], server->handle);
  }
  for (std::size_t i = 0; i < 300; ++i) clients[i]->post_send(sends[i], client->handle);
  fabric.run_for(runtime::second);
  for (std::size_t i = 0; i < 300; ++i) {
    ASSERT_EQ(client->status(sends[i]), vi::status::done | vi::status::op_send) << i;
    ASSERT_EQ(server->status(receives[i]), vi::status::done | vi::status::op_receive) << i;
    ASSERT_EQ(std::memcmp(server->bytes(server->data + i * length), client->bytes(client->data + i * length), length),
              0)
        << i;
  }
  EXPECT_EQ(client->port.open_exchanges() + server->port.open_exchanges(), 0u);
}

class FewExchanges : public Many {
 public:
  FewExchanges() : Many({}, [](fc2::NPortConfig& config, std::size_t) { config.max_exchanges = 4; }) {}
};

// FC-VI 5.2.1, 5.2.5: exchanges are made as they are needed; when they run out messages wait, and answers never
// starve behind requests.
TEST_F(FewExchanges, connected_bothDirections_allComplete) {
  connect_pairs(8, Level::ReliableReception);
  std::vector<std::pair<Host*, std::uint64_t>> sends;
  for (std::size_t i = 0; i < 8; ++i)
    for (int message = 0; message < 20; ++message)
      for (auto [host, vi, peer] :
           {std::tuple(client.get(), clients[i], server.get()), std::tuple(server.get(), servers[i], client.get())}) {
        const std::uint16_t operation = message % 2 == 0 ? vi::control::op_rdma_write : vi::control::op_rdma_read;
        sends.emplace_back(host, host->descriptor(operation, {{host->data, 6000}}, peer->data, peer->handle));
        vi->post_send(sends.back().second, host->handle);
      }
  fabric.run_for(5 * runtime::second);
  for (auto [host, send] : sends) EXPECT_EQ(host->status(send) & ~vi::status::op_mask, vi::status::done);
}

class SlowLink : public support::TwoNodes {
 public:
  SlowLink() : TwoNodes({}, {.latency_ns = runtime::microsecond, .bytes_per_second = 4'000'000}) {}
};

// FC-VI 8.3, 8.4.1 a), VI-ARCH 6.3.1.1: eight reads that take 32 s together: each waits for FCVI_ULP_TIMEOUT of
// silence, not for its turn.
TEST_F(SlowLink, connected_manyLongReads_doNotTimeOut) {
  connect(Level::ReliableDelivery);
  std::vector<std::uint64_t> reads;
  for (int i = 0; i < 8; ++i) {
    reads.push_back(
        client->descriptor(vi::control::op_rdma_read, {{client->data, 16u << 20}}, server->data, server->handle));
    client_vi->post_send(reads.back(), client->handle);
  }
  fabric.run_for(60 * runtime::second);
  for (const auto read : reads) EXPECT_EQ(client->status(read), vi::status::done | vi::status::op_rdma_read);
}

// ... and a read that brings nothing ends after exactly FCVI_ULP_TIMEOUT (B.2.6.2 rule 9).
TEST_F(SlowLink, connected_readUnanswered_timesOut) {
  connect(Level::ReliableDelivery);
  fabric.silence(1);
  const auto begun = fabric.scheduler.now();
  const auto read = client->descriptor(vi::control::op_rdma_read, {{client->data, 100}}, server->data, server->handle);
  client_vi->post_send(read, client->handle);
  ASSERT_TRUE(fabric.run_until([&] { return client_vi->state() == vi::State::Error; }));
  EXPECT_EQ((fabric.scheduler.now() - begun) / runtime::millisecond, 10'000);
  EXPECT_EQ(client->status(read), vi::status::done | vi::status::transport_error | vi::status::op_rdma_read);
}

// VipCloseNic with everything open: the calls return, the peer hears of it, the VIs and their memory are not
// touched any more.
TEST_F(SlowLink, connected_nicGoes_peerIsTold) {
  connect(Level::ReliableReception);
  Done disconnecting;
  Wait offer;
  Connect asking;
  {
    vi::Nic second(client->provider, *client);
    vi::Vi* pending = nullptr;
    ASSERT_EQ(second.create_vi({.reliability = Level::ReliableDelivery}, nullptr, nullptr, pending), Return::Success);
    server->provider.connect_wait(server->net("other"), 5 * runtime::second, offer);
    client->provider.connect_request(*pending, client->net("c"), server->net("other"), runtime::never, asking);
    fabric.run_for(runtime::millisecond);
  }
  EXPECT_EQ(asking.result, Return::ErrorResource);
  client_vi->post_send(
      client->descriptor(vi::control::op_rdma_write, {{client->data, 1u << 20}}, server->data, server->handle),
      client->handle);
  fabric.run_for(runtime::millisecond);
  client->provider.detach(*client_vi);
  fabric.run_for(30 * runtime::second);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  EXPECT_EQ(client->provider.handles_in_use(), 0u);
  EXPECT_EQ(client->port.open_exchanges(), 0u);
  EXPECT_EQ(disconnect(*server, *server_vi), Return::Success);
  EXPECT_EQ(unexpected(), 0u);
}

// FC-VI 7.7.2: a connection to oneself does not survive the link: what was under way is lost.
TEST_F(SlowLink, loopback_linkDown_losesConnection) {
  client_vi = &client->make_vi(Level::ReliableDelivery);
  vi::Vi& other = client->make_vi(Level::ReliableDelivery);
  client->provider.connect_wait(client->net("loop"), runtime::second, wait);
  client->provider.connect_request(*client_vi, client->net("c"), client->net("loop"), runtime::second, request);
  ASSERT_TRUE(fabric.run_until([&] { return wait.result.has_value(); }));
  client->provider.connect_accept(wait.token, other, accept);
  ASSERT_TRUE(fabric.run_until([&] { return accept.result.has_value(); }));
  fabric.detach(0);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  EXPECT_EQ(other.state(), vi::State::Error);
  EXPECT_EQ(unexpected(), 0u);
}

class TinyFrames : public support::TwoNodes {
 public:
  TinyFrames()
      : TwoNodes({}, {.latency_ns = runtime::microsecond, .bytes_per_second = 0},
                 [](fc2::NPortConfig& config, std::size_t) { config.receive_data_field_bytes = 256; }) {}
};

// FC-VI 5.6, 5.8.6, 5.8.7: 74,899 frames of 224 bytes: SEQ_CNT wraps, within no IU; the relative offset tells
// all frames apart.
TEST_F(TinyFrames, connected_moreThan65536Frames) {
  constexpr std::uint32_t length = (16u << 20) + 3;
  for (const std::uint16_t operation : {std::uint16_t{0}, vi::control::op_rdma_write, vi::control::op_rdma_read}) {
    wait.result.reset(), request.result.reset(), accept.result.reset();
    connect(Level::ReliableReception, "wrap" + std::to_string(operation));
    for (std::uint32_t i = 0; i < length; ++i) {
      *client->bytes(client->data + i) = static_cast<std::uint8_t>(i * 31 + (i >> 13));
      *server->bytes(server->data + i) = static_cast<std::uint8_t>(i * 17 + (i >> 11) + operation);
    }
    const auto receive = server->descriptor(0, {{server->data, length}});
    server_vi->post_receive(receive, server->handle);
    const auto send =
        client->descriptor(operation, {{client->data, length}}, operation == 0 ? 0 : server->data, server->handle);
    const auto ius = client->provider.counters().ius_sent + server->provider.counters().ius_sent;
    client_vi->post_send(send, client->handle);
    fabric.run_for(runtime::second);
    ASSERT_EQ(client->status(send) & ~vi::status::op_mask, vi::status::done);
    EXPECT_EQ(std::memcmp(client->bytes(client->data), server->bytes(server->data), length), 0);
    EXPECT_EQ(client->provider.counters().ius_sent + server->provider.counters().ius_sent - ius,
              3u);  // two of data, one other
  }
  EXPECT_EQ(unexpected(), 0u);
}

// FC-VI 5.6: SEQ_CNT does not repeat within an IU: 65,536 frames are one IU of data, one frame more makes a second.
TEST_F(TinyFrames, connected_65536Frames_areTheMostOfOneIu) {
  constexpr std::uint32_t payload = 256 - 32;
  connect(Level::ReliableReception, "most");
  for (const std::uint16_t operation : {std::uint16_t{0}, vi::control::op_rdma_write, vi::control::op_rdma_read}) {
    for (const std::uint32_t frames : {65'536u, 65'537u}) {
      server_vi->post_receive(server->descriptor(0, {{server->data, frames * payload}}), server->handle);
      const auto send = client->descriptor(operation, {{client->data, frames * payload}},
                                           operation == 0 ? 0 : server->data, server->handle);
      const auto sent = [&] { return client->provider.counters().ius_sent + server->provider.counters().ius_sent; };
      const auto before = sent();
      client_vi->post_send(send, client->handle);
      fabric.run_for(runtime::second);
      ASSERT_EQ(client->status(send) & ~vi::status::op_mask, vi::status::done);
      EXPECT_EQ(sent() - before, frames == 65'536u ? 2u : 3u)
          << "with the response, or the request of a read; operation " << operation;
    }
  }
}

/// Frames of a server that does not keep to the protocol.
class Hostile : public support::WireNodes {
 public:
  /// An IU on the client's exchange of `of`.
  void forge(const support::WireFrame& of, wire::RCtl r_ctl, std::uint32_t f_ctl,
             std::span<const std::uint8_t> content) {
    const wire::FcHeader header{.r_ctl = r_ctl,
                                .d_id = of.fc.s_id,
                                .s_id = of.fc.d_id,
                                .type = wire::Type::fc_vi,
                                .f_ctl = f_ctl,
                                .df_ctl = wire::df_ctl::device_header_32,
                                .ox_id = of.fc.ox_id,
                                .rx_id = {5}};
    client->port.receive(support::made_frame(fabric.pool, header, content));
  }
  void expect_nothing_left() {
    fabric.run_for(60 * runtime::second);
    EXPECT_EQ(client->port.open_exchanges(), 0u);
    EXPECT_EQ(client->provider.open_setups(), 0u);
    EXPECT_EQ(unexpected(), 0u);
  }
  static constexpr std::uint32_t ends = 0x980008, passes = 0x890008, keeps = 0x880008;
};

// FC-VI 8.5.2 a): a set-up's exchange that the peer ends with anything but a RESP3 is over: nothing is sent on it,
// whoever has it next; the one retry takes another.
TEST_F(Hostile, awaitResp1_exchangeEnds_isRetried) {
  client_vi = &client->make_vi(Level::ReliableDelivery);
  server->provider.connect_wait(server->net("service"), runtime::never, wait);
  client->provider.connect_request(*client_vi, client->net("c"), server->net("service"), runtime::never, request);
  ASSERT_TRUE(fabric.run_until([&] { return wait.result.has_value(); }));
  std::array<std::uint8_t, 32> iu{};
  wire::fcvi::DeviceHeader{.opcode = wire::fcvi::Opcode::connect_resp1, .tot_len_or_connection_id = connection_id}
      .write(iu);
  const auto rqst = frames().front();
  forge(rqst, wire::RCtl::solicited_control, ends, iu);
  EXPECT_EQ(client_vi->endpoint_state_name(), "PendingConnectRetry");
  fabric.run_for(runtime::second);
  EXPECT_EQ(frames().size(), 1u);  // the retried CONNECT_RQST
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  expect_nothing_left();
}

// FC-VI 5.8.4: a DISCONNECT_RESP without Last_Sequence answers all the same, and leaves no exchange.
TEST_F(Hostile, awaitDisconnectResp_lastSequenceMissing) {
  connect(Level::ReliableDelivery);
  frames();
  fabric.silence(1);
  Done done;
  client->provider.disconnect(*client_vi, done);
  fabric.run_for(runtime::millisecond);
  std::array<std::uint8_t, 32> iu{};
  wire::fcvi::DisconnectResp{}.write(iu);
  forge(frames().front(), wire::RCtl::solicited_control, keeps, iu);
  EXPECT_EQ(done.result, Return::Success);
  expect_nothing_left();
  EXPECT_EQ(client->provider.handles_in_use(), 0u);
}

// ... and something else with Last_Sequence is an Exchange Error: retried at once (8.6.2 a).
TEST_F(Hostile, awaitDisconnectResp_exchangeEnds_isRetried) {
  connect(Level::ReliableDelivery);
  frames();
  fabric.silence(1);
  Done done;
  client->provider.disconnect(*client_vi, done);
  fabric.run_for(runtime::millisecond);
  forge(frames().front(), wire::RCtl::solicited_control, ends, std::array<std::uint8_t, 32>{});
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(frames().size(), 1u);
  ASSERT_TRUE(fabric.run_until([&] { return done.result.has_value(); }));
  EXPECT_EQ(done.result, Return::NotReachable);
  expect_nothing_left();
}

// FC-VI B.2.6: a control IU that ends the exchange of a message: an exchange error, and the exchange is
// not touched again.
TEST_F(Hostile, awaitResponse_exchangeEnds_failsConnection) {
  connect(Level::ReliableReception);
  frames();
  fabric.silence(1);
  const auto send = client->descriptor(0, {{client->data, 4}});
  client_vi->post_send(send, client->handle);
  fabric.run_for(runtime::millisecond);
  forge(frames().front(), wire::RCtl::solicited_control, ends, std::array<std::uint8_t, 32>{});
  EXPECT_EQ(client->status(send), vi::status::done | vi::status::transport_error | vi::status::op_send);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  expect_nothing_left();
}

// FC-VI 7.6: the first of two ports of an address says no and falls silent before RESP3; the call has long ended at the
// second when its exchange times out.
TEST_F(Hostile, sharedAddress_firstPortFallsSilent) {
  fc2::NPort& port = fabric.add_port();
  farp::Resolver resolver(port, {.own_addresses = {server->address}});
  fcvi::Provider provider(port, resolver, {.address = server->address});
  fabric.attach(2);
  ASSERT_TRUE(fabric.run_until([&] { return resolver.ready(); }));
  client_vi = &client->make_vi(Level::UnreliableDelivery);
  client->provider.connect_request(*client_vi, client->net("c"), server->net("nobody"), runtime::never, request);
  ASSERT_TRUE(fabric.run_until([&] { return client->provider.counters().ius_sent == 2; }));  // RQST, RESP2
  fabric.detach(1);
  fabric.detach(2);
  fabric.run_for(runtime::millisecond);
  fabric.attach(2);
  ASSERT_TRUE(fabric.run_until([&] { return request.result.has_value(); }));
  EXPECT_EQ(client_vi->state(), vi::State::Idle);
  EXPECT_EQ(client->nic.destroy_vi(*client_vi), Return::Success);
  expect_nothing_left();
  EXPECT_EQ(client->provider.handles_in_use(), 0u);
  fabric.detach(2);
}
}  // namespace
