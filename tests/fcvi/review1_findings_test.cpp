// Findings of a review: each fails until its rule is held. Not in CMake.
#include "tests/fcvi/setup_fixture.hpp"
#include "fcvi/connection_ids.hpp"

namespace {
using support::Connect;
using support::Done;
using support::Wait;
using vi::Return;
using Opcode = wire::fcvi::Opcode;
using Level = vi::ReliabilityLevel;

class Review1 : public support::FaultySetup {
 public:
  /// The server connects to the client: its handle is the one that its table hands out next.
  void connect_second_pair(vi::Vi& of_client, vi::Vi& of_server) {
    client->provider.connect_wait(client->net("the other way 16"), vi::infinite, second_wait);
    server->provider.connect_request(of_server, server->net("server, 16 bytes"), client->net("the other way 16"), vi::infinite, second_request);
    ASSERT_TRUE(fabric.run_until([&] { return second_wait.result.has_value(); }));
    client->provider.connect_accept(second_wait.token, of_client, second_accept);
    ASSERT_TRUE(fabric.run_until([&] { return second_request.result && second_accept.result; }));
    EXPECT_EQ(second_request.result, Return::Success);
    EXPECT_EQ(second_accept.result, Return::Success);
    settle();
  }
  Connect second_request;
  Done second_accept;
};

// Issue 4 item 1 ("IUs of dead set-ups never disturb a live connection"), FC-VI D.2, 8.4.2 f: the server disconnects, its handle
// rests and is used for a new connection with the same port; only then the client's application calls VipDisconnect for the first
// VI. Its DISCONNECT_RQST carries the old handle and ends the new connection.
TEST_F(Review1, lateDisconnectOfTheOtherEnd_sparesTheNewConnection) {
  connect_pair();
  EXPECT_EQ(disconnect(*server, *server_vi), Return::Success);
  settle();
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  fabric.run_for(25 * fc2::second);  // R_A_TOV of the connection, R_A_TOV of its number
  vi::Vi& second_client = client->make_vi(Level::ReliableDelivery);
  vi::Vi& second_server = server->make_vi(Level::ReliableDelivery);
  connect_second_pair(second_client, second_server);
  const int told = server->count(vi::ErrorCode::ConnLost);
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);  // the FIRST connection's
  settle();
  EXPECT_EQ(second_server.state(), vi::State::Connected);
  EXPECT_EQ(server->count(vi::ErrorCode::ConnLost), told);
}

// FC-VI 7.7.1, 8.4.2 g): a logout ended the connection, and freed the peer's handle; a VipDisconnect after a new login asks for
// that handle all the same, which may be another connection's.
TEST_F(Review1, disconnectAfterLogoutAndNewLogin_sparesTheNewConnection) {
  connect_pair();
  client->port.remote_port(server->port.n_port_id()).log_out();
  settle();
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  EXPECT_EQ(disconnect(*server, *server_vi), Return::Success);  // needs no answer
  fabric.run_for(25 * fc2::second);
  vi::Vi& second_client = client->make_vi(Level::ReliableDelivery);
  vi::Vi& second_server = server->make_vi(Level::ReliableDelivery);
  connect_second_pair(second_client, second_server);
  frames();
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);  // the FIRST connection's: the logout ended it
  settle();
  EXPECT_EQ(seen(Opcode::disconnect_rqst).size(), 0u);
  EXPECT_EQ(second_server.state(), vi::State::Connected);
}

// FC-VI D.1 rule 2 a), 5.9.7.3.2: "Connection Setup Timeout" is for a set-up that timed out. This one was refused with 21h.
TEST_F(Review1, setupRefusedWithAnError_disconnectDoesNotTellOfATimeout) {
  faults.alter(Opcode::connect_resp1, [](fc2::Frame& frame) { frame.bytes[24 + 5] |= 1; frame.bytes[24 + 13] = 0x21; });
  listen(), ask();
  accept_next();
  EXPECT_EQ(asked(), Return::NotReachable);
  settle(), frames();
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  const auto rqst = seen(Opcode::disconnect_rqst);
  ASSERT_EQ(rqst.size(), 1u);
  EXPECT_NE(rqst[0].word(3), 0x00490000u);
}

// FC-VI 8.5.3 b): our id 5 rests with peer B; that it rested before with peer A, long ago, does not free it.
TEST(Review1Ids, idThatRestedWithTwoPeers_rests) {
  fcvi::ConnectionIds ids(5);
  ids.set_error({fcvi::ConnectionIds::Originator::Us, {5}, {1}}, wire::FcviHandle::unassigned, 0, 10);
  ids.set_error({fcvi::ConnectionIds::Originator::Us, {5}, {2}}, wire::FcviHandle::unassigned, 20, 10);
  EXPECT_NE(ids.open(21).value, 5u);
}

// FC-VI D.1 rule 1 b), 8.4.2 f), issue 4 item 9 ("every handle is returned"): the VI goes away while connected, and its one
// DISCONNECT_RQST is lost. Nothing repeats it: the handle never comes back, and the server stays Connected for ever.
TEST_F(Review1, viGoesAway_noticeLost_bothEndsEnd) {
  connect_pair();
  faults.lose(Opcode::disconnect_rqst);
  client->provider.detach(*client_vi);
  client_vi->transport_context = nullptr;
  fabric.run_for(120 * fc2::second);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  EXPECT_EQ(client->provider.handles_in_use(), 0u);
}

// FC-VI 8.4.2 e), 5.3.5, ruling 35: a reliable connection fails at the server, whose own DISCONNECT_RQST is lost.
TEST_F(Review1, localError_noticeLost_peerLearnsIt) {
  connect_pair();
  faults.lose(Opcode::disconnect_rqst);
  const auto send = client->descriptor(vi::control::immediate, {}, 0, {}, 1);
  client_vi->post_send(send, client->handle);  // no receive is posted there
  fabric.run_for(120 * fc2::second);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
}

// FC-VI C.5.4, C.5.5: "The Server is enabled for Message transmission after a FCVI_CONNECT_RESP3 IU is sent and
// VipConnectAccept completes": what answers a message that overtook RESP2 goes behind RESP3.
class Review1Reception : public support::FaultySetup {
 public:
  Review1Reception() : FaultySetup({}, {}, {}, Level::ReliableReception) {}
};
TEST_F(Review1Reception, messageBeforeResp2_isAnsweredBehindResp3) {
  faults.hold(Opcode::connect_resp2, fc2::millisecond);
  const auto receive = server->descriptor(0, {{server->data, 64}});
  server_vi->post_receive(receive, server->handle);
  listen(), ask();
  accept_next();
  EXPECT_EQ(asked(), Return::Success);
  const auto send = client->descriptor(vi::control::immediate, {}, 0, {}, 1);
  client_vi->post_send(send, client->handle);
  fabric.run_for(5 * fc2::millisecond);
  EXPECT_EQ(accept.result, Return::Success);
  int position = 0, resp3 = -1, send_resp = -1;
  for (const auto& frame : frames()) {
    if (frame.opcode() == static_cast<unsigned>(Opcode::connect_resp3)) resp3 = position;
    if (frame.opcode() == static_cast<unsigned>(Opcode::send_resp)) send_resp = position;
    ++position;
  }
  EXPECT_GE(resp3, 0);
  EXPECT_GT(send_resp, resp3);
}

// FC-VI C.4 rule 8, Table 8: a retry that claims another Connection Mode is not the retry of that set-up. It is taken for it:
// the RESP2 that refuses then finds no peer request, and the process dies of a null pointer.
TEST_F(Review1, retryWithAnotherMode_doesNotCrash) {
  faults.alter(Opcode::connect_rqst, [](fc2::Frame&) {});
  faults.alter(Opcode::connect_rqst, [](fc2::Frame& frame) { frame.bytes[24 + 5] = static_cast<std::uint8_t>((frame.bytes[24 + 5] & ~7u) | 2u); });
  faults.lose(Opcode::connect_resp1);
  faults.hold(Opcode::connect_resp1, 6 * fc2::second);
  listen(), ask(15 * fc2::second);
  accept_next();
  EXPECT_EQ(asked(), Return::Timeout);
  fabric.run_for(30 * fc2::second);
  EXPECT_EQ(accept.result, Return::Timeout);
}

// FC-VI C.4 rule 8, 6.8.3: a retry whose attributes are none: the offer's are read from it without a look (core.cpp:101,
// peer_request.cpp:87, 135 dereference an empty optional). "Protocol Error" is the answer to such a request (5.9.7.2.2).
TEST_F(Review1, retryWithWrongAttributes_isRefused) {
  faults.alter(Opcode::connect_rqst, [](fc2::Frame&) {});
  faults.alter(Opcode::connect_rqst, [](fc2::Frame& frame) { for (unsigned i = 0; i < 32; ++i) frame.bytes[24 + 32 + 4 * 77 + i] = 0xFF; });
  listen(), ask();
  ASSERT_TRUE(offered());
  run_to(11 * fc2::second);  // T3, ABTS, the retry
  frames();
  accept_offer();
  settle();
  const auto resp1 = seen(Opcode::connect_resp1);
  ASSERT_EQ(resp1.size(), 1u);
  EXPECT_EQ(resp1[0].word(3), 0x00210000u);
}
}  // namespace
