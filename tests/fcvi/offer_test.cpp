// What is away, or broken, before there is a connection (VI-DG 3.3.2 to 3.3.5, 6.3.1; VI-ARCH 5.1, 5.2): a client that
// is lost while its request is offered, and errors of a VI that is Idle or Pending Connect.
#include "fc2_fabric/node/remote_port.hpp"
#include "tests/fcvi/setup_calls.hpp"

namespace {
using support::Host;
using vi::Return;
using Level = vi::ReliabilityLevel;
constexpr std::uint32_t flushed = vi::status::done | vi::status::op_receive | vi::status::flushed;
constexpr Level levels[] = {Level::UnreliableDelivery, Level::ReliableDelivery, Level::ReliableReception};

class Offer : public support::Setup {
 public:
  /// A request is offered to the server; its answer is still to come.
  void offer(Level level, std::string_view name) {
    client_vi = &client->make_vi(level), server_vi = &server->make_vi(level);
    wait.result.reset(), accept.result.reset();
    listen(name), ask(50 * runtime::second, name);
    ASSERT_TRUE(offered());
    posted = server->descriptor(0, {{server->data, 100}});
    server_vi->post_receive(posted, server->handle);
  }
  void lose_link(std::size_t host) { fabric.detach(host), fabric.run_for(runtime::second); }
  void restore_link(std::size_t host) {
    fabric.attach(host);
    fabric.run_until([&] { return client->resolver.ready() && server->resolver.ready(); });
    fabric.run_for(runtime::second);
  }
  [[nodiscard]] Return accept_now(vi::Vi& vi) {
    accept.result.reset();
    server->provider.connect_accept(wait.token, vi, accept);
    return accepted();
  }
  [[nodiscard]] Return reject_now() {
    support::Done rejected;
    server->provider.connect_reject(wait.token, rejected);
    return rejected.result.value_or(Return::NotDone);
  }
  /// A new connection of the same VIs.
  void expect_reusable(std::string_view name) {
    fabric.run_until([&] { return request.result.has_value(); });
    wait.result.reset();
    for (auto [host, vi] : {std::pair{client.get(), client_vi}, {server.get(), server_vi}})
      EXPECT_EQ(disconnect(*host, *vi), Return::Success);
    listen(name), ask(5 * runtime::second, name);
    ASSERT_TRUE(offered());
    EXPECT_EQ(accept_now(*server_vi), Return::Success);
    EXPECT_EQ(outcome(), Return::Success);
  }
  std::uint64_t posted = 0;
};

// VI-DG 3.3.2, ruling 207: the link is lost, the server's own or the client's, and the request is accepted then:
// VIP_NOT_REACHABLE; a VI of a reliable level is in Error, its receives flushed; VipDisconnect makes it usable again.
// No connection was lost, and nobody is told so.
TEST_F(Offer, linkLost_accept_isNotReachable) {
  int round = 0;
  for (const Level level : levels)
    for (const std::size_t away : {std::size_t{0}, std::size_t{1}}) {
      const std::string name = "offer " + std::to_string(round++);
      SCOPED_TRACE(name);
      offer(level, name);
      lose_link(away);
      EXPECT_EQ(accept_now(*server_vi), Return::NotReachable);
      EXPECT_EQ(server_vi->state(), vi::is_reliable(level) ? vi::State::Error : vi::State::Idle);
      EXPECT_EQ(server->status(posted), vi::is_reliable(level) ? flushed : 0u);
      EXPECT_EQ(reject_now(), Return::Success) << "it was told already";
      restore_link(away);
      expect_reusable(name);
      EXPECT_EQ(server->errors.size(), 0u);
      disconnect(*client, *client_vi), disconnect(*server, *server_vi);
      server->errors.clear();
    }
}

// VI-DG 3.3.3, ruling 207: and rejected: VIP_NOT_REACHABLE once; then it is a request that is over.
TEST_F(Offer, linkLost_reject_isNotReachable) {
  int round = 0;
  for (const std::size_t away : {std::size_t{0}, std::size_t{1}}) {
    offer(Level::ReliableDelivery, std::to_string(round++));
    lose_link(away);
    EXPECT_EQ(reject_now(), Return::NotReachable);
    EXPECT_EQ(server_vi->state(), vi::State::Idle) << "no VI was named";
    EXPECT_EQ(reject_now(), Return::Success);
    EXPECT_EQ(accept_now(*server_vi), Return::Timeout);
    restore_link(away);
  }
}

// VI-DG 3.3.2: a VI that is not Idle is refused first, and nothing happens to it; the request can still be answered.
TEST_F(Offer, linkLost_acceptWithViNotIdle_isInvalidState) {
  offer(Level::ReliableDelivery, "service");
  lose_link(0);
  vi::Vi& broken = server->make_vi(Level::ReliableDelivery);
  broken.post_receive(1, server->handle);
  ASSERT_EQ(broken.state(), vi::State::Error);
  EXPECT_EQ(accept_now(broken), Return::InvalidState);
  EXPECT_EQ(accept_now(*server_vi), Return::NotReachable);
  restore_link(0);
}

// VI-DG 6.7, ruling 36: a client that gave up in time is no partition, whatever becomes of the link afterwards.
TEST_F(Offer, clientGaveUp_thenLinkLost_isTimeout) {
  listen(), ask(runtime::second);
  ASSERT_TRUE(offered());
  EXPECT_EQ(outcome(), Return::Timeout);
  fabric.run_for(60 * runtime::second);
  lose_link(0);
  EXPECT_EQ(accept_now(*server_vi), Return::Timeout);
  EXPECT_EQ(reject_now(), Return::Success);
  EXPECT_EQ(server_vi->state(), vi::State::Idle);
  restore_link(0);
}

// VI-DG 3.3.2: the link is lost while VipConnectAccept waits for the client's confirmation.
TEST_F(Offer, accepting_linkLost_isNotReachable) {
  offer(Level::ReliableDelivery, "service");
  server->provider.connect_accept(wait.token, *server_vi, accept);
  fabric.detach(0);
  EXPECT_EQ(accepted(), Return::NotReachable);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  EXPECT_EQ(server->status(posted), flushed);
  restore_link(0);
}

// VI-DG 3.3.5, FC-VI 7.7.1, ruling 208: the logout has ended the connection and Connection Lost was told: VipDisconnect
// has nothing left to reach.
TEST_F(Offer, connected_linkLost_disconnectSucceeds) {
  int round = 0;
  for (const Level level : levels) {
    connect(level, std::to_string(round++));
    wait.result.reset(), accept.result.reset(), request.result.reset();
    client->errors.clear();
    lose_link(0);
    EXPECT_EQ(client_vi->state(), vi::State::Error);
    EXPECT_EQ(client->count(vi::ErrorCode::ConnLost), 1);
    EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
    EXPECT_EQ(client_vi->state(), vi::State::Idle);
    EXPECT_EQ(disconnect(*server, *server_vi), Return::Success);
    restore_link(0);
  }
}

// VI-DG 6.3.1, VI-ARCH 5.1, ruling 56: an error of an Idle VI is told at once and takes it to Error at every
// level; who connects it learns of it: VIP_INVALID_STATE, and the server's request is still there. After
// VipDisconnect it connects.
TEST_F(Offer, idle_catastrophicError_connectIsRefused) {
  int round = 0;
  for (const Level level : levels) {
    const std::string name = std::to_string(round++);
    SCOPED_TRACE(name);
    offer(level, name);
    server->errors.clear();
    server_vi->post_receive(server->data + 1, server->handle);
    ASSERT_EQ(server->errors.size(), 1u);
    EXPECT_EQ(server->errors[0].error, vi::ErrorCode::PostDesc);
    EXPECT_EQ(server_vi->state(), vi::State::Error);
    EXPECT_EQ(server->status(posted), flushed);
    EXPECT_EQ(accept_now(*server_vi), Return::InvalidState);
    support::Connect asked;
    server->provider.connect_request(*server_vi, server->net("x"), client->net("x"), runtime::second, asked);
    EXPECT_EQ(asked.result, Return::InvalidState);
    EXPECT_EQ(
        server->provider.connect_peer_request(*server_vi, server->net("x"), client->net("x"), runtime::second, asked),
        Return::InvalidState);
    EXPECT_EQ(server->nic.destroy_vi(*server_vi), Return::InvalidState);
    EXPECT_EQ(disconnect(*server, *server_vi), Return::Success);
    EXPECT_EQ(server_vi->state(), vi::State::Idle);
    EXPECT_EQ(accept_now(*server_vi), Return::Success);
    EXPECT_EQ(outcome(), Return::Success);
    EXPECT_EQ(server->errors.size(), 1u) << "told once";
    disconnect(*client, *client_vi), disconnect(*server, *server_vi);
  }
}

// VI-DG 6.3.1, VI-ARCH 5.2, ruling 56: in Pending Connect the attempt ends as by VipDisconnect, and the VI is in Error;
// the other end hears no more of it, and the handshake ends in order. Both models.
TEST_F(Offer, pending_catastrophicError_endsTheAttempt) {
  for (const bool peers : {false, true}) {
    SCOPED_TRACE(peers);
    client_vi = &client->make_vi(Level::ReliableDelivery);
    request.result.reset(), wait.result.reset();
    client->errors.clear();
    if (peers) {
      ASSERT_EQ(client->provider.connect_peer_request(*client_vi, client->net("p"), server->net("p"),
                                                      50 * runtime::second, request),
                Return::Success);
      fabric.run_for(runtime::second);
    } else {
      listen(), ask(50 * runtime::second);
      ASSERT_TRUE(offered());
    }
    ASSERT_EQ(client_vi->state(), vi::State::ConnectPending);
    client->overrun(*client_vi);
    EXPECT_EQ(outcome(), Return::ErrorResource);
    EXPECT_EQ(client_vi->state(), vi::State::Error);
    ASSERT_EQ(client->errors.size(), 1u);
    EXPECT_EQ(client->errors[0].error, vi::ErrorCode::ViOverrun);
    if (!peers) {
      server->provider.connect_accept(wait.token, *server_vi, accept);
      EXPECT_EQ(accepted(), Return::Timeout);
      EXPECT_EQ(server_vi->state(), vi::State::Idle);
    }
    EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
    EXPECT_EQ(client_vi->state(), vi::State::Idle);
    fabric.run_for(60 * runtime::second);
    EXPECT_EQ(client->provider.open_setups() + client->provider.handles_in_use(), 0u);
  }
}

}  // namespace
