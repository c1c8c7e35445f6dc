// The calls that make a connection: their parameters and results, their times, what is kept of them, and what they
// count (VI-DG 3.3.1 to 3.3.8, FC-VI 5.3, 8.2, 8.3).
#include <optional>

#include "tests/fcvi/setup_calls.hpp"
#include "tests/support/frame_log.hpp"
#include "wire/fcvi/connect_rqst.hpp"

namespace {
using support::Connect;
using support::Done;
using support::Setup;
using vi::Return;
using vi::State;
using Level = vi::ReliabilityLevel;
constexpr Level levels[] = {Level::UnreliableDelivery, Level::ReliableDelivery, Level::ReliableReception};
constexpr std::uint32_t flushed = vi::status::done | vi::status::op_receive | vi::status::flushed;

/// Something that a test does at a time; before what is scheduled later for the same time.
struct Deed final : runtime::Event {
  explicit Deed(std::function<void()> what) : deed(std::move(what)) {}
  void fire(runtime::TimeNs) override { deed(); }
  std::function<void()> deed;
};

class Calls : public Setup {
 public:
  Calls() = default;
  explicit Calls(fcvi::ProviderConfig config) : Setup({}, {}, std::move(config)) {}
  explicit Calls(support::TestFabric::Adjust adjust) : Setup(std::move(adjust)) {}
  [[nodiscard]] static vi::NetAddress nobody() { return vi::NetAddress::make(wire::IpAddress::v4(10, 9, 9, 9), {}); }
  /// For an address that no port has: it takes seconds to learn that.
  void ask_nobody(runtime::TimeNs timeout) {
    request.result.reset();
    started = fabric.scheduler.now();
    client->provider.connect_request(*client_vi, client->net("c"), nobody(), timeout, request);
  }
  Return ask_as_peer(const vi::NetAddress& remote, runtime::TimeNs timeout) {
    request.result.reset();
    started = fabric.scheduler.now();
    return client->provider.connect_peer_request(*client_vi, client->net("c"), remote, timeout, request);
  }
  void begin(bool as_peer, runtime::TimeNs timeout) {
    as_peer ? static_cast<void>(ask_as_peer(nobody(), timeout)) : ask_nobody(timeout);
  }
  /// Of what is due, how much a call for nobody adds; then all of it is over.
  std::size_t due_for(bool as_peer, runtime::TimeNs timeout) {
    const std::size_t before = fabric.scheduler.pending_count();
    begin(as_peer, timeout);
    const std::size_t due = fabric.scheduler.pending_count() - before;
    EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
    EXPECT_EQ(request.result, Return::ErrorResource);
    fabric.run_for(100 * runtime::second);
    return due;
  }
  /// A connection of both VIs.
  void connect_again() {
    wait.result.reset(), accept.result.reset();
    listen(), ask();
    ASSERT_TRUE(offered());
    server->provider.connect_accept(wait.token, *server_vi, accept);
    ASSERT_EQ(outcome(), Return::Success);
    ASSERT_EQ(accepted(), Return::Success);
    fabric.run_for(runtime::millisecond);
  }
  Return reject(std::uint64_t token) {
    Done done;
    server->provider.connect_reject({token}, done);
    return done.result.value_or(Return::NotDone);
  }
  Return accept_token(std::uint64_t token) {
    Done done;
    server->provider.connect_accept({token}, *server_vi, done);
    return done.result.value_or(Return::NotDone);
  }
};

// --- the Timeout -------------------------------------------------------------------------------------------------

// VI-DG 3.3.4, 3.3.6: the Timeout is more than nothing, and VIP_INFINITE is none: no time ends the call. The longest
// that is a time ends it.
TEST_F(Calls, idle_timeoutInfinite_nothingIsDue) {
  for (const bool as_peer : {false, true}) {
    SCOPED_TRACE(as_peer);
    due_for(as_peer, runtime::second);  // the first has more to ask
    const std::size_t due = due_for(as_peer, runtime::never);
    EXPECT_EQ(due_for(as_peer, runtime::second), due + 1);
    EXPECT_EQ(due_for(as_peer, runtime::never - 1 - fabric.scheduler.now()), due + 1);
    EXPECT_EQ(due_for(as_peer, runtime::never - fabric.scheduler.now()), due);
    EXPECT_EQ(due, due_for(false, runtime::never)) << "a peer's search has no time of its own";
  }
}
TEST_F(Calls, idle_timeout_isPositive) {
  for (const runtime::TimeNs timeout : {runtime::TimeNs{0}, runtime::TimeNs{-1}}) {
    ask(timeout);
    EXPECT_EQ(request.result, Return::InvalidParameter);
    EXPECT_EQ(ask_as_peer(server->net("p"), timeout), Return::InvalidParameter);
  }
  ask(1);
  EXPECT_EQ(outcome(), Return::Timeout);
  EXPECT_EQ(took, 1);
  ASSERT_EQ(ask_as_peer(server->net("p"), 1), Return::Success);
  EXPECT_EQ(outcome(), Return::Timeout);
}

// VI-DG 3.3.4, FC-VI 8.2 b): the call ends before a CONNECT_RQST went: the network takes a VI of a reliable level to
// Error, the Timeout none; VIP_TIMEOUT flushes what is posted, as Error does.
TEST_F(Calls, resolving_ends_byLevel) {
  struct Row {
    runtime::TimeNs timeout;
    Return result;
  };
  for (const Level level : levels)
    for (const Row row : {Row{runtime::never, Return::NotReachable}, Row{runtime::millisecond, Return::Timeout}}) {
      SCOPED_TRACE(static_cast<int>(row.result) * 10 + static_cast<int>(level));
      client_vi = &client->make_vi(level);
      const auto receive = client->descriptor(0, {{client->data, 100}});
      client_vi->post_receive(receive, client->handle);
      ask_nobody(row.timeout);
      EXPECT_EQ(outcome(), row.result);
      const bool unreachable = row.result == Return::NotReachable;
      EXPECT_EQ(client_vi->state(), unreachable && vi::is_reliable(level) ? State::Error : State::Idle);
      EXPECT_EQ(client->status(receive), unreachable && !vi::is_reliable(level) ? 0u : flushed);
      if (!unreachable) {
        EXPECT_EQ(took, row.timeout);
      }
      EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
      EXPECT_EQ(client_vi->unexpected_events() + client_vi->stale_events(), 0u);
    }
}

// VI-DG 3.3.5: VipDisconnect just when the Timeout is over: the call returns once, and the Timeout finds
// nothing to end.
TEST_F(Calls, resolving_disconnectWhenTimeIsOver_returnsOnce) {
  for (const bool as_peer : {false, true}) {
    SCOPED_TRACE(as_peer);
    Done done;
    Deed deed([&] { client->provider.disconnect(*client_vi, done); });
    fabric.scheduler.schedule(deed, fabric.scheduler.now() + runtime::millisecond);
    begin(as_peer, runtime::millisecond);
    EXPECT_EQ(outcome(), Return::ErrorResource);
    request.result.reset();
    fabric.run_for(runtime::second);
    EXPECT_FALSE(request.result.has_value());
    EXPECT_EQ(done.result, Return::Success);
    EXPECT_EQ(client_vi->state(), State::Idle);
    EXPECT_EQ(client_vi->unexpected_events() + client_vi->stale_events(), 0u);
    fabric.run_for(100 * runtime::second);
  }
}

// --- requests that are offered -----------------------------------------------------------------------------------

// VI-DG 3.3.2, 3.3.3: a token that was never handed out, whatever this end asked for itself, names no request.
TEST_F(Calls, idle_unknownToken_isInvalid) {
  server->provider.connect_request(*server_vi, server->net("c"), nobody(), runtime::never, request);
  for (const std::uint64_t token : {0u, 1u, 2u, 77u}) {
    EXPECT_EQ(reject(token), Return::InvalidParameter);
    EXPECT_EQ(accept_token(token), Return::InvalidParameter);
  }
  EXPECT_EQ(disconnect(*server, *server_vi), Return::Success);
}

// VI-DG 3.3.2, 3.3.3, 6.7: a request is answered once.
TEST_F(Calls, accepting_answeredAgain_changesNothing) {
  listen(), ask();
  ASSERT_TRUE(offered());
  server->provider.connect_accept(wait.token, *server_vi, accept);
  vi::Vi& other = server->make_vi(Level::ReliableDelivery);
  Done again;
  server->provider.connect_accept(wait.token, other, again);
  EXPECT_EQ(again.result, Return::Timeout);
  EXPECT_EQ(reject(wait.token.value), Return::Success);
  EXPECT_EQ(other.state(), State::Idle);
  EXPECT_EQ(outcome(), Return::Success);
  EXPECT_EQ(accepted(), Return::Success);
  EXPECT_EQ(server_vi->state(), State::Connected);
}

// VI-DG 3.3.1: VipConnectWait tells the attributes of the client's VI.
TEST_F(Calls, offered_attributes_areTheClients) {
  client_vi = &client->make_vi(Level::ReliableReception, false);
  ASSERT_EQ(client->nic.set_vi_attributes(*client_vi,
                                          {.reliability = Level::ReliableReception, .max_transfer_size_bytes = 12345}),
            Return::Success);
  listen(), ask();
  ASSERT_TRUE(offered());
  EXPECT_EQ(wait.remote_attributes.reliability, Level::ReliableReception);
  EXPECT_EQ(wait.remote_attributes.max_transfer_size_bytes, 12345u);
  EXPECT_FALSE(wait.remote_attributes.enable_rdma_write || wait.remote_attributes.enable_rdma_read);
  EXPECT_EQ(reject(wait.token.value), Return::Success);
  EXPECT_EQ(outcome(), Return::Reject);
}

// VI-DG 3.3.1: who does not wait any more is not woken.
TEST_F(Calls, waiting_withdrawn_isNotWoken) {
  listen();
  server->provider.withdraw(wait);
  ask();
  EXPECT_EQ(outcome(), Return::NoMatch);
  EXPECT_FALSE(wait.result.has_value());
}

// VI-DG 3.3.2, 3.3.3: a token is what an offer has; a request that was refused at once has none.
TEST_F(Calls, refused_neverOffered_hasNoToken) {
  ask();
  ASSERT_EQ(outcome(), Return::NoMatch);
  EXPECT_EQ(accept_token(1), Return::InvalidParameter);
  EXPECT_EQ(reject(1), Return::InvalidParameter);
}

// --- what is kept of a VI ----------------------------------------------------------------------------------------

class FewEndpoints : public Calls {
 public:
  FewEndpoints() : Calls({.address = {}, .max_endpoints = 1}) {}
};
// VI-DG 3.3.2, 3.3.4, 3.3.6 VIP_ERROR_RESOURCE: no FCVI_HANDLE is free; the request that is offered can still be
// accepted when one is.
TEST_F(FewEndpoints, noHandleFree_isErrorResource) {
  vi::Vi& other = server->make_vi(Level::ReliableDelivery);
  Connect own;
  server->provider.connect_request(other, server->net("c"), nobody(), runtime::never, own);
  Connect refused;
  server->provider.connect_request(*server_vi, server->net("c"), nobody(), runtime::never, refused);
  EXPECT_EQ(refused.result, Return::ErrorResource);
  EXPECT_EQ(server->provider.connect_peer_request(*server_vi, server->net("c"), nobody(), runtime::never, refused),
            Return::ErrorResource);
  listen(), ask();
  ASSERT_TRUE(offered());
  EXPECT_EQ(accept_token(wait.token.value), Return::ErrorResource);
  EXPECT_EQ(server_vi->state(), State::Idle);
  EXPECT_EQ(disconnect(*server, other), Return::Success);
  fabric.run_for(runtime::microsecond);
  server->provider.connect_accept(wait.token, *server_vi, accept);
  EXPECT_EQ(outcome(), Return::Success);
  EXPECT_EQ(accepted(), Return::Success);
}

class NoExchange : public Calls {
 public:
  static constexpr std::uint16_t limit = 8;
  NoExchange() : Calls([](fc2::NPortConfig& config, std::size_t) { config.max_exchanges = limit; }) {}
  struct Ignores final : fc2::ExchangeUser {
    void sequence_received(fc2::Exchange&, const wire::FcHeader&, std::span<const std::uint8_t>) override {}
    void exchange_failed(fc2::Exchange&, fc2::ExchangeFailure) override {}
  } user;
};
// FC-VI 8.5.2 b), 8.5.4: no Exchange is free for the CONNECT_RQST: T3 finds that out, and the retry gets one.
TEST_F(NoExchange, noneFree_retryGoes) {
  listen(), ask();
  ASSERT_TRUE(offered());
  ASSERT_EQ(reject(wait.token.value), Return::Success);
  ASSERT_EQ(outcome(), Return::Reject);  // the address is known
  fabric.run_for(runtime::millisecond);
  std::vector<fc2::Exchange*> all;
  while (fc2::Exchange* one = client->port.originate(server->port.n_port_id(), wire::Type::fc_vi, user))
    all.push_back(one);
  EXPECT_EQ(all.size(), limit);
  ask(runtime::never);
  fabric.run_for(runtime::second);
  EXPECT_FALSE(request.result.has_value());
  for (fc2::Exchange* one : all) client->port.release(*one);
  EXPECT_EQ(outcome(), Return::NoMatch);
  EXPECT_GE(took, 10 * runtime::second);
  EXPECT_LT(took, 10 * runtime::second + runtime::millisecond);
}

// FC-VI 5.9.7.3.2 NOTE: what the peer said of a connection is kept until the VI connects again, or is destroyed.
TEST_F(Calls, told_isKeptUntilTheNextConnection) {
  connect_again();
  EXPECT_FALSE(client->provider.told_by_peer(*client_vi).has_value());
  EXPECT_EQ(disconnect(*server, *server_vi), Return::Success);
  fabric.run_for(runtime::millisecond);
  EXPECT_TRUE(client->provider.told_by_peer(*client_vi).has_value());
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  EXPECT_TRUE(client->provider.told_by_peer(*client_vi).has_value());
  ask_nobody(runtime::second);
  EXPECT_FALSE(client->provider.told_by_peer(*client_vi).has_value());
  EXPECT_EQ(outcome(), Return::Timeout);
}
TEST_F(Calls, told_byTheAnswer_isKept) {
  connect_again();
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  const auto told = client->provider.told_by_peer(*client_vi);
  ASSERT_TRUE(told.has_value());
  EXPECT_EQ(told->reason, wire::fcvi::Reason::disconnect_accept);
}
TEST_F(Calls, told_viDestroyed_isForgotten) {
  connect_again();
  EXPECT_EQ(disconnect(*server, *server_vi), Return::Success);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  ASSERT_TRUE(client->provider.told_by_peer(*client_vi).has_value());
  client->provider.detach(*client_vi);
  EXPECT_FALSE(client->provider.told_by_peer(*client_vi).has_value());
}

// FC-VI 5.8.2, 7.3: options are a VI's, until it is destroyed: the next that stands there has its own.
TEST_F(Calls, options_viDestroyed_areForgotten) {
  support::FrameLog log;
  fabric.fabric.tap(client->port, &log);
  const auto prefers = [&] {
    fabric.run_for(runtime::millisecond);
    log.clear();
    ask();
    EXPECT_EQ(outcome(), Return::NoMatch);
    const auto* rqst =
        log.find([](const support::LoggedFrame& f) { return f.outbound && f.header.type == wire::Type::fc_vi; });
    const auto request_iu = wire::fcvi::ConnectRqst::from(*wire::fcvi::DeviceHeader::parse(32, rqst->data),
                                                          std::span(rqst->data).subspan(32));
    return request_iu->payload.local_attributes.qos.pref == wire::fcvi::Qos::preference;
  };
  EXPECT_FALSE(prefers());
  client->provider.set_options(*client_vi, {.preference = true});
  EXPECT_TRUE(prefers());
  client->provider.detach(*client_vi);
  client->provider.attach(*client_vi);
  EXPECT_FALSE(prefers());
  fabric.fabric.tap(client->port, nullptr);
}

// VI-ARCH 2.5.2: why a connection ended is known from the end on, until the VI is Idle.
TEST_F(Calls, endCause_isKnownInError) {
  EXPECT_EQ(fcvi::Provider::end_cause(*client_vi).text, "");
  connect_again();
  EXPECT_EQ(fcvi::Provider::end_cause(*client_vi).text, "");
  EXPECT_EQ(disconnect(*server, *server_vi), Return::Success);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(fcvi::Provider::end_cause(*client_vi).text, "the peer disconnected");
  EXPECT_TRUE(fcvi::Provider::end_cause(*client_vi).peer_left);
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  EXPECT_EQ(fcvi::Provider::end_cause(*client_vi).text, "");
}

// --- counters ----------------------------------------------------------------------------------------------------

/// IUs that went and came.
struct Ius {
  std::uint64_t sent, received;
  bool operator==(const Ius&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const Ius& ius) {
    return out << ius.sent << " out, " << ius.received << " in";
  }
};
Ius counted(const support::Host& host) {
  return {host.provider.counters().ius_sent, host.provider.counters().ius_received};
}

// FC-VI 5.3.2, 5.3.5, Table 1: CONNECT_RQST, RESP1, RESP2, RESP3; DISCONNECT_RQST and its RESP: each IU is counted
// once, where it goes and where it comes.
TEST_F(Calls, counters_ofSetupAndDisconnect) {
  connect_again();
  EXPECT_EQ(counted(*client), (Ius{2, 2}));
  EXPECT_EQ(counted(*server), (Ius{2, 2}));
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  EXPECT_EQ(counted(*client), (Ius{3, 3}));
  EXPECT_EQ(counted(*server), (Ius{3, 3}));
  EXPECT_EQ(disconnect(*server, *server_vi), Return::Success);
  ask(5 * runtime::second, "nobody");
  EXPECT_EQ(outcome(), Return::NoMatch);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(counted(*client), (Ius{6, 6}));
  EXPECT_EQ(counted(*server), (Ius{6, 6}));
}

// --- the provider goes -------------------------------------------------------------------------------------------

/// A client of its own, whose provider goes before its port and its resolver.
class ProviderGoes : public Calls {
 public:
  ProviderGoes() {
    fabric.attach(2);
    EXPECT_TRUE(fabric.run_until([&] { return resolver.ready(); }));
    EXPECT_EQ(nic->create_vi({.reliability = Level::ReliableDelivery}, nullptr, nullptr, vi), Return::Success);
  }
  ~ProviderGoes() override { fabric.detach(2); }
  void call(const vi::NetAddress& remote) {
    provider->connect_request(*vi, vi::NetAddress::make(address, {}), remote, runtime::never, request);
    fabric.run_for(runtime::millisecond);
  }
  /// What was the provider's is used by others then.
  void go() {
    nic.reset(), provider.reset();
    for (std::size_t size = 64; size < 4096; size += 16)
      for (int i = 0; i < 3; ++i) others.emplace_back(size, std::uint8_t{0xA5});
  }
  wire::IpAddress address = wire::IpAddress::v4(10, 0, 0, 3);
  fc2::NPort& port = fabric.add_port();
  farp::Resolver resolver{port, {.own_addresses = {address}}};
  std::optional<fcvi::Provider> provider{std::in_place, port, resolver, fcvi::ProviderConfig{.address = address}};
  std::optional<vi::Nic> nic{std::in_place, *provider, *client};
  vi::Vi* vi = nullptr;
  std::vector<std::vector<std::uint8_t>> others;
};
// FC-VI 7.4: the answer to what it asked comes when it is gone, and concerns nobody.
TEST_F(ProviderGoes, resolving_nobodyHearsTheAnswer) {
  call(nobody());
  go();
  EXPECT_EQ(request.result, Return::ErrorResource);
  fabric.run_for(60 * runtime::second);
  EXPECT_EQ(port.counters().unexpected_events, 0u);
}
// FC-VI 8.5.3 a): so does the answer to its ABTS.
TEST_F(ProviderGoes, aborting_nobodyHearsTheAnswer) {
  call(server->net("nobody waits"));
  EXPECT_EQ(request.result, Return::NoMatch);
  request.result.reset();
  fabric.silence(1);
  call(server->net("service"));
  fabric.run_for(11 * runtime::second);  // T3
  ASSERT_EQ(provider->open_setups(), 1u);
  ASSERT_EQ(port.open_exchanges(), 1u);
  go();
  fabric.run_for(60 * runtime::second);
  EXPECT_EQ(port.open_exchanges(), 0u);
  EXPECT_EQ(port.counters().unexpected_events, 0u);
}
}  // namespace
