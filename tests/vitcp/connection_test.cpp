// Connections over TCP: set-up and end (VI-TCP 2.2.2.2.2, 4; VI-DG 3.3, 6.7).
#include "tests/vitcp/two_hosts.hpp"

namespace vitcp::testing {
namespace {
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using vi::Return, vi::State;

class VitcpConnection : public ::testing::Test {
 protected:
  Provider& of_client() { return hosts.client->provider; }
  Provider& of_server() { return hosts.server->provider; }
  [[nodiscard]] vi::NetAddress client_at(std::string_view text) const { return hosts.client->at(text); }
  [[nodiscard]] vi::NetAddress server_at(std::string_view text) const { return hosts.server->at(text); }

  WaitCall wait;
  ConnectCall request, other;
  PlainCall call;
  TwoHosts hosts;
};

// VI-TCP 4.1, VI-DG 3.3.1 to 3.3.4: both learn the other's attributes; a tag is nobody else's business.
TEST_F(VitcpConnection, request_waitedFor_connects) {
  vi::Vi &a = hosts.client->create(delivery), &b = hosts.server->create(delivery);
  of_server().connect_wait(server_at("x"), runtime::never, wait);
  of_client().connect_request(a, client_at("y"), server_at("x"), runtime::never, request);
  hosts.settle();
  EXPECT_EQ(wait.result, Return::Success);
  EXPECT_EQ(wait.remote_address.host, hosts.client->address);
  EXPECT_TRUE(wait.remote_address.same_discriminator(client_at("y")));
  EXPECT_EQ(wait.remote_attributes.max_transfer_size_bytes, a.attributes().max_transfer_size_bytes);
  EXPECT_EQ(a.state(), State::ConnectPending);
  EXPECT_EQ(request.result, std::nullopt);
  of_server().connect_accept(wait.token, b, call);
  EXPECT_EQ(call.result, Return::Success);
  EXPECT_EQ(b.state(), State::Connected);
  hosts.settle();
  EXPECT_EQ(request.result, Return::Success);
  EXPECT_TRUE(request.remote_attributes.ptag.is_null());
  EXPECT_EQ(a.state(), State::Connected);
  EXPECT_EQ(of_server().half_open(), 0u);
}

// VI-TCP 3.2 Rx Descriptors Posted: receives that are posted while the request is pending are told, or the peer waits.
TEST_F(VitcpConnection, receives_postedWhilePending_areTold) {
  support::ViEnd a(*hosts.client, hosts.client->create(delivery)), b(*hosts.server, hosts.server->create(delivery));
  of_server().connect_wait(server_at("x"), runtime::never, wait);
  of_client().connect_request(a.vi, client_at("y"), server_at("x"), runtime::never, request);
  hosts.settle();
  a.receive(8);
  of_server().connect_accept(wait.token, b.vi, call);
  hosts.settle();
  b.send("hello");
  hosts.settle();
  EXPECT_EQ(a.received(), "hello");
}

// Ruling V-6: more than can be told are told as the most that can, not modulo 2^16.
TEST_F(VitcpConnection, receives_moreThanCanBeTold) {
  EXPECT_EQ(receives_that_count(65'535), 65'535u);
  EXPECT_EQ(receives_that_count(65'536), 65'535u);
  EXPECT_EQ(receives_that_count(1u << 20), 65'535u);
}

// VI-TCP 4.2, 4.3: nobody waits for the discriminator.
TEST_F(VitcpConnection, request_notWaitedFor_isNoMatch) {
  vi::Vi& a = hosts.client->create(delivery);
  of_client().connect_request(a, client_at("y"), server_at("x"), runtime::second, request);
  hosts.settle();
  EXPECT_EQ(request.result, Return::NoMatch);
  EXPECT_EQ(a.state(), State::Idle);
  EXPECT_EQ(of_server().counters().refused(Refusal::no_match), 1u);
}

// VI-TCP 4.2 TCP setup fail, VI-DG 3.3.4: a reliable VI is in Error then.
TEST_F(VitcpConnection, request_hostNotThere_isNotReachable) {
  vi::Vi& a = hosts.client->create(delivery);
  vi::NetAddress nowhere = server_at("x");
  nowhere.host = wire::IpAddress::v4(10, 9, 9, 9);
  of_client().connect_request(a, client_at("y"), nowhere, runtime::second, request);
  hosts.settle();
  EXPECT_EQ(request.result, Return::NotReachable);
  EXPECT_EQ(a.state(), State::Error);
  of_client().disconnect(a, call);
  EXPECT_EQ(a.state(), State::Idle);
}

// VI-DG 3.3.1, 3.3.4: the transport judges addresses; ruling V-14: discriminators of at most 64 octets.
TEST_F(VitcpConnection, calls_thatCannotBe_areRefused) {
  vi::Vi& a = hosts.client->create(delivery);
  of_client().connect_wait(server_at("x"), runtime::second, wait);
  EXPECT_EQ(wait.result, Return::InvalidParameter);
  of_client().connect_request(a, server_at("x"), server_at("x"), runtime::second, request);
  EXPECT_EQ(request.result, Return::InvalidParameter);
  of_client().connect_request(a, client_at("x"), server_at(std::string(65, 'd')), runtime::second, other);
  EXPECT_EQ(other.result, Return::InvalidParameter);
  of_server().connect_accept({}, hosts.server->create(delivery), call);
  EXPECT_EQ(call.result, Return::InvalidParameter);
  EXPECT_EQ(of_client().capabilities().max_discriminator_bytes, 64u);
}

// Ruling V-14: discriminators of 64 octets go both ways; with their own length.
TEST_F(VitcpConnection, discriminator_ofTheFullLength_matches) {
  vi::Vi& a = hosts.client->create(delivery);
  const std::string longest(64, 'd');
  of_server().connect_wait(server_at(longest), runtime::never, wait);
  of_client().connect_request(a, client_at("four"), server_at(longest), runtime::second, request);
  hosts.settle();
  EXPECT_EQ(wait.result, Return::Success);
  EXPECT_EQ(wait.remote_address.discriminator_length, 4u);
}

// VI-TCP 3.3, VI-DG 3.3.2, ruling V-9: another level leaves the offer, another transfer size does not matter.
TEST_F(VitcpConnection, accept_ofAnotherLevel_leavesTheOffer) {
  vi::Vi &a = hosts.client->create(delivery, 5000), &b = hosts.server->create(reception),
         &c = hosts.server->create(delivery, 3000);
  of_server().connect_wait(server_at("x"), runtime::second, wait);
  of_client().connect_request(a, client_at("y"), server_at("x"), runtime::second, request);
  hosts.settle();
  of_server().connect_accept(wait.token, b, call);
  EXPECT_EQ(call.result, Return::InvalidReliabilityLevel);
  of_server().connect_accept(wait.token, c, call);
  EXPECT_EQ(call.result, Return::Success);
  of_server().connect_accept(wait.token, hosts.server->create(delivery), call);
  EXPECT_EQ(call.result, Return::Timeout);  // decided
  hosts.settle();
  EXPECT_EQ(request.remote_attributes.max_transfer_size_bytes, 3000u);
  EXPECT_EQ(a.attributes().max_transfer_size_bytes, 3000u);
  EXPECT_EQ(c.attributes().max_transfer_size_bytes, 3000u);
  of_client().disconnect(a, call);
  hosts.settle();
  EXPECT_EQ(a.attributes().max_transfer_size_bytes, 5000u);  // the consumer's own again
}

// Ruling V-9: the smaller MaxTransferSize is the client's.
TEST_F(VitcpConnection, accept_withALargerTransferSize_isBoundByTheClients) {
  vi::Vi &a = hosts.client->create(delivery, 1000), &b = hosts.server->create(delivery, 3000);
  of_server().connect_wait(server_at("x"), runtime::second, wait);
  of_client().connect_request(a, client_at("y"), server_at("x"), runtime::second, request);
  hosts.settle();
  of_server().connect_accept(wait.token, b, call);
  hosts.settle();
  EXPECT_EQ(b.attributes().max_transfer_size_bytes, 1000u);
  EXPECT_EQ(request.remote_attributes.max_transfer_size_bytes, 1000u);
}

// VI-TCP 4.3 VipConnectReject, VI-DG 3.3.3.
TEST_F(VitcpConnection, reject_endsTheRequest) {
  vi::Vi& a = hosts.client->create(delivery);
  of_server().connect_wait(server_at("x"), runtime::second, wait);
  of_client().connect_request(a, client_at("y"), server_at("x"), runtime::second, request);
  hosts.settle();
  of_server().connect_reject(wait.token, call);
  EXPECT_EQ(call.result, Return::Success);
  hosts.settle();
  EXPECT_EQ(request.result, Return::Reject);
  EXPECT_EQ(a.state(), State::Idle);
}

// VI-TCP 4.2 Timeout, ruling V-16, VI-DG 6.7: who decides after the client's time learns it; rejecting is a success.
TEST_F(VitcpConnection, request_timesOut_offerIsGone) {
  vi::Vi& a = hosts.client->create(delivery);
  of_server().connect_wait(server_at("x"), runtime::second, wait);
  of_client().connect_request(a, client_at("y"), server_at("x"), runtime::second, request);
  hosts.run(runtime::second - 1);
  EXPECT_EQ(request.result, std::nullopt);
  hosts.run(1);
  EXPECT_EQ(request.result, Return::Timeout);
  EXPECT_EQ(a.state(), State::Idle);
  hosts.settle();
  of_server().connect_accept(wait.token, hosts.server->create(delivery), call);
  EXPECT_EQ(call.result, Return::Timeout);
  of_server().connect_reject(wait.token, call);
  EXPECT_EQ(call.result, Return::Success);
}

// VI-DG 3.3.1: a wait has a time of its own, and can be withdrawn; the next request is no match then.
TEST_F(VitcpConnection, wait_overOrWithdrawn_isNoMatch) {
  of_server().connect_wait(server_at("x"), runtime::millisecond, wait);
  hosts.settle();
  EXPECT_EQ(wait.result, Return::Timeout);
  WaitCall second;
  of_server().connect_wait(server_at("x"), runtime::never, second);
  of_server().withdraw(second);
  of_client().connect_request(hosts.client->create(delivery), client_at("y"), server_at("x"), runtime::second, request);
  hosts.settle();
  EXPECT_EQ(request.result, Return::NoMatch);
  EXPECT_EQ(second.result, std::nullopt);
}

// Ruling V-17, VI-DG 3.3.5: who disconnects is Idle with all flushed once the stream is gone; the peer is in Error.
TEST_F(VitcpConnection, disconnect_connected) {
  auto [a, b] = hosts.connect(delivery);
  b.receive(8);
  of_client().disconnect(a.vi, call);
  EXPECT_EQ(call.result, std::nullopt);
  hosts.settle();
  EXPECT_EQ(call.result, Return::Success);
  EXPECT_EQ(a.vi.state(), State::Idle);
  EXPECT_EQ(b.vi.state(), State::Error);
  EXPECT_EQ(b.receive_error(), vi::status::flushed);
  EXPECT_THAT(hosts.client->take_errors(), IsEmpty());
  EXPECT_THAT(hosts.server->take_errors(), ElementsAre(vi::ErrorCode::ConnLost));
  EXPECT_TRUE(of_server().cause_of_end(b.vi).peer_left);
  EXPECT_EQ(hosts.world.network.stream_count(), 0u);
  PlainCall again;
  of_server().disconnect(b.vi, again);
  EXPECT_EQ(again.result, Return::Success);
  EXPECT_EQ(b.vi.state(), State::Idle);
  EXPECT_FALSE(of_server().cause_of_end(b.vi).peer_left);
}

// Ruling V-17: both at about the same time.
TEST_F(VitcpConnection, disconnect_bothAtOnce) {
  auto [a, b] = hosts.connect(reception);
  PlainCall second;
  of_client().disconnect(a.vi, call);
  of_server().disconnect(b.vi, second);
  hosts.settle();
  EXPECT_EQ(call.result, Return::Success);
  EXPECT_EQ(second.result, Return::Success);
  EXPECT_THAT(hosts.client->take_errors(), IsEmpty());
  EXPECT_THAT(hosts.server->take_errors(), IsEmpty());
}

// VI-DG 3.3.5: the same VIs connect anew.
TEST_F(VitcpConnection, disconnect_andConnectAgain) {
  auto [a, b] = hosts.connect(delivery);
  for (int round = 0; round != 3; ++round) {
    PlainCall here, there;
    of_client().disconnect(a.vi, here);
    hosts.settle();
    of_server().disconnect(b.vi, there);
    hosts.settle();
    WaitCall waited;
    ConnectCall asked;
    PlainCall accepted;
    of_server().connect_wait(server_at("x"), runtime::never, waited);
    of_client().connect_request(a.vi, client_at("y"), server_at("x"), runtime::second, asked);
    hosts.settle();
    ASSERT_EQ(waited.result, Return::Success);
    of_server().connect_accept(waited.token, b.vi, accepted);
    hosts.settle();
    ASSERT_EQ(asked.result, Return::Success);
    b.receive(8);
    a.send("again");
    hosts.settle();
    EXPECT_EQ(b.received(static_cast<std::size_t>(round)), "again");
  }
}

// VI-DG 3.3.5: a request under way returns, and nobody can accept it any more.
TEST_F(VitcpConnection, disconnect_pending) {
  vi::Vi& a = hosts.client->create(delivery);
  of_server().connect_wait(server_at("x"), runtime::second, wait);
  of_client().connect_request(a, client_at("y"), server_at("x"), runtime::second, request);
  hosts.settle();
  of_client().disconnect(a, call);
  EXPECT_EQ(request.result, Return::ErrorResource);
  EXPECT_EQ(a.state(), State::Idle);
  hosts.settle();
  of_server().connect_accept(wait.token, hosts.server->create(delivery), call);
  EXPECT_EQ(call.result, Return::Timeout);
}

// VipCloseNic: the peer of a VI that goes is told; a second detach finds nothing.
TEST_F(VitcpConnection, detach_connected) {
  auto [a, b] = hosts.connect(unreliable);
  of_client().detach(a.vi);
  of_client().detach(a.vi);
  hosts.settle();
  EXPECT_EQ(b.vi.state(), State::Error);
  EXPECT_TRUE(of_server().cause_of_end(b.vi).peer_left);
}

// VipCloseNic in every stage of a set-up: calls return.
TEST_F(VitcpConnection, detach_pending) {
  vi::Vi& a = hosts.client->create(delivery);
  of_server().connect_wait(server_at("x"), runtime::second, wait);
  of_client().connect_request(a, client_at("y"), server_at("x"), runtime::second, request);
  of_client().detach(a);
  EXPECT_EQ(request.result, Return::ErrorResource);
  hosts.settle();
}

// Ruling V-15: the stream closes in Pending Accept: it is established anew, at growing intervals.
TEST_F(VitcpConnection, stream_closedInPendingAccept_isEstablishedAnew) {
  int streams = 0;
  hosts.world.network.set_rules([&](const auto&, const auto&) {
    streams::StreamRules rules;
    if (++streams < 4) rules.to_acceptor.cut = streams % 2 == 0 ? streams::Cut::reset : streams::Cut::end;
    return rules;
  });
  vi::Vi& a = hosts.client->create(delivery);
  of_server().connect_wait(server_at("x"), runtime::never, wait);
  of_client().connect_request(a, client_at("y"), server_at("x"), 10 * runtime::second, request);
  hosts.settle();
  EXPECT_EQ(wait.result, Return::Success);
  EXPECT_EQ(streams, 4);
}

// Rulings V-15, V-16: nobody answers: the consumer's time ends it.
TEST_F(VitcpConnection, host_silent_isATimeout) {
  hosts.world.network.set_rules(
      [](const auto&, const auto&) { return streams::StreamRules{.reception = streams::Reception::silence}; });
  vi::Vi& a = hosts.client->create(delivery);
  of_client().connect_request(a, client_at("y"), server_at("x"), runtime::second, request);
  hosts.run(2 * runtime::second);
  EXPECT_EQ(request.result, Return::Timeout);
  EXPECT_EQ(a.state(), State::Idle);
}

// VI-TCP 2.2.2.2.2: the TCP connection breaks: so does that of the VIs, at both ends.
TEST_F(VitcpConnection, stream_reset_isLost) {
  hosts.world.network.set_rules([](const auto&, const auto&) {
    streams::StreamRules rules;
    rules.to_acceptor.cut = streams::Cut::reset;
    rules.to_acceptor.cut_after = 168 + 24 + 3;
    return rules;
  });
  auto [a, b] = hosts.connect(delivery);
  b.receive(8);
  a.send("12345678");
  hosts.settle();
  EXPECT_EQ(a.vi.state(), State::Error);
  EXPECT_EQ(b.vi.state(), State::Error);
  EXPECT_THAT(hosts.client->take_errors(), ElementsAre(vi::ErrorCode::ConnLost));
  EXPECT_THAT(hosts.server->take_errors(), ElementsAre(vi::ErrorCode::ConnLost));
  EXPECT_EQ(b.receive_error(), vi::status::flushed | vi::status::partial_error);
}

}  // namespace
}  // namespace vitcp::testing
