// RDMAP streams over sockets on the loopback interface: start-up with private data, messages, limits, the end.
#include <gtest/gtest.h>

#include <array>
#include <functional>

#include "iwarp/drivers/host.hpp"
#include "iwarp/mpa_initiator.hpp"
#include "iwarp/mpa_listener.hpp"

namespace iwarp::drivers {
namespace {

using namespace std::chrono_literals;
constexpr ProtectionDomain domain{3};
const wire::IpAddress loopback = wire::IpAddress::v4(127, 0, 0, 1);

/// One end of a stream, and all that it was told.
struct End final : StreamListener, StartupListener {
  End(const Services& services, bool listens)
      : stream(std::make_unique<RdmapStream>(services, *this, StreamConfig{.domain = domain})), server(listens) {}
  std::unique_ptr<RdmapStream> stream;
  bool server;
  std::vector<Completion> completions;
  std::optional<PeerOffer> peer;
  std::optional<machines::iwarp::Failure> failure;
  bool ended = false, is_closed = false;
  void completed(const Completion& completion) override { completions.push_back(completion); }
  void disconnected() override { ended = true; }
  void closed() override { is_closed = true; }
  void connected(const PeerOffer& offer) override { peer = offer; }
  void startup_failed(machines::iwarp::Failure why, const PeerOffer& offer) override { failure = why, peer = offer; }
};

/// A server and a client of one process.
class Pair final : public StartupPortUser {
 public:
  explicit Pair(Host::Progress progress, Config of = {}) : config(of), host(progress) {
    inside([&] {
      std::uint16_t port = 0;
      for (port = 27'000; listener->listen({loopback, port}) && port < 27'200;) ++port;
      at = {loopback, port};
    });
  }
  ~Pair() {
    inside([&] {
      initiator.reset();
      for (const auto& end : {&client, &server})
        if (*end && (*end)->stream->state_name() != "Idle" && !(*end)->stream->is_closed()) (*end)->stream->abort();
      listener.reset();
    });
    inside([&] { client.reset(), server.reset(); });
    EXPECT_EQ(host.counters().unexpected_events, 0U);
  }
  void inside(const std::function<void()>& calls) {
    const runtime::CoreSection section(host);
    calls();
  }
  bool wait(const std::function<bool()>& done) {
    const auto limit = std::chrono::steady_clock::now() + 60s;  // only a hang takes so long
    for (bool is_done = false; !is_done;) {
      if (std::chrono::steady_clock::now() > limit) return false;
      is_own ? std::this_thread::sleep_for(1ms) : host.run_for(10ms);
      inside([&] { decide(), is_done = done(); });
    }
    return true;
  }
  void ask(std::vector<std::uint8_t> data = {}) {
    inside([&] {
      client.emplace(services, false);
      initiator.emplace(services, *client, *client->stream, MpaRequest{.to = at, .private_data = std::move(data)});
      initiator->start();
    });
  }
  void offered(PassiveStartup& responder, const PeerOffer& offer) override {
    waiting = &responder, offer_of_client = offer;
  }
  void offer_withdrawn(PassiveStartup&) override { waiting = nullptr; }
  void decide() {
    PassiveStartup* const responder = std::exchange(waiting, nullptr);
    if (responder == nullptr) return;
    if (rejects) return responder->reject({7, 7});
    server.emplace(services, true);
    responder->accept(*server->stream, *server, {9});
  }
  STag add(std::vector<std::uint8_t>& octets) {
    return *host.memory().add(domain, octets, 0, {true, true, true, true});
  }

  Config config;
  Host host;
  Services services = host.services(config);
  bool is_own = false, rejects = false;
  streams::Address at{};
  PassiveStartup* waiting = nullptr;
  std::optional<PeerOffer> offer_of_client;
  std::optional<End> client, server;
  std::optional<MpaInitiator> initiator;
  std::optional<MpaListener> listener{std::in_place, services, *this, MpaOptions{}, 4};
};

// All operations over a socket, with the thread of the host and without one.
class Hosts : public ::testing::TestWithParam<Host::Progress> {};
INSTANTIATE_TEST_SUITE_P(Progress, Hosts, ::testing::Values(Host::Progress::own_thread, Host::Progress::callers));

TEST_P(Hosts, carry_send_write_and_read_and_close) {
  Pair pair(GetParam());
  pair.is_own = GetParam() == Host::Progress::own_thread;
  pair.ask({1, 2, 3});
  ASSERT_TRUE(pair.wait([&] { return pair.client->peer && pair.server && pair.server->peer; }));
  EXPECT_EQ(pair.offer_of_client->private_data, (std::vector<std::uint8_t>{1, 2, 3}));
  EXPECT_EQ(pair.client->peer->private_data, std::vector<std::uint8_t>{9});
  std::vector<std::uint8_t> source(100'000), sink(100'000), far(100'000);
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::uint8_t>(i * 7 + i / 256);
  pair.inside([&] {
    const STag from = pair.add(source), to = pair.add(sink), there = pair.add(far);
    const auto octets = static_cast<std::uint32_t>(source.size());
    pair.server->stream->post_receive({50, {{to, 0, octets}}});
    RdmapStream& stream = *pair.client->stream;
    stream.post_send(
        {.id = 1, .operation = Operation::rdma_write, .pieces = {{from, 0, octets}}, .remote_stag = there});
    stream.post_send({.id = 2, .pieces = {{from, 0, octets}}});
    stream.post_send({.id = 3,
                      .operation = Operation::rdma_read,
                      .pieces = {{from, 0, 10}},
                      .remote_stag = there,
                      .remote_offset = 90});
  });
  ASSERT_TRUE(pair.wait([&] { return pair.client->completions.size() == 3 && pair.server->completions.size() == 1; }));
  EXPECT_EQ(sink, far);
  EXPECT_EQ(sink[90], source[0]);  // read back from there
  EXPECT_EQ(pair.server->completions.front().octets, 100'000U);
  pair.inside([&] { pair.client->stream->close(); });
  ASSERT_TRUE(pair.wait([&] { return pair.server->ended; }));
  pair.inside([&] { pair.server->stream->close(); });
  EXPECT_TRUE(pair.wait([&] { return pair.client->is_closed && pair.server->is_closed; }));
}

TEST_P(Hosts, tell_a_reject_with_its_private_data) {
  Pair pair(GetParam());
  pair.is_own = GetParam() == Host::Progress::own_thread;
  pair.rejects = true;
  pair.ask();
  ASSERT_TRUE(pair.wait([&] { return pair.client->failure.has_value(); }));
  EXPECT_EQ(pair.client->failure, machines::iwarp::Failure::Rejected);
  EXPECT_EQ(pair.client->peer->private_data, (std::vector<std::uint8_t>{7, 7}));
}

// RFC 5044 7.1.2 rule 10: who does not answer in time is given up, at either end.
TEST(Host, gives_up_a_start_up_that_takes_too_long) {
  Pair pair(Host::Progress::callers, Config{.startup_timeout = 50 * runtime::millisecond});
  pair.ask();
  const auto limit = std::chrono::steady_clock::now() + 60s;
  while (!pair.client->failure && std::chrono::steady_clock::now() < limit) pair.host.run_for(10ms);  // nobody decides
  EXPECT_EQ(pair.client->failure, machines::iwarp::Failure::TimedOut);
  EXPECT_GE(pair.host.counters().startups_failed, 1U);  // the server notices, too
}

/// A TCP connection that says nothing.
struct Silent final : streams::StreamUser {
  std::unique_ptr<streams::Stream> stream;
  bool gone = false;
  void connected() override { stream->ask_readable(); }
  void readable() override {
    std::array<std::uint8_t, 8> room;
    gone = stream->read(room).end;
  }
  void closed(streams::Reason) override { gone = true; }
};

// RFC 5044 7.1.2 rule 10: the oldest of too many half-open ones goes.
TEST(Host, limits_half_open_start_ups) {
  Pair pair(Host::Progress::callers, Config{.half_open = 2});
  std::array<Silent, 3> silent;
  for (Silent& one : silent) {
    pair.inside([&] { one.stream = pair.services.streams.connect(pair.at, {}, one); });
    const std::size_t before = pair.listener->size();
    ASSERT_TRUE(
        pair.wait([&] { return pair.listener->size() != before || pair.host.counters().half_open_dropped != 0; }));
  }
  EXPECT_TRUE(pair.wait([&] { return silent[0].gone; }));
  EXPECT_FALSE(silent[1].gone || silent[2].gone);
  EXPECT_EQ(pair.host.counters().half_open_dropped, 1U);
  pair.inside([&] {
    for (Silent& one : silent) one.stream.reset();
  });
}

}  // namespace
}  // namespace iwarp::drivers
