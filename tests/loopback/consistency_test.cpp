// What the owners of the loop-back transport say of themselves (state_machines/consistency.hpp): true at each step of a
// connection's life, and false when somebody goes behind their back.
#include "tests/loopback/two_nodes.hpp"

namespace loopback::testing {
namespace {

class LoopbackConsistency : public TwoNodes {
 protected:
  [[nodiscard]] bool holds() const { return client.provider.is_consistent() && server.provider.is_consistent(); }
  /// Event by event until nothing is due now. The number of events.
  int watch() {
    int events = 0;
    for (; scheduler.run_next(scheduler.now()); ++events) EXPECT_TRUE(holds()) << events;
    return events;
  }
  WaitCall wait;
  ConnectCall request, other;
  PlainCall call;
};

// A request, its acceptance, a message of several chunks each way, an RDMA Read, the end.
TEST_F(LoopbackConsistency, lifeOfAConnection_holdsThroughout) {
  End a{client, client.create(delivery)}, b{server, server.create(delivery)};
  a.set_remote(server.handle), b.set_remote(client.handle);
  EXPECT_TRUE(holds());
  server.provider.connect_wait(server.at("x"), runtime::never, wait);
  client.provider.connect_request(a.vi, client.at("y"), server.at("x"), runtime::second, request);
  EXPECT_TRUE(holds());
  server.provider.connect_accept(wait.token, b.vi, call);
  EXPECT_TRUE(holds());
  const std::string text(5 * chunk_bytes, 'x');
  b.receive(text.size());
  a.receive(text.size());
  a.send(text);
  b.send(text);
  a.rdma_read(server.allocate(3 * chunk_bytes), 3 * chunk_bytes);
  EXPECT_GT(watch(), 10);
  EXPECT_EQ(b.received(), text);
  client.provider.disconnect(a.vi, call);
  EXPECT_TRUE(holds());
  EXPECT_EQ(b.vi.state(), vi::State::Error);
}

// Two requests that meet; one that ends by its time.
TEST_F(LoopbackConsistency, peerPool_holdsThroughout) {
  vi::Vi &a = client.create(delivery), &b = server.create(delivery), &late = client.create(delivery);
  client.provider.connect_peer_request(a, client.at("x"), server.at("x"), runtime::second, request);
  EXPECT_TRUE(holds());
  server.provider.connect_peer_request(b, server.at("x"), client.at("x"), runtime::second, other);
  watch();
  EXPECT_EQ(a.state(), vi::State::Connected);
  ConnectCall third;
  client.provider.connect_peer_request(late, client.at("x"), server.at("x"), runtime::second, third);
  watch();
  scheduler.run_until(scheduler.now() + 2 * runtime::second);
  EXPECT_EQ(third.result, vi::Return::Timeout);
  EXPECT_TRUE(holds());
}

// The VI left Connected, and nobody told its endpoint.
TEST_F(LoopbackConsistency, connected_stateChangedElsewhere_isSeen) {
  const auto [a, b] = connect(delivery);
  EXPECT_TRUE(holds());
  a.vi.endpoint_event(machines::vi_endpoint::ConnectionLost{});
  EXPECT_FALSE(client.provider.is_consistent());
  EXPECT_TRUE(server.provider.is_consistent());
}

// The same of a request.
TEST_F(LoopbackConsistency, pending_stateChangedElsewhere_isSeen) {
  vi::Vi& a = client.create(delivery);
  server.provider.connect_wait(server.at("x"), runtime::never, wait);
  client.provider.connect_request(a, client.at("y"), server.at("x"), runtime::second, request);
  EXPECT_TRUE(holds());
  a.endpoint_event(machines::vi_endpoint::SetupRefused{});
  EXPECT_FALSE(client.provider.is_consistent());
}

// A VI that does not know its endpoint.
TEST_F(LoopbackConsistency, idle_viPointsElsewhere_isSeen) {
  vi::Vi& a = client.create(delivery);
  void* const own = std::exchange(a.transport_context, this);
  EXPECT_FALSE(client.provider.is_consistent());
  a.transport_context = own;
  EXPECT_TRUE(client.provider.is_consistent());
}

// Who is in the peer pool waits for a peer.
TEST_F(LoopbackConsistency, peerPool_withoutARequest_isSeen) {
  Endpoint idle(hub, client.create(delivery));
  hub.add_peer(idle);
  EXPECT_FALSE(hub.is_consistent());
  EXPECT_FALSE(server.provider.is_consistent());
  hub.remove_peer(idle);
  EXPECT_TRUE(hub.is_consistent());
}

// A mover without a connection has no turn.
TEST_F(LoopbackConsistency, mover_holdsUntilItsConnectionEnds) {
  auto [a, b] = connect(delivery);
  b.receive(2 * chunk_bytes);
  a.send(std::string(2 * chunk_bytes, 'x'));
  ASSERT_TRUE(scheduler.run_next(scheduler.now()));
  EXPECT_TRUE(holds());
  EXPECT_FALSE(scheduler.idle());
  client.provider.disconnect(a.vi, call);
  EXPECT_TRUE(holds());
  EXPECT_TRUE(scheduler.idle());
}

}  // namespace
}  // namespace loopback::testing
