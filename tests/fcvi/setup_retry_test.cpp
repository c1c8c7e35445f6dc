// The retry of a set-up: what comes while its ABTS is under way, which CONNECT_RQST with RETRY is one, and T2 without a
// RESP1 (FC-VI 5.9.4.4, 8.5.2 to 8.5.4, C.3 rules 2 to 4, C.4 rules 6 to 12, C.5.2).
#include "fc2_fabric/node/remote_port.hpp"
#include "tests/fcvi/setup_fixture.hpp"

namespace {
using vi::Return;
using Opcode = wire::fcvi::Opcode;
constexpr unsigned flags_byte = 24 + 5, payload_at = 24 + 32;

class SetupRetry : public support::FaultySetup {
 public:
  /// T3 is over; BA_ACC comes 5 s late, and the retry waits for it.
  void await_abort() {
    faults.lose(Opcode::connect_rqst);
    faults.hold(wire::RCtl::ba_acc, 5 * runtime::second);
    ask();
    run_to(11 * runtime::second);
    EXPECT_EQ(client_vi->endpoint_state_name(), "PendingConnectRetry");
  }
  void expect_end(Return result, vi::State state) {
    EXPECT_EQ(request.result, result);
    EXPECT_EQ(client_vi->state(), state);
    expect_nothing_left();
  }
  /// The first try's RESP1 does not come; the retry is another request than the first.
  void retry_with(std::function<void(fc2::Frame&)> change) {
    faults.alter(Opcode::connect_rqst, [](fc2::Frame&) {});
    faults.alter(Opcode::connect_rqst, std::move(change));
  }
  /// Implicit logout and a new login at once, for the client.
  void server_logs_in_anew() {
    fc2::RemotePort& remote = server->port.remote_port(client->port.n_port_id());
    remote.implicit_logout(), remote.log_in(), settle();
  }
  /// The request goes on under the new login, which brings the next offer.
  void offered_and_server_logs_in_anew() {
    ASSERT_TRUE(offered());
    listen();
    server_logs_in_anew();
    EXPECT_FALSE(request.result.has_value());
  }
  /// Of the only RESP1 to a retry.
  unsigned reason_of_retried_resp1() {
    std::vector<unsigned> reasons;
    for (const auto& resp1 : seen(Opcode::connect_resp1))
      if ((resp1.flags() & 4u) != 0) reasons.push_back(resp1.word(3) >> 16);
    EXPECT_EQ(reasons.size(), 1u);
    return reasons.empty() ? 0xFFu : reasons[0];
  }
};

// --- at the originator -------------------------------------------------------------------------------------------

// FC-VI C.3 rule 3, 7.7.1: the logout ends the ABTS too: that is no word that the retry may go, with a login that is
// gone. It goes, once, with a new one (ruling 79).
TEST_F(SetupRetry, awaitAbort_logout_retriesWithNewLogin) {
  await_abort();
  frames();
  client->port.remote_port(server->port.n_port_id()).log_out();
  const auto rqst_went = [&] {
    return log.count([](const support::LoggedFrame& f) {
      return f.header.r_ctl == wire::RCtl::unsolicited_control && f.header.type == wire::Type::fc_vi;
    }) != 0;
  };
  ASSERT_TRUE(fabric.run_until(rqst_went));
  EXPECT_TRUE(client->port.remote_port(server->port.n_port_id()).logged_in());
  fabric.run_for(30 * runtime::second);
  const auto rqsts = seen(Opcode::connect_rqst);
  ASSERT_EQ(rqsts.size(), 1u);
  EXPECT_EQ(rqsts[0].flags(), 0x11u);
  EXPECT_EQ(request.result, Return::NoMatch);
}
// The same where the logout is the peer's own PLOGI, a new login already.
TEST_F(SetupRetry, awaitAbort_peerLogsInAnew_retries) {
  await_abort();
  listen(), frames();
  server_logs_in_anew();
  accept_next();
  EXPECT_EQ(asked(), Return::Success);
  const auto rqsts = seen(Opcode::connect_rqst);
  ASSERT_EQ(rqsts.size(), 1u);
  EXPECT_EQ(rqsts[0].flags(), 0x11u);
  EXPECT_EQ(accepted(), Return::Success);
  EXPECT_TRUE(message_flows());
  expect_nothing_left();
}
// FC-VI 8.5.4, 7.7.1, ruling 79: and while the RESP1 of the retry is awaited, however often.
TEST_F(SetupRetry, awaitRetriedResp1_peerLogsInAnew_asksAgain) {
  faults.lose(Opcode::connect_rqst);
  listen(), ask();
  for (int i = 0; i < 3; ++i) ASSERT_NO_FATAL_FAILURE(offered_and_server_logs_in_anew());
  accept_next();
  EXPECT_EQ(asked(), Return::Success);
  const auto rqsts = seen(Opcode::connect_rqst);
  ASSERT_EQ(rqsts.size(), 5u);
  for (std::size_t i = 1; i < rqsts.size(); ++i) EXPECT_EQ(rqsts[i].flags(), 0x11u);
  EXPECT_TRUE(message_flows());
  expect_nothing_left();
}
// FC-VI 8.5.4, 8.5.3 a) 1): it stays the one retry: when it has no answer under the new login, that is the end.
TEST_F(SetupRetry, awaitRetriedResp1_peerLogsInAnewAndIsSilent_isNotReachable) {
  faults.lose(Opcode::connect_rqst, 3);
  listen(), ask();
  run_to(t3 + runtime::second);
  server_logs_in_anew();
  const runtime::TimeNs again = elapsed();
  EXPECT_EQ(asked(), Return::NotReachable);
  EXPECT_GE(elapsed(), again + t3 - runtime::millisecond);
  EXPECT_LE(elapsed(), again + t3 + runtime::millisecond);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  server->provider.withdraw(wait);
  expect_nothing_left();
}

class UnreliableRetry : public support::FaultySetup {
 public:
  UnreliableRetry() : FaultySetup({}, {}, {}, Level::UnreliableDelivery) {}
};
// FC-VI 8.2 c), C.3 rule 4: the retry finds no login any more: Error at every level, for it is the retry that failed.
TEST_F(UnreliableRetry, awaitRetriedResp1_logoutForGood_isError) {
  faults.lose(Opcode::connect_rqst, 2);
  ask();
  run_to(t3 + runtime::second);
  EXPECT_EQ(client_vi->endpoint_state_name(), "PendingConnectRetry");
  client->port.remote_port(server->port.n_port_id()).log_out();
  faults.lose_all();
  EXPECT_EQ(asked(), Return::NotReachable);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  faults.clear();
  expect_nothing_left();
}
// VipCloseNic: nothing is left over.
TEST_F(SetupRetry, awaitAbort_viGoesAway) {
  await_abort();
  client->provider.detach(*client_vi);
  client_vi->transport_context = nullptr;
  EXPECT_TRUE(request.result.has_value());
  fabric.run_for(60 * runtime::second);
  EXPECT_EQ(client->provider.handles_in_use(), 0u);
  EXPECT_EQ(client->port.open_exchanges(), 0u);
}
// FC-VI 8.5.3 a): RESP1 of the first try comes after its ABTS: discarded; the retry connects.
TEST_F(SetupRetry, firstResp1_afterAbort_isDiscarded) {
  faults.hold(Opcode::connect_resp1, 12 * runtime::second);
  listen(), ask();
  accept_next();
  EXPECT_EQ(asked(), Return::Success);
  EXPECT_EQ(accepted(), Return::Success);
  run_to(14 * runtime::second);
  EXPECT_EQ(client_vi->state(), vi::State::Connected);
  EXPECT_TRUE(message_flows());
  expect_nothing_left();
}

// FC-VI 7.7.1, ruling 79: a logout by the peer's own PLOGI is a new login at once: no partition, however
// often it happens.
TEST_F(SetupRetry, awaitResp1_peerLogsInAnew_asksAgain) {
  listen(), ask();
  for (int i = 0; i < 3; ++i) ASSERT_NO_FATAL_FAILURE(offered_and_server_logs_in_anew());
  accept_next();
  EXPECT_EQ(asked(), Return::Success);
  expect_nothing_left();
}

// FC-VI 7.7.1, ruling 79: P is the peer's own PLOGI, L its logout. A login that the peer renewed is none that we
// renewed; what we renewed once is not renewed again, whatever the peer did between.
TEST_F(SetupRetry, awaitResp1_loginsEndInTurn_oneIsRenewed) {
  struct Row {
    const char* events;
    bool goes_on;
  };
  for (const Row row : {Row{"L", true}, Row{"PL", true}, Row{"LP", true}, Row{"PLP", true}, Row{"LPP", true},
                        Row{"LL", false}, Row{"LPL", false}}) {
    SCOPED_TRACE(row.events);
    wait.result.reset(), accept.result.reset();
    listen(), ask();
    for (const char* event = row.events; *event != '\0'; ++event) {
      ASSERT_TRUE(offered());
      listen();
      if (*event == 'P')
        server_logs_in_anew();
      else
        server->port.remote_port(client->port.n_port_id()).log_out(), settle();
    }
    EXPECT_NE(request.result.has_value(), row.goes_on);
    if (row.goes_on) {
      accept_next();
      EXPECT_EQ(asked(), Return::Success);
      EXPECT_TRUE(message_flows());
    } else {
      EXPECT_EQ(request.result, Return::NotReachable);
      server->provider.withdraw(wait);
      EXPECT_EQ(client_vi->state(), vi::State::Error);
      ASSERT_TRUE(fabric.log_in(0, 1));
      frames();
      EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
      EXPECT_TRUE(seen(Opcode::disconnect_rqst).empty()) << "the login under which it failed is over";
    }
    expect_nothing_left();
  }
}

// FC-VI 7.7.1, 7.7.5: the address is asked for again; the peer's logins that come and go meanwhile are none of this
// set-up's, and the connection that it makes is whole: its Disconnect reaches the server.
TEST_F(SetupRetry, resolvingAgain_peerLogsInAndOut_connectionIsWhole) {
  support::IuFaults at_client(fabric.pool);
  fabric.fabric.set_fault(client->port, &at_client);
  listen(), ask();
  ASSERT_TRUE(offered());
  listen();
  at_client.hold(wire::RCtl::solicited_control, runtime::second);  // the Name Server's answer, if it is asked
  fc2::RemotePort& remote = server->port.remote_port(client->port.n_port_id());
  remote.log_out(), settle();
  remote.log_in(), settle();
  remote.log_out(), settle();
  accept_next();
  EXPECT_EQ(asked(), Return::Success);
  EXPECT_TRUE(message_flows());
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  fabric.fabric.set_fault(client->port, nullptr);
  expect_nothing_left();
}

// FC-VI 7.7.1, VI-DG 3.3.4: our own link goes while RESP1 is awaited: a partition, at once, and no login that
// could be renewed.
TEST_F(SetupRetry, awaitResp1_linkLost_isNotReachable) {
  listen(), ask();
  ASSERT_TRUE(offered());
  fabric.fabric.tap(client->port, nullptr);
  fabric.detach(0);
  EXPECT_EQ(request.result, Return::NotReachable);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  fabric.attach(0);
  fabric.fabric.tap(client->port, &log);
  fabric.run_for(runtime::second);
}

// --- at the responder --------------------------------------------------------------------------------------------

// FC-VI 8.5.2 c), C.5.2, VI-DG 6.7: T2 is set when a RESP1 is sent. The client's ABTS was faster than the application's
// decision, and no RESP1 ever went: VIP_TIMEOUT and Idle, nothing was lost, since nothing was offered to the client.
TEST_F(SetupRetry, acceptedAfterAbort_noResp1_isNoLostConnection) {
  listen(), ask(runtime::second);
  ASSERT_TRUE(offered());
  EXPECT_EQ(asked(), Return::Timeout);
  run_to(11 * runtime::second);  // T3, ABTS: the client is gone
  frames();
  accept_offer();
  EXPECT_EQ(accepted(), Return::Timeout);
  EXPECT_TRUE(seen(Opcode::connect_resp1).empty());
  EXPECT_EQ(server->count(vi::ErrorCode::ConnLost), 0);
  EXPECT_EQ(server_vi->state(), vi::State::Idle);
}

// FC-VI C.4 rule 8, Table 8, 5.9.7.2.2: a request with the handle of an open set-up and RETRY, but of another mode, is
// not its retry: 21h. That set-up goes on: T2 ends it.
TEST_F(SetupRetry, retryOfAnotherMode_isRefused) {
  retry_with([](fc2::Frame& frame) {
    frame.bytes[flags_byte] = static_cast<std::uint8_t>((frame.bytes[flags_byte] & ~7u) | 2u);
  });
  faults.lose(Opcode::connect_resp1);
  listen(), ask();
  accept_next();
  EXPECT_EQ(asked(), Return::NotReachable);
  EXPECT_EQ(reason_of_retried_resp1(), 0x21u);
  EXPECT_EQ(accepted(), Return::Timeout);
  expect_nothing_left();
}

// FC-VI C.4 rule 8, 6.8.3, 7.3: ... nor is one whose attributes are none: the offer that stands keeps its own.
TEST_F(SetupRetry, retryOfInvalidAttributes_isRefused) {
  retry_with([](fc2::Frame& frame) {
    for (unsigned i = 0; i < 32; ++i) frame.bytes[payload_at + 4 * 77 + i] = 0xFF;
  });
  listen(), ask();
  ASSERT_TRUE(offered());
  run_to(11 * runtime::second);  // T3, ABTS, the retry
  EXPECT_EQ(reason_of_retried_resp1(), 0x21u);
  accept_offer();
  EXPECT_EQ(accepted(), Return::Timeout);  // its own retry never came
  EXPECT_EQ(request.result, Return::NotReachable);
  expect_nothing_left();
}

// FC-VI C.4 rule 8: ... nor one for another discriminator; the true retry is still taken for one.
TEST_F(SetupRetry, retryOfAnotherDiscriminator_isRefused) {
  retry_with([](fc2::Frame& frame) { frame.bytes[payload_at + 4 * 40 + 20] ^= 1; });
  listen(), ask();
  ASSERT_TRUE(offered());
  run_to(11 * runtime::second);
  EXPECT_EQ(reason_of_retried_resp1(), 0x21u);
  EXPECT_EQ(server->provider.open_setups(), 1u);
  expect_end(Return::NotReachable, vi::State::Error);
}

/// The request comes with the handle of an earlier set-up of the same peer.
void with_first_handle(fc2::Frame& frame) {
  for (unsigned i = 0; i < 4; ++i)
    frame.bytes[payload_at + 8 + i] = static_cast<std::uint8_t>(support::WireNodes::client_handle >> (24 - 8 * i));
}

// FC-VI C.4 rule 11: the endpoint that the peer's handle meant is in Error: a retried request with that handle is a new
// one, for whoever waits now, and not the old set-up's.
TEST_F(SetupRetry, endpointInError_retryIsANewRequest) {
  connect_pair();
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  faults.lose(Opcode::connect_rqst);
  faults.alter(Opcode::connect_rqst, with_first_handle);
  listen(), ask();
  ASSERT_TRUE(offered());
  server->provider.connect_reject(wait.token, accept);
  EXPECT_EQ(asked(), Return::Reject);
  EXPECT_EQ(reason_of_retried_resp1(), 0x04u);
  expect_nothing_left();
}

// FC-VI C.4 rule 8 a) 5), ruling 106: a retry that was refused frees its peer's handle: the next set-up with it is no
// late first try.
TEST_F(SetupRetry, refusedRetry_handleServesAgain) {
  faults.lose(Opcode::connect_rqst);
  faults.lose(Opcode::connect_resp2);  // what was refused stays open until T2
  ask();
  EXPECT_EQ(asked(), Return::NoMatch);
  settle(), frames();
  EXPECT_EQ(server->provider.open_setups(), 1u);
  faults.alter(Opcode::connect_rqst, with_first_handle);
  listen(), ask(runtime::second);
  EXPECT_TRUE(offered());
  EXPECT_EQ(wait.result, Return::Success);
  EXPECT_EQ(discarded(*server, fcvi::Discard::DeadSetup), 0u);
  server->provider.connect_reject(wait.token, accept);
  EXPECT_EQ(asked(), Return::Reject);
  expect_nothing_left();
}

// FC-VI C.4 rule 8 a) 5), C.2 rule 1: CSerr of the first try holds though its retry connected, and by itself:
// the connection ended, the server's endpoint is in Error and says nothing; the first CONNECT_RQST, once more,
// is still dead.
TEST_F(SetupRetry, answeredRqst_afterConnection_isDiscarded) {
  faults.repeat(Opcode::connect_rqst, 22 * runtime::second);  // its Exchange does not rest any more
  faults.lose(Opcode::connect_resp1);
  listen(), ask();
  accept_next();
  EXPECT_EQ(asked(), Return::Success);
  EXPECT_EQ(accepted(), Return::Success);
  listen_again();
  run_to(21 * runtime::second);
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  EXPECT_EQ(server->provider.resting_connection_ids(), 1u);
  run_to(23 * runtime::second);
  EXPECT_EQ(discarded(*server, fcvi::Discard::DeadSetup), 1u);
  EXPECT_FALSE(second_wait.result.has_value());
  expect_nothing_left();
}
}  // namespace
