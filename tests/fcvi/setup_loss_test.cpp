// Lost IUs of set-ups, one at a time, and what both sides make of it (FC-VI 8.3, 8.5, C.3 to C.5).
#include "tests/fcvi/setup_fixture.hpp"
#include "tests/support/times.hpp"
#include "wire/fcvi/disconnect_rqst.hpp"

namespace {
using support::expect_frame;
using support::ms;
using support::WireFrame;
using vi::Return;
using Opcode = wire::fcvi::Opcode;

class SetupLoss : public support::FaultySetup {};

// FC-VI C.4 rule 11, C.5.7.2: the first CONNECT_RQST is lost: the retried one is new to the server, and
// answered with RETRY.
TEST_F(SetupLoss, connectRqst_lost_retryIsANewRequest) {
  faults.lose(Opcode::connect_rqst);
  listen(), ask();
  accept_next();
  EXPECT_EQ(asked(), Return::Success);
  EXPECT_EQ(accepted(), Return::Success);
  settle();
  const auto iu = frames();
  ASSERT_EQ(iu.size(), 5u);
  EXPECT_EQ(iu[0].flags(), 0x01u);
  EXPECT_EQ(iu[1].flags(), 0x11u);
  EXPECT_EQ(iu[2].flags() | iu[3].flags() | iu[4].flags(), 0x04u);
  EXPECT_EQ(iu[2].flags() & iu[3].flags() & iu[4].flags(), 0x04u);
  EXPECT_EQ(iu[1].word(7), connection_id + 1);
  EXPECT_TRUE(message_flows());
  expect_nothing_left();
}

// FC-VI C.4 rule 8, C.5.8: RESP1 is lost: the retry gets the same RESP1 again, but for RETRY,
// Exchange and FCVI_CONNECTION_ID.
TEST_F(SetupLoss, resp1_lost_retryGetsTheSameAgain) {
  std::vector<std::uint8_t> lost;
  faults.capture(Opcode::connect_resp1, lost);
  listen(), ask();
  accept_next();
  EXPECT_EQ(asked(), Return::Success);
  EXPECT_EQ(accepted(), Return::Success);
  EXPECT_GE(elapsed(), t3);
  EXPECT_LT(elapsed(), t3 + ms);
  settle();
  const auto iu = frames();
  const auto resp1 =
      std::find_if(iu.rbegin(), iu.rend(), [](const WireFrame& frame) { return frame.opcode() == 0x18; });
  ASSERT_NE(resp1, iu.rend());
  expect_frame(*resp1, {false, 0x03, 0x890008, 2, 0x18, 0x04, nobody, 0, 0, 0, 0, connection_id + 1, 340},
               "CONNECT_RESP1");
  ASSERT_EQ(lost.size(), resp1->data.size());
  EXPECT_TRUE(std::equal(lost.begin() + 32, lost.end(), resp1->data.begin() + 32));
  EXPECT_EQ(lost[5], 0);
  EXPECT_TRUE(message_flows());
  expect_nothing_left();
}

// FC-VI 8.4.2 f), 8.5.3 a) 3), C.3 rule 5, C.5.9.1, Figure C.5: RESP2 is lost: the client is Connected, and in Error
// after T3; the server learns it by the DISCONNECT_RQST.
TEST_F(SetupLoss, resp2_lost_clientLosesConnection) {
  faults.lose(Opcode::connect_resp2);
  const auto receive = client->descriptor(0, {{client->data, 64}});
  client_vi->post_receive(receive, client->handle);
  listen(), ask();
  accept_next();
  EXPECT_EQ(asked(), Return::Success);
  server_vi->post_receive(server->descriptor(0, {{server->data, 64}}), server->handle);
  const auto send = client->descriptor(vi::control::immediate, {}, 0, {}, 1);
  client_vi->post_send(send, client->handle);
  run_to(t3 - 1);
  EXPECT_EQ(client_vi->state(), vi::State::Connected);
  EXPECT_EQ(client->status(send), 0u);  // C.5.1: nothing completes before RESP3
  run_to(t3);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  EXPECT_EQ(client->count(vi::ErrorCode::ConnLost), 1);
  EXPECT_EQ(client->status(receive), vi::status::done | vi::status::flushed | vi::status::op_receive);
  EXPECT_EQ(client->status(send), vi::status::done | vi::status::flushed | vi::status::op_send);
  settle();
  EXPECT_EQ(log.count(wire::RCtl::abts), 1u);
  EXPECT_EQ(log.count(wire::RCtl::ba_acc), 1u);
  EXPECT_EQ(client->provider.resting_connection_ids(), 1u);  // CSerr
  EXPECT_EQ(server_vi->state(), vi::State::ConnectPending);
  frames();

  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  EXPECT_EQ(accepted(), Return::Timeout);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  EXPECT_EQ(server->count(vi::ErrorCode::ConnLost), 1);
  const auto iu = frames();
  ASSERT_EQ(iu.size(), 2u);
  expect_frame(iu[0], {true, 0x02, 0x290008, 2, 0x12, 0x03, server_handle, 0, 0x00400000, 0, 0, 0}, "DISCONNECT_RQST");
  expect_frame(iu[1], {false, 0x03, 0x980008, 2, 0x1B, 0x03, client_handle, 1, 0x004B0000}, "DISCONNECT_RESP");
  expect_nothing_left();
}

// FC-VI 8.4.2 e), C.5.5: RESP2 is late, and a message without a descriptor comes first: the accepting endpoint is in
// Error, the call returns, and the late RESP2 is refused in RESP3 (5.9.4.5, 6.11.2): the client learns it by that.
TEST_F(SetupLoss, accepting_earlyMessageWithoutDescriptor_isLost) {
  faults.hold(Opcode::connect_resp2, runtime::second);
  listen(), ask();
  accept_next();
  EXPECT_EQ(asked(), Return::Success);
  client_vi->post_send(client->descriptor(vi::control::immediate, {}, 0, {}, 1), client->handle);
  settle();
  EXPECT_EQ(accept.result, Return::Timeout);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  EXPECT_EQ(server->count(vi::ErrorCode::ConnLost), 1);
  EXPECT_EQ(client_vi->state(), vi::State::Connected);
  run_to(runtime::second + ms);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  EXPECT_EQ(client->count(vi::ErrorCode::ConnLost), 1);
  const auto resp3 = seen(Opcode::connect_resp3);
  ASSERT_EQ(resp3.size(), 1u);
  expect_frame(resp3[0], {false, 0x03, 0x980008, 2, 0x1A, 0x01, nobody, 0, 0x00040000, 0, 0, connection_id, 0, 1},
               "CONNECT_RESP3");
  expect_nothing_left();
}

// FC-VI 8.5.3 d), C.4 rule 6 b), C.5.2, C.5.9.2: the same, and the client does not disconnect: T2 ends it
// at the server.
TEST_F(SetupLoss, resp2_lost_t2EndsTheServer) {
  faults.lose(Opcode::connect_resp2);
  faults.lose(wire::RCtl::abts, 2);
  const auto receive = server->descriptor(0, {{server->data, 64}});
  server_vi->post_receive(receive, server->handle);
  listen(), ask();
  accept_next();
  const auto answered = fabric.scheduler.now();
  fabric.scheduler.run_until(answered + t2 - 1);
  EXPECT_FALSE(accept.result.has_value());
  fabric.scheduler.run_until(answered + t2);
  EXPECT_EQ(accept.result, Return::Timeout);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  EXPECT_EQ(server->count(vi::ErrorCode::ConnLost), 1);
  EXPECT_EQ(server->status(receive), vi::status::done | vi::status::flushed | vi::status::op_receive);
  EXPECT_EQ(server->provider.resting_connection_ids(), 1u);
  settle();
  expect_nothing_left();
}

// FC-VI C.5.10.1, Figure C.6: RESP3 is lost: the server is Connected until the client's DISCONNECT_RQST. Its message
// before T3 arrives (F.1).
TEST_F(SetupLoss, resp3_lost_serverConnectedUntilDisconnect) {
  faults.lose(Opcode::connect_resp3);
  const auto receive = client->descriptor(0, {{client->data, 64}});
  client_vi->post_receive(receive, client->handle);
  listen(), ask();
  accept_next();
  EXPECT_EQ(asked(), Return::Success);
  EXPECT_EQ(accepted(), Return::Success);
  const auto send = server->descriptor(vi::control::immediate, {}, 0, {}, 7);
  server_vi->post_send(send, server->handle);
  settle();
  EXPECT_EQ(server->status(send), vi::status::done | vi::status::op_send);
  EXPECT_EQ(client->status(receive), vi::status::done | vi::status::op_receive | vi::status::immediate);
  run_to(t3 - 1);
  EXPECT_EQ(client_vi->state(), vi::State::Connected);
  run_to(t3 + ms);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  EXPECT_EQ(client->count(vi::ErrorCode::ConnLost), 1);
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
  run_to(3 * t3);
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
  frames();
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  EXPECT_EQ(server->count(vi::ErrorCode::ConnLost), 1);
  // C.5.9.1: the cause; FCVI_MSG_ID of the message that the client completed (6.12.2).
  const auto iu = frames();
  ASSERT_EQ(iu.size(), 2u);
  expect_frame(iu[0], {true, 0x02, 0x290008, 2, 0x12, 0x03, server_handle, 1, 0x00400000}, "DISCONNECT_RQST");
  expect_nothing_left();
}

// FC-VI C.3 rule 2, C.5.7.1, Figure C.3: T1 < T3, the CONNECT_RQST is lost: VIP_TIMEOUT at T1, ABTS and BA_ACC at
// T3, no retry.
TEST_F(SetupLoss, connectRqst_lostWithT1Shorter_isNotRetried) {
  faults.lose(Opcode::connect_rqst);
  listen(), ask(3 * runtime::second);
  EXPECT_EQ(asked(), Return::Timeout);
  EXPECT_EQ(fabric.scheduler.now() - called, 3 * runtime::second);
  EXPECT_EQ(client_vi->state(), vi::State::Idle);
  run_to(t3 - 1);
  EXPECT_EQ(log.count(wire::RCtl::abts), 0u);
  run_to(t3 + ms);
  EXPECT_EQ(log.count(wire::RCtl::abts), 1u);
  EXPECT_EQ(log.count(wire::RCtl::ba_acc), 1u);
  EXPECT_EQ(client->provider.resting_connection_ids(), 1u);  // 8.5.3 a) b)
  run_to(2 * t3 - 1);
  EXPECT_EQ(client->provider.resting_connection_ids(), 1u);
  run_to(2 * t3);
  EXPECT_EQ(client->provider.resting_connection_ids(), 0u);
  EXPECT_EQ(client->provider.handles_in_use(), 0u);
  EXPECT_EQ(frames().size(), 1u);
  EXPECT_FALSE(wait.result.has_value());
}

// FC-VI C.5.8, Figure C.4: the same with RESP1: the server has the set-up until T2, and accepts a
// DISCONNECT_RQST for it.
TEST_F(SetupLoss, resp1_lostWithT1Shorter_serverTimesOut) {
  faults.lose(Opcode::connect_resp1);
  listen(), ask(3 * runtime::second);
  accept_next();
  EXPECT_EQ(asked(), Return::Timeout);
  EXPECT_EQ(client_vi->state(), vi::State::Idle);
  EXPECT_EQ(accepted(), Return::Timeout);
  EXPECT_GE(elapsed(), t2);
  EXPECT_LT(elapsed(), t2 + ms);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  EXPECT_EQ(log.count(wire::RCtl::abts), 1u);
  EXPECT_EQ(seen(Opcode::connect_rqst).size(), 1u);
  expect_nothing_left();
}

// FC-VI 8.2 c) and its note: the retry is refused: Idle, and the call says why; an error code: Error.
struct Refusal {
  Return expected;
  vi::State state;
  void (*act)(SetupLoss&);
};
class RetryRefused : public SetupLoss, public ::testing::WithParamInterface<Refusal> {};
TEST_P(RetryRefused, pendingRetry_resp1Refuses) {
  faults.lose(Opcode::connect_rqst);
  ask();
  run_to(9 * runtime::second);
  GetParam().act(*this);
  EXPECT_EQ(asked(), GetParam().expected);
  EXPECT_EQ(client_vi->state(), GetParam().state);
  EXPECT_EQ(seen(Opcode::connect_rqst).size(), 2u);
  expect_nothing_left();
}
void say(SetupLoss& test, wire::fcvi::Reason reason) {
  test.faults.alter(Opcode::connect_resp1,
                    [reason](fc2::Frame& frame) { frame.bytes[24 + 13] = static_cast<std::uint8_t>(reason); });
}
INSTANTIATE_TEST_SUITE_P(
    Reasons, RetryRefused,
    ::testing::Values(Refusal{Return::NoMatch, vi::State::Idle, [](SetupLoss&) {}},
                      Refusal{Return::NoMatch, vi::State::Idle,
                              [](SetupLoss& test) { say(test, wire::fcvi::Reason::no_discriminator_match); }},
                      Refusal{Return::Reject, vi::State::Idle,
                              [](SetupLoss& test) { say(test, wire::fcvi::Reason::connect_reject); }},
                      Refusal{Return::NotReachable, vi::State::Error,
                              [](SetupLoss& test) { say(test, wire::fcvi::Reason::connect_reject_protocol_error); }},
                      Refusal{Return::NotReachable, vi::State::Error,
                              [](SetupLoss& test) { say(test, wire::fcvi::Reason::connect_reject_transport_error); }}));

// --- the abort, and its second level -----------------------------------------------------------------------------

// FC-VI C.3 rule 3 b), ruling 31: BA_ACC is lost: ABTS again after R_A_TOV; the retry waits for the end of the abort.
TEST_F(SetupLoss, baAcc_lost_abtsAgainThenRetry) {
  faults.lose(Opcode::connect_rqst);
  faults.lose(wire::RCtl::ba_acc);
  listen(), ask();
  run_to(2 * t3 - 1);
  EXPECT_EQ(log.count(wire::RCtl::abts), 1u);
  EXPECT_EQ(client_vi->endpoint_state_name(), "PendingConnectRetry");
  run_to(2 * t3);
  EXPECT_EQ(log.count(wire::RCtl::abts), 2u);
  EXPECT_EQ(frames().size(), 1u);
  accept_next();
  EXPECT_EQ(asked(), Return::Success);
  EXPECT_LT(elapsed(), 2 * t3 + ms);
  EXPECT_EQ(accepted(), Return::Success);
  settle();
  expect_nothing_left();
}

// ... and where no ABTS is answered the retry goes R_A_TOV later; no port is logged out.
TEST_F(SetupLoss, abts_unanswered_retryGoesAllTheSame) {
  faults.lose(Opcode::connect_rqst);
  faults.lose(wire::RCtl::abts, 2);
  listen(), ask();
  run_to(3 * t3 - 1);
  EXPECT_EQ(seen(Opcode::connect_rqst).size(), 1u);
  accept_next();
  EXPECT_EQ(asked(), Return::Success);
  EXPECT_GE(elapsed(), 3 * t3);
  EXPECT_TRUE(client->port.remote_port(server->port.n_port_id()).logged_in());
  EXPECT_EQ(accepted(), Return::Success);
  settle();
  expect_nothing_left();
}

// FC-VI C.3 rule 2 b): T1 is over when ABTS goes unanswered: the set-up ends, the endpoint is not concerned.
TEST_F(SetupLoss, abts_unansweredAfterT1_ends) {
  faults.lose(Opcode::connect_rqst);
  faults.lose(wire::RCtl::abts, 2);
  ask(runtime::second);
  EXPECT_EQ(asked(), Return::Timeout);
  run_to(3 * t3 - 1);
  EXPECT_EQ(client->provider.open_setups(), 1u);
  run_to(3 * t3 + ms);
  EXPECT_EQ(client->provider.open_setups(), 0u);
  EXPECT_EQ(frames().size(), 1u);
}

class SecondLevel : public support::FaultySetup {
 public:
  SecondLevel() : FaultySetup({}, [](fc2::NPortConfig& config, std::size_t) { config.log_out_silent_ports = true; }) {}
};
// FC-VI C.3 rules 2 b), 3 b) c), 7.7.1: second-level recovery, where it is configured: the port is logged out, and
// every connection with it ends. The retry needs a new login, which nobody answers: the call returns VIP_NOT_REACHABLE.
TEST_F(SecondLevel, abts_unanswered_logsOut) {
  connect_pair();
  vi::Vi& connected = *client_vi;
  client_vi = &client->make_vi(Level::ReliableDelivery);
  faults.lose_all();
  ask();
  run_to(3 * t3 - 1);
  EXPECT_FALSE(request.result.has_value());
  EXPECT_EQ(connected.state(), vi::State::Connected);
  run_to(3 * t3);
  EXPECT_EQ(connected.state(), vi::State::Error);
  EXPECT_EQ(asked(), Return::NotReachable);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  EXPECT_EQ(client->count(vi::ErrorCode::ConnLost), 1);
  EXPECT_EQ(log.sent(wire::els::Command::logo), 1u);
  EXPECT_EQ(client->provider.resting_connection_ids(), 0u);  // 8.5.3 c)
  faults.clear();
  EXPECT_EQ(disconnect(*client, connected), Return::Success);
  fabric.run_for(60 * runtime::second);
  EXPECT_EQ(server_vi->state(), vi::State::Error);  // LOGO came through in the end
  EXPECT_EQ(disconnect(*server, *server_vi), Return::Success);
}

// --- ports that lack a bit ---------------------------------------------------------------------------------------

template <bool fc2::NPortConfig::*Bit>
class ClientLacks : public support::FaultySetup {
 public:
  ClientLacks() : FaultySetup({}, [](fc2::NPortConfig& config, std::size_t i) { config.*Bit = i != 0; }) {}
  void expect_invalid_service_parm() {
    listen(), ask();
    EXPECT_EQ(asked(), Return::NotReachable);
    EXPECT_EQ(client_vi->state(), vi::State::Error);
    EXPECT_FALSE(wait.result.has_value());
    settle();
    const auto resp1 = seen(Opcode::connect_resp1);
    ASSERT_EQ(resp1.size(), 1u);
    expect_frame(resp1[0], {false, 0x03, 0x890008, 2, 0x18, 0x01, nobody, 0, 0x00200000, 0, 0, connection_id, 340},
                 "CONNECT_RESP1");
    expect_nothing_left();
    server->provider.withdraw(wait);
  }
};
using ClientLacksS = ClientLacks<&fc2::NPortConfig::continuously_increasing_seq_cnt>;
using ClientLacksC = ClientLacks<&fc2::NPortConfig::continuously_increasing_relative_offset>;
// FC-VI 5.6, 5.9.7.2.2: the request of a port without (S) is refused in RESP1 with 20h.
TEST_F(ClientLacksS, connectRqst_isInvalidServiceParm) { expect_invalid_service_parm(); }
// FC-VI 5.6, 5.9.7.2.2: ... and of one without (C).
TEST_F(ClientLacksC, connectRqst_isInvalidServiceParm) { expect_invalid_service_parm(); }

// --- broken exchanges --------------------------------------------------------------------------------------------

// FC-VI 8.5.2 a), 8.5.3 d): the responder's half: a Sequence error in its set-up's Exchange: Error, VIP_TIMEOUT.
TEST_F(SetupLoss, resp2_sequenceError_endsTheServer) {
  faults.alter(Opcode::connect_resp2, [](fc2::Frame& frame) { frame.bytes[15] = 9; });  // SEQ_CNT
  listen(), ask();
  accept_next();
  settle();
  EXPECT_EQ(accept.result, Return::Timeout);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  EXPECT_EQ(server->count(vi::ErrorCode::ConnLost), 1);
  EXPECT_EQ(server->provider.resting_connection_ids(), 1u);
  run_to(t3 + ms);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  expect_nothing_left();
}

// FC-VI 8.6.2 a), 8.6.3 b): a DISCONNECT_RQST whose Sequence is broken is ignored: no answer, the connection stands;
// the retried one ends it.
TEST_F(SetupLoss, disconnectRqst_sequenceError_isIgnored) {
  connect_pair();
  faults.alter(Opcode::disconnect_rqst, [](fc2::Frame& frame) {
    frame.eof = wire::Eof::n;  // the last frame is missing
    frame.bytes[9] &= 0xF6;    // F_CTL: neither End_Sequence nor Sequence Initiative
  });
  support::Done done;
  begun = fabric.scheduler.now();
  client->provider.disconnect(*client_vi, done);
  run_to(t3 - 1);
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
  EXPECT_EQ(frames().size(), 1u);
  run_to(t3 + ms);
  EXPECT_EQ(done.result, Return::Success);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  expect_nothing_left();
}
}  // namespace
