// How a connection ends at an end where something else is under way: its VI goes away, the VI model stops it during the
// set-up, its peer says
// things that are none of its business (FC-VI 5.9.4.6, 6.12, 6.13, 7.7.1, 8.4.2, C.2, D.1, D.2; VI-ARCH 5.2, 5.4); and
// what is told and counted.
#include "tests/fcvi/class_2_nodes.hpp"
#include "tests/fcvi/setup_fixture.hpp"
#include "tests/support/times.hpp"
#include "wire/fcvi/disconnect_rqst.hpp"

namespace {
using support::Done;
using support::Host;
using support::ms;
using support::s;
using vi::Return;
using wire::fcvi::Reason;
using Opcode = wire::fcvi::Opcode;

class ConnectionEnd : public support::FaultySetup {
 public:
  using FaultySetup::FaultySetup;
  /// The server accepted, the client is Connected; RESP2 comes a second late.
  void accepted_without_resp2() {
    faults.hold(Opcode::connect_resp2, s);
    listen(), ask();
    accept_next();
    EXPECT_EQ(asked(), Return::Success);
    settle(), frames();
  }
  /// The client's retry is out; nothing of the server's came through.
  void retried() {
    faults.lose(Opcode::connect_resp1, 2);
    listen(), ask();
    accept_next();
    run_to(t3 + ms);
    EXPECT_EQ(seen(Opcode::connect_rqst).size(), 2u);
  }
  /// As if the server had sent it to the client.
  void forge(const wire::fcvi::DisconnectRqst& rqst) {
    support::ForgedFrame frame;
    frame.header = {.r_ctl = wire::RCtl::unsolicited_control,
                    .d_id = client->port.n_port_id(),
                    .s_id = server->port.n_port_id(),
                    .type = wire::Type::fc_vi,
                    .f_ctl = wire::f_ctl::first_sequence | wire::f_ctl::end_sequence | wire::f_ctl::sequence_initiative,
                    .ox_id = {0x5001},
                    .rx_id = wire::RxId::unassigned};
    frame.set(rqst.to_device_header());
    fabric.fabric.ingress_of(server->port)->receive(frame.build(fabric.pool));
    settle();
  }
  [[nodiscard]] std::uint64_t lost(const Host& host) const { return host.provider.counters().connections_lost; }
  [[nodiscard]] static std::string_view cause(const vi::Vi& vi) { return fcvi::Provider::end_cause(vi).text; }
};

// --- the VI goes away (VipCloseNic) ------------------------------------------------------------------------------

// FC-VI 8.4.2 f), 5.3.5: the peer is told and answers at once; the handle rests R_A_TOV all the same.
TEST_F(ConnectionEnd, connected_viGoes_handleRests) {
  connect_pair();
  client->provider.detach(*client_vi);
  settle();
  EXPECT_EQ(seen(Opcode::disconnect_rqst).size(), 1u);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  fabric.run_for(10 * s - ms);
  EXPECT_EQ(client->provider.handles_in_use(), 1u);
  fabric.run_for(ms);
  EXPECT_EQ(client->provider.handles_in_use(), 0u);
}

// FC-VI 7.7.1: the logout ended the connection and the time of its handle; the VI, in Error, goes later: the
// handle is free.
TEST_F(ConnectionEnd, loggedOut_viGoesInError_handleIsFree) {
  connect_pair();
  server->port.remote_port(client->port.n_port_id()).log_out();
  settle();
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  client->provider.detach(*client_vi);
  fabric.run_for(20 * s);
  EXPECT_EQ(client->provider.handles_in_use(), 0u);
}

// D.1 rule 1: the Disconnect of VipDisconnect is under way: the call ends, and no other begins beside it.
TEST_F(ConnectionEnd, disconnecting_viGoes_oneDisconnectGoesOn) {
  connect_pair();
  faults.lose(Opcode::disconnect_rqst);
  Done done;
  client->provider.disconnect(*client_vi, done);
  settle();
  client->provider.detach(*client_vi);
  EXPECT_EQ(done.result, Return::ErrorResource);
  settle();
  EXPECT_EQ(seen(Opcode::disconnect_rqst).size(), 1u);
  fabric.run_for(30 * s);
  EXPECT_EQ(seen(Opcode::disconnect_rqst).size(), 1u) << "the retry (8.6.2 b)";
  EXPECT_EQ(client->provider.handles_in_use(), 0u);
  EXPECT_EQ(server->count(vi::ErrorCode::ConnLost), 1);
}

// ... and so does the one that tells the peer of an error.
TEST_F(ConnectionEnd, tellingThePeer_viGoes_oneDisconnectGoesOn) {
  connect_pair();
  faults.lose(Opcode::disconnect_rqst);
  client_vi->fail_catastrophically();
  settle();
  client->provider.detach(*client_vi);
  settle();
  EXPECT_EQ(seen(Opcode::disconnect_rqst).size(), 1u);
  EXPECT_EQ(discarded(*client, fc2::Discard::UnexpectedIu), 0u) << "nothing was asked for twice";
  fabric.run_for(30 * s);
  EXPECT_EQ(seen(Opcode::disconnect_rqst).size(), 1u) << "the retry (8.6.2 b)";
  EXPECT_EQ(client->provider.handles_in_use(), 0u);
}

// 8.4.2 f): nobody answers: it is asked on until somebody does, also when R_A_TOV is over long since; then the
// handle is free.
TEST_F(ConnectionEnd, viGone_unanswered_handleRestsUntilAnAnswer) {
  connect_pair();
  faults.lose(Opcode::disconnect_rqst, 4);
  client->provider.detach(*client_vi);
  fabric.run_for(45 * s);
  EXPECT_EQ(client->provider.handles_in_use(), 1u);
  fabric.run_for(30 * s);
  EXPECT_EQ(client->provider.handles_in_use(), 0u);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
}

// 7.7.1, 8.4.2 g): a logout ends that at once.
TEST_F(ConnectionEnd, viGone_portLoggedOut_handleIsFree) {
  connect_pair();
  faults.lose(Opcode::disconnect_rqst, 2);
  client->provider.detach(*client_vi);
  fabric.run_for(s);
  client->port.remote_port(server->port.n_port_id()).implicit_logout();
  settle();
  EXPECT_EQ(client->provider.handles_in_use(), 0u);
  faults.clear();
}

// FC-VI C.2 rule 1 b): the id of the first try rests until the Disconnect of the endpoint; the VI goes, and none is
// needed: R_A_TOV is left.
TEST_F(ConnectionEnd, retrying_viGoes_idRestsNoLonger) {
  retried();
  EXPECT_EQ(client->provider.resting_connection_ids(), 1u);
  client->provider.detach(*client_vi);
  EXPECT_EQ(request.result, Return::ErrorResource);
  fabric.run_for(60 * s);
  EXPECT_EQ(client->provider.resting_connection_ids(), 0u);
  EXPECT_EQ(client->provider.handles_in_use(), 0u);
}

// VI-ARCH 5.2, FC-VI 8.5.3: the server's VI fails before RESP2, and goes away.
TEST_F(ConnectionEnd, accepted_viFails_countsAsLost) {
  accepted_without_resp2();
  server_vi->fail_catastrophically();
  settle();
  EXPECT_EQ(lost(*server), 1u);
  server->provider.detach(*server_vi);
  fabric.run_for(60 * s);
  EXPECT_EQ(server->provider.handles_in_use(), 0u);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
}

// VI-ARCH 5.2: the client's VI fails while the set-up is under way: nothing flows that could be in the midst, and its
// call returns at once.
TEST_F(ConnectionEnd, requesting_viFails_callReturns) {
  faults.lose(Opcode::connect_rqst);
  ask();
  client_vi->fail_catastrophically();
  EXPECT_EQ(request.result, Return::ErrorResource);
  EXPECT_EQ(lost(*client), 0u);
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
}

// --- what the peer says ------------------------------------------------------------------------------------------

// FC-VI 6.12.2, 6.13.2, 5.9.7.3.2 NOTE: the DISCONNECT_RQST and the DISCONNECT_RESP tell the last message; the
// first code stays.
TEST_F(ConnectionEnd, disconnected_bothReportsAreKept) {
  connect_pair();
  EXPECT_TRUE(message_flows());
  EXPECT_EQ(client->provider.told_by_peer(*client_vi), std::nullopt);
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  const auto at_client = client->provider.told_by_peer(*client_vi),
             at_server = server->provider.told_by_peer(*server_vi);
  ASSERT_TRUE(at_client && at_server);
  EXPECT_EQ(at_client->last_msg_id.value, 1u);
  EXPECT_EQ(at_client->reason, Reason::disconnect_accept);
  EXPECT_EQ(at_server->last_msg_id.value, 0u);
  EXPECT_EQ(at_server->reason, std::nullopt);
  expect_nothing_left();
}
TEST_F(ConnectionEnd, failed_firstReasonIsKept) {  // 5.9.7.3.2 NOTE
  connect_pair();
  client_vi->post_send(1, client->handle);  // no descriptor
  settle();
  EXPECT_EQ(disconnect(*server, *server_vi), Return::Success);
  const auto told = server->provider.told_by_peer(*server_vi);
  ASSERT_TRUE(told.has_value());
  EXPECT_EQ(told->reason, Reason::remote_descriptor_error) << "not that of the DISCONNECT_RESP";
  expect_nothing_left();
}

// 5.9.4.6: CONN_SETUP_ABORT is of a set-up: it tells nothing of a connection, the request nor the answer.
TEST_F(ConnectionEnd, halfSetUp_aborted_reportsNothing) {
  retried();
  EXPECT_EQ(asked(), Return::NotReachable);
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  EXPECT_EQ(client->provider.told_by_peer(*client_vi), std::nullopt);
  EXPECT_EQ(server->provider.told_by_peer(*server_vi), std::nullopt);
  expect_nothing_left();
}

// FC-VI D.1 rule 6: it aborts a set-up that is none of the connection's: Protocol Error, and the connection stays. A
// logout later ends it, and is the cause.
TEST_F(ConnectionEnd, connected_otherSetupAborted_staysUntilTheLogout) {
  connect_pair();
  forge({.handle = {client_handle},
         .connection_id = {0x7777},
         .conn_setup_abort = true,
         .vi_app_discon = true,
         .status = {{.reason = Reason::connection_setup_timeout}}});
  const auto resp = seen(Opcode::disconnect_resp);
  ASSERT_EQ(resp.size(), 1u);
  EXPECT_EQ(resp[0].word(3), 0x00480000u);
  EXPECT_EQ(client_vi->state(), vi::State::Connected);
  client->port.remote_port(server->port.n_port_id()).implicit_logout();
  settle();
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  EXPECT_EQ(cause(*client_vi), "the peer's port left the fabric: its process ended, or its link");
}

// --- what is counted ---------------------------------------------------------------------------------------------

// Every IU once (Table 1): DISCONNECT_RQST out, DISCONNECT_RESP in, and the other way round.
TEST_F(ConnectionEnd, disconnected_iusAreCounted) {
  connect_pair();
  const auto client_before = client->provider.counters(), server_before = server->provider.counters();
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  const auto client_after = client->provider.counters(), server_after = server->provider.counters();
  EXPECT_EQ(client_after.ius_sent - client_before.ius_sent, 1u);
  EXPECT_EQ(client_after.ius_received - client_before.ius_received, 1u);
  EXPECT_EQ(server_after.ius_sent - server_before.ius_sent, 1u);
  EXPECT_EQ(server_after.ius_received - server_before.ius_received, 1u);
  EXPECT_EQ(lost(*client), 0u);
  EXPECT_EQ(lost(*server), 1u);
  expect_nothing_left();
}

// FC-VI C.5.5, 8.5.4: a set-up that was retried: before RESP3 nothing completes all the same.
TEST_F(ConnectionEnd, retried_connected_completesAfterResp3) {
  faults.lose(Opcode::connect_rqst);
  faults.hold(Opcode::connect_resp3, s);
  listen(), ask();
  accept_next();
  EXPECT_EQ(asked(), Return::Success);
  server_vi->post_receive(server->descriptor(0, {{server->data, 64}}), server->handle);
  const auto send = client->descriptor(0, {{client->data, 4}});
  client_vi->post_send(send, client->handle);
  fabric.run_for(s / 2);
  EXPECT_EQ(client->status(send), 0u);
  fabric.run_for(s);
  EXPECT_EQ(client->status(send), vi::status::done | vi::status::op_send);
  expect_nothing_left();
}

// --- the other port ----------------------------------------------------------------------------------------------

class FewRemotePorts : public ConnectionEnd {
 public:
  FewRemotePorts() : ConnectionEnd({}, [](fc2::NPortConfig& config, std::size_t) { config.max_remote_ports = 4; }) {}
};

// FC-VI 7.7.1: the login that a connection stands on is in use, however many other ports want one.
TEST_F(FewRemotePorts, connected_manyOtherLogins_loginStays) {
  connect_pair();
  for (std::uint32_t id = 0x010301; id < 0x010320; ++id) {
    client->port.remote_port(wire::FcId{id}).log_in();
    settle();
  }
  fabric.run_for(s);
  EXPECT_EQ(client_vi->state(), vi::State::Connected);
  EXPECT_TRUE(message_flows());
}

}  // namespace
