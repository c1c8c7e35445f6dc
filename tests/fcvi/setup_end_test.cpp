// Set-ups that end while something else is under way: an abort that nobody answers, a retry, a decision that was taken
// already (FC-VI 7.7.1, 8.2 c), 8.5.3, C.3, C.4, C.5.2; VI-ARCH 5.2).
#include "tests/fcvi/setup_fixture.hpp"
#include "tests/support/times.hpp"

namespace {
using support::ms;
using support::s;
using vi::Return;
using Opcode = wire::fcvi::Opcode;

class SetupEnd : public support::FaultySetup {
 public:
  using FaultySetup::FaultySetup;
  /// T3 passed, and no ABTS is answered yet: the retry waits for that.
  void retry_awaits_abort(runtime::TimeNs timeout = runtime::never) {
    faults.lose(Opcode::connect_rqst);
    faults.lose(wire::RCtl::ba_acc, 2);
    ask(timeout);
    run_to(t3 + ms);
    EXPECT_EQ(client_vi->state(), vi::State::ConnectPending);
    EXPECT_EQ(log.count(wire::RCtl::abts), 1u);
  }
  /// The retry is out, and its RESP1 is lost too.
  void retry_is_unanswered(runtime::TimeNs timeout = runtime::never) {
    faults.lose(Opcode::connect_resp1, 2);
    listen(), ask(timeout);
    accept_next();
    run_to(t3 + ms);
    EXPECT_EQ(seen(Opcode::connect_rqst).size(), 2u);
  }
  /// The server accepted, and its application went away before RESP2.
  void withdrawn() {
    listen(), ask();
    accept_next();
    EXPECT_EQ(disconnect(*server, *server_vi), Return::Success);
    EXPECT_EQ(accept.result, Return::ErrorResource);
    EXPECT_EQ(server->provider.open_setups(), 1u);
  }
  void log_out() {
    server->port.remote_port(client->port.n_port_id()).log_out();
    settle();
  }
  void expect_no_retry() {
    fabric.run_for(30 * s);
    EXPECT_EQ(client->provider.open_setups(), 0u);
    EXPECT_LE(seen(Opcode::connect_rqst).size(), 1u);
  }
};

// --- the client, while the first try is being aborted (C.3 rule 3) -----------------------------------------------

// FC-VI 8.2 c), C.5.2: T1.
TEST_F(SetupEnd, retryAborting_t1Expires_isTimeout) {
  retry_awaits_abort(15 * s);
  EXPECT_EQ(asked(), Return::Timeout);
  EXPECT_EQ(fabric.scheduler.now(), called + 15 * s);
  EXPECT_EQ(client_vi->state(), vi::State::Idle);
  expect_no_retry();
}

// VI-ARCH 5.2, VI-DG 3.3.5: VipDisconnect.
TEST_F(SetupEnd, retryAborting_disconnect_isIdle) {
  retry_awaits_abort();
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  EXPECT_EQ(request.result, Return::ErrorResource);
  EXPECT_EQ(client_vi->state(), vi::State::Idle);
  expect_no_retry();
}

// FC-VI 7.7.1, VI-DG 3.3.4, ruling 79: the port logs out: the retry goes with a new login; it logs out again:
// nobody is there.
TEST_F(SetupEnd, retryAborting_logoutTwice_isNotReachable) {
  retry_awaits_abort();
  faults.lose(Opcode::connect_rqst);
  log_out();
  EXPECT_FALSE(request.result.has_value());
  frames();
  log_out();
  EXPECT_EQ(request.result, Return::NotReachable);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  EXPECT_EQ(client->provider.open_setups(), 0u);
  faults.clear();
  expect_no_retry();
}

// FC-VI 5.9.4.6, C.5.9.2: T2 of the server runs out meanwhile, and its application disconnects: CONN_SETUP_ABORT with
// our id ends our side too.
TEST_F(SetupEnd, retryAborting_serverAborts_isNotReachable) {
  faults.lose(Opcode::connect_resp1);
  faults.lose(wire::RCtl::ba_acc, 2);
  listen(), ask();
  accept_next();
  EXPECT_EQ(accepted(), Return::Timeout);
  EXPECT_FALSE(request.result.has_value());
  EXPECT_EQ(disconnect(*server, *server_vi), Return::Success);
  EXPECT_EQ(request.result, Return::NotReachable);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  expect_no_retry();
}

// FC-VI C.3 rule 2 b), 7.7.1: T1 passed, and the ABTS is not answered: a logout ends that, too.
TEST_F(SetupEnd, aborting_logout_leavesNothing) {
  faults.lose(Opcode::connect_rqst);
  faults.lose(wire::RCtl::ba_acc);
  ask(5 * s);
  run_to(t3 + ms);
  EXPECT_EQ(request.result, Return::Timeout);
  EXPECT_EQ(client->provider.open_setups(), 1u);
  EXPECT_EQ(client->port.open_exchanges(), 1u);
  log_out();
  EXPECT_EQ(client->provider.open_setups(), 0u);
  EXPECT_EQ(client->port.open_exchanges(), 0u);
}

// --- the client, while the retry is out (8.2 c) -----------------------------------------------------------------

// FC-VI 8.2 c), C.5.2: T1; the server's RESP1 is refused as too late by T3's ABTS.
TEST_F(SetupEnd, retried_t1Expires_isTimeout) {
  retry_is_unanswered(15 * s);
  EXPECT_EQ(asked(), Return::Timeout);
  EXPECT_EQ(fabric.scheduler.now(), called + 15 * s);
  EXPECT_EQ(client_vi->state(), vi::State::Idle);
  expect_no_retry();
}

// VI-ARCH 5.2, VI-DG 3.3.5: VipDisconnect.
TEST_F(SetupEnd, retried_disconnect_isIdle) {
  retry_is_unanswered();
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  EXPECT_EQ(request.result, Return::ErrorResource);
  EXPECT_EQ(client_vi->state(), vi::State::Idle);
  expect_no_retry();
}

// --- the client, Connected and without RESP3 (C.3 rule 5) -------------------------------------------------------

// FC-VI 8.5.3 a) 3), C.5.10.1: T3: Error and told, once; the set-up is over with the answer to its ABTS.
TEST_F(SetupEnd, awaitResp3_t3Expires_isLost) {
  faults.lose(Opcode::connect_resp3);
  listen(), ask();
  accept_next();
  EXPECT_EQ(asked(), Return::Success);
  run_to(t3 + ms);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  EXPECT_EQ(client->count(vi::ErrorCode::ConnLost), 1);
  EXPECT_EQ(log.count(wire::RCtl::abts), 1u);
  EXPECT_EQ(client->provider.open_setups(), 0u);
  EXPECT_EQ(client->provider.resting_connection_ids(), 1u);
  expect_nothing_left();
}

// --- the server, while its application decides (C.4 rule 8) -----------------------------------------------------

// FC-VI C.4 rule 8: the application accepts between the ABTS and the retry: the retry hears of it.
TEST_F(SetupEnd, awaitRetry_accept_retryConnects) {
  faults.lose(wire::RCtl::ba_acc);  // so the retry comes with the answer to the second ABTS
  listen(), ask();
  ASSERT_TRUE(offered());
  run_to(t3 + ms);
  accept_offer();
  settle();
  EXPECT_TRUE(seen(Opcode::connect_resp1).empty());
  EXPECT_EQ(asked(), Return::Success);
  EXPECT_EQ(accepted(), Return::Success);
  EXPECT_TRUE(message_flows());
  expect_nothing_left();
}

// FC-VI 7.7.1, 8.5.3 c), VI-DG 3.3.2, ruling 207: the client's port logs out between: the offer is void, and the client
// out of reach.
TEST_F(SetupEnd, awaitRetry_logout_offerIsVoid) {
  faults.lose(wire::RCtl::ba_acc, 2);
  listen(), ask();
  ASSERT_TRUE(offered());
  run_to(t3 + ms);
  log_out();
  EXPECT_EQ(server->provider.open_setups(), 0u);
  accept_offer();
  EXPECT_EQ(accepted(), Return::NotReachable);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  faults.clear();
}

// FC-VI 5.9.4.6, VI-DG 6.7: no ABTS comes through; the client, which gave up after its retry, says
// so by CONN_SETUP_ABORT.
TEST_F(SetupEnd, offered_setupAborted_offerIsVoid) {
  faults.lose(wire::RCtl::abts, support::IuFaults::always);
  listen(), ask();
  ASSERT_TRUE(offered());
  EXPECT_EQ(asked(), Return::NotReachable);
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  EXPECT_EQ(seen(Opcode::disconnect_resp).at(0).word(3), 0x004B0000u);
  accept_offer();
  EXPECT_EQ(accepted(), Return::Timeout);
  EXPECT_EQ(server->provider.open_setups(), 0u);
  faults.clear();
}

// FC-VI 5.9.4.6: the same for a request that was rejected.
TEST_F(SetupEnd, refused_setupAborted_isOver) {
  faults.lose(wire::RCtl::abts, support::IuFaults::always);
  faults.lose(Opcode::connect_resp1, 2);
  listen(), ask();
  ASSERT_TRUE(offered());
  run_to(31 * s);  // both ABTS were sent in vain, and the retry is out
  server->provider.connect_reject(wait.token, accept);
  EXPECT_EQ(asked(), Return::NotReachable);
  EXPECT_EQ(server->provider.open_setups(), 1u);
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  EXPECT_EQ(seen(Opcode::disconnect_resp).at(0).word(3), 0x004B0000u);
  EXPECT_EQ(server->provider.open_setups(), 0u);
  faults.clear();
}

// FC-VI C.4 rule 6 b) 2), 8.5.3 d): rejected, and no RESP2: T2 ends it without a word, and its id rests.
TEST_F(SetupEnd, refused_t2Expires_isOver) {
  faults.lose(Opcode::connect_resp2);
  faults.lose(wire::RCtl::abts, 2);
  listen(), ask();
  ASSERT_TRUE(offered());
  server->provider.connect_reject(wait.token, accept);
  run_to(t2 - ms);
  EXPECT_EQ(server->provider.open_setups(), 1u);
  EXPECT_EQ(server->provider.resting_connection_ids(), 0u);
  run_to(t2 + ms);
  EXPECT_EQ(server->provider.open_setups(), 0u);
  EXPECT_EQ(server->provider.resting_connection_ids(), 1u);
  EXPECT_EQ(request.result, Return::Reject);
  EXPECT_TRUE(server->errors.empty());
}

// --- the server, after it accepted (C.4, C.5.9) -----------------------------------------------------------------

// FC-VI 7.7.1, 8.5.3 c): accepted; aborted; the port logs out before the retry: VIP_NOT_REACHABLE, Error and told.
TEST_F(SetupEnd, acceptedAwaitRetry_logout_isNotReachable) {
  faults.lose(Opcode::connect_resp1);
  faults.lose(wire::RCtl::ba_acc, 2);
  listen(), ask();
  accept_next();
  run_to(t3 + ms);
  log_out();
  EXPECT_EQ(accept.result, Return::NotReachable);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  EXPECT_EQ(server->count(vi::ErrorCode::ConnLost), 1);
  EXPECT_EQ(server->provider.open_setups(), 0u);
  faults.clear();
}

// FC-VI D.1 rule 3, C.5.9.1: the application went away, the client's RESP2 is lost, and then it disconnects: there is
// no connection here. What is left of the set-up ends with the ABTS of T3.
TEST_F(SetupEnd, withdrawn_clientDisconnects_isOverWithT3) {
  faults.lose(Opcode::connect_resp2);
  withdrawn();
  EXPECT_EQ(asked(), Return::Success);
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  EXPECT_EQ(seen(Opcode::disconnect_resp).at(0).word(3), 0x004A0000u);
  EXPECT_EQ(client_vi->state(), vi::State::Idle);
  run_to(t3 + ms);
  EXPECT_EQ(server->provider.open_setups(), 0u);
  EXPECT_TRUE(server->errors.empty());
}

// FC-VI C.4 rule 6 b) 2): ... and where nothing comes at all T2 ends it; its id rests.
TEST_F(SetupEnd, withdrawn_t2Expires_isOver) {
  faults.lose(Opcode::connect_resp2);
  faults.lose(wire::RCtl::abts, 2);
  withdrawn();
  run_to(t2 + ms);
  EXPECT_EQ(server->provider.open_setups(), 0u);
  EXPECT_EQ(server->provider.resting_connection_ids(), 1u);
  EXPECT_TRUE(server->errors.empty());
  EXPECT_EQ(server_vi->state(), vi::State::Idle);
}

// FC-VI 7.7.1, 8.5.3 c): ... a logout does so at once.
TEST_F(SetupEnd, withdrawn_logout_isOver) {
  faults.lose(Opcode::connect_resp2);
  withdrawn();
  log_out();
  EXPECT_EQ(server->provider.open_setups(), 0u);
  EXPECT_EQ(server->port.open_exchanges(), 0u);
  EXPECT_TRUE(server->errors.empty());
}

/// T3 is 40 s, R_A_TOV 10 s: two ABTS in vain still leave T2 its time.
class PatientEnd : public SetupEnd {
 public:
  PatientEnd() : SetupEnd(support::with_ulp_timeout(40 * s)) {}
};
// FC-VI C.4 rule 8: ... and a retry hears that nobody is there any more.
TEST_F(PatientEnd, withdrawn_retry_isRefused) {
  faults.lose(Opcode::connect_resp1);
  faults.lose(wire::RCtl::abts, 2);
  withdrawn();
  EXPECT_EQ(asked(), Return::Reject);
  EXPECT_GT(elapsed(), 59 * s);
  const auto resp1 = seen(Opcode::connect_resp1);
  ASSERT_EQ(resp1.size(), 1u);
  EXPECT_EQ(resp1[0].word(3), 0x00040000u);
  EXPECT_EQ(resp1[0].flags() & 4u, 4u);  // RETRY
  EXPECT_EQ(server->provider.resting_connection_ids(), 1u);
  settle();
  EXPECT_EQ(server->provider.open_setups(), 0u);
}

// --- disconnects that fail (8.6.3 a) ------------------------------------------------------------------------------

// FC-VI 8.6.2 a), D.1 rule 1 c): the first request is lost, the answer to the second is no DISCONNECT_RESP, and the
// last of its Exchange: VIP_NOT_REACHABLE at once.
TEST_F(SetupEnd, disconnectRetried_answerGarbled_isNotReachable) {
  connect_pair();
  faults.lose(Opcode::disconnect_rqst);
  faults.alter(Opcode::disconnect_resp,
               [](fc2::Frame& frame) { frame.bytes[24 + 4] = static_cast<std::uint8_t>(Opcode::connect_resp3); });
  const auto started = fabric.scheduler.now();
  EXPECT_EQ(disconnect(*client, *client_vi), Return::NotReachable);
  EXPECT_LT(fabric.scheduler.now(), started + t3 + ms);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  expect_nothing_left();
}

// FC-VI 7.7.1, 8.4.2 g): a logout answers what the second DISCONNECT_RQST waits for.
TEST_F(SetupEnd, disconnectRetried_logout_succeeds) {
  connect_pair();
  faults.lose(Opcode::disconnect_rqst, 2);
  client->provider.disconnect(*client_vi, accept);
  accept.result.reset();
  fabric.run_for(t3 + ms);
  EXPECT_EQ(seen(Opcode::disconnect_rqst).size(), 2u);
  EXPECT_FALSE(accept.result.has_value());
  log_out();
  EXPECT_EQ(accept.result, Return::Success);
  EXPECT_EQ(client_vi->state(), vi::State::Idle);
}

// FC-VI 8.2 e), 8.4.2 g): unanswered, the VI stays in Error; after a logout its VipDisconnect needs no IU.
TEST_F(SetupEnd, disconnectUnanswered_logout_nextNeedsNoIu) {
  connect_pair();
  faults.lose(Opcode::disconnect_rqst, 2);
  EXPECT_EQ(disconnect(*client, *client_vi), Return::NotReachable);
  log_out();
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  frames();
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  EXPECT_TRUE(seen(Opcode::disconnect_rqst).empty());
  EXPECT_EQ(client_vi->state(), vi::State::Idle);
}

}  // namespace
