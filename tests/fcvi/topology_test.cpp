// FC-VI connections on every topology, and what a link event does to them: nothing where all addresses prove to be the
// same, the end on both sides where not (FC-VI 4.2, 7.7).
#include "fc2_fabric/link/link.hpp"
#include "fc2_fabric/node/loop_n_port.hpp"
#include "fc2_fabric/node/point_to_point.hpp"
#include "tests/fcvi/two_nodes.hpp"
#include "wire/line_rate.hpp"

namespace {
using support::TwoNodes;
using Level = vi::ReliabilityLevel;
constexpr Level levels[] = {Level::UnreliableDelivery, Level::ReliableDelivery, Level::ReliableReception};

class TopologyTest : public TwoNodes {
 protected:
  explicit TopologyTest(fc2::LinkConfig link = {.latency_ns = runtime::microsecond, .bytes_per_second = 0})
      : TwoNodes({}, link, {}, {}, {.e_d_tov = 500 * runtime::millisecond, .r_a_tov = 3 * runtime::second}) {}
  ~TopologyTest() override { EXPECT_EQ(unexpected(), 0U); }
  void leave_fabric() {
    fabric.detach(0);
    fabric.detach(1);
  }
  void connect_anew(Level level) {
    wait.result.reset(), request.result.reset(), accept.result.reset();
    connect(level, "service " + std::to_string(++services_));
  }
  /// Posts a Send of the client with its receive.
  void post(std::uint32_t bytes = 5000) {
    const std::uint64_t at = support::Host::data + sends_.size() * 65536;
    std::memset(client->bytes(at), static_cast<int>(sends_.size() + 1), bytes);
    receives_.push_back(server->descriptor(0, {{at, bytes}}));
    server_vi->post_receive(receives_.back(), server->handle);
    sends_.push_back(client->descriptor(0, {{at, bytes}}));
    client_vi->post_send(sends_.back(), client->handle);
    sizes_.push_back(bytes);
  }
  /// All that was posted came, once and whole.
  void expect_all() {
    for (std::size_t i = 0; i < sends_.size(); ++i) {
      EXPECT_EQ(client->status(sends_[i]), vi::status::done | vi::status::op_send) << i;
      EXPECT_EQ(server->status(receives_[i]), vi::status::done | vi::status::op_receive) << i;
      const std::uint64_t at = support::Host::data + i * 65536;
      EXPECT_EQ(std::memcmp(server->bytes(at), client->bytes(at), sizes_[i]), 0) << i;
    }
    EXPECT_EQ(client_vi->state(), vi::State::Connected);
    EXPECT_EQ(server_vi->state(), vi::State::Connected);
    EXPECT_TRUE(client->errors.empty());
    EXPECT_TRUE(server->errors.empty());
  }
  void expect_lost() {
    EXPECT_EQ(client_vi->state(), vi::State::Error);
    EXPECT_EQ(server_vi->state(), vi::State::Error);
    EXPECT_EQ(client->count(vi::ErrorCode::ConnLost), 1);
    EXPECT_EQ(server->count(vi::ErrorCode::ConnLost), 1);
  }

 private:
  int services_ = 0;
  std::vector<std::uint64_t> sends_, receives_;
  std::vector<std::uint32_t> sizes_;
};

// --- fabric ------------------------------------------------------------------------------------------------------

// FC-VI 7.7.5: NOS, the same addresses: the connection stays; what is posted meanwhile waits, and arrives.
TEST_F(TopologyTest, fabric_nos_unchanged_connection_stays) {
  for (const Level level : levels) {
    connect_anew(level);
    post();
    fabric.run_for(runtime::millisecond);
    fabric.fabric.link_of(client->port)->b.fail();
    post();
    EXPECT_TRUE(client->port.interrupted());
    fabric.run_for(runtime::second);
    post();
    fabric.run_for(runtime::second);
    expect_all();
  }
}

// FC-VI 7.7.1, 7.7.5: NOS twice, and a Link Reset just when the first absence would have lasted as long as the fabric
// waits: neither makes an absence of that length.
TEST_F(TopologyTest, fabric_nos_twice_and_link_reset_connection_stays) {
  connect(Level::ReliableDelivery);
  fc2::Link& link = *fabric.fabric.link_of(client->port);
  const runtime::TimeNs wait_for_port = fabric.fabric.config().hold_time;
  link.b.fail();
  fabric.run_for(wait_for_port / 2);
  link.b.fail();
  fabric.run_for(wait_for_port / 2 - 10);
  link.a.reset();
  fabric.run_for(runtime::second);
  post();
  fabric.run_for(runtime::second);
  expect_all();
}

// FC-VI 7.7.5, 5.3.5, D.1 rule 1 a): VipDisconnect while the link is away: the login stands, so the peer is told, once
// the link is back; it is not left with a connection that nobody else has.
TEST_F(TopologyTest, fabric_nos_disconnected_meanwhile_peer_learns_it) {
  connect(Level::ReliableDelivery);
  fabric.fabric.link_of(client->port)->b.fail();
  ASSERT_TRUE(client->port.interrupted());
  EXPECT_EQ(disconnect(*client, *client_vi), vi::Return::Success);
  EXPECT_EQ(client_vi->state(), vi::State::Idle);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  EXPECT_EQ(server->count(vi::ErrorCode::ConnLost), 1);
}

// FC-VI 7.7.5: NOS, another N_Port_ID: explicit logout, both sides are told; a new connection comes about.
TEST_F(TopologyTest, fabric_nos_address_changed_connection_is_lost) {
  connect(Level::ReliableDelivery);
  post();
  fabric.run_for(runtime::millisecond);
  ASSERT_TRUE(fabric.fabric.replug(client->port));
  fabric.run_for(runtime::second);
  expect_lost();
  connect_anew(Level::ReliableDelivery);
  EXPECT_EQ(client_vi->state(), vi::State::Connected);
}

// FC-VI 7.7.5: the link is gone for less than E_D_TOV: what either side posts meanwhile arrives.
TEST_F(TopologyTest, fabric_link_away_for_a_moment_connection_stays) {
  for (const Level level : levels) {
    connect_anew(level);
    fabric.fabric.link_of(client->port)->cut();
    post();
    fabric.run_for(runtime::second);
    post();
    fabric.fabric.link_of(client->port)->mend();
    fabric.run_for(runtime::second);
    post();
    fabric.run_for(runtime::second);
    expect_all();
  }
}

// The link is away for longer than the fabric waits for it: the far end logs out first; nobody hangs.
TEST_F(TopologyTest, fabric_link_away_connection_is_lost) {
  connect(Level::ReliableDelivery);
  fabric.fabric.link_of(client->port)->cut();
  fabric.run_for(3 * runtime::second);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  fabric.fabric.link_of(client->port)->mend();
  fabric.run_for(runtime::second);  // the server's LOGO tells the client, which believed in its login
  expect_lost();
}

// --- point-to-point ----------------------------------------------------------------------------------------------

// FC-VI 4.2, 7.4, 7.7.2: no fabric: the address is found by FARP; LR does not disturb, NOS ends it on both sides.
TEST_F(TopologyTest, point_to_point_lr_keeps_nos_ends) {
  leave_fabric();
  fc2::PointToPoint pair(fabric.scheduler, {.latency_ns = runtime::microsecond, .bb_credit = 2}, client->port,
                         server->port);
  fabric.run_for(runtime::second);
  connect(Level::ReliableReception);
  post(60000);
  pair.link.a.reset();
  fabric.run_for(10 * runtime::microsecond);
  pair.link.b.reset();
  fabric.run_for(runtime::second);
  expect_all();
  pair.link.a.fail();
  fabric.run_for(runtime::second);
  expect_lost();
  connect_anew(Level::ReliableDelivery);
  EXPECT_EQ(client_vi->state(), vi::State::Connected);
}

// --- private loop ------------------------------------------------------------------------------------------------

class LoopTopologyTest : public TopologyTest {
 protected:
  LoopTopologyTest() {
    leave_fabric();
    attach(loop, client->port);
    attach(loop, server->port);
    fabric.run_for(runtime::second);
  }
  ~LoopTopologyTest() override {
    while (loop.size() > 0) loop.detach(loop.station_of(client->port) != nullptr ? client->port : server->port);
  }
  fc2::Loop loop{fabric.scheduler,
                 fabric.pool,
                 {.hop_latency_ns = 100, .bytes_per_second = wire::line_rate_bytes_per_second("2GFC")}};
};

// FC-VI 7.7.3: LIPs while messages go: ADISC, the same addresses: every message arrives, once, at each level.
TEST_F(LoopTopologyTest, lips_lose_nothing) {
  for (const Level level : levels) {
    connect_anew(level);
    for (int i = 0; i < 10; ++i) {
      post(30000);
      fabric.run_for(40 * runtime::microsecond + i * 7 * runtime::microsecond);
      loop.lip(i % 2 == 0 ? client->port : server->port);
      post();
      fabric.run_for(runtime::millisecond);
    }
    fabric.run_for(runtime::second);
    expect_all();
  }
}

// FC-VI 7.7.3: the peer leaves the loop: no ADISC ACC: the connection ends here, too.
TEST_F(LoopTopologyTest, peer_leaves_connection_is_lost) {
  connect(Level::ReliableDelivery);
  loop.detach(server->port);
  fabric.run_for(30 * runtime::second);
  expect_lost();
  attach(loop, server->port);
  fabric.run_for(runtime::second);
  connect_anew(Level::ReliableDelivery);
  EXPECT_EQ(client_vi->state(), vi::State::Connected);
}

// --- credit ------------------------------------------------------------------------------------------------------

class CreditTopologyTest : public TopologyTest {
 protected:
  CreditTopologyTest()
      : TopologyTest({.latency_ns = runtime::microsecond,
                      .bytes_per_second = 0,
                      .bb_credit = 2,
                      .processing_ns = 3 * runtime::microsecond}) {}
};

// FC-FS, FC-VI 7.7.1: slow receivers, little credit, and Link Resets: messages take their time, none is lost.
TEST_F(CreditTopologyTest, fabric_slow_receivers_and_link_resets_lose_nothing) {
  for (const Level level : levels) {
    connect_anew(level);
    for (int i = 0; i < 10; ++i) {
      post(60000);
      fabric.run_for(20 * runtime::microsecond);
      fabric.fabric.link_of(client->port)->b.reset();
      fabric.fabric.link_of(server->port)->a.reset();
    }
    fabric.run_for(runtime::second);
    expect_all();
  }
  EXPECT_EQ(fabric.fabric.counters().discarded(), 0U);
}

}  // namespace
