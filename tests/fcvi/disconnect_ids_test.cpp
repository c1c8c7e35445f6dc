// Which set-up a DISCONNECT_RQST with CONN_SETUP_ABORT means. Each end numbers the set-ups that it originates
// (FC-VI 5.3.2, 5.9.10), so that two of them may have the same FCVI_CONNECTION_ID: one that alice originated, and
// one that bob did.
#include "tests/fcvi/setup_faults.hpp"
#include "tests/fcvi/two_nodes.hpp"

namespace {
using support::Connect;
using support::Done;
using support::Host;
using support::Wait;
using vi::Return;
using vi::State;
using Opcode = wire::fcvi::Opcode;

fcvi::ProviderConfig with_first_handle(std::uint32_t first_handle) {
  fcvi::ProviderConfig config;
  config.first_handle = first_handle;
  config.first_connection_id = 5;
  return config;
}

class SameConnectionIds : public ::testing::Test {
 public:
  /// A VI of each, and the calls that connect them.
  struct Pair {
    Host &from, &to;
    vi::Vi *client = nullptr, *server = nullptr;
    Wait wait{};
    Connect request{};
    Done accept{};
  };
  SameConnectionIds() {
    fabric.bring_up();
    fabric.run_until([&] { return alice.resolver.ready() && bob.resolver.ready(); });
    EXPECT_TRUE(fabric.log_in(0, 1));
    fabric.fabric.set_fault(bob.port, &faults);
  }
  ~SameConnectionIds() override { fabric.fabric.set_fault(bob.port, nullptr); }
  void TearDown() override {
    EXPECT_EQ(alice.port.counters().unexpected_events + bob.port.counters().unexpected_events, 0u);
  }

  void connect(Pair& pair) {
    pair.client = &pair.from.make_vi(vi::ReliabilityLevel::ReliableDelivery);
    pair.server = &pair.to.make_vi(vi::ReliabilityLevel::ReliableDelivery);
    pair.to.provider.connect_wait(pair.to.net("service"), runtime::never, pair.wait);
    pair.from.provider.connect_request(*pair.client, pair.from.net("c"), pair.to.net("service"), runtime::never,
                                       pair.request);
    ASSERT_TRUE(fabric.run_until([&] { return pair.wait.result.has_value(); }));
    pair.to.provider.connect_accept(pair.wait.token, *pair.server, pair.accept);
    ASSERT_TRUE(fabric.run_until([&] { return pair.request.result.has_value(); }));
    EXPECT_EQ(pair.request.result, Return::Success);
  }
  Return disconnect(Host& host, vi::Vi& vi) {
    Done done;
    host.provider.disconnect(vi, done);
    EXPECT_TRUE(fabric.run_until([&] { return done.result.has_value(); }));
    return done.result.value_or(Return::NotDone);
  }
  support::TestFabric fabric{2};
  Host alice{fabric, 0, with_first_handle(0x100)}, bob{fabric, 1, with_first_handle(0x900)};
  support::IuFaults faults{fabric.pool};
};

// FC-VI C.5.9.2, 6.12.2, D.1: RESP2 of alice's set-up was lost and T2 ran out; bob's Disconnect of it has our handle
// and its id. The connection that bob originated with the same id does not notice.
TEST_F(SameConnectionIds, responderAborts_sparesItsOwnConnection) {
  Pair failed{alice, bob}, lives{bob, alice};
  faults.lose(Opcode::connect_resp2);
  connect(failed), connect(lives);
  fabric.run_for(21 * runtime::second);
  ASSERT_EQ(failed.server->state(), State::Error);
  ASSERT_EQ(failed.client->state(), State::Error);
  ASSERT_EQ(lives.server->state(), State::Connected);
  EXPECT_EQ(disconnect(bob, *failed.server), Return::Success);
  EXPECT_EQ(lives.server->state(), State::Connected) << "another set-up was meant";
  EXPECT_EQ(alice.count(vi::ErrorCode::ConnLost), 1) << "by T3 of the first";
  EXPECT_EQ(disconnect(alice, *failed.client), Return::Success);
  EXPECT_EQ(disconnect(bob, *lives.client), Return::Success);
  EXPECT_EQ(disconnect(alice, *lives.server), Return::Success);
}

// FC-VI D.1 rule 2, C.5.7.2: alice's own set-up failed, she knows no handle of bob's: by the id, of those
// that she originated.
TEST_F(SameConnectionIds, originatorAborts_sparesTheResponders) {
  Pair failed{alice, bob}, lives{bob, alice};
  connect(lives);
  faults.lose(Opcode::connect_resp1, 2);
  failed.client = &alice.make_vi(vi::ReliabilityLevel::ReliableDelivery);
  failed.server = &bob.make_vi(vi::ReliabilityLevel::ReliableDelivery);
  bob.provider.connect_wait(bob.net("service"), runtime::never, failed.wait);
  alice.provider.connect_request(*failed.client, alice.net("c"), bob.net("service"), runtime::never, failed.request);
  ASSERT_TRUE(fabric.run_until([&] { return failed.wait.result.has_value(); }));
  bob.provider.connect_accept(failed.wait.token, *failed.server, failed.accept);
  ASSERT_TRUE(fabric.run_until([&] { return failed.request.result.has_value(); }));
  EXPECT_EQ(failed.request.result, Return::NotReachable);
  EXPECT_EQ(disconnect(alice, *failed.client), Return::Success);
  EXPECT_EQ(lives.server->state(), State::Connected);
  EXPECT_EQ(lives.client->state(), State::Connected);
  EXPECT_EQ(failed.server->state(), State::Error);
}

}  // namespace
