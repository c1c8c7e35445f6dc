// Peer-to-peer connections between two nodes (FC-VI 5.3.3, 5.3.4, Annex A; VI-DG 3.3.6 to 3.3.8, 6.7).
#include "tests/fcvi/two_nodes.hpp"

namespace {
using Level = vi::ReliabilityLevel;
using support::Connect;
using support::Host;
using support::TwoNodes;
using vi::Return;

/// Host 0 has the lower Port_Name: `low` and `high`.
class Peers : public TwoNodes {
 public:
  Peers() : low(*client), high(*server) {}
  ~Peers() override { client.reset(), server.reset(); }  // a call lives until it is done: VipCloseNic ends it
  /// A VI with its VipConnectPeerRequest.
  struct Peer {
    Host* host = nullptr;
    vi::Vi* vi = nullptr;
    Connect call;
  };
  Peer& make(Host& host, Level level = Level::ReliableDelivery) {
    Peer& peer = *peers_.emplace_back(std::make_unique<Peer>());
    peer.host = &host;
    peer.vi = &host.make_vi(level);
    return peer;
  }
  Return post(Peer& peer, Host& to, std::string_view discriminator = "rendezvous",
              runtime::TimeNs timeout = runtime::never) {
    peer.call.result.reset();
    return peer.host->provider.connect_peer_request(*peer.vi, peer.host->net("whatever"), to.net(discriminator),
                                                    timeout, peer.call);
  }
  Return result_of(Peer& peer) {
    EXPECT_TRUE(fabric.run_until([&] { return peer.call.result.has_value(); }));
    return peer.call.result.value_or(Return::NotDone);
  }
  void expect_connected(Peer& one, Peer& other) {
    EXPECT_EQ(result_of(one), Return::Success);
    EXPECT_EQ(result_of(other), Return::Success);
    fabric.run_for(runtime::millisecond);
    EXPECT_EQ(one.vi->state(), vi::State::Connected);
    EXPECT_EQ(other.vi->state(), vi::State::Connected);
    expect_flows(one, other);
    expect_flows(other, one);
  }
  void expect_flows(Peer& from, Peer& to) {
    const auto receive = to.host->descriptor(0, {{to.host->data, 64}});
    to.vi->post_receive(receive, to.host->handle);
    from.vi->post_send(from.host->descriptor(vi::control::immediate, {}, 0, {}, 0xC0FFEE), from.host->handle);
    fabric.run_for(runtime::millisecond);
    EXPECT_EQ(to.host->control(receive).immediate_data, 0xC0FFEEu);
  }
  void expect_pending(Peer& peer) {
    EXPECT_FALSE(peer.call.result.has_value());
    EXPECT_EQ(peer.vi->state(), vi::State::ConnectPending);
  }
  void TearDown() override {
    EXPECT_EQ(unexpected(), 0u);
    for (const auto& peer : peers_) EXPECT_EQ(peer->vi->unexpected_events(), 0u);
  }
  Host &low, &high;

 private:
  std::vector<std::unique_ptr<Peer>> peers_;
};

// FC-VI 5.3.3, figure 9: the first peer waits, whichever Port_Name it has; attributes are exchanged.
TEST_F(Peers, waiting_secondPeerComes_connects) {
  for (const bool low_first : {true, false}) {
    Peer& first = make(low_first ? low : high);
    Peer& second = make(low_first ? high : low);
    ASSERT_EQ(post(first, *second.host), Return::Success);
    fabric.run_for(3 * runtime::second);
    expect_pending(first);
    ASSERT_EQ(post(second, *first.host), Return::Success);
    expect_connected(first, second);
    EXPECT_EQ(first.call.remote_attributes.reliability, Level::ReliableDelivery);
    EXPECT_TRUE(second.call.remote_attributes.enable_rdma_write);
  }
}

// FC-VI 5.3.4, A.2: both requests cross on the wire; one connection, whatever the level.
TEST_F(Peers, requesting_concurrent_makesOneConnection) {
  for (const Level level : {Level::UnreliableDelivery, Level::ReliableDelivery, Level::ReliableReception}) {
    Peer &one = make(low, level), &other = make(high, level);
    post(one, high);
    post(other, low);
    expect_connected(one, other);
  }
  EXPECT_EQ(low.provider.counters().connections_made, 3u);
  EXPECT_EQ(high.provider.counters().connections_made, 3u);
  fabric.run_for(60 * runtime::second);
  EXPECT_EQ(low.port.open_exchanges() + high.port.open_exchanges(), 0u);
}

// FC-VI 5.3.4: the requests meet at every distance in time, from long before to long after one another's RESP1.
TEST_F(Peers, requesting_everyOffset_makesOneConnection) {
  Peer &warm = make(low), &up = make(high);
  post(warm, high), post(up, low);
  expect_connected(warm, up);
  for (runtime::TimeNs offset = 0; offset <= 40 * runtime::microsecond; offset += runtime::microsecond / 4) {
    for (const bool low_first : {true, false}) {
      Peer &one = make(low_first ? low : high), &other = make(low_first ? high : low);
      post(one, *other.host);
      fabric.run_for(offset);
      post(other, *one.host);
      expect_connected(one, other);
    }
  }
  EXPECT_EQ(low.provider.counters().connections_lost + high.provider.counters().connections_lost, 0u);
}

// VI-DG 3.3.6: VIP_TIMEOUT after exactly the Timeout; the VI is Idle, its receives are flushed (FC-VI C.5.5).
TEST_F(Peers, waiting_timeExpires) {
  Peer& peer = make(low);
  peer.vi->post_receive(low.descriptor(0, {{low.data, 8}}), low.handle);
  const auto begun = fabric.scheduler.now();
  post(peer, high, "rendezvous", 3 * runtime::second);
  EXPECT_EQ(result_of(peer), Return::Timeout);
  EXPECT_EQ(fabric.scheduler.now() - begun, 3 * runtime::second);
  EXPECT_EQ(peer.vi->state(), vi::State::Idle);
  EXPECT_EQ(low.receives_completed, 1);
  fabric.run_for(60 * runtime::second);
  EXPECT_EQ(low.provider.handles_in_use(), 0u);
  EXPECT_EQ(low.provider.open_setups() + high.provider.open_setups(), 0u);
  EXPECT_EQ(low.port.open_exchanges() + high.port.open_exchanges(), 0u);
}

// VI-DG 3.3.6: what VipConnectPeerRequest itself refuses.
TEST_F(Peers, idle_badParameters) {
  Peer& peer = make(low);
  EXPECT_EQ(post(peer, high, "x", 0), Return::InvalidParameter);
  EXPECT_EQ(low.provider.connect_peer_request(*peer.vi, high.net("x"), high.net("x"), runtime::second, peer.call),
            Return::InvalidParameter);
  EXPECT_EQ(post(peer, high), Return::Success);
  Connect second;
  EXPECT_EQ(low.provider.connect_peer_request(*peer.vi, low.net("x"), high.net("x"), runtime::second, second),
            Return::InvalidState);
  expect_pending(peer);
  EXPECT_FALSE(second.result.has_value());
}

// VI-DG 6.7: the discriminator and the host of RemoteAddr must match; LocalAddr's discriminator is only a name.
TEST_F(Peers, waiting_otherDiscriminator_doesNotMatch) {
  Peer &one = make(low), &other = make(high), &right = make(high);
  post(one, high, "green");
  post(other, low, "blue");
  fabric.run_for(30 * runtime::second);
  expect_pending(one);
  expect_pending(other);
  post(right, low, "green");
  expect_connected(one, right);
  expect_pending(other);
}

// VI-DG 3.3: the two models are completely separate.
TEST_F(Peers, waiting_otherModel_doesNotMatch) {
  Peer& peer = make(high);
  post(peer, low, "service");
  client_vi = &low.make_vi(Level::ReliableDelivery);
  low.provider.connect_request(*client_vi, low.net("c"), high.net("service"), runtime::second, request);
  ASSERT_TRUE(fabric.run_until([&] { return request.result.has_value(); }));
  EXPECT_EQ(request.result, Return::NoMatch);
  low.provider.connect_wait(low.net("service"), 30 * runtime::second, wait);
  fabric.run_for(29 * runtime::second);  // the peer asks again meanwhile
  EXPECT_FALSE(wait.result.has_value());
  expect_pending(peer);
}

// VI-DG 6.7, vipl-in-the-wild 4: discriminators of every length.
TEST_F(Peers, waiting_discriminatorOfEveryLength_matches) {
  for (const std::size_t length : {0, 1, 4, 8, 15, 16, 17, 127, 128}) {
    Peer &one = make(low), &other = make(high);
    const std::string discriminator(length, '\xA5');
    post(one, high, discriminator);
    fabric.run_for(runtime::millisecond);
    post(other, low, discriminator);
    expect_connected(one, other);
  }
}

// vipl-in-the-wild 4: equal discriminators: first come, first served, on both sides.
TEST_F(Peers, waiting_equalDiscriminators_inOrderOfArrival) {
  Peer &first = make(low), &second = make(low), &third = make(high), &fourth = make(high);
  post(first, high);
  fabric.run_for(runtime::millisecond);
  post(second, high);
  fabric.run_for(runtime::millisecond);
  post(third, low);
  expect_connected(first, third);
  expect_pending(second);
  post(fourth, low);
  expect_connected(second, fourth);
}

// FC-VI 5.3.4 with many at once: everybody gets one partner.
TEST_F(Peers, requesting_manyEqualConcurrent_allConnect) {
  std::vector<Peer*> all;
  for (int i = 0; i < 50; ++i) {
    all.push_back(&make(low)), post(*all.back(), high);
    all.push_back(&make(high)), post(*all.back(), low);
  }
  for (Peer* peer : all) EXPECT_EQ(result_of(*peer), Return::Success);
  EXPECT_EQ(low.provider.counters().connections_made, 50u);
  EXPECT_EQ(high.provider.counters().connections_made, 50u);
  EXPECT_EQ(low.provider.counters().connections_lost + high.provider.counters().connections_lost, 0u);
}

// VI-DG 6.7, 3.3.7: requests that match with attributes that do not: both end so, both VIs are Idle.
TEST_F(Peers, attributesConflict_bothHearOfIt) {
  for (const bool concurrent : {true, false}) {
    for (const bool low_first : {true, false}) {
      Peer &one = make(low_first ? low : high, Level::ReliableDelivery),
           &other = make(low_first ? high : low, Level::ReliableReception);
      post(one, *other.host);
      if (!concurrent) fabric.run_for(runtime::millisecond);
      post(other, *one.host);
      EXPECT_EQ(result_of(one), Return::InvalidReliabilityLevel);
      EXPECT_EQ(result_of(other), Return::InvalidReliabilityLevel);
      EXPECT_EQ(one.vi->state(), vi::State::Idle);
      EXPECT_EQ(other.vi->state(), vi::State::Idle);
    }
  }
  fabric.run_for(60 * runtime::second);
  EXPECT_EQ(low.provider.handles_in_use() + high.provider.handles_in_use(), 0u);
}

TEST_F(Peers, attributesConflict_transferSize) {
  Peer& one = make(low);
  Peer other{&high, nullptr, {}};
  ASSERT_EQ(high.nic.create_vi({.reliability = Level::ReliableDelivery, .max_transfer_size_bytes = 4096}, nullptr,
                               nullptr, other.vi),
            Return::Success);
  post(one, high);
  fabric.run_for(runtime::millisecond);
  post(other, low);
  EXPECT_EQ(result_of(one), Return::InvalidMtu);
  EXPECT_EQ(result_of(other), Return::InvalidMtu);
}

// VI-DG 3.3.5: VipDisconnect of a VI that waits: Idle at once; the call ends; the peer waits on.
TEST_F(Peers, waiting_disconnect_isIdle) {
  Peer &one = make(low), &other = make(high), &next = make(low);
  post(one, high);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(disconnect(low, *one.vi), Return::Success);
  EXPECT_EQ(one.call.result, Return::ErrorResource);
  EXPECT_EQ(one.vi->state(), vi::State::Idle);
  post(other, low);
  fabric.run_for(runtime::millisecond);
  expect_pending(other);
  post(next, high);
  expect_connected(next, other);
}

// VI-DG 3.3.5, 3.1.2: VipDisconnect or VipCloseNic at any moment of the handshake: that VI is done with, and the other
// one learns of it or waits on, and then connects with the next one.
TEST_F(Peers, handshake_endsAtAnyMoment) {
  for (const bool close : {false, true}) {
    for (runtime::TimeNs after = 0; after <= 30 * runtime::microsecond; after += runtime::microsecond) {
      SCOPED_TRACE(after);
      Peer &one = make(low), &other = make(high);
      post(one, high);
      post(other, low);
      fabric.run_for(after);
      const bool done = one.call.result.has_value();
      if (close)
        low.provider.detach(*one.vi);
      else
        EXPECT_EQ(disconnect(low, *one.vi), Return::Success);
      EXPECT_EQ(one.call.result, done ? Return::Success : Return::ErrorResource);
      fabric.run_for(30 * runtime::second);
      if (!other.call.result) {
        Peer& next = make(low);
        post(next, high);
        expect_connected(next, other);
      } else if (other.vi->state() == vi::State::Error) {
        EXPECT_EQ(disconnect(high, *other.vi), Return::Success);
      } else {
        EXPECT_EQ(other.vi->state(), vi::State::Connected);
      }
    }
  }
}

// VI-DG 3.3.7: a network partition: VIP_NOT_REACHABLE, a reliable VI in Error; an unreliable one Idle.
TEST_F(Peers, waiting_linkDown_isNotReachable) {
  Peer &reliable = make(low), &unreliable = make(low, Level::UnreliableDelivery);
  const auto receive = low.descriptor(0, {{low.data, 8}});
  reliable.vi->post_receive(receive, low.handle);
  post(reliable, high, "a");
  post(unreliable, high, "b");
  fabric.run_for(runtime::millisecond);
  fabric.detach(0);
  EXPECT_EQ(reliable.call.result, Return::NotReachable);
  EXPECT_EQ(unreliable.call.result, Return::NotReachable);
  EXPECT_EQ(reliable.vi->state(), vi::State::Error);
  EXPECT_EQ(unreliable.vi->state(), vi::State::Idle);
  EXPECT_EQ(low.status(receive), vi::status::done | vi::status::op_receive | vi::status::flushed);
  EXPECT_EQ(disconnect(low, *reliable.vi), Return::Success);
}

TEST_F(Peers, requesting_linkDown_isNotReachable) {
  for (runtime::TimeNs after = 0; after <= 12 * runtime::microsecond; after += runtime::microsecond) {
    Peer &one = make(low), &other = make(high);
    post(one, high), post(other, low);
    fabric.run_for(after);
    const bool done = one.call.result.has_value();
    fabric.detach(0);
    EXPECT_EQ(one.call.result, done ? Return::Success : Return::NotReachable);
    EXPECT_EQ(one.vi->state(), vi::State::Error);
    EXPECT_EQ(disconnect(low, *one.vi), Return::Success);
    fabric.attach(0);
    ASSERT_TRUE(fabric.run_until([&] { return low.resolver.ready(); }));
    fabric.run_for(30 * runtime::second);
    EXPECT_EQ(disconnect(high, *other.vi), Return::Success);
  }
}

// VI-DG 6.7: the peer's host is not there yet: the request waits for it. That peer finds us when it comes.
TEST_F(Peers, waiting_peerHostComesLater_connects) {
  Peer &one = make(low), &other = make(high);
  fabric.detach(1);
  fabric.run_for(runtime::second);
  post(one, high);
  fabric.run_for(100 * runtime::second);
  expect_pending(one);
  fabric.attach(1);
  ASSERT_TRUE(fabric.run_until([&] { return high.resolver.ready(); }));
  post(other, low);
  expect_connected(one, other);
}

// impl: posted before our own port is there: asked when the fabric login is done.
TEST_F(Peers, waiting_postedOffline_connects) {
  Peer &one = make(low), &other = make(high);
  post(other, low);
  fabric.detach(0);
  fabric.run_for(runtime::second);
  ASSERT_EQ(post(one, high), Return::Success);
  fabric.run_for(runtime::second);
  expect_pending(one);
  fabric.attach(0);
  expect_connected(one, other);
}

// FC-VI 8.2: a VI reconnects, many times, in both ways; nothing is left behind.
TEST_F(Peers, connected_manyTimes_leaksNothing) {
  Peer &one = make(low), &other = make(high);
  for (int i = 0; i < 200; ++i) {
    post(i % 2 == 0 ? one : other, i % 2 == 0 ? high : low);
    if (i % 3 == 0) fabric.run_for(runtime::millisecond);
    post(i % 2 == 0 ? other : one, i % 2 == 0 ? low : high);
    ASSERT_EQ(result_of(one), Return::Success);
    ASSERT_EQ(result_of(other), Return::Success);
    ASSERT_EQ(disconnect(low, *one.vi), Return::Success);
    ASSERT_EQ(disconnect(high, *other.vi), Return::Success);
  }
  fabric.run_for(60 * runtime::second);
  EXPECT_EQ(low.port.open_exchanges() + high.port.open_exchanges(), 0u);
  EXPECT_EQ(low.provider.open_setups() + high.provider.open_setups(), 0u);
  EXPECT_EQ(low.provider.handles_in_use() + high.provider.handles_in_use(), 0u);
}

// FC-VI 5.3.4, loopback: two requests of one N_Port, one after the other and at once.
TEST_F(Peers, loopback_connects) {
  for (const bool concurrent : {true, false}) {
    Peer &one = make(low), &other = make(low);
    post(one, low);
    if (!concurrent) fabric.run_for(runtime::millisecond);
    post(other, low);
    expect_connected(one, other);
    EXPECT_EQ(disconnect(low, *one.vi), Return::Success);
    EXPECT_EQ(disconnect(low, *other.vi), Return::Success);
  }
}

// FC-VI 5.3.4, loopback: never with itself.
TEST_F(Peers, loopback_aloneWaits) {
  Peer& one = make(low);
  post(one, low, "rendezvous", 25 * runtime::second);
  EXPECT_EQ(result_of(one), Return::Timeout);
}

class PeersByFarp : public TwoNodes {
 public:
  PeersByFarp()
      : TwoNodes({}, {.latency_ns = runtime::microsecond, .bytes_per_second = 0}, {}, {.use_name_server = false}) {}
};
// FC-VI 5.3.3, 5.3.4: by FARP the resolver knows our own address without asking; asked again at once, and once.
TEST_F(PeersByFarp, loopback_aloneAsksAgainInItsTime) {
  vi::Vi& vi = client->make_vi(Level::ReliableDelivery);
  Connect call;
  client->provider.connect_peer_request(vi, client->net("one"), client->net("rendezvous"), 25 * runtime::second, call);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(client->provider.counters().ius_sent, 8u);  // two set-ups of our own, both ends of each
  fabric.run_for(30 * runtime::second);
  EXPECT_EQ(call.result, Return::Timeout);
  EXPECT_EQ(client->provider.counters().ius_sent, 3 * 8u);  // and after each FCVI_ULP_TIMEOUT
}

TEST_F(Peers, loopback_manyConcurrent_allConnect) {
  std::vector<Peer*> all;
  for (int i = 0; i < 40; ++i) all.push_back(&make(low)), post(*all.back(), low);
  for (Peer* peer : all) EXPECT_EQ(result_of(*peer), Return::Success);
  EXPECT_EQ(low.provider.counters().connections_lost, 0u);
}

// FC-VI 7.6: several N_Ports behind each address. Requests of one discriminator per pair, in any order: all connect.
class SharedAddresses : public Peers {
 public:
  struct Node {
    Node(fc2::NPort& port, const wire::IpAddress& address, Host& host)
        : resolver(port, {.own_addresses = {address}}), provider(port, resolver, {.address = address}),
          nic(provider, host) {}
    farp::Resolver resolver;
    fcvi::Provider provider;
    vi::Nic nic;
  };
  SharedAddresses() {
    for (std::size_t i = 0; i < 6; ++i) {
      nodes.push_back(
          std::make_unique<Node>(fabric.add_port(), (i % 2 == 0 ? low : high).address, i % 2 == 0 ? low : high));
      fabric.attach(2 + i);
    }
    fabric.run_until([&] {
      return std::all_of(nodes.begin(), nodes.end(), [](const auto& node) { return node->resolver.ready(); });
    });
  }
  ~SharedAddresses() override {
    for (std::size_t i = 0; i < 6; ++i) fabric.detach(2 + i);
    nodes.clear();
  }
  struct Call {
    vi::Vi* vi = nullptr;
    Connect call;
  };
  void request_peer(std::size_t node, Host& to, std::string_view discriminator) {
    Call& call = *calls.emplace_back(std::make_unique<Call>());
    ASSERT_EQ(nodes[node]->nic.create_vi({.reliability = Level::ReliableDelivery}, nullptr, nullptr, call.vi),
              Return::Success);
    Host& own = node % 2 == 0 ? low : high;
    ASSERT_EQ(nodes[node]->provider.connect_peer_request(*call.vi, own.net("x"), to.net(discriminator), runtime::never,
                                                         call.call),
              Return::Success);
  }
  void expect_all_connect() {
    const auto all = [&] {
      return std::all_of(calls.begin(), calls.end(), [](const auto& c) { return c->call.result.has_value(); });
    };
    EXPECT_TRUE(fabric.run_until(all));
    for (const auto& call : calls) EXPECT_EQ(call->call.result, Return::Success);
  }
  std::vector<std::unique_ptr<Node>> nodes;  // even ones at low's address, odd ones at high's
  std::vector<std::unique_ptr<Call>> calls;
};

TEST_F(SharedAddresses, requesting_pairsAtEveryOffset_allConnect) {
  for (runtime::TimeNs offset = 0; offset < 20 * runtime::microsecond; offset += runtime::microsecond) {
    for (std::size_t i = 0; i < 3; ++i) {
      const std::string discriminator = "pair " + std::to_string(i);
      request_peer(2 * i, high, discriminator);
      fabric.run_for(offset);
      request_peer(2 * ((i + 1) % 3) + 1, low, discriminator);
    }
    expect_all_connect();
  }
}

// One discriminator for all: anybody may match anybody of the other address.
TEST_F(SharedAddresses, requesting_equalDiscriminators_allConnect) {
  for (runtime::TimeNs offset = 0; offset < 20 * runtime::microsecond; offset += runtime::microsecond) {
    for (std::size_t i = 0; i < 6; ++i) {
      request_peer(i, i % 2 == 0 ? high : low, "all");
      fabric.run_for(offset);
    }
    expect_all_connect();
  }
}

// The same where all share one address, our own among the candidates: even a circle of three does not lock up.
TEST_F(SharedAddresses, requesting_ownAddress_allConnect) {
  for (runtime::TimeNs offset = 0; offset < 20 * runtime::microsecond; offset += runtime::microsecond) {
    for (const std::size_t node : {0, 2, 4, 0}) {
      request_peer(node, low, "all");
      fabric.run_for(offset);
    }
    expect_all_connect();
  }
}
}  // namespace
