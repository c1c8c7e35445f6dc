// Two VI/TCP NICs, and shorthand for what their consumers do: over emulated hosts in virtual time, and over sockets.
#pragma once
#include "tests/streams/worlds.hpp"
#include "tests/support/operations.hpp"
#include "tests/support/vi_node.hpp"
#include "vitcp/conversions.hpp"
#include "vitcp/provider.hpp"

namespace vitcp::testing {
using ConnectCall = support::Connect;
using WaitCall = support::Wait;
using PlainCall = support::Done;
using End = support::ViEnd;
using support::address_of;

struct ItsProvider {
  Provider provider;
};
class Node : public ItsProvider, public support::ViNode {
 public:
  Node(streams::Streams& streams, runtime::Scheduler& scheduler, const ProviderConfig& config)
      : ItsProvider{Provider(streams, scheduler, config)}, ViNode(provider, config.addresses.front()) {}
};

inline constexpr auto unreliable = vi::ReliabilityLevel::UnreliableDelivery;
inline constexpr auto delivery = vi::ReliabilityLevel::ReliableDelivery;
inline constexpr auto reception = vi::ReliabilityLevel::ReliableReception;

/// What the two providers are configured with, before they are.
struct Settings {
  ProviderConfig client, server;
};

/// A client and a server that listens, over emulated hosts.
class TwoHosts {
 public:
  explicit TwoHosts(const Settings& settings = {}) {
    ProviderConfig for_client = settings.client, for_server = settings.server;
    for_client.addresses = {streams::test::client_ip};
    for_server.addresses = {streams::test::server_ip};
    for_server.number_seed = 2;
    client.emplace(world.client, world.scheduler, for_client);
    server.emplace(world.server, world.scheduler, for_server);
    EXPECT_EQ(server->provider.listen(), std::nullopt);
    EXPECT_EQ(client->provider.listen(), std::nullopt);
  }
  ~TwoHosts() {
    client->close();
    server->close();
    run(10 * runtime::second);  // what is owed to others
    EXPECT_EQ(client->provider.streams_without_vi(), 0u);
    EXPECT_EQ(server->provider.streams_without_vi(), 0u);
    EXPECT_EQ(world.network.stream_count(), 0u);
    EXPECT_EQ(client->provider.counters().unexpected_events + server->provider.counters().unexpected_events, 0u);
  }
  void run(runtime::TimeNs time) {
    const runtime::TimeNs limit = world.scheduler.now() + time;
    while (world.scheduler.run_next(limit)) {
      if (!client->provider.is_consistent() || !server->provider.is_consistent()) {
        ADD_FAILURE() << "not consistent";
        return;
      }
    }
    world.scheduler.run_until(limit);
  }
  void settle() { run(100 * runtime::millisecond); }
  bool run_until(const std::function<bool()>& done) { return world.run_until(done); }

  /// Client and server, connected at this level.
  std::pair<End, End> connect(vi::ReliabilityLevel level) {
    WaitCall wait;
    ConnectCall request;
    PlainCall accept;
    End a{*client, client->create(level)}, b{*server, server->create(level)};
    server->provider.connect_wait(server->at("x"), runtime::never, wait);
    client->provider.connect_request(a.vi, client->at("y"), server->at("x"), 60 * runtime::second, request);
    EXPECT_TRUE(run_until([&] { return wait.result.has_value() || request.result.has_value(); }));
    EXPECT_EQ(wait.result, vi::Return::Success);
    server->provider.connect_accept(wait.token, b.vi, accept);
    EXPECT_EQ(accept.result, vi::Return::Success);
    EXPECT_TRUE(run_until([&] { return request.result.has_value(); }));
    EXPECT_EQ(request.result, vi::Return::Success);
    a.set_remote(server->handle);
    b.set_remote(client->handle);
    return {a, b};
  }

  streams::test::EmulatedWorld world;
  std::optional<Node> client, server;
};

/// What a test is made for.
struct Kind {
  vi::ReliabilityLevel level;
  bool crc = false;
};
inline std::string name_of(const ::testing::TestParamInfo<Kind>& info) {
  const std::string level = info.param.level == unreliable ? "Unreliable"
                            : info.param.level == delivery ? "Delivery"
                                                           : "Reception";
  return info.param.crc ? level + "Crc" : level;
}

}  // namespace vitcp::testing
