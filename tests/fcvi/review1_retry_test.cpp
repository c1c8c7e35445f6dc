// States of the originator's retry that no test above the machine reaches (docs/conformance/mutation.md: "does not fire there").
// All pass but where the comment says otherwise. Not in CMake.
#include "tests/fcvi/setup_fixture.hpp"

namespace {
using support::Done;
using vi::Return;
using Opcode = wire::fcvi::Opcode;

class ReviewRetry : public support::FaultySetup {
 public:
  void await_retry_abort(fc2::TimeNs t1 = vi::infinite) {
    faults.lose(Opcode::connect_rqst);
    faults.hold(wire::RCtl::ba_acc, 5 * fc2::second);
    ask(t1);
    run_to(11 * fc2::second);
  }
  void left(Return result, vi::State state) {
    EXPECT_EQ(request.result, result);
    EXPECT_EQ(client_vi->state(), state);
    expect_nothing_left();
  }
};
TEST_F(ReviewRetry, abort_t1) { await_retry_abort(12 * fc2::second); run_to(13 * fc2::second); left(Return::Timeout, vi::State::Idle); }
TEST_F(ReviewRetry, abort_disconnect) {
  await_retry_abort();
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  left(Return::ErrorResource, vi::State::Idle);
}
TEST_F(ReviewRetry, abort_clientLogsOut) {
  await_retry_abort();
  client->port.remote_port(server->port.n_port_id()).log_out(), settle();
  left(Return::NotReachable, vi::State::Error);
}
TEST_F(ReviewRetry, abort_serverLogsOut) {
  await_retry_abort();
  server->port.remote_port(client->port.n_port_id()).log_out(), settle();
  left(Return::NotReachable, vi::State::Error);
}
TEST_F(ReviewRetry, abort_detached) {
  await_retry_abort();
  client->provider.detach(*client_vi);
  client_vi->transport_context = nullptr;
  EXPECT_TRUE(request.result.has_value());
  fabric.run_for(60 * fc2::second);
  EXPECT_EQ(client->provider.handles_in_use(), 0u);
  EXPECT_EQ(client->port.open_exchanges(), 0u);
}
TEST_F(ReviewRetry, retry_t1) {
  faults.lose(Opcode::connect_rqst, 2);
  ask(15 * fc2::second);
  run_to(16 * fc2::second);
  left(Return::Timeout, vi::State::Idle);
}
TEST_F(ReviewRetry, lateResp1_afterAbort) {
  faults.hold(Opcode::connect_resp1, 12 * fc2::second);
  listen(), ask();
  accept_next();
  EXPECT_EQ(asked(), Return::Success);
  EXPECT_EQ(accepted(), Return::Success);
  run_to(14 * fc2::second);
  EXPECT_EQ(client_vi->state(), vi::State::Connected);
  EXPECT_TRUE(message_flows());
  expect_nothing_left();
}
TEST_F(ReviewRetry, offered_setupAbort) {  // 5.9.4.6: the offer is withdrawn
  faults.lose(Opcode::connect_resp1, 2);
  faults.lose(wire::RCtl::abts, 4);
  listen(), ask();
  ASSERT_TRUE(offered());
  EXPECT_EQ(asked(), Return::NotReachable);
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  accept_offer();
  EXPECT_EQ(accepted(), Return::Timeout);
  EXPECT_EQ(server_vi->state(), vi::State::Idle);
  faults.clear();
  fabric.run_for(60 * fc2::second);
  EXPECT_EQ(server->provider.open_setups(), 0u);
}
// FC-VI 8.5.2 c), C.5.2: T2 "is set when a FCVI_CONNECT_RESP1 is sent". The client's ABTS came before the server's application
// accepted; no RESP1 ever went. T2 has run since the ABTS all the same, and ends in Error and VIP_ERROR_CONN_LOST: nothing was lost,
// since nothing was offered to the client (ruling 36: "accepting a request whose client gave up: VIP_TIMEOUT").
TEST_F(ReviewRetry, acceptedAfterAbts_noResp1_isNoLostConnection) {
  listen(), ask(fc2::second);
  ASSERT_TRUE(offered());
  EXPECT_EQ(asked(), Return::Timeout);
  run_to(11 * fc2::second);  // T3, ABTS: the client is gone
  frames();
  accept_offer();
  EXPECT_EQ(accepted(), Return::Timeout);
  EXPECT_EQ(seen(Opcode::connect_resp1).size(), 0u);
  EXPECT_EQ(server->count(vi::ErrorCode::ConnLost), 0);
  EXPECT_EQ(server_vi->state(), vi::State::Idle);
}
}  // namespace
