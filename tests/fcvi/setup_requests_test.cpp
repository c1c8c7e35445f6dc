// CONNECT_RQSTs that come from peers made by hand, to a host that waits: which of them wake a VipConnectWait, and that
// one peer's logout or second request takes nothing from another set-up (FC-VI 5.3.1, 5.3.3, 5.9.4.4, 7.7.1, 8.5.4,
// C.4; VI-DG 3.3.1).
#include "tests/fcvi/scripted_peer.hpp"

namespace {
using support::Connect;
using support::Done;
using support::ScriptedPeer;
using support::Wait;
using vi::Return;
using wire::fcvi::ConnectMode;
using wire::fcvi::Reason;

class Requests : public ::testing::Test {
 public:
  explicit Requests(const fcvi::ProviderConfig& config = {}) : host(fabric, 0, config) {
    fabric.bring_up();
    fabric.run_until([&] { return host.resolver.ready() && first.resolver.ready() && second.resolver.ready(); });
    for (const std::size_t index : {1u, 2u}) fabric.log_in(index, 0);
    vi = &host.make_vi(vi::ReliabilityLevel::ReliableDelivery);
    for (ScriptedPeer* peer : {&first, &second})
      peer->mode = ConnectMode::client_server, peer->attributes = vi->attributes();
  }
  ~Requests() override {
    for (Wait* waiting : {&wait, &other_wait}) host.provider.withdraw(*waiting);
    fabric.run_for(60 * runtime::second);  // what is open ends; the peers outlive their exchanges
    for (ScriptedPeer* peer : {&first, &second}) peer->port.remote_port(host.port.n_port_id()).log_out();
    settle();
  }
  void TearDown() override { EXPECT_EQ(host.port.counters().unexpected_events + vi->unexpected_events(), 0u); }
  void listen(Wait& waiting) { host.provider.connect_wait(host.net(discriminator), runtime::never, waiting); }
  void request(ScriptedPeer& peer, bool retry = false) {
    peer.resp1.reset();
    peer.send_rqst(host.port.n_port_id(), host.address, discriminator, retry), settle();
  }
  /// CONN_STS and Reason Code of the RESP1 that the peer got; none: accepted.
  [[nodiscard]] static ScriptedPeer::Status answered(const ScriptedPeer& peer) {
    EXPECT_TRUE(peer.resp1.has_value());
    if (!peer.resp1 || !peer.resp1->status) return {};
    return peer.resp1->status->reason;
  }
  void accept_offer_of(ScriptedPeer& peer, bool retry = false) {
    ASSERT_EQ(wait.result, Return::Success);
    host.provider.connect_accept(wait.token, *vi, accept), settle();
    ASSERT_TRUE(peer.resp1.has_value());
    EXPECT_EQ(answered(peer), std::nullopt);
    peer.send_resp2({}, retry), settle();
    EXPECT_EQ(accept.result, Return::Success);
    EXPECT_EQ(vi->state(), vi::State::Connected);
  }
  void settle() { fabric.run_for(100 * runtime::microsecond); }
  static constexpr std::string_view discriminator = "service of 16 by";
  support::TestFabric fabric{3};
  Wait wait, other_wait;
  Done accept;
  support::Host host;
  ScriptedPeer first{fabric, 1}, second{fabric, 2};
  vi::Vi* vi = nullptr;
};

class OnePending : public Requests {
 public:
  OnePending()
      : Requests([] {
          fcvi::ProviderConfig config;
          config.max_pending_requests = 1;
          return config;
        }()) {}
};

// FC-VI 5.9.4.4 Table 8: the Connection Modes that are reserved are nobody's, whoever waits.
TEST_F(Requests, waiting_reservedMode_wakesNobody) {
  listen(wait);
  for (const unsigned mode : {0u, 3u, 7u}) {
    first.mode = static_cast<ConnectMode>(mode);
    request(first);
    EXPECT_EQ(answered(first), Reason::no_waiting_remote_connectionpoint) << mode;
    EXPECT_FALSE(wait.result.has_value()) << mode;
  }
}

// FC-VI 5.3.1, VI-DG 3.3.1: a request for another host's address, which came here by an old mapping, is not ours,
// though the discriminator is.
TEST_F(Requests, waiting_otherHostIsMeant_wakesNobody) {
  listen(wait);
  first.send_rqst(host.port.n_port_id(), wire::IpAddress::v4(10, 9, 9, 9), discriminator), settle();
  EXPECT_EQ(answered(first), Reason::no_discriminator_match);
  EXPECT_FALSE(wait.result.has_value());
}

// FC-VI 5.9.7.2: while as many requests as may be wait for the application's decision, a further one finds nobody;
// afterwards it does.
TEST_F(OnePending, offered_anotherRequest_findsNobody) {
  listen(wait), listen(other_wait);
  request(first), request(second);
  EXPECT_EQ(wait.result, Return::Success);
  EXPECT_FALSE(other_wait.result.has_value());
  EXPECT_EQ(answered(second), Reason::no_waiting_remote_connectionpoint);
  Done reject;
  host.provider.connect_reject(wait.token, reject), settle();
  second.send_resp2(), settle();
  request(second);
  EXPECT_EQ(other_wait.result, Return::Success);
  EXPECT_FALSE(second.resp1.has_value());
}

// FC-VI 8.5.4, C.4 rule 8: a peer's earlier set-up with the same handle, which was refused, ends while its next one is
// offered: the retry of that one is still known as such, and offers nothing anew.
TEST_F(Requests, offered_earlierSetupEnds_retryIsKnown) {
  request(first);
  EXPECT_EQ(answered(first), Reason::no_waiting_remote_connectionpoint);
  fc2::Exchange* const refused = first.ours;
  listen(wait), listen(other_wait);
  request(first);
  ASSERT_EQ(wait.result, Return::Success);
  first.port.abort(*refused), settle();
  first.abort_rqst(), settle();
  request(first, true);
  EXPECT_FALSE(other_wait.result.has_value());
  accept_offer_of(first, true);
}

// FC-VI 5.9.4.6, 5.9.7.2: ... and one that was taken back waits no longer.
TEST_F(OnePending, offeredIsTakenBack_nextIsOffered) {
  listen(wait), listen(other_wait);
  request(first);
  ASSERT_EQ(wait.result, Return::Success);
  first.abort_setup(host.port.n_port_id()), settle();
  EXPECT_EQ(first.disconnect_reason, Reason::disconnect_accept);
  request(second);
  EXPECT_EQ(other_wait.result, Return::Success);
}

// FC-VI 5.9.2, D.1 rule 3: a handle serves the port that the connection is with: for another one there is
// no such connection.
TEST_F(Requests, connected_otherPortDisconnectsTheHandle_staysConnected) {
  listen(wait);
  request(first);
  accept_offer_of(first);
  wire::fcvi::DisconnectRqst rqst;
  rqst.handle = first.resp1->payload.handle;
  rqst.vi_app_discon = true;
  std::vector<std::uint8_t> bytes(32);
  rqst.write(bytes);
  fc2::Exchange* exchange = second.port.originate(host.port.n_port_id(), wire::Type::fc_vi, second);
  second.port.send(*exchange, wire::RCtl::unsolicited_control, bytes, {}, {.transfer_initiative = true}), settle();
  EXPECT_EQ(second.disconnect_reason, Reason::connection_does_not_exist);
  EXPECT_EQ(vi->state(), vi::State::Connected);
}

// FC-VI 7.7.1, 8.5.3 c): a logout ends the set-ups with that port: one of another port, which is offered, stays.
TEST_F(Requests, offered_otherPortLogsOut_isStillThere) {
  listen(wait);
  request(first);
  second.port.remote_port(host.port.n_port_id()).log_out(), settle();
  accept_offer_of(first);
}

// FC-VI 7.7.1: ... nor does it disturb the set-up that we originate with another port.
TEST_F(Requests, requesting_otherPortLogsOut_isNotDisturbed) {
  Connect call;
  const auto remote = vi::NetAddress::make(first.address, host.net(discriminator).discriminator_bytes());
  host.provider.connect_request(*vi, host.net("x"), remote, runtime::never, call), settle();
  ASSERT_EQ(first.rqsts, 1);
  second.port.remote_port(host.port.n_port_id()).log_out(), settle();
  EXPECT_EQ(first.rqsts, 1);
  first.send_resp1({}), settle();
  EXPECT_EQ(call.result, Return::Success);
  first.send_resp3(), settle();
  EXPECT_EQ(vi->state(), vi::State::Connected);
}
}  // namespace
