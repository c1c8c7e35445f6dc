// IUs of set-ups that come late, twice or when their set-up is dead: a live connection does not notice (FC-VI 8.5.3,
// C.2, C.4, C.5.1, C.5.5). Timers, just before and just after (C.5.2).
#include "tests/fcvi/setup_fixture.hpp"
#include "tests/support/times.hpp"

namespace {
using support::ms;
using support::us;
using support::WireFrame;
using vi::Return;
using Opcode = wire::fcvi::Opcode;
using Level = vi::ReliabilityLevel;

class SetupLate : public support::FaultySetup {
 public:
  using FaultySetup::FaultySetup;
  /// Everything that was late is over; the connection carries a message, and nobody else was disturbed.
  void expect_connection_unhurt() {
    EXPECT_EQ(client_vi->state(), vi::State::Connected);
    EXPECT_EQ(server_vi->state(), vi::State::Connected);
    EXPECT_TRUE(message_flows());
    EXPECT_FALSE(second_wait.result.has_value());
    EXPECT_EQ(client->count(vi::ErrorCode::ConnLost) + server->count(vi::ErrorCode::ConnLost), 0);
  }
  void connect_with_faults() {
    listen(), ask();
    accept_next();
    EXPECT_EQ(asked(), Return::Success);
    EXPECT_EQ(accepted(), Return::Success);
    listen_again();
  }
};

// FC-VI C.2, 5.8.4: each IU of a set-up comes a second time: at once, after its set-up, and long after. It is counted,
// not answered, and meets nobody.
struct Twice {
  Opcode opcode;
  runtime::TimeNs delay;
};
class Duplicate : public SetupLate, public ::testing::WithParamInterface<Twice> {};
TEST_P(Duplicate, iu_comesTwice) {
  const auto discarded_before = client->discarded() + server->discarded();
  faults.repeat(GetParam().opcode, GetParam().delay);
  connect_with_faults();
  run_to(GetParam().delay + ms);
  EXPECT_EQ(client->discarded() + server->discarded(), discarded_before + 1);
  const auto iu = frames();
  const bool to_client = GetParam().opcode == Opcode::connect_resp1 || GetParam().opcode == Opcode::connect_resp3;
  EXPECT_EQ(iu.size(), to_client ? 5u : 4u);
  expect_connection_unhurt();
  second_wait.result.reset();
  expect_nothing_left();
}
INSTANTIATE_TEST_SUITE_P(Ius, Duplicate,
                         ::testing::Values(Twice{Opcode::connect_rqst, 0}, Twice{Opcode::connect_rqst, 100 * us},
                                           Twice{Opcode::connect_rqst, 5 * runtime::second},
                                           Twice{Opcode::connect_resp1, 0}, Twice{Opcode::connect_resp1, 100 * us},
                                           Twice{Opcode::connect_resp1, 5 * runtime::second},
                                           Twice{Opcode::connect_resp2, 0}, Twice{Opcode::connect_resp2, 100 * us},
                                           Twice{Opcode::connect_resp2, 5 * runtime::second},
                                           Twice{Opcode::connect_resp3, 0}, Twice{Opcode::connect_resp3, 100 * us},
                                           Twice{Opcode::connect_resp3, 5 * runtime::second}));

// FC-VI C.4 rule 8 a) 5), C.2 rule 1 a): the first CONNECT_RQST comes when its retry has made the connection already.
TEST_F(SetupLate, firstRqst_afterItsRetry_isDiscarded) {
  faults.hold(Opcode::connect_rqst, 22 * runtime::second);  // its ABTS is forgotten by then
  connect_with_faults();
  EXPECT_LT(elapsed(), 11 * runtime::second);
  run_to(23 * runtime::second);
  EXPECT_EQ(discarded(*server, fcvi::Discard::DeadSetup), 1u);
  expect_connection_unhurt();
  expect_nothing_left();
}

/// FCVI_ULP_TIMEOUT is much longer than R_A_TOV.
class PatientSetup : public SetupLate {
 public:
  PatientSetup() : SetupLate(support::with_ulp_timeout(40 * runtime::second)) {}
};
// ... or while the retry waits for the application's decision: one offer, that of the retry.
TEST_F(PatientSetup, firstRqst_whileRetryIsOffered_isDiscarded) {
  faults.hold(Opcode::connect_rqst, 52 * runtime::second);
  listen(), ask();
  ASSERT_TRUE(offered());
  listen_again();
  run_to(53 * runtime::second);
  EXPECT_EQ(discarded(*server, fcvi::Discard::DeadSetup), 1u);
  accept_offer();
  EXPECT_EQ(asked(), Return::Success);
  settle();
  expect_connection_unhurt();
  expect_nothing_left();
}

// FC-VI C.5.7.1, FC-FS 23.6.1.1: the application gave up at T1, so that no retry follows; the CONNECT_RQST comes when
// its ABTS was answered already: nobody is offered what its client does not wait for any more.
TEST_F(SetupLate, rqst_afterItsAbts_isOfferedToNobody) {
  faults.hold(Opcode::connect_rqst, 19 * runtime::second);
  listen();
  ask(5 * runtime::second);
  EXPECT_EQ(asked(), Return::Timeout);
  run_to(20 * runtime::second);
  EXPECT_EQ(discarded(*server, fc2::Discard::AbortedExchange), 1u);
  EXPECT_FALSE(wait.result.has_value());
  EXPECT_EQ(server->provider.open_setups(), 0u);
  ask();
  accept_next();
  EXPECT_EQ(asked(), Return::Success);
  EXPECT_EQ(accepted(), Return::Success);
  listen_again();
  expect_connection_unhurt();
  expect_nothing_left();
}

// FC-VI C.4 rule 8 a) 5): the first try was answered and retried: its CONNECT_RQST, a third time, finds CSerr.
TEST_F(SetupLate, answeredRqst_afterRetry_isDiscarded) {
  faults.repeat(Opcode::connect_rqst, 22 * runtime::second);  // its Exchange does not rest any more
  faults.lose(Opcode::connect_resp1);
  connect_with_faults();
  EXPECT_EQ(server->provider.resting_connection_ids(), 1u);
  run_to(23 * runtime::second);
  EXPECT_EQ(discarded(*server, fcvi::Discard::DeadSetup), 1u);
  expect_connection_unhurt();
  // C.2 rule 1 b): CSerr lasts until the Disconnect, however long that takes.
  fabric.run_for(60 * runtime::second);
  EXPECT_EQ(client->provider.resting_connection_ids(), 1u);
  EXPECT_EQ(server->provider.resting_connection_ids(), 1u);
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  EXPECT_EQ(client->provider.resting_connection_ids(), 0u);
  EXPECT_EQ(server->provider.resting_connection_ids(), 1u);
  EXPECT_EQ(disconnect(*server, *server_vi), Return::Success);
  EXPECT_EQ(server->provider.resting_connection_ids(), 0u);
}

// FC-VI C.2 rule 1 a), C.4 rule 6 b) 2): the set-up failed at T2: its RESP2, and its CONNECT_RQST once more,
// come to nobody.
TEST_F(SetupLate, rqstAndResp2_afterT2_areDiscarded) {
  faults.repeat(Opcode::connect_rqst, 35 * runtime::second);
  faults.hold(Opcode::connect_resp2, 21 * runtime::second);
  faults.lose(wire::RCtl::abts, 2);
  listen(), ask();
  accept_next();
  EXPECT_EQ(accepted(), Return::Timeout);
  listen_again();
  const auto before = server->discarded();
  run_to(36 * runtime::second);
  EXPECT_EQ(server->discarded(), before + 2);
  EXPECT_EQ(discarded(*server, fcvi::Discard::DeadSetup), 1u);
  EXPECT_FALSE(second_wait.result.has_value());
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  expect_nothing_left();
}

// FC-VI C.2 rule 1 c), 8.4.2 g), 8.5.3 c): a logout clears CSerr and frees handles at once.
TEST_F(SetupLate, logout_endsTheRest) {
  faults.lose(Opcode::connect_resp1);
  connect_with_faults();
  EXPECT_EQ(client->provider.resting_connection_ids() + server->provider.resting_connection_ids(), 2u);
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  EXPECT_EQ(disconnect(*server, *server_vi), Return::Success);
  EXPECT_EQ(client->provider.handles_in_use() + server->provider.handles_in_use(), 2u);
  server->port.remote_port(client->port.n_port_id()).log_out();
  settle();
  EXPECT_EQ(client->provider.resting_connection_ids() + server->provider.resting_connection_ids(), 0u);
  EXPECT_EQ(client->provider.handles_in_use() + server->provider.handles_in_use(), 0u);
}

// FC-VI 8.4.2 f), 8.5.3 b), C.2 rule 1 b), C.3 rule 4 b), C.3 rule 4 c), C.3 rule 4 d), C.5.5, VI-DG 3.3.4: a
// set-up that failed for good: ABTS, what was posted is flushed, and its handle and ids rest until the Disconnect ...
TEST_F(SetupLate, failedSetup_handleRests) {
  const auto receive = client->descriptor(0, {{client->data, 64}});
  client_vi->post_receive(receive, client->handle);
  faults.lose(Opcode::connect_rqst, 2);
  ask();
  EXPECT_EQ(asked(), Return::NotReachable);
  EXPECT_EQ(client->status(receive), vi::status::done | vi::status::op_receive | vi::status::flushed);
  settle();
  EXPECT_EQ(log.count(wire::RCtl::abts), 2u);
  fabric.run_for(60 * runtime::second);
  EXPECT_EQ(client->provider.handles_in_use(), 1u);
  EXPECT_EQ(client->provider.resting_connection_ids(), 2u);
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  settle();
  EXPECT_EQ(client->provider.handles_in_use(), 0u);
  EXPECT_EQ(client->provider.resting_connection_ids(), 0u);
}

// ... and for R_A_TOV (FC-VI 8.5.3 b), C.2 rule 1 b), C.3 rule 4 c).
TEST_F(SetupLate, failedSetup_handleRestsForR_A_TOV) {
  faults.lose(Opcode::connect_rqst, 2);
  ask();
  EXPECT_EQ(asked(), Return::NotReachable);
  const auto failed = fabric.scheduler.now();
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  settle(), frames();
  ask();  // meanwhile: another handle, another id
  fabric.run_for(us);
  const auto rqst = seen(Opcode::connect_rqst);
  ASSERT_EQ(rqst.size(), 1u);
  EXPECT_EQ(rqst[0].payload(2), client_handle + 1);
  EXPECT_EQ(rqst[0].word(7), connection_id + 2);
  EXPECT_EQ(asked(), Return::NoMatch);
  fabric.scheduler.run_until(failed + 10 * runtime::second - 1);
  EXPECT_EQ(client->provider.handles_in_use(), 1u);
  EXPECT_EQ(client->provider.resting_connection_ids(), 1u);
  fabric.scheduler.run_until(failed + 10 * runtime::second);
  EXPECT_EQ(client->provider.handles_in_use(), 0u);
  EXPECT_EQ(client->provider.resting_connection_ids(), 0u);
}

// FC-VI 8.4.2 f): the handle of a connection rests for R_A_TOV after the Disconnect, not less and not more.
TEST_F(SetupLate, connected_handleRestsForR_A_TOV) {
  connect_pair();
  EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
  const auto disconnected = fabric.scheduler.now();
  fabric.scheduler.run_until(disconnected + 10 * runtime::second - 100 * us);
  EXPECT_EQ(client->provider.handles_in_use(), 1u);
  fabric.scheduler.run_until(disconnected + 10 * runtime::second);
  EXPECT_EQ(client->provider.handles_in_use(), 0u);
}

// FC-VI 5.3.2, 5.9.10, 6.8.2: ids of set-ups that are open at once differ.
TEST_F(SetupLate, connectionIds_areUnique) {
  std::vector<std::unique_ptr<support::Connect>> calls;
  std::set<std::uint32_t> ids;
  server->provider.connect_wait(server->net("0"), runtime::never, wait);
  server->provider.connect_wait(server->net("1"), runtime::never, second_wait);
  for (const char* name : {"0", "1"}) {
    calls.push_back(std::make_unique<support::Connect>());
    client->provider.connect_request(client->make_vi(Level::ReliableDelivery), client->net("c"), server->net(name),
                                     runtime::second, *calls.back());
  }
  settle();
  EXPECT_EQ(client->provider.open_setups(), 2u);
  for (const WireFrame& rqst : seen(Opcode::connect_rqst)) ids.insert(rqst.word(7));
  EXPECT_EQ(ids.size(), 2u);
  fabric.run_for(60 * runtime::second);
}

// --- timers, just before and just after --------------------------------------------------------------------------

// FC-VI C.5.2: T0: the request comes just before VipConnectWait ends, or just after: 03h then, not "Connect Timeout".
TEST_F(SetupLate, t0_justBeforeAndAfter) {
  ask();  // how long a CONNECT_RQST takes
  EXPECT_EQ(asked(), Return::NoMatch);
  settle(), frames();
  constexpr runtime::TimeNs way = 2 * us;
  for (const bool before : {true, false}) {
    fabric.run_for(runtime::second);
    ask();
    frames();
    listen(way + (before ? 1 : 0));
    ASSERT_TRUE(offered());
    EXPECT_EQ(wait.result, before ? Return::Success : Return::Timeout);
    if (before) server->provider.connect_reject(wait.token, accept);
    EXPECT_EQ(asked(), before ? Return::Reject : Return::NoMatch);
    settle();
    const auto resp1 = seen(Opcode::connect_resp1);
    ASSERT_EQ(resp1.size(), 1u);
    EXPECT_EQ(resp1[0].word(3), before ? 0x00040000u : 0x00030000u);
  }
}

// FC-VI C.5.2, C.5.3: T1: RESP1 comes just before it, at the same time, just after: one outcome, the same
// on both sides.
TEST_F(SetupLate, t1_justBeforeAndAfter) {
  for (const runtime::TimeNs later : {-1, 0, 1}) {
    SCOPED_TRACE(later);
    wait.result.reset();
    server->provider.connect_wait(server->net("service of 16 by"), runtime::never, wait);
    ask(runtime::second);
    ASSERT_TRUE(offered());
    constexpr runtime::TimeNs way = 2 * us;
    fabric.scheduler.run_until(called + runtime::second - way + later);  // RESP1 is sent now
    accept_offer();
    const Return result = asked();
    EXPECT_EQ(fabric.scheduler.now(), called + runtime::second + (later < 0 ? later : 0));
    EXPECT_EQ(accepted(), result);
    EXPECT_EQ(result, later < 0 ? Return::Success : Return::Timeout);
    EXPECT_EQ(client_vi->state(), later < 0 ? vi::State::Connected : vi::State::Idle);
    settle();
    EXPECT_EQ(server_vi->state(), client_vi->state());
    const auto resp2 = seen(Opcode::connect_resp2);
    ASSERT_EQ(resp2.size(), 1u);
    EXPECT_EQ(resp2[0].word(3), later < 0 ? 0u : 0x00020000u);
    if (later >= 0) continue;
    EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
    EXPECT_EQ(disconnect(*server, *server_vi), Return::Success);
  }
}

// FC-VI 8.3, 8.5.2 c), C.5.2, C.5.4: T2: RESP2 comes just before twice FCVI_ULP_TIMEOUT after RESP1, at the same
// time, just after.
TEST_F(SetupLate, t2_justBeforeAndAfter) {
  for (const runtime::TimeNs later : {-1, 0, 1}) {
    SCOPED_TRACE(later);
    faults.lose(wire::RCtl::abts, 2);  // T3 is shorter than T2: the client gives up, unheard
    listen(), ask();
    ASSERT_TRUE(offered());
    constexpr runtime::TimeNs round_trip = 4 * us;
    faults.hold(Opcode::connect_resp2, t2 - round_trip + later);
    accept_offer();
    const auto answered = fabric.scheduler.now();
    const Return result = accepted();
    EXPECT_EQ(fabric.scheduler.now(), answered + t2 + (later < 0 ? later : 0));
    EXPECT_EQ(result, later < 0 ? Return::Success : Return::Timeout);
    EXPECT_EQ(server_vi->state(), later < 0 ? vi::State::Connected : vi::State::Error);
    settle();
    EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
    EXPECT_EQ(disconnect(*server, *server_vi), Return::Success);
    fabric.run_for(30 * runtime::second);
    faults.clear();
  }
}

// FC-VI 8.3, 8.5.2 b), C.5.2: T3: RESP3 comes just before FCVI_ULP_TIMEOUT after CONNECT_RQST, at the same
// time, just after.
TEST_F(SetupLate, t3_justBeforeAndAfter) {
  for (const runtime::TimeNs later : {-1, 0, 1}) {
    SCOPED_TRACE(later);
    listen(), ask();
    ASSERT_TRUE(offered());
    constexpr runtime::TimeNs both_ways = 8 * us;
    faults.hold(Opcode::connect_resp3, t3 - both_ways + later);
    accept_offer();
    EXPECT_EQ(asked(), Return::Success);
    run_to(t3 + 1);
    EXPECT_EQ(client_vi->state(), later < 0 ? vi::State::Connected : vi::State::Error);
    settle();
    EXPECT_EQ(log.count(wire::RCtl::abts), later < 0 ? 0u : 1u);
    log.clear();
    EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
    EXPECT_EQ(disconnect(*server, *server_vi), Return::Success);
  }
}

// FC-VI 8.3, 8.6.2 b): DISCONNECT_RESP comes just before FCVI_ULP_TIMEOUT, at the same time, just after.
TEST_F(SetupLate, disconnectTimeout_justBeforeAndAfter) {
  for (const runtime::TimeNs later : {-1, 0, 1}) {
    SCOPED_TRACE(later);
    connect_pair();
    faults.hold(Opcode::disconnect_resp, t3 - 4 * us + later);
    const auto started = fabric.scheduler.now();
    EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
    if (later < 0)
      EXPECT_EQ(fabric.scheduler.now(), started + t3 + later);
    else
      EXPECT_EQ(fabric.scheduler.now(), started + t3 + 4 * us);
    settle();
    EXPECT_EQ(seen(Opcode::disconnect_rqst).size(), later < 0 ? 1u : 2u);
    EXPECT_EQ(disconnect(*server, *server_vi), Return::Success);
    fabric.run_for(runtime::second);
  }
}

/// A fabric whose F_Ports say R_A_TOV 4 s, E_D_TOV 1 s.
class OtherTimeouts : public support::FaultySetup {
 public:
  OtherTimeouts() : FaultySetup({}, {}, {.e_d_tov = runtime::second, .r_a_tov = 4 * runtime::second}) {}
};
// FC-VI 8.3: FCVI_ULP_TIMEOUT is R_A_TOV, as the fabric says it: T3, T2, the Disconnect's, and the rest of a handle.
TEST_F(OtherTimeouts, ulpTimeout_isR_A_TOV) {
  faults.lose(Opcode::connect_resp2);
  faults.lose(wire::RCtl::abts, 2);
  listen(), ask();
  accept_next();
  const auto answered = fabric.scheduler.now();
  EXPECT_EQ(asked(), Return::Success);
  run_to(4 * runtime::second - 1);
  EXPECT_EQ(client_vi->state(), vi::State::Connected);
  run_to(4 * runtime::second);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  EXPECT_EQ(accepted(), Return::Timeout);
  EXPECT_EQ(fabric.scheduler.now(), answered + 8 * runtime::second);
  settle();
  faults.lose(Opcode::disconnect_rqst, 2);
  const auto started = fabric.scheduler.now();
  EXPECT_EQ(disconnect(*client, *client_vi), Return::NotReachable);
  EXPECT_EQ(fabric.scheduler.now(), started + 8 * runtime::second);
  expect_nothing_left();
}

/// Connection IUs in several frames.
class SmallFrames : public support::FaultySetup {
 public:
  SmallFrames()
      : FaultySetup({}, [](fc2::NPortConfig& config, std::size_t) { config.receive_data_field_bytes = 256; }) {}
};
// FC-VI 8.5.2 a), FC-FS: a CONNECT_RQST of two frames, whose second comes just before E_D_TOV, or just after: then its
// Sequence is in error, and the set-up is retried at T3.
TEST_F(SmallFrames, e_d_tov_justBeforeAndAfter) {
  for (const runtime::TimeNs later : {-1, 1}) {
    SCOPED_TRACE(later);
    faults.hold_next_but_one(Opcode::connect_rqst, 2 * runtime::second + later);
    listen(), ask();
    accept_next();
    EXPECT_EQ(asked(), Return::Success);
    EXPECT_EQ(elapsed() < 3 * runtime::second, later < 0);
    EXPECT_EQ(accepted(), Return::Success);
    settle();
    EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
    EXPECT_EQ(disconnect(*server, *server_vi), Return::Success);
    fabric.run_for(30 * runtime::second);
  }
}
}  // namespace
