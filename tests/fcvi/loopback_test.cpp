// A port that connects with itself: one process, both ends (VI-ARCH 4.1, FC-VI 5.3.4; rulings 70 and 77).
#include "tests/fcvi/two_nodes.hpp"

namespace {
using Level = vi::ReliabilityLevel;
using support::Host;
using vi::Return;

constexpr std::uint32_t large = (1u << 20) + 3;

class Loopback : public support::TwoNodes, public ::testing::WithParamInterface<Level> {
 public:
  Loopback() : host(*client) {}
  /// client_vi and server_vi, both of `host`.
  void connect_to_self() {
    client_vi = &host.make_vi(GetParam());
    server_vi = &host.make_vi(GetParam());
    host.provider.connect_wait(host.net("loop"), runtime::never, wait);
    host.provider.connect_request(*client_vi, host.net("c"), host.net("loop"), runtime::never, request);
    ASSERT_TRUE(fabric.run_until([&] { return wait.result.has_value(); }));
    host.provider.connect_accept(wait.token, *server_vi, accept);
    ASSERT_TRUE(fabric.run_until([&] { return accept.result && request.result; }));
    ASSERT_EQ(request.result, Return::Success);
    ASSERT_EQ(accept.result, Return::Success);
    fabric.run_for(runtime::millisecond);
  }
  /// Bytes [from, from + length) go to `to` by this operation, from one VI to the other; true if they are there.
  bool moves(vi::Vi& vi, vi::Vi& peer, std::uint16_t control, std::uint8_t pattern) {
    const std::uint64_t from = Host::data + (4u << 20) * pattern, to = from + (2u << 20);
    std::memset(host.bytes(from), pattern, large);
    std::memset(host.bytes(to), 0, large);
    const bool read = (control & vi::control::op_mask) == vi::control::op_rdma_read;
    const bool receives = control == vi::control::op_send_receive || (control & vi::control::immediate) != 0;
    const auto receive =
        host.descriptor(0, control == vi::control::op_send_receive ? Segments{{to, large}} : Segments{});
    if (receives) peer.post_receive(receive, host.handle);
    const auto send = host.descriptor(control, {{read ? to : from, large}}, read ? from : to, host.handle, 7);
    vi.post_send(send, host.handle);
    fabric.run_until([&] { return (host.status(send) & vi::status::done) != 0; });
    fabric.run_for(runtime::millisecond);
    if (receives && (host.status(receive) & vi::status::done) == 0) return false;
    return (host.status(send) & vi::status::error_mask) == 0 &&
           std::memcmp(host.bytes(from), host.bytes(to), large) == 0;
  }
  void TearDown() override { EXPECT_EQ(unexpected(), 0u); }
  using Segments = std::vector<std::pair<std::uint64_t, std::uint32_t>>;
  Host& host;
};

// VI-ARCH 2.3, 2.5: Send, RDMA Write and RDMA Read, both ways.
TEST_P(Loopback, connected_everyOperation_arrives) {
  connect_to_self();
  for (auto [vi, peer] : {std::pair{client_vi, server_vi}, std::pair{server_vi, client_vi}}) {
    EXPECT_TRUE(moves(*vi, *peer, vi::control::op_send_receive, 1));
    EXPECT_TRUE(moves(*vi, *peer, vi::control::op_rdma_write, 2));
    EXPECT_TRUE(moves(*vi, *peer, vi::control::op_rdma_write | vi::control::immediate, 3));
    const bool can_read = vi::is_reliable(GetParam());  // VI-ARCH 2.5.1
    EXPECT_EQ(moves(*vi, *peer, vi::control::op_rdma_read, 4), can_read);
  }
  EXPECT_EQ(host.discarded(), 0u);
}

// FC-VI 5.3.5, 8.6: one end disconnects, the other learns it; both can connect again.
TEST_P(Loopback, connected_disconnect_otherEndIsTold) {
  for (int i = 0; i < 20; ++i) {
    wait.result.reset(), request.result.reset(), accept.result.reset();
    connect_to_self();
    vi::Vi &first = i % 2 == 0 ? *client_vi : *server_vi, &second = i % 2 == 0 ? *server_vi : *client_vi;
    EXPECT_EQ(disconnect(host, first), Return::Success);
    EXPECT_EQ(second.state(), vi::State::Error);
    EXPECT_EQ(host.count(vi::ErrorCode::ConnLost), i + 1);
    EXPECT_EQ(disconnect(host, second), Return::Success);
  }
  fabric.run_for(60 * runtime::second);
  EXPECT_EQ(host.provider.handles_in_use(), 0u);
  EXPECT_EQ(host.provider.open_setups(), 0u);
  EXPECT_EQ(host.port.open_exchanges(), 0u);
}

// VI-ARCH 2.5.1 to 2.5.3: nobody posted a receive: dropped, or both ends in Error.
TEST_P(Loopback, connected_sendWithoutReceive) {
  connect_to_self();
  const auto send = host.descriptor(0, {{Host::data, 100}});
  client_vi->post_send(send, host.handle);
  fabric.run_for(runtime::second);
  const bool reliable = vi::is_reliable(GetParam());
  EXPECT_EQ(client_vi->state(), reliable ? vi::State::Error : vi::State::Connected);
  EXPECT_EQ(server_vi->state(), reliable ? vi::State::Error : vi::State::Connected);
  EXPECT_NE(host.status(send) & vi::status::done, 0u);
  EXPECT_EQ(disconnect(host, *client_vi), Return::Success);
  EXPECT_EQ(disconnect(host, *server_vi), Return::Success);
}

// VI-ARCH 3.2.1: an RDMA Write beyond the region.
TEST_P(Loopback, connected_writeOutOfBounds) {
  connect_to_self();
  client_vi->post_send(host.descriptor(vi::control::op_rdma_write, {{Host::data, 100}},
                                       Host::base + Host::memory_bytes - 50, host.handle),
                       host.handle);
  fabric.run_for(runtime::second);
  const bool reliable = vi::is_reliable(GetParam());
  EXPECT_EQ(server_vi->state(), reliable ? vi::State::Error : vi::State::Connected);
  EXPECT_EQ(host.count(vi::ErrorCode::RdmaWProt), 1);
}

// VI-DG 3.3.1, 3.3.4, FC-VI 5.9.7.2.1: nobody waits here; and a rejection.
TEST_P(Loopback, idle_noMatchAndReject) {
  client_vi = &host.make_vi(GetParam());
  host.provider.connect_request(*client_vi, host.net("c"), host.net("loop"), runtime::never, request);
  ASSERT_TRUE(fabric.run_until([&] { return request.result.has_value(); }));
  EXPECT_EQ(request.result, Return::NoMatch);
  request.result.reset();
  host.provider.connect_wait(host.net("loop"), runtime::never, wait);
  host.provider.connect_request(*client_vi, host.net("c"), host.net("loop"), runtime::never, request);
  ASSERT_TRUE(fabric.run_until([&] { return wait.result.has_value(); }));
  host.provider.connect_reject(wait.token, accept);
  ASSERT_TRUE(fabric.run_until([&] { return request.result.has_value(); }));
  EXPECT_EQ(request.result, Return::Reject);
}

// FC-VI 7.7.1, VI-ARCH 7.1 to 7.3, VI-DG 6.3.3: the link goes down: both ends lose the connection; then a
// new one comes.
TEST_P(Loopback, connected_linkDown_isLost) {
  connect_to_self();
  fabric.detach(0);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  EXPECT_EQ(host.count(vi::ErrorCode::ConnLost), 2);
  EXPECT_EQ(disconnect(host, *client_vi), Return::Success);
  EXPECT_EQ(disconnect(host, *server_vi), Return::Success);
  fabric.attach(0);
  ASSERT_TRUE(fabric.run_until([&] { return host.resolver.ready(); }));
  wait.result.reset(), request.result.reset(), accept.result.reset();
  connect_to_self();
  EXPECT_TRUE(moves(*client_vi, *server_vi, vi::control::op_send_receive, 1));
}

// VI-DG 3.1.2: both ends go away with their NIC.
TEST_P(Loopback, connected_closed_leavesNothing) {
  connect_to_self();
  host.provider.detach(*client_vi);
  host.provider.detach(*server_vi);
  fabric.run_for(60 * runtime::second);
  EXPECT_EQ(host.provider.handles_in_use(), 0u);
  EXPECT_EQ(host.port.open_exchanges(), 0u);
}

// FC-VI 7.6: our own port is one of several with the address: asked in turn, until one has a match.
TEST_P(Loopback, idle_sharedAddress_findsItself) {
  std::vector<std::unique_ptr<farp::Resolver>> resolvers;
  std::vector<std::unique_ptr<fcvi::Provider>> providers;
  for (std::size_t i = 2; i < 5; ++i) {
    fc2::NPort& port = fabric.add_port();
    resolvers.push_back(std::make_unique<farp::Resolver>(port, farp::ResolverConfig{.own_addresses = {host.address}}));
    providers.push_back(
        std::make_unique<fcvi::Provider>(port, *resolvers.back(), fcvi::ProviderConfig{.address = host.address}));
    fabric.attach(i);
  }
  fabric.run_for(runtime::second);
  connect_to_self();
  EXPECT_TRUE(moves(*client_vi, *server_vi, vi::control::op_send_receive, 1));
  fabric.run_for(runtime::second);
  for (std::size_t i = 2; i < 5; ++i) fabric.detach(i);
}

INSTANTIATE_TEST_SUITE_P(All, Loopback,
                         ::testing::Values(Level::UnreliableDelivery, Level::ReliableDelivery,
                                           Level::ReliableReception),
                         [](const auto& level) {
                           return std::string(level.param == Level::UnreliableDelivery ? "Unreliable"
                                              : level.param == Level::ReliableDelivery ? "Delivery"
                                                                                       : "Reception");
                         });
}  // namespace
