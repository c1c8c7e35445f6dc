// Peers over TCP (VI-TCP 4, rulings V-13, V-32, V-35; VI-DG 3.3.6 to 3.3.8, 6.7): between hosts and within one.
#include "tests/vitcp/raw_peer.hpp"

namespace vitcp::testing {
namespace {
using vi::Return, vi::State;
using vt::SegmentType;

/// One VipConnectPeerRequest.
struct Peer {
  Peer(Node& its_node, vi::ReliabilityLevel level) : node(&its_node), end(its_node, its_node.create(level)) {}
  Return ask(const wire::IpAddress& host, std::string_view discriminator, runtime::TimeNs timeout,
             std::string_view name = "me") {
    vi::NetAddress remote = node->at(discriminator);
    remote.host = host;
    return node->provider.connect_peer_request(end.vi, node->at(name), remote, timeout, call);
  }
  [[nodiscard]] std::optional<Return> result() const { return call.result; }

  Node* node;
  End end;
  ConnectCall call;
};

void expect_connected(Peer& one, Peer& other) {
  EXPECT_EQ(one.result(), Return::Success);
  EXPECT_EQ(other.result(), Return::Success);
  EXPECT_EQ(one.call.calls, 1);
  EXPECT_EQ(other.call.calls, 1);
  EXPECT_EQ(one.end.vi.state(), State::Connected);
  EXPECT_EQ(other.end.vi.state(), State::Connected);
}

class VitcpPeers : public ::testing::Test {
 protected:
  /// The client's address is the lower one.
  Node& low() { return *hosts.client; }
  Node& high() { return *hosts.server; }
  void expect_talk(Peer& one, Peer& other) {
    expect_connected(one, other);
    other.end.receive(8);
    one.end.receive(8);
    one.end.send("to");
    other.end.send("fro");
    hosts.settle();
    EXPECT_EQ(other.end.received(), "to");
    EXPECT_EQ(one.end.received(), "fro");
  }
  TwoHosts hosts;
  PlainCall disconnected;
};

// VI-TCP 4: the end with the higher address asks, whichever comes first; both learn the other's attributes.
TEST_F(VitcpPeers, twoHosts_connect_inEitherOrder) {
  for (const bool high_first : {false, true}) {
    Peer a(low(), delivery), b(high(), delivery);
    Peer &first = high_first ? b : a, &second = high_first ? a : b;
    const std::uint64_t before = low().provider.counters().requests_received;
    EXPECT_EQ(first.ask(second.node->address, "meet", runtime::never), Return::Success);
    EXPECT_EQ(first.end.vi.state(), State::ConnectPending);
    hosts.run(3 * runtime::second);
    EXPECT_EQ(first.result(), std::nullopt);
    EXPECT_EQ(second.ask(first.node->address, "meet", runtime::never), Return::Success);
    hosts.run(2 * runtime::second);
    expect_talk(a, b);
    EXPECT_EQ(a.call.remote_attributes.max_transfer_size_bytes, b.end.vi.attributes().max_transfer_size_bytes);
    EXPECT_GT(low().provider.counters().requests_received, before);
    EXPECT_EQ(high().provider.counters().requests_received, 0u);
  }
}

// VI-DG 3.3.6, ruling 69: host and the discriminator of RemoteAddr must fit; LocalAddr's is a name.
TEST_F(VitcpPeers, twoHosts_otherDiscriminatorOrHost_doNotMeet) {
  Peer a(low(), delivery), b(high(), delivery), c(low(), delivery);
  a.ask(high().address, "one", runtime::second);
  c.ask(wire::IpAddress::v4(10, 0, 0, 77), "two", runtime::second);
  b.ask(low().address, "two", runtime::second);
  hosts.run(900 * runtime::millisecond);
  for (Peer* peer : {&a, &b, &c}) EXPECT_EQ(peer->result(), std::nullopt);
  hosts.run(100 * runtime::millisecond);
  for (Peer* peer : {&a, &b, &c}) {
    EXPECT_EQ(peer->result(), Return::Timeout);
    EXPECT_EQ(peer->end.vi.state(), State::Idle);
  }
}

// VI-TCP 2.2.2.2.2, V-13: the other host is not there yet: the higher address asks until the consumer's time is over.
TEST_F(VitcpPeers, twoHosts_hostComesLater_connects) {
  bool there = false;
  hosts.world.network.set_rules([&](const auto&, const auto&) {
    return streams::StreamRules{.reception = there ? streams::Reception::normal : streams::Reception::refuse};
  });
  Peer a(low(), delivery), b(high(), delivery);
  a.ask(high().address, "x", runtime::never);
  b.ask(low().address, "x", 60 * runtime::second);
  hosts.run(20 * runtime::second);
  EXPECT_EQ(b.result(), std::nullopt);
  there = true;
  hosts.run(2 * runtime::second);
  expect_talk(a, b);
}

// VI-TCP 3.3, VI-DG 6.7: other levels: both calls say so, and both VIs are Idle.
TEST_F(VitcpPeers, twoHosts_otherLevels_bothHearOfIt) {
  Peer a(low(), delivery), b(high(), reception);
  a.ask(high().address, "x", runtime::never);
  b.ask(low().address, "x", runtime::never);
  hosts.run(runtime::second);
  for (Peer* peer : {&a, &b}) {
    EXPECT_EQ(peer->result(), Return::InvalidReliabilityLevel);
    EXPECT_EQ(peer->end.vi.state(), State::Idle);
  }
}

// VI-TCP 2.2.1, ruling V-9: the smaller MaxTransferSize binds both.
TEST_F(VitcpPeers, twoHosts_otherTransferSizes_theSmallerBinds) {
  Peer a(low(), delivery), b(high(), delivery);
  PlainCall call;
  vi::Vi& small = low().create(delivery, 3000);
  ConnectCall asked;
  vi::NetAddress remote = low().at("x");
  remote.host = high().address;
  low().provider.connect_peer_request(small, low().at("y"), remote, runtime::never, asked);
  b.ask(low().address, "x", runtime::never);
  hosts.run(runtime::second);
  EXPECT_EQ(asked.result, Return::Success);
  EXPECT_EQ(b.end.vi.attributes().max_transfer_size_bytes, 3000u);
  EXPECT_EQ(b.call.remote_attributes.max_transfer_size_bytes, 3000u);
}

// VI-DG 3.3.6: what the call itself refuses, and keeps no operation of.
TEST_F(VitcpPeers, request_thatCannotBe_isRefused) {
  Peer a(low(), delivery);
  EXPECT_EQ(a.ask(high().address, std::string(65, 'd'), runtime::second), Return::InvalidParameter);
  EXPECT_EQ(a.ask(high().address, "x", 0), Return::InvalidParameter);
  EXPECT_EQ(low().provider.connect_peer_request(a.end.vi, high().at("x"), high().at("x"), runtime::second, a.call),
            Return::InvalidParameter);
  EXPECT_EQ(a.ask(high().address, "x", runtime::second), Return::Success);
  EXPECT_EQ(a.ask(high().address, "x", runtime::second), Return::InvalidState);
  hosts.run(2 * runtime::second);
  EXPECT_EQ(a.call.calls, 1);
}

// VI-DG 3.3.5: VipDisconnect of who waits, of who asks, and of who has asked and hears nothing.
TEST_F(VitcpPeers, disconnect_pending_returnsTheRequest) {
  for (const bool silent : {false, true})
    for (Node* node : {&low(), &high()}) {
      hosts.world.network.set_rules([&](const auto&, const auto&) {
        return streams::StreamRules{.reception = silent ? streams::Reception::silence : streams::Reception::normal};
      });
      Node& other = node == &low() ? high() : low();
      for (const wire::IpAddress& host : {other.address, node->address}) {
        Peer a(*node, delivery);
        PlainCall call;
        a.ask(host, "x", runtime::never);
        hosts.settle();
        node->provider.disconnect(a.end.vi, call);
        EXPECT_EQ(call.result, Return::Success);
        EXPECT_EQ(a.result(), Return::ErrorResource);
        EXPECT_EQ(a.end.vi.state(), State::Idle);
        hosts.settle();
        EXPECT_EQ(a.call.calls, 1);
      }
    }
}

// VipCloseNic while the request waits, or is out.
TEST_F(VitcpPeers, detach_pending_returnsTheRequest) {
  Peer a(low(), delivery), b(high(), delivery), c(low(), delivery);
  a.ask(high().address, "a", runtime::never);
  b.ask(low().address, "b", runtime::never);
  c.ask(low().address, "c", runtime::never);
  hosts.run(runtime::millisecond);
  for (Peer* peer : {&a, &b, &c}) {
    peer->node->provider.detach(peer->end.vi);
    EXPECT_EQ(peer->result(), Return::ErrorResource);
  }
  hosts.run(runtime::second);
}

// VI-ARCH 5.2: a descriptor that takes the VI to Error while the request is pending.
TEST_F(VitcpPeers, vi_toErrorWhilePending_returnsTheRequest) {
  Peer a(low(), delivery);
  a.ask(high().address, "x", runtime::never);
  a.end.vi.post_receive(1, {});
  EXPECT_EQ(a.result(), Return::ErrorResource);
  EXPECT_EQ(a.end.vi.state(), State::Error);
}

// Ruling V-13: the same VIs disconnect and meet again.
TEST_F(VitcpPeers, twoHosts_disconnect_andMeetAgain) {
  Peer a(low(), delivery), b(high(), delivery);
  for (int round = 0; round != 3; ++round) {
    ConnectCall one, other;
    PlainCall here, there;
    vi::NetAddress to_high = low().at("x"), to_low = high().at("x");
    std::swap(to_high.host, to_low.host);
    low().provider.connect_peer_request(a.end.vi, low().at("y"), to_high, runtime::never, one);
    high().provider.connect_peer_request(b.end.vi, high().at("z"), to_low, runtime::never, other);
    hosts.run(runtime::second);
    EXPECT_EQ(one.result, Return::Success);
    EXPECT_EQ(other.result, Return::Success);
    low().provider.disconnect(a.end.vi, here);
    hosts.settle();
    high().provider.disconnect(b.end.vi, there);
    hosts.settle();
    EXPECT_EQ(here.result, Return::Success);
    EXPECT_EQ(there.result, Return::Success);
  }
}

// Ruling V-13: equal addresses: both ask, in one host and NIC. Whoever is first, and if both are at once.
TEST_F(VitcpPeers, oneHost_connect) {
  for (const runtime::TimeNs later : {runtime::TimeNs{0}, runtime::TimeNs{1}, 100 * runtime::microsecond,
                                      120 * runtime::microsecond, 200 * runtime::microsecond, 3 * runtime::second}) {
    SCOPED_TRACE(later);
    Peer a(low(), delivery), b(low(), delivery);
    a.ask(low().address, "home", runtime::never);
    hosts.run(later);
    EXPECT_EQ(a.result(), std::nullopt);
    b.ask(low().address, "home", runtime::never);
    hosts.run(2 * runtime::second);
    expect_talk(a, b);
  }
}

// Ruling V-13: nobody meets oneself.
TEST_F(VitcpPeers, oneHost_alone_timesOut) {
  Peer a(low(), delivery);
  a.ask(low().address, "home", 5 * runtime::second);
  hosts.run(5 * runtime::second);
  EXPECT_EQ(a.result(), Return::Timeout);
  EXPECT_EQ(a.end.vi.state(), State::Idle);
}

// Ruling V-13: of many at once each meets one.
TEST_F(VitcpPeers, oneHost_many_allMeet) {
  std::vector<std::unique_ptr<Peer>> peers;
  for (int i = 0; i != 16; ++i) {
    peers.push_back(std::make_unique<Peer>(low(), delivery));
    peers.back()->ask(low().address, "home", runtime::never, std::string(1, static_cast<char>('a' + i)));
  }
  hosts.run(20 * runtime::second);
  int connected = 0;
  for (const auto& peer : peers) connected += peer->result() == Return::Success;
  EXPECT_EQ(connected, 16);
}

// Ruling V-13 with other levels in one host.
TEST_F(VitcpPeers, oneHost_otherLevels_bothHearOfIt) {
  for (const runtime::TimeNs later : {runtime::TimeNs{0}, 2 * runtime::second}) {
    Peer a(low(), delivery), b(low(), unreliable);
    a.ask(low().address, "home", runtime::never);
    hosts.run(later);
    b.ask(low().address, "home", runtime::never);
    hosts.run(2 * runtime::second);
    EXPECT_EQ(a.result(), Return::InvalidReliabilityLevel);
    EXPECT_EQ(b.result(), Return::InvalidReliabilityLevel);
  }
}

// VI-TCP 3.3: the peer-to-peer bit must match: a client meets no peer, and a peer no server.
TEST_F(VitcpPeers, peers_andClients_doNotMeet) {
  Peer a(low(), delivery), b(high(), delivery);
  WaitCall wait;
  ConnectCall request;
  a.ask(high().address, "x", runtime::second);
  high().provider.connect_request(high().create(delivery), high().at("y"), low().at("x"), runtime::second, request);
  low().provider.connect_wait(low().at("z"), runtime::never, wait);
  b.ask(low().address, "z", runtime::second);
  hosts.run(2 * runtime::second);
  EXPECT_EQ(request.result, Return::NoMatch);
  EXPECT_EQ(a.result(), Return::Timeout);
  EXPECT_EQ(b.result(), Return::Timeout);
  EXPECT_EQ(wait.result, std::nullopt);
  low().provider.withdraw(wait);
}

/// A peer that another program plays, at 10.0.0.3: higher than both.
vt::Segment peer_request(vi::ReliabilityLevel level, std::string_view discriminator = "x") {
  vt::Segment segment = RawPeer::request(level);
  segment.ce.peer_to_peer = true;
  const auto* octets = reinterpret_cast<const std::uint8_t*>(discriminator.data());
  segment.ce.called = vt::Discriminator::of(wire::Bytes(octets, discriminator.size()));
  return segment;
}

// VI-TCP 4.3, ruling V-10: the answer to a peer's ConnectRequest.
TEST_F(VitcpPeers, request_ofAPeer_isAccepted) {
  RawPeer raw(hosts);
  Peer a(high(), delivery);
  a.ask(raw.address, "x", runtime::never);
  raw.connect();
  raw.send(peer_request(delivery));
  const vt::Segment accept = raw.take();
  EXPECT_EQ(accept.header.type, SegmentType::connect_accept);
  EXPECT_TRUE(accept.ce.peer_to_peer);
  EXPECT_EQ(a.result(), Return::Success);
  raw.close();
}

// VI-TCP 3.3, VI-DG 6.7: a peer's ConnectRequest of another level is rejected.
TEST_F(VitcpPeers, request_ofAPeerOfAnotherLevel_isRejected) {
  RawPeer raw(hosts);
  Peer a(high(), delivery);
  a.ask(raw.address, "x", runtime::never);
  raw.connect();
  raw.send(peer_request(unreliable));
  EXPECT_EQ(raw.take().header.type, SegmentType::connect_reject);
  EXPECT_EQ(a.result(), Return::InvalidReliabilityLevel);
  EXPECT_TRUE(raw.is_closed());
  raw.close();
}

// Ruling V-32: the lower address has not to ask.
TEST_F(VitcpPeers, request_ofTheLowerAddress_isNoMatch) {
  RawPeer raw(hosts, wire::IpAddress::v4(9, 0, 0, 1));
  Peer a(high(), delivery);
  a.ask(raw.address, "x", runtime::second);
  raw.connect();
  raw.send(peer_request(delivery));
  EXPECT_EQ(raw.take().header.type, SegmentType::connect_no_match);
  EXPECT_EQ(a.result(), std::nullopt);
  hosts.run(runtime::second);
  EXPECT_EQ(a.result(), Return::Timeout);
  raw.close();
}

/// A host where another program listens, too: the port is shared, and streams go to whoever says that it waits.
class SharedPort final : private streams::ListenerUser {
 public:
  SharedPort(streams::Streams& host, const wire::IpAddress& address)
      : listener_(std::move(*host.listen({address, vt::default_port}, *this))) {}

  struct Program final : WaitListener {
    void waiting_changed(const port_service::Wanted& wanted, std::size_t count) override {
      last = wanted;
      waits = count;
    }
    Provider* provider = nullptr;
    port_service::Wanted last;
    std::size_t waits = 0;
  };
  Program one, other;
  int to_nobody = 0;

 private:
  void accepted(std::unique_ptr<streams::Stream> stream) override {
    Program& first = one.waits != 0 ? one : other;
    if (first.waits == 0) ++to_nobody;
    first.provider->take(std::move(stream));
  }
  std::unique_ptr<streams::Listener> listener_;
};

// Rulings V-12, V-13: two programs of one host that share its port, whoever is first.
TEST(VitcpSharedPort, peersOfTwoPrograms_meet) {
  for (const runtime::TimeNs later : {runtime::TimeNs{0}, runtime::TimeNs{1}, 90 * runtime::microsecond,
                                      150 * runtime::microsecond, runtime::millisecond, 3 * runtime::second}) {
    SCOPED_TRACE(later);
    streams::test::EmulatedWorld world;
    SharedPort port(world.server, streams::test::server_ip);
    ProviderConfig config;
    config.addresses = {streams::test::server_ip};
    Node first(world.server, world.scheduler, config);
    config.number_seed = 7;
    Node second(world.server, world.scheduler, config);
    port.one.provider = &first.provider;
    port.other.provider = &second.provider;
    first.provider.set_wait_listener(&port.one);
    second.provider.set_wait_listener(&port.other);
    Peer a(first, delivery), b(second, delivery);
    a.ask(first.address, "home", runtime::never);
    world.scheduler.run_until(world.scheduler.now() + later);
    b.ask(first.address, "home", runtime::never);
    world.scheduler.run_until(world.scheduler.now() + 20 * runtime::second);
    expect_connected(a, b);
    EXPECT_EQ(port.one.waits + port.other.waits, 0u);
    first.close(), second.close();
    world.scheduler.run_until(world.scheduler.now() + 10 * runtime::second);
  }
}

// Ruling V-12: who listens for a NIC knows what it waits for: clients' requests and peers', each as long as it does.
TEST(VitcpSharedPort, waits_areTold) {
  TwoHosts hosts;
  SharedPort::Program told;
  Node& low = *hosts.client;
  low.provider.set_wait_listener(&told);
  WaitCall first, second, third;
  low.provider.connect_wait(low.at("x"), runtime::never, first);
  EXPECT_EQ(told.waits, 1u);
  EXPECT_EQ(told.last, (port_service::Wanted{.called = discriminator_of(low.at("x")), .at = low.address}));
  low.provider.connect_wait(low.at("x"), runtime::second, second);
  EXPECT_EQ(told.waits, 2u);
  hosts.run(runtime::second);
  EXPECT_EQ(told.waits, 1u);
  low.provider.withdraw(first);
  low.provider.withdraw(first);
  EXPECT_EQ(told.waits, 0u);
  low.provider.connect_wait(low.at("x"), 0, third);
  EXPECT_EQ(third.result, Return::Timeout);
  Peer a(low, delivery);
  a.ask(hosts.server->address, "meet", runtime::second);
  EXPECT_EQ(told.waits, 1u);
  EXPECT_EQ(told.last, (port_service::Wanted{.called = discriminator_of(low.at("meet")),
                                             .peer_to_peer = true,
                                             .from = hosts.server->address,
                                             .at = low.address}));
  hosts.run(runtime::second);
  EXPECT_EQ(told.waits, 0u);
}

}  // namespace
}  // namespace vitcp::testing
