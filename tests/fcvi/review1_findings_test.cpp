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

// FC-VI 8.4.2 f), issue 4 item 9 ("every handle is returned"): the VI goes away while connected, its one DISCONNECT_RQST is lost.
TEST_F(Review1, viGoesAway_noticeLost_handleComesBack) {
  connect_pair();
  faults.lose(Opcode::disconnect_rqst);
  EXPECT_EQ(disconnect(*server, *server_vi), Return::Success);
  (void)client;
}
}  // namespace
