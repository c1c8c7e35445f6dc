// Connections of the loop-back transport (VI-DG 3.3, 6.7; VI-ARCH 5).
#include "tests/loopback/two_nodes.hpp"

namespace loopback::testing {
namespace {
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using vi::Return, vi::State;

class LoopbackConnection : public TwoNodes {
 protected:
  WaitCall wait;
  ConnectCall request, other;
  PlainCall call;
};

// VI-DG 3.3.1 to 3.3.4: both learn the other's attributes; a tag is nobody else's business.
TEST_F(LoopbackConnection, request_waitedFor_connects) {
  vi::Vi &a = client.create(delivery), &b = server.create(delivery);
  server.provider.connect_wait(server.at("x"), runtime::never, wait);
  client.provider.connect_request(a, client.at("y"), server.at("x"), runtime::never, request);
  EXPECT_EQ(wait.result, Return::Success);
  EXPECT_EQ(wait.remote_address.host, client.address);
  EXPECT_TRUE(wait.remote_address.same_discriminator(client.at("y")));
  EXPECT_EQ(wait.remote_attributes.max_transfer_size_bytes, a.attributes().max_transfer_size_bytes);
  EXPECT_EQ(a.state(), State::ConnectPending);
  EXPECT_EQ(request.result, std::nullopt);
  server.provider.connect_accept(wait.token, b, call);
  EXPECT_EQ(call.result, Return::Success);
  EXPECT_EQ(request.result, Return::Success);
  EXPECT_TRUE(request.remote_attributes.ptag.is_null());
  EXPECT_EQ(a.state(), State::Connected);
  EXPECT_EQ(b.state(), State::Connected);
  EXPECT_TRUE(scheduler.idle());  // no time-out is left
}

// VI-DG 3.3.4: nobody waits, there or anywhere; no host has the address; a reliable VI is in Error then.
TEST_F(LoopbackConnection, request_nobodyThere_isAnsweredAtOnce) {
  vi::Vi& a = client.create(delivery);
  client.provider.connect_request(a, client.at("y"), server.at("x"), runtime::second, request);
  EXPECT_EQ(request.result, Return::NoMatch);
  EXPECT_EQ(a.state(), State::Idle);
  vi::NetAddress nowhere = server.at("x");
  nowhere.host = wire::IpAddress::v4(10, 9, 9, 9);
  client.provider.connect_request(a, client.at("y"), nowhere, runtime::second, other);
  EXPECT_EQ(other.result, Return::NotReachable);
  EXPECT_EQ(a.state(), State::Error);
}

// VI-DG 3.3.1, 3.3.4: the transport judges the local address; times that are no times; a VI that is not Idle.
TEST_F(LoopbackConnection, calls_thatCannotBe_areRefused) {
  vi::Vi& a = client.create(delivery);
  client.provider.connect_wait(server.at("x"), runtime::second, wait);
  EXPECT_EQ(wait.result, Return::InvalidParameter);
  client.provider.connect_request(a, server.at("x"), server.at("x"), runtime::second, request);
  EXPECT_EQ(request.result, Return::InvalidParameter);
  EXPECT_EQ(client.provider.connect_peer_request(a, client.at("x"), server.at("x"), 0, other),
            Return::InvalidParameter);
  EXPECT_EQ(client.provider.connect_peer_request(a, client.at("x"), server.at("x"), runtime::second, other),
            Return::Success);
  EXPECT_EQ(client.provider.connect_peer_request(a, client.at("x"), server.at("x"), runtime::second, other),
            Return::InvalidState);
  server.provider.connect_accept({}, server.create(delivery), call);
  EXPECT_EQ(call.result, Return::InvalidParameter);
}

// VI-DG 3.3.2: attributes that do not match leave the offer; another VI may still take it.
TEST_F(LoopbackConnection, accept_withOtherAttributes_leavesTheOffer) {
  vi::Vi &a = client.create(delivery), &b = server.create(reception), &c = server.create(delivery, 100),
         &d = server.create(delivery);
  server.provider.connect_wait(server.at("x"), runtime::second, wait);
  client.provider.connect_request(a, client.at("y"), server.at("x"), runtime::second, request);
  server.provider.connect_accept(wait.token, b, call);
  EXPECT_EQ(call.result, Return::InvalidReliabilityLevel);
  server.provider.connect_accept(wait.token, c, call);
  EXPECT_EQ(call.result, Return::InvalidMtu);
  server.provider.connect_accept(wait.token, d, call);
  EXPECT_EQ(call.result, Return::Success);
  server.provider.connect_accept(wait.token, server.create(delivery), call);
  EXPECT_EQ(call.result, Return::Timeout);  // decided
}

// VI-DG 3.3.3.
TEST_F(LoopbackConnection, reject_endsTheRequest) {
  vi::Vi& a = client.create(delivery);
  server.provider.connect_wait(server.at("x"), runtime::second, wait);
  client.provider.connect_request(a, client.at("y"), server.at("x"), runtime::second, request);
  server.provider.connect_reject(wait.token, call);
  EXPECT_EQ(call.result, Return::Success);
  EXPECT_EQ(request.result, Return::Reject);
  EXPECT_EQ(a.state(), State::Idle);
}

// VI-DG 3.3.2, 6.7: the client's time is over; who decides then learns it, and rejecting is a success.
TEST_F(LoopbackConnection, request_timesOut_offerIsGone) {
  vi::Vi& a = client.create(delivery);
  server.provider.connect_wait(server.at("x"), runtime::second, wait);
  client.provider.connect_request(a, client.at("y"), server.at("x"), runtime::second, request);
  scheduler.run_until(scheduler.now() + runtime::second - 1);
  EXPECT_EQ(request.result, std::nullopt);
  scheduler.run_until(scheduler.now() + 1);
  EXPECT_EQ(request.result, Return::Timeout);
  EXPECT_EQ(a.state(), State::Idle);
  server.provider.connect_accept(wait.token, server.create(delivery), call);
  EXPECT_EQ(call.result, Return::Timeout);
  server.provider.connect_reject(wait.token, call);
  EXPECT_EQ(call.result, Return::Success);
}

// VI-DG 3.3.6 to 3.3.8: two that ask for each other meet, whoever came first; not from within the call.
TEST_F(LoopbackConnection, peers_meet) {
  vi::Vi &a = client.create(reception), &b = server.create(reception);
  client.provider.connect_peer_request(a, client.at("a"), server.at("d"), runtime::second, request);
  settle();
  EXPECT_EQ(a.state(), State::ConnectPending);
  server.provider.connect_peer_request(b, server.at("b"), client.at("d"), runtime::second, other);
  EXPECT_EQ(other.result, std::nullopt);
  settle();
  EXPECT_EQ(request.result, Return::Success);
  EXPECT_EQ(other.result, Return::Success);
  EXPECT_EQ(a.state(), State::Connected);
  EXPECT_EQ(b.state(), State::Connected);
}

// VI-DG 3.3.6, 6.7: another discriminator is another wait; attributes that do not match are the result of both.
TEST_F(LoopbackConnection, peers_thatDoNotFit) {
  vi::Vi &a = client.create(reception), &b = server.create(delivery), &c = server.create(reception);
  ConnectCall third;
  client.provider.connect_peer_request(a, client.at("a"), server.at("d"), runtime::second, request);
  server.provider.connect_peer_request(c, server.at("b"), client.at("e"), runtime::second, third);
  settle();
  EXPECT_EQ(request.result, std::nullopt);
  server.provider.connect_peer_request(b, server.at("b"), client.at("d"), runtime::second, other);
  settle();
  EXPECT_EQ(request.result, Return::InvalidReliabilityLevel);
  EXPECT_EQ(other.result, Return::InvalidReliabilityLevel);
  EXPECT_EQ(a.state(), State::Idle);
  scheduler.run_until(scheduler.now() + runtime::second);
  EXPECT_EQ(third.result, Return::Timeout);
}

// VI-DG 3.3.5: who disconnects is Idle with all flushed; the peer is in Error and hears of it, and disconnects too.
TEST_F(LoopbackConnection, disconnect_connected) {
  auto [a, b] = connect(delivery);
  b.receive(8);
  client.provider.disconnect(a.vi, call);
  EXPECT_EQ(call.result, Return::Success);
  EXPECT_EQ(a.vi.state(), State::Idle);
  EXPECT_EQ(b.vi.state(), State::Error);
  EXPECT_EQ(b.receive_error(), vi::status::flushed);
  EXPECT_THAT(client.take_errors(), IsEmpty());
  EXPECT_THAT(server.take_errors(), ElementsAre(vi::ErrorCode::ConnLost));
  EXPECT_TRUE(server.provider.cause_of_end(b.vi).peer_left);
  server.provider.disconnect(b.vi, call);
  EXPECT_EQ(b.vi.state(), State::Idle);
}

// VI-DG 3.3.5: a request under way returns, and nobody can accept it any more.
TEST_F(LoopbackConnection, disconnect_pending) {
  vi::Vi& a = client.create(delivery);
  server.provider.connect_wait(server.at("x"), runtime::second, wait);
  client.provider.connect_request(a, client.at("y"), server.at("x"), runtime::second, request);
  client.provider.disconnect(a, call);
  EXPECT_EQ(request.result, Return::ErrorResource);
  EXPECT_EQ(a.state(), State::Idle);
  server.provider.connect_accept(wait.token, server.create(delivery), call);
  EXPECT_EQ(call.result, Return::Timeout);
}

// VipCloseNic: the peer of a VI that goes is told; a second detach finds nothing.
TEST_F(LoopbackConnection, detach_connected) {
  auto [a, b] = connect(unreliable);
  client.provider.detach(a.vi);
  client.provider.detach(a.vi);
  EXPECT_EQ(b.vi.state(), State::Error);
  EXPECT_TRUE(server.provider.cause_of_end(b.vi).peer_left);
}

}  // namespace
}  // namespace loopback::testing
