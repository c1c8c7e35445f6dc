// Connection Setups with an address that several ports share: which is asked when, and whose answer counts (FC-VI 7.6,
// 7.7; VI-DG 3.3.4).
#include "tests/fcvi/setup_calls.hpp"
#include "tests/support/frame_log.hpp"
#include "tests/support/login_listener.hpp"

namespace {
using Level = vi::ReliabilityLevel;
using support::Setup;
using vi::Return;

/// Two more ports that share the server's address; at the last one somebody waits.
class SharedAddress : public Setup {
 public:
  struct Node {
    Node(support::TestFabric& fabric, const wire::IpAddress& address, vi::Listener& listener)
        : port(fabric.add_port()), resolver(port, {.own_addresses = {address}}),
          provider(port, resolver, {.address = address}), nic(provider, listener) {
      fabric.attach(fabric.size() - 1);
      EXPECT_TRUE(fabric.run_until([&] { return resolver.ready(); }));
    }
    fc2::NPort& port;
    farp::Resolver resolver;
    fcvi::Provider provider;
    vi::Nic nic;
  };
  SharedAddress() : second(fabric, server->address, *server), third(fabric, server->address, *server) {
    fabric.run_for(runtime::second);
    third.provider.connect_wait(server->net("third"), runtime::never, wait);
  }
  ~SharedAddress() override {
    third.provider.connect_reject(wait.token, accept);
    fabric.run_for(runtime::second);
    for (const std::size_t index : {2, 3}) fabric.detach(index);
  }
  [[nodiscard]] bool asks(std::size_t index) {
    const fc2::RemotePort* remote = client->port.find_remote_port(fabric.port(index).n_port_id());
    return remote != nullptr && remote->logging_in();
  }
  /// The logins with all three stand, and their address is known; somebody waits at the last one again.
  void know_all() {
    ask(runtime::never, "third");
    ASSERT_TRUE(found_in_time());
    third.provider.connect_reject(wait.token, accept);
    ASSERT_EQ(outcome(), Return::Reject);
    wait.result.reset();
    third.provider.connect_wait(server->net("third"), runtime::never, wait);
    fabric.run_for(runtime::second);
  }
  /// ... but the first one hangs, and its login is over.
  void know_all_but_first() {
    know_all();
    fabric.silence(1);
    client->port.remote_port(server->port.n_port_id()).implicit_logout();
    fabric.run_for(runtime::second);
  }
  [[nodiscard]] std::uint64_t ius_sent() const { return client->provider.counters().ius_sent; }
  [[nodiscard]] bool found_in_time() {
    return fabric.run_until([&] { return wait.result.has_value(); }, runtime::second);
  }

  Node second, third;
};

// FC-VI 7.6, 7.7.5: a process that shares the address ends just when it is asked: nobody answers the PLOGI, and the
// next port is asked as soon as the RSCN came.
TEST_F(SharedAddress, loggingIn_portGone_nextIsAsked) {
  ask(runtime::never, "third");
  ASSERT_TRUE(fabric.run_until([&] { return asks(1); }));
  fabric.detach(1);
  EXPECT_TRUE(found_in_time());
}

// ... and one that ended before its turn came is not asked.
TEST_F(SharedAddress, loggingIn_laterPortGone_isNotAsked) {
  ask(runtime::never, "third");
  ASSERT_TRUE(fabric.run_until([&] { return asks(1); }));
  fabric.silence(1);
  const wire::FcId gone = fabric.port(2).n_port_id();
  fabric.detach(2);
  fabric.run_for(10 * runtime::millisecond);
  fabric.detach(1);
  EXPECT_TRUE(found_in_time());
  const fc2::RemotePort* remote = client->port.find_remote_port(gone);
  EXPECT_TRUE(remote == nullptr || !remote->logging_in());
}

// ... and so it is with those that end after their login, before their answer, one after the other.
TEST_F(SharedAddress, awaitResp1_portsGone_nextIsAsked) {
  ask(runtime::never, "third");
  for (const std::size_t index : {1, 2}) {
    const wire::FcId id = fabric.port(index).n_port_id();
    ASSERT_TRUE(fabric.run_until([&] {
      const fc2::RemotePort* remote = client->port.find_remote_port(id);
      return remote != nullptr && remote->logged_in();
    }));
    fabric.detach(index);
  }
  EXPECT_TRUE(found_in_time());
}

// A process that hangs, and shares the address, does not keep others from being found.
TEST_F(SharedAddress, loggingIn_portSilent_nextIsAsked) {
  fabric.silence(1);
  ask(runtime::never, "third");
  EXPECT_TRUE(found_in_time());
}

// ... also if the port that waits was late itself, and the one that hangs is the last of the list.
TEST_F(SharedAddress, loggingIn_lateAndSilentPort_bothAreAskedAgain) {
  for (const std::size_t index : {1, 2, 3}) fabric.silence(index);
  ask(runtime::never, "third");
  fabric.run_for(2 * runtime::second);
  fabric.fabric.set_fault(fabric.port(3), nullptr);
  ASSERT_TRUE(fabric.run_until([&] { return wait.result.has_value(); }, 100 * runtime::second));
}

// ... but who is all that may wait there is waited for: the process goes on, and answers.
TEST_F(SharedAddress, loggingIn_onlySilentPortIsLeft_isWaitedFor) {
  fabric.silence(1);
  ask(runtime::never, "nobody");
  fabric.run_for(10 * runtime::second);
  EXPECT_FALSE(request.result.has_value());
  fabric.fabric.set_fault(fabric.port(1), nullptr);
  ASSERT_TRUE(fabric.run_until([&] { return request.result.has_value(); }));
  EXPECT_EQ(request.result, Return::NoMatch);
}

// FC-VI 7.6: ... nor does one that hangs as the last of the list keep an earlier one from being asked again, whose
// login comes at last.
TEST_F(SharedAddress, loggingIn_lastPortSilent_earlierOnesAreAskedAgain) {
  for (const std::size_t index : {1, 2, 3}) fabric.silence(index);
  support::Wait first;
  server->provider.connect_wait(server->net("first"), runtime::never, first);
  ask(runtime::never, "first");
  fabric.run_for(2 * runtime::second);
  fabric.fabric.set_fault(fabric.port(1), nullptr);
  ASSERT_TRUE(fabric.run_until([&] { return first.result.has_value(); }, 100 * runtime::second));
  EXPECT_TRUE(asks(3)) << "it is waited for no longer than the others";
  server->provider.connect_reject(first.token, accept);
  EXPECT_EQ(outcome(), Return::Reject);
}

// FC-VI 7.6: the only one that is left is waited for until its login fails, also where others failed just before;
// whoever comes meanwhile is asked behind it.
TEST_F(SharedAddress, loggingIn_othersFailed_lastOneIsWaitedFor) {
  for (const std::size_t index : {1, 2, 3}) fabric.silence(index);
  ask(runtime::never, "third");
  for (const std::size_t index : {1, 2}) fabric.run_for(50 * runtime::millisecond), fabric.detach(index);
  ASSERT_TRUE(fabric.run_until([&] { return asks(3); }, 100 * runtime::millisecond));
  for (int i = 0; i < 2; ++i)
    fabric.add_port(), fabric.attach(fabric.size() - 1);  // the newcomer shall have an N_Port_ID that nobody had
  Node fourth(fabric, server->address, *server);
  support::Wait newcomer;
  fourth.provider.connect_wait(server->net("third"), runtime::never, newcomer);
  client->resolver.invalidate(server->address);  // as a call of another VI does that found nobody
  fabric.run_for(500 * runtime::millisecond);
  EXPECT_FALSE(newcomer.result.has_value());
  EXPECT_TRUE(asks(3));
  ASSERT_TRUE(fabric.run_until([&] { return newcomer.result.has_value(); }, 300 * runtime::second));
  EXPECT_FALSE(asks(3));
  fourth.provider.connect_reject(newcomer.token, accept);
  EXPECT_EQ(outcome(), Return::Reject);
  fabric.run_for(runtime::second);
  fabric.detach(6);
}

// FC-VI 7.6: who hangs is waited for 250 ms before the next is asked: not less, not more.
TEST_F(SharedAddress, loggingIn_portSilent_nextIsAskedAfter250Ms) {
  know_all_but_first();
  ask(runtime::never, "third");
  ASSERT_TRUE(fabric.run_until([&] { return asks(1); }));
  const runtime::TimeNs begun = fabric.scheduler.now();
  const std::uint64_t before = ius_sent();
  fabric.scheduler.run_until(begun + 250 * runtime::millisecond - 1);
  EXPECT_EQ(ius_sent(), before);
  fabric.scheduler.run_until(begun + 250 * runtime::millisecond);
  EXPECT_EQ(ius_sent(), before + 1);
  EXPECT_TRUE(found_in_time());
}

// VI-DG 3.3.4: the Timeout is over just then: VIP_TIMEOUT, and nobody else is asked any more.
TEST_F(SharedAddress, loggingIn_timeIsOverWhenTheNextWouldBeAsked_isTimeout) {
  know_all_but_first();
  ask(runtime::never, "third");
  ASSERT_TRUE(fabric.run_until([&] { return asks(1); }));
  ASSERT_EQ(disconnect(*client, *client_vi), Return::Success);
  EXPECT_EQ(request.result, Return::ErrorResource);
  const std::uint64_t before = ius_sent();
  ask(250 * runtime::millisecond, "third");  // the address is known: the PLOGI, if it were not under way, would go now
  EXPECT_EQ(outcome(), Return::Timeout);
  EXPECT_EQ(took, 250 * runtime::millisecond);
  EXPECT_EQ(client_vi->state(), vi::State::Idle);
  EXPECT_EQ(client->provider.open_setups(), 1u) << "it goes with the next event";
  fabric.run_for(runtime::second);
  EXPECT_EQ(ius_sent(), before);
  EXPECT_EQ(client->provider.open_setups(), 0u);
}

// VI-DG 3.3.4 VIP_NO_MATCH: one of the ports said so, and no other is there any more.
TEST_F(SharedAddress, firstHasNoMatch_othersGo_isNoMatch) {
  for (const std::size_t index : {2, 3}) fabric.silence(index);
  ask(runtime::never, "third");
  fabric.run_for(100 * runtime::millisecond);
  EXPECT_FALSE(request.result.has_value());
  for (const std::size_t index : {2, 3}) fabric.detach(index);
  EXPECT_EQ(outcome(), Return::NoMatch);
  EXPECT_EQ(client_vi->state(), vi::State::Idle);
}

// VI-DG 3.3.4: the port that the set-up is with goes; what it would be waited for is over with the login: nothing of it
// is due any more.
TEST_F(SharedAddress, awaitResp1_loginNew_nothingElseIsDue) {
  std::vector<std::size_t> due;
  for (const bool login_is_new : {true, false}) {
    SCOPED_TRACE(login_is_new);
    support::Wait first;
    server->provider.connect_wait(server->net("first"), runtime::never, first);
    ask(runtime::never, "first");
    ASSERT_TRUE(fabric.run_until([&] { return first.result.has_value(); }));
    fabric.run_for(runtime::millisecond);
    due.push_back(fabric.scheduler.pending_count());
    server->provider.connect_reject(first.token, accept);
    EXPECT_EQ(outcome(), Return::Reject);
    fabric.run_for(100 * runtime::second);
  }
  EXPECT_EQ(due[0], due[1]);
}

// FC-VI 7.7.1: the logout of a port that had no match ends nothing of the call that goes on at another port: that
// connection is one, and its Disconnect reaches the other end (5.3.5).
TEST_F(SharedAddress, goesOnAtTheNext_firstLogsOut_connectionIsWhole) {
  fabric.silence(2);
  ask(runtime::never, "third");
  ASSERT_TRUE(fabric.run_until([&] { return asks(2); }));
  server->port.remote_port(client->port.n_port_id()).log_out();
  ASSERT_TRUE(found_in_time());
  vi::Vi* vi = nullptr;
  ASSERT_EQ(third.nic.create_vi({.reliability = Level::ReliableDelivery}, nullptr, nullptr, vi), Return::Success);
  third.provider.connect_accept(wait.token, *vi, accept);
  EXPECT_EQ(outcome(), Return::Success);
  fabric.run_for(runtime::millisecond);
  ASSERT_EQ(vi->state(), vi::State::Connected);
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  EXPECT_EQ(vi->state(), vi::State::Error);
  support::Done done;
  third.provider.disconnect(*vi, done);
  fabric.run_for(20 * runtime::second);
  EXPECT_EQ(done.result, Return::Success);
  EXPECT_EQ(third.nic.destroy_vi(*vi), Return::Success);
}

class WithoutStateChanges : public Setup {
 public:
  WithoutStateChanges() : Setup({}, {.own_addresses = {}, .register_state_changes = false}) {}
};
// FC-VI 7.7, VI-DG 3.3.4: after VIP_NOT_REACHABLE what is known of the address may be wrong: the next call asks who
// has it now.
TEST_F(WithoutStateChanges, idle_connectAfterNotReachable_findsAnotherPort) {
  listen();
  ask();
  ASSERT_TRUE(offered());
  server->provider.connect_reject(wait.token, accept);
  ASSERT_EQ(outcome(), Return::Reject);
  SharedAddress::Node other(fabric, server->address, *server);
  fabric.detach(1);  // which the client does not hear
  ask(runtime::never);
  ASSERT_EQ(outcome(), Return::NotReachable);
  client_vi = &client->make_vi(Level::ReliableDelivery);
  wait.result.reset();
  other.provider.connect_wait(server->net("service"), runtime::never, wait);
  ask(runtime::never);
  EXPECT_TRUE(offered());
  other.provider.connect_reject(wait.token, accept);
  EXPECT_EQ(outcome(), Return::Reject);
  fabric.run_for(runtime::second);
  fabric.detach(2);
}

}  // namespace
