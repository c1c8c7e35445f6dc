// Connection Setups and the way to the other port: its address, its login and service parameters
// (FC-VI 5.6, 7.4 to 7.7).
#include "fcvi/fc4.hpp"
#include "tests/fcvi/setup_calls.hpp"
#include "tests/support/frame_log.hpp"
#include "tests/support/login_listener.hpp"
#include "tests/support/made_frame.hpp"

namespace {
using Level = vi::ReliabilityLevel;
using support::Connect;
using support::Setup;
using vi::Return;

class ServerWithoutC : public Setup {
 public:
  ServerWithoutC()
      : Setup(
            [](fc2::NPortConfig& config, std::size_t i) { config.continuously_increasing_relative_offset = i != 1; }) {}
};
// FC-VI 5.6: a Connection Setup is not originated with a port that lacks the C bit.
TEST_F(ServerWithoutC, idle_connect_isNotReachable) {
  listen();
  ask();
  EXPECT_EQ(outcome(), Return::NotReachable);
  EXPECT_FALSE(wait.result.has_value());
}

// FC-VI 5.6: the login that stands lacks (C), but was not the port's own word, or is out of date: PLOGI again,
// and it connects.
TEST_F(Setup, idle_connectWhereTheLoginLacksC_logsInAnew) {
  fc2::RemotePort& server_at_client = client->port.remote_port(server->port.n_port_id());
  server_at_client.log_in();
  ASSERT_TRUE(fabric.run_until([&] { return server_at_client.logged_in(); }));
  auto login = server->port.login_parameters(wire::els::Command::plogi);
  login.features = 0;
  const auto header = support::els_request_header(client->port.n_port_id(), server->port.n_port_id(), {0x4001});
  client->port.receive(support::made_frame(fabric.pool, header, support::bytes_of(login)));
  ASSERT_TRUE(server_at_client.logged_in() && !server_at_client.supports(fcvi::fc4));
  listen();
  ask();
  ASSERT_TRUE(offered());
  server->provider.connect_accept(wait.token, *server_vi, accept);
  EXPECT_EQ(outcome(), Return::Success);
}

class ClientWithoutS : public Setup {
 public:
  ClientWithoutS()
      : Setup([](fc2::NPortConfig& config, std::size_t i) { config.continuously_increasing_seq_cnt = i != 0; }) {}
};
// FC-VI 5.6: a request of such a port is refused with reason 20h.
TEST_F(ClientWithoutS, idle_connect_isRefusedByServer) {
  listen();
  ask();
  EXPECT_EQ(outcome(), Return::NotReachable);
  EXPECT_FALSE(wait.result.has_value());
  EXPECT_EQ(client_vi->state(), vi::State::Error);
}

/// The server is 10.0.0.2 and 10.9.0.2.
class SecondAddress : public Setup {
 public:
  SecondAddress() : Setup({}, {}, {.address = {}, .more_addresses = {wire::IpAddress::v4(10, 9, 0, 2)}}) {}
  static vi::NetAddress at(const wire::IpAddress& host) {
    return vi::NetAddress::make(host, std::array<std::uint8_t, 2>{1, 2});
  }
  [[nodiscard]] vi::NetAddress first() const { return at(server->address); }
  [[nodiscard]] static vi::NetAddress second() { return at(wire::IpAddress::v4(10, 9, 0, 2)); }
  [[nodiscard]] Return ask_for(const vi::NetAddress& wanted) {
    request.result.reset();
    client->provider.connect_request(*client_vi, client->net("client"), wanted, 5 * runtime::second, request);
    return outcome();
  }
};
// FC-VI 4.2: a connection point is bound to an address and a discriminator: each of the NIC's addresses has its own.
TEST_F(SecondAddress, waiting_request_matchesByAddressToo) {
  server->provider.connect_wait(second(), 100 * runtime::second, wait);
  EXPECT_EQ(ask_for(first()), Return::NoMatch);
  request.result.reset();
  client->provider.connect_request(*client_vi, client->net("client"), second(), 5 * runtime::second, request);
  ASSERT_TRUE(offered());
  server->provider.connect_accept(wait.token, *server_vi, accept);
  EXPECT_EQ(outcome(), Return::Success);
}
// FC-VI 4.2: the same of the first address while somebody waits at the second only, and the other way round.
TEST_F(SecondAddress, waitingAtTheFirst_requestForTheSecond_isNoMatch) {
  server->provider.connect_wait(first(), 100 * runtime::second, wait);
  EXPECT_EQ(ask_for(second()), Return::NoMatch);
}
// VI-DG 3.3.1, 3.3.4: an address that is not the NIC's is no parameter.
TEST_F(SecondAddress, idle_foreignLocalAddress_isInvalid) {
  server->provider.connect_wait(client->net("x"), 0, wait);
  EXPECT_EQ(wait.result, Return::InvalidParameter);
  server->provider.connect_request(*server_vi, client->net("x"), client->net("y"), runtime::second, request);
  EXPECT_EQ(request.result, Return::InvalidParameter);
}
// VI-DG 6.7, FC-VI 4.2: peers meet at the second address, where one of them names itself by it.
TEST_F(SecondAddress, peers_meetThere) {
  Connect other;
  const std::array<std::uint8_t, 2> rendezvous{1, 2};
  ASSERT_EQ(client->provider.connect_peer_request(*client_vi, client->net(""), second(), 5 * runtime::second, request),
            Return::Success);
  ASSERT_EQ(server->provider.connect_peer_request(*server_vi, vi::NetAddress::make(second().host, {}),
                                                  vi::NetAddress::make(client->address, rendezvous),
                                                  5 * runtime::second, other),
            Return::Success);
  EXPECT_EQ(outcome(), Return::Success);
  EXPECT_TRUE(fabric.run_until([&] { return other.result.has_value(); }));
  EXPECT_EQ(other.result, Return::Success);
}

class ByFarp : public Setup {
 public:
  ByFarp() : Setup({}, {.own_addresses = {}, .use_name_server = false}) {}
};
// FC-VI 7.5: addresses by FARP broadcast.
TEST_F(ByFarp, idle_connect_resolves) {
  listen();
  ask();
  ASSERT_TRUE(offered());
  server->provider.connect_accept(wait.token, *server_vi, accept);
  EXPECT_EQ(outcome(), Return::Success);
}

// FC-VI 7.4, VI-DG 3.3.4: nobody has the address.
TEST_F(Setup, idle_connectUnknownHost_isNotReachable) {
  const auto nobody = vi::NetAddress::make(wire::IpAddress::v4(10, 9, 9, 9), {});
  client->provider.connect_request(*client_vi, client->net("c"), nobody, runtime::never, request);
  EXPECT_EQ(outcome(), Return::NotReachable);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
}

// VI-ARCH 4.1: two VIs of one port connect with each other.
TEST_F(Setup, idle_connectToOneself) {
  vi::Vi& other = client->make_vi(Level::ReliableDelivery);
  client->provider.connect_wait(client->net("loop"), runtime::second, wait);
  client->provider.connect_request(*client_vi, client->net("c"), client->net("loop"), runtime::second, request);
  ASSERT_TRUE(offered());
  client->provider.connect_accept(wait.token, other, accept);
  ASSERT_EQ(outcome(), Return::Success);
  ASSERT_EQ(accepted(), Return::Success);
  const auto receive = client->descriptor(0, {{client->data + 4096, 100}});
  other.post_receive(receive, client->handle);
  std::memcpy(client->bytes(client->data), "to myself", 9);
  client_vi->post_send(client->descriptor(0, {{client->data, 9}}), client->handle);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(client->status(receive), vi::status::done | vi::status::op_receive);
  EXPECT_EQ(std::memcmp(client->bytes(client->data + 4096), "to myself", 9), 0);
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  EXPECT_EQ(other.state(), vi::State::Error);
}

// FC-VI 7.6: two ports share an address; the one that waits is found, whichever it is.
TEST_F(Setup, idle_connectSharedAddress_findsTheWaitingPort) {
  fc2::NPort& port = fabric.add_port();
  farp::Resolver resolver(port, {.own_addresses = {server->address}});
  fcvi::Provider provider(port, resolver, {.address = server->address});
  vi::Nic nic(provider, *server);
  fabric.attach(2);
  ASSERT_TRUE(fabric.run_until([&] { return resolver.ready(); }));
  vi::Vi* vi = nullptr;
  ASSERT_EQ(nic.create_vi({.reliability = Level::ReliableDelivery}, nullptr, nullptr, vi), Return::Success);
  provider.connect_wait(server->net("third"), runtime::second, wait);
  ask(runtime::second, "third");
  ASSERT_TRUE(offered());
  provider.connect_accept(wait.token, *vi, accept);
  EXPECT_EQ(outcome(), Return::Success);
  support::Done done;
  provider.disconnect(*vi, done);
  ASSERT_TRUE(fabric.run_until([&] { return done.result.has_value(); }));
  EXPECT_EQ(done.result, Return::Success);
  EXPECT_EQ(nic.destroy_vi(*vi), Return::Success);
  fabric.detach(2);
}

// VI-DG 3.3.4: nobody matches at the only port: VIP_NO_MATCH, without another look.
TEST_F(Setup, idle_connectNobodyWaits_isOneSetup) {
  ask();
  EXPECT_EQ(outcome(), Return::NoMatch);
  EXPECT_EQ(client->provider.open_setups(), 1u);
}

// VI-DG 3.3.4: the only port of the address hangs: VIP_NOT_REACHABLE when its login failed; it is asked for it as
// often as any.
TEST_F(Setup, idle_connectToSilentPort_isNotReachable) {
  fabric.silence(1);
  ask(runtime::never);
  EXPECT_EQ(outcome(), Return::NotReachable);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
}

// FC-VI 7.4: each call waits for the ports of its own address: an answer for another address is none for it.
TEST_F(Setup, resolving_anotherAddressIsKnown_waitsOn) {
  vi::Vi& other = client->make_vi(Level::ReliableDelivery);
  Connect unknown;
  const auto nobody = vi::NetAddress::make(wire::IpAddress::v4(10, 9, 9, 9), {});
  client->provider.connect_request(other, client->net("c"), nobody, runtime::never, unknown);
  ask();
  EXPECT_EQ(outcome(), Return::NoMatch);
  EXPECT_FALSE(unknown.result.has_value());
  ASSERT_TRUE(fabric.run_until([&] { return unknown.result.has_value(); }));
  EXPECT_EQ(unknown.result, Return::NotReachable);
}

// FC-VI 7.7.2, 7.7.1: there is no login with oneself, and one that stands serves: no PLOGI goes to oneself, and nobody
// hears of another login.
TEST_F(Setup, idle_connectToOneself_sendsNoPlogi) {
  support::FrameLog log;
  fabric.fabric.tap(client->port, &log);
  client->provider.connect_request(*client_vi, client->net("c"), client->net("loop"), runtime::second, request);
  EXPECT_EQ(outcome(), Return::NoMatch);
  EXPECT_EQ(log.sent(wire::els::Command::plogi), 0u);
  fabric.fabric.tap(client->port, nullptr);
}
TEST_F(Setup, idle_connectWhereLoginStands_makesNoOther) {
  ask();
  ASSERT_EQ(outcome(), Return::NoMatch);
  support::LoginListener listener;
  client->port.add_listener(listener);
  ask();
  EXPECT_EQ(outcome(), Return::NoMatch);
  EXPECT_EQ(listener.events, "");
  client->port.remove_listener(listener);
}

// FC-VI 7.6, 7.7.1: a process that shares the address starts after a first try: the next try finds it.
TEST_F(Setup, idle_connectAfterNoMatch_findsNewPort) {
  ask(runtime::second, "third");
  ASSERT_EQ(outcome(), Return::NoMatch);
  fc2::NPort& port = fabric.add_port();
  farp::Resolver resolver(port, {.own_addresses = {server->address}});
  fcvi::Provider provider(port, resolver, {.address = server->address});
  fabric.attach(2);
  ASSERT_TRUE(fabric.run_until([&] { return resolver.ready(); }));
  provider.connect_wait(server->net("third"), runtime::never, wait);
  ask(runtime::second, "third");
  ASSERT_TRUE(offered());
  provider.connect_reject(wait.token, accept);
  EXPECT_EQ(outcome(), Return::Reject);
  fabric.run_for(runtime::second);
  fabric.detach(2);
}

// FC-VI 7.4: the host comes up after a first try that did not find it: the next try does.
TEST_F(Setup, idle_connectAfterNotReachable_findsTheHost) {
  fabric.detach(1);
  fabric.run_for(runtime::second);
  ask(runtime::never);
  ASSERT_EQ(outcome(), Return::NotReachable);
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  fabric.attach(1);
  ASSERT_TRUE(fabric.run_until([&] { return server->resolver.ready(); }));
  ask();
  EXPECT_EQ(outcome(), Return::NoMatch);
}

// FC-VI 7.7.1: the server's link was down, and came back with the same N_Port_ID: our login with it is an old one,
// which the set-up renews.
TEST_F(Setup, idle_connectWithOldLogin_renewsIt) {
  ask();
  ASSERT_EQ(outcome(), Return::NoMatch);
  fabric.detach(1);
  fabric.run_for(runtime::second);
  fabric.attach(1);
  ASSERT_TRUE(fabric.run_until([&] { return server->resolver.ready(); }));
  ask();
  EXPECT_EQ(outcome(), Return::NoMatch);
  EXPECT_EQ(client_vi->state(), vi::State::Idle);
}
}  // namespace
