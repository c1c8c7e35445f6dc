// The same connections over TCP sockets of this host, IPv4 and IPv6: in real time, with the kernel's buffers.
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/vitcp/two_hosts.hpp"

namespace {
int connect_fails_with = 0;  // errno
}  // namespace

/// The library's calls come here.
extern "C" int connect(int descriptor, const sockaddr* to, socklen_t size) {
  if (connect_fails_with == 0) return static_cast<int>(::syscall(SYS_connect, descriptor, to, size));
  errno = connect_fails_with;
  return -1;
}

namespace vitcp::testing {
namespace {
using vi::Return, vi::State;

/// Two NICs of one process at the loopback address.
template <bool ipv6>
class SocketHosts {
 public:
  explicit SocketHosts(const Settings& settings = {}) {
    const std::uint16_t port = free_port();
    ProviderConfig for_client = settings.client, for_server = settings.server;
    for_client.addresses = for_server.addresses = {world.listen_ip};
    for_client.port = for_server.port = port;
    for_server.number_seed = 2;
    inside([&] {
      client.emplace(world.client, world.core.scheduler(), for_client);
      server.emplace(world.server, world.core.scheduler(), for_server);
      EXPECT_EQ(server->provider.listen(), std::nullopt);
    });
  }
  ~SocketHosts() {
    inside([&] { client->close(), server->close(); });
    run_until([&] { return client->provider.streams_without_vi() + server->provider.streams_without_vi() == 0; });
    inside([&] { client.reset(), server.reset(); });
    world.settle();
  }
  void inside(const std::function<void()>& calls) { world.inside(calls); }
  bool run_until(const std::function<bool()>& done) { return world.run_until(done); }
  std::pair<End, End> connect(vi::ReliabilityLevel level) {
    WaitCall wait;
    ConnectCall request;
    PlainCall accept;
    std::optional<End> a, b;
    inside([&] {
      a.emplace(*client, client->create(level, 8u << 20));
      b.emplace(*server, server->create(level, 8u << 20));
      server->provider.connect_wait(server->at("x"), runtime::never, wait);
      client->provider.connect_request(a->vi, client->at("y"), server->at("x"), 60 * runtime::second, request);
    });
    EXPECT_TRUE(run_until([&] { return wait.result.has_value() || request.result.has_value(); }));
    inside([&] { server->provider.connect_accept(wait.token, b->vi, accept); });
    EXPECT_TRUE(run_until([&] { return request.result.has_value(); }));
    EXPECT_EQ(request.result, Return::Success);
    a->set_remote(server->handle);
    b->set_remote(client->handle);
    return {*a, *b};
  }

  streams::test::SocketWorld<ipv6> world;
  std::optional<Node> client, server;

 private:
  std::uint16_t free_port() {
    streams::test::Door door;
    std::uint16_t port = 0;
    inside([&] { port = (*world.server.listen({world.listen_ip, 0}, door))->address().port; });
    return port;
  }
};

struct V4 {
  using Hosts = SocketHosts<false>;
};
struct V6 {
  using Hosts = SocketHosts<true>;
};

template <class Family>
class VitcpSockets : public ::testing::Test {
 protected:
  static Settings with_crc(bool crc) {
    Settings settings;
    settings.client.ask_for_crc = crc;
    return settings;
  }
};
using Families = ::testing::Types<V4, V6>;
TYPED_TEST_SUITE(VitcpSockets, Families);

// VI-TCP 2.2.2.2.3: messages of each kind at each level, small and of many segments, with and without the CRC.
TYPED_TEST(VitcpSockets, messages_ofEachKind_arrive) {
  for (const auto level : {unreliable, delivery, reception})
    for (const bool crc : {false, true}) {
      typename TypeParam::Hosts hosts(this->with_crc(crc));
      auto [a, b] = hosts.connect(level);
      constexpr std::size_t large_bytes = 700'000;
      const std::string large(large_bytes, 'L'), write(large_bytes, 'W');
      std::byte *target = nullptr, *source = nullptr;
      const std::byte* read = nullptr;
      hosts.inside([&, &a = a, &b = b] {
        target = hosts.server->allocate(large_bytes);
        source = hosts.server->allocate(large_bytes);
        std::memset(source, 'R', large_bytes);
        for (int i = 0; i != 3; ++i) b.receive(i == 1 ? large_bytes : 8);
        a.send("hello", vi::control::immediate);
        a.send(large);
        a.send("");
        a.rdma_write(write, target);
        if (is_reliable(level)) read = a.rdma_read(source, large_bytes);
      });
      const std::size_t last = is_reliable(level) ? 4 : 3;
      ASSERT_TRUE(hosts.run_until([&, &a = a, &b = b] { return a.send_error(last) && b.receive_error(2); }));
      ASSERT_TRUE(hosts.run_until([&] { return std::memcmp(target, write.data(), large_bytes) == 0; }));
      EXPECT_EQ(b.received(0), "hello");
      EXPECT_EQ(b.received_control(0).immediate_data, 77u);
      EXPECT_TRUE(b.received(1) == large);
      EXPECT_EQ(b.received(2), "");
      for (std::size_t i = 0; i <= last; ++i) EXPECT_EQ(a.send_error(i), 0u);
      if (read != nullptr) {
        EXPECT_EQ(std::memcmp(read, source, large_bytes), 0);
      }
      EXPECT_EQ(hosts.server->provider.counters().refused() + hosts.client->provider.counters().refused(), 0u);
    }
}

// VI-DG 6.7, ruling V-16: a client that gave up just now did so before it is accepted.
TYPED_TEST(VitcpSockets, accept_afterTheClientGaveUp_isTimeout) {
  typename TypeParam::Hosts hosts;
  ConnectCall request;
  WaitCall wait;
  PlainCall disconnected, accepted;
  vi::Vi* client = nullptr;
  hosts.inside([&] {
    client = &hosts.client->create(delivery);
    hosts.server->provider.connect_wait(hosts.server->at("x"), runtime::never, wait);
    hosts.client->provider.connect_request(*client, hosts.client->at("y"), hosts.server->at("x"), runtime::never,
                                           request);
  });
  ASSERT_TRUE(hosts.run_until([&] { return wait.result.has_value(); }));
  hosts.inside([&] {
    hosts.client->provider.disconnect(*client, disconnected);
    hosts.server->provider.connect_accept(wait.token, hosts.server->create(delivery), accepted);
  });
  EXPECT_EQ(accepted.result, Return::Timeout);
}

// Ruling V-17: what was completed arrives, though the sender disconnects at once and the kernel's buffers are full.
TYPED_TEST(VitcpSockets, disconnect_afterCompletion_losesNothing) {
  typename TypeParam::Hosts hosts;
  auto [a, b] = hosts.connect(delivery);
  const std::string large(1'000'000, 'D');
  PlainCall call;
  hosts.inside([&, &a = a, &b = b] {
    b.receive(large.size());
    a.send(large);
  });
  ASSERT_TRUE(hosts.run_until([&, &a = a] { return a.send_error().has_value(); }));
  hosts.inside([&, &a = a] { hosts.client->provider.disconnect(a.vi, call); });
  ASSERT_TRUE(hosts.run_until([&] { return call.result.has_value(); }));
  ASSERT_TRUE(hosts.run_until([&, &b = b] { return b.receive_error().has_value(); }));
  EXPECT_EQ(call.result, Return::Success);
  EXPECT_TRUE(b.received() == large);
  EXPECT_EQ(a.vi.state(), State::Idle);
}

// Ruling V-38: a process that was stopped inside a segment has the time due before it has read: what came meanwhile
// counts, and the message goes on.
TEST(VitcpStopped, octetsThatCameMeanwhile_keepTheConnection) {
  Settings settings;
  settings.server.segment_timeout = 2 * runtime::second;
  SocketHosts<false> hosts(settings);
  auto [a, b] = hosts.connect(delivery);
  const std::string large(8'000'000, 'S');
  hosts.inside([&, &a = a, &b = b] {
    b.receive(large.size());
    a.send(large);
  });
  const auto is_inside = [&] {
    return hosts.server->provider.counters().payload_octets_received %
           (wire::vitcp::max_segment_bytes - wire::vitcp::segment_header_bytes);
  };
  ASSERT_TRUE(hosts.run_until([&] { return is_inside() != 0; }));
  ::usleep(2'300'000);
  hosts.inside([] {});  // what is due goes first
  EXPECT_EQ(b.vi.state(), State::Connected);
  ASSERT_TRUE(hosts.run_until([&, &b = b] { return b.receive_error().has_value(); }));
  EXPECT_EQ(b.receive_error(), 0u);
  EXPECT_TRUE(b.received() == large);
  EXPECT_EQ(hosts.server->provider.counters().refused(), 0u);
}

// VI-TCP 4.2 TCP setup fail, ruling V-27: nobody listens, so nobody waits; and the port of another listener.
TYPED_TEST(VitcpSockets, port_whereNobodyListens_orSomebodyElse) {
  typename TypeParam::Hosts hosts;
  ConnectCall request;
  std::optional<Node> other;
  hosts.inside([&] {
    ProviderConfig same = hosts.server->provider.config();
    other.emplace(hosts.world.server, hosts.world.core.scheduler(), same);
    EXPECT_EQ(other->provider.listen(), streams::Reason::address_in_use);
    other.reset();
    same.port = 1;
    other.emplace(hosts.world.server, hosts.world.core.scheduler(), same);
    other->provider.connect_request(other->create(delivery), other->at("y"), other->at("x"), runtime::never, request);
  });
  EXPECT_TRUE(hosts.run_until([&] { return request.result.has_value(); }));
  EXPECT_EQ(request.result, Return::NoMatch);
  hosts.inside([&] { other->close(), other.reset(); });
}

// VI-DG 3.3.4 VIP_ERROR_RESOURCE: that this process has no open file left says nothing of the other host.
TYPED_TEST(VitcpSockets, request_withoutAFileLeft_isErrorResource) {
  typename TypeParam::Hosts hosts;
  ConnectCall request;
  vi::Vi* vi = nullptr;
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  hosts.inside([&] {
    vi = &hosts.client->create(delivery);
    hosts.client->provider.connect_request(*vi, hosts.client->at("y"), hosts.server->at("x"), 60 * runtime::second,
                                           request);
  });
  EXPECT_TRUE(hosts.run_until([&] { return request.result.has_value(); }));
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(request.result, Return::ErrorResource);
  EXPECT_EQ(vi->state(), State::Idle);
}

// As Linux says it where all local ports are in use: the same.
TYPED_TEST(VitcpSockets, request_withoutALocalPort_isErrorResource) {
  typename TypeParam::Hosts hosts;
  ConnectCall request;
  vi::Vi* vi = nullptr;
  connect_fails_with = EADDRNOTAVAIL;
  hosts.inside([&] {
    vi = &hosts.client->create(delivery);
    hosts.client->provider.connect_request(*vi, hosts.client->at("y"), hosts.server->at("x"), 60 * runtime::second,
                                           request);
  });
  connect_fails_with = 0;
  EXPECT_TRUE(hosts.run_until([&] { return request.result.has_value(); }));
  EXPECT_EQ(request.result, Return::ErrorResource);
  EXPECT_EQ(vi->state(), State::Idle);
}

// Many messages both ways at once, over buffers that fill.
TYPED_TEST(VitcpSockets, messages_bothWays_doNotBlockEachOther) {
  typename TypeParam::Hosts hosts;
  auto [a, b] = hosts.connect(reception);
  constexpr std::size_t count = 40, bytes = 40'000;
  hosts.inside([&, &a = a, &b = b] {
    for (std::size_t i = 0; i != count; ++i) {
      a.receive(bytes), b.receive(bytes);
      a.send(std::string(bytes / 2, static_cast<char>('a' + i % 26)));
      b.send(std::string(bytes / 4, static_cast<char>('A' + i % 26)));
    }
  });
  ASSERT_TRUE(hosts.run_until(
      [&, &a = a, &b = b] { return a.send_error(count - 1).has_value() && b.send_error(count - 1).has_value(); }));
  for (std::size_t i = 0; i != count; ++i) {
    EXPECT_TRUE(b.received(i) == std::string(bytes / 2, static_cast<char>('a' + i % 26)));
    EXPECT_TRUE(a.received(i) == std::string(bytes / 4, static_cast<char>('A' + i % 26)));
  }
}

}  // namespace
}  // namespace vitcp::testing
