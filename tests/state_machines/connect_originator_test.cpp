#include "state_machines/connect_originator.hpp"

#include "fsm_test.hpp"

namespace machines::connect_originator {
namespace {

class Recorded final : public fsm::testing::Recorder<Context> {
 public:
  enum Knob : unsigned { PeerToPeerKnob, LoginRenewableKnob };
  void send_connect_rqst(bool value) override { note("send_connect_rqst", value); }
  void send_resp2(Resp2 value) override { note("send_resp2", value); }
  void start_t1() override { note("start_t1"); }
  void stop_t1() override { note("stop_t1"); }
  void start_t3() override { note("start_t3"); }
  void stop_t3() override { note("stop_t3"); }
  void abort_exchange() override { note("abort_exchange"); }
  void quarantine_connection_id() override { note("quarantine_connection_id"); }
  void allow_send_completions() override { note("allow_send_completions"); }
  void complete_request(ConnectOutcome value) override { note("complete_request", value); }
  void leave_waiting_for_peer() override { note("leave_waiting_for_peer"); }
  void endpoint_connected() override { note("endpoint_connected"); }
  void endpoint_refused() override { note("endpoint_refused"); }
  void endpoint_timed_out() override { note("endpoint_timed_out"); }
  void endpoint_retrying() override { note("endpoint_retrying"); }
  void endpoint_failed() override { note("endpoint_failed"); }
  void endpoint_lost() override { note("endpoint_lost"); }
  void renew_login() override { note("renew_login"); }
  void release() override { note("release"); }
  void count_stale() override { note("count_stale"); }
  [[nodiscard]] bool login_renewable() const override { return knob(LoginRenewableKnob); }
  [[nodiscard]] bool peer_to_peer() const override { return knob(PeerToPeerKnob); }
};

struct Input {
  using Def = connect_originator::Def;
  using Recorded = connect_originator::Recorded;
  static constexpr unsigned knob_count = 2;

  template <class Event>
  static fsm::testing::Samples<Event> samples(std::type_identity<Event>) {
    return {{"", Event{}}};
  }
  static fsm::testing::Samples<Resp1Received> samples(std::type_identity<Resp1Received>) {
    return {{"Accept", Resp1Received{Verdict::Accept}},
            {"NoMatch", Resp1Received{Verdict::NoMatch}},
            {"Reject", Resp1Received{Verdict::Reject}},
            {"ConcurrentPeers", Resp1Received{Verdict::ConcurrentPeers}},
            {"TransportError", Resp1Received{Verdict::TransportError}},
            {"OtherError", Resp1Received{Verdict::OtherError}}};
  }
  static fsm::testing::Samples<Resp3Received> samples(std::type_identity<Resp3Received>) {
    return {{"Accept", Resp3Received{Verdict::Accept}},
            {"NoMatch", Resp3Received{Verdict::NoMatch}},
            {"Reject", Resp3Received{Verdict::Reject}},
            {"ConcurrentPeers", Resp3Received{Verdict::ConcurrentPeers}},
            {"TransportError", Resp3Received{Verdict::TransportError}},
            {"OtherError", Resp3Received{Verdict::OtherError}}};
  }
};

using Rig = fsm::testing::Rig<Def, Recorded>;

FSM_TABLE_TESTS(ConnectOriginator, Input);

// FC-VI 5.3.2, C.5.1, C.5.3: the undisturbed setup of a client.
TEST(ConnectOriginator, Idle_undisturbed_setup) {
  Rig rig;
  EXPECT_EQ(rig.after(SetupRequested{}), "AwaitResp1: start_t1, send_connect_rqst(false), start_t3");
  EXPECT_EQ(rig.after(Resp1Received{Verdict::Accept}),
            "AwaitResp3Connected: stop_t1, endpoint_connected, send_resp2(Accept), complete_request(Success)");
  EXPECT_EQ(rig.after(Resp3Received{Verdict::Accept}), "Idle: stop_t3, allow_send_completions, release");
}

// FC-VI 8.2 b): a non-error Reason Code; the Exchange still ends in order (5.3.3).
TEST(ConnectOriginator, AwaitResp1_no_match) {
  Rig rig;
  rig.given(SetupRequested{});
  EXPECT_EQ(rig.after(Resp1Received{Verdict::NoMatch}),
            "AwaitResp3Closing: stop_t1, send_resp2(AcknowledgeRefusal), endpoint_refused, "
            "complete_request(NoMatch)");
  EXPECT_EQ(rig.after(Resp3Received{Verdict::Accept}), "Idle: stop_t3, release");
}

TEST(ConnectOriginator, AwaitResp1_reject) {
  Rig rig;
  rig.given(SetupRequested{});
  EXPECT_EQ(rig.after(Resp1Received{Verdict::Reject}),
            "AwaitResp3Closing: stop_t1, send_resp2(AcknowledgeRefusal), endpoint_refused, "
            "complete_request(Reject)");
}

// FC-VI 5.3.3, figure 9: the other peer has not asked yet; the call goes on waiting.
TEST(ConnectOriginator, AwaitResp1_no_match_peer_to_peer) {
  Rig rig;
  rig.set(Recorded::PeerToPeerKnob);
  rig.given(SetupRequested{});
  EXPECT_EQ(rig.after(Resp1Received{Verdict::NoMatch}),
            "AwaitResp3Closing: send_resp2(AcknowledgeRefusal), leave_waiting_for_peer");
}

// FC-VI 8.2 b), C.1 b): an error Reason Code.
TEST(ConnectOriginator, AwaitResp1_protocol_error) {
  Rig rig;
  rig.given(SetupRequested{});
  EXPECT_EQ(rig.after(Resp1Received{Verdict::OtherError}),
            "AwaitResp3Closing: stop_t1, send_resp2(AcknowledgeRefusal), quarantine_connection_id, "
            "endpoint_failed, "
            "complete_request(NotReachable)");
}

// FC-VI C.5.6: T1 < T3, RESP1 comes later.
TEST(ConnectOriginator, AwaitResp1_t1_then_resp1) {
  Rig rig;
  rig.given(SetupRequested{});
  EXPECT_EQ(rig.after(T1Expired{}), "AwaitResp1Withdrawn: endpoint_timed_out, complete_request(Timeout)");
  EXPECT_EQ(rig.after(Resp1Received{Verdict::Accept}), "AwaitResp3Closing: send_resp2(ConnectTimeout)");
  EXPECT_EQ(rig.after(Resp3Received{Verdict::Accept}), "Idle: stop_t3, release");
}

// FC-VI C.3 rule 2, C.5.7.1: the CONNECT_RQST was lost and T1 < T3: no retry.
TEST(ConnectOriginator, AwaitResp1Withdrawn_t3) {
  Rig rig;
  rig.given(SetupRequested{}, T1Expired{});
  EXPECT_EQ(rig.after(SetupErrorDetected{}), "Aborting: stop_t3, abort_exchange, quarantine_connection_id");
  EXPECT_EQ(rig.after(AbortFinished{}), "Idle: release");
}

// FC-VI 8.5.3 a) 2), 8.5.4, C.3 rule 3: T3 < T1: one retry, which succeeds.
TEST(ConnectOriginator, AwaitResp1_t3_retry_succeeds) {
  Rig rig;
  rig.given(SetupRequested{});
  EXPECT_EQ(rig.after(SetupErrorDetected{}),
            "AwaitRetryAbort: stop_t3, abort_exchange, quarantine_connection_id, endpoint_retrying");
  EXPECT_EQ(rig.after(Resp1Received{Verdict::Accept}), "AwaitRetryAbort: count_stale");
  EXPECT_EQ(rig.after(AbortFinished{}), "AwaitResp1Retry: send_connect_rqst(true), start_t3");
  EXPECT_EQ(rig.after(Resp1Received{Verdict::Accept}),
            "AwaitResp3Connected: stop_t1, endpoint_connected, send_resp2(Accept), complete_request(Success)");
}

// FC-VI 8.5.3 a) 1), C.3 rule 4, C.5.7.2: the retry fails too.
TEST(ConnectOriginator, AwaitResp1Retry_t3) {
  Rig rig;
  rig.given(SetupRequested{}, SetupErrorDetected{}, AbortFinished{});
  EXPECT_EQ(rig.after(SetupErrorDetected{}),
            "Aborting: stop_t1, stop_t3, abort_exchange, quarantine_connection_id, endpoint_failed, "
            "complete_request(NotReachable)");
}

// FC-VI 8.2 b): a transport error reported by the responder is retried as well.
TEST(ConnectOriginator, AwaitResp1_transport_error) {
  Rig rig;
  rig.given(SetupRequested{});
  EXPECT_EQ(rig.after(Resp1Received{Verdict::TransportError}),
            "AwaitRetryAbort: stop_t3, abort_exchange, quarantine_connection_id, endpoint_retrying");
}

TEST(ConnectOriginator, AwaitRetryAbort_t1) {
  Rig rig;
  rig.given(SetupRequested{}, SetupErrorDetected{});
  EXPECT_EQ(rig.after(T1Expired{}), "Aborting: endpoint_timed_out, complete_request(Timeout)");
}

// FC-VI 8.5.3 a) 3), C.3 rule 5, C.5.9, ruling 13: RESP2 or RESP3 was lost.
TEST(ConnectOriginator, AwaitResp3Connected_t3) {
  Rig rig;
  rig.given(SetupRequested{}, Resp1Received{});
  EXPECT_EQ(rig.after(SetupErrorDetected{}),
            "Aborting: stop_t3, abort_exchange, quarantine_connection_id, endpoint_lost");
  EXPECT_EQ(rig.after(Resp3Received{Verdict::Accept}), "Aborting: count_stale");
}

TEST(ConnectOriginator, AwaitResp3Connected_resp3_refuses) {
  Rig rig;
  rig.given(SetupRequested{}, Resp1Received{});
  EXPECT_EQ(rig.after(Resp3Received{Verdict::Reject}),
            "Idle: stop_t3, quarantine_connection_id, endpoint_lost, release");
}

// FC-VI 5.3.4: the concurrent peer's request made the connection; ours ends quietly.
TEST(ConnectOriginator, AwaitResp1_superseded_by_peer) {
  Rig rig;
  rig.set(Recorded::PeerToPeerKnob);
  rig.given(SetupRequested{});
  EXPECT_EQ(rig.after(SupersededByPeer{}), "AwaitResp1Withdrawn: stop_t1");
  EXPECT_EQ(rig.after(Resp1Received{Verdict::ConcurrentPeers}), "AwaitResp3Closing: send_resp2(AcknowledgeRefusal)");
}

// VI-ARCH 5.2: VipDisconnect during the setup.
TEST(ConnectOriginator, AwaitResp1_disconnect_requested) {
  Rig rig;
  rig.given(SetupRequested{});
  EXPECT_TRUE(owns_endpoint(rig.machine));
  EXPECT_EQ(rig.after(DisconnectRequested{}), "AwaitResp1Withdrawn: stop_t1, complete_request(Withdrawn)");
  EXPECT_FALSE(owns_endpoint(rig.machine));
}

// FC-VI 5.9.4.6: the responder aborts the setup.
TEST(ConnectOriginator, AwaitResp1_disconnect_received) {
  Rig rig;
  rig.given(SetupRequested{});
  EXPECT_EQ(rig.after(DisconnectReceived{}),
            "Aborting: stop_t1, stop_t3, abort_exchange, quarantine_connection_id, endpoint_failed, "
            "complete_request(NotReachable)");
}

// FC-VI 7.7.1, 8.5.3 c).
TEST(ConnectOriginator, AwaitResp1_port_logged_out) {
  Rig rig;
  rig.given(SetupRequested{});
  EXPECT_EQ(rig.after(PortLoggedOut{}),
            "Idle: stop_t1, stop_t3, endpoint_failed, complete_request(NotReachable), release");
}

// FC-VI 7.7.1: the peer restarted, and answers our CONNECT_RQST with LOGO: once more with a new login.
TEST(ConnectOriginator, AwaitResp1_port_logged_out_renewable) {
  Rig rig;
  rig.set(Recorded::LoginRenewableKnob);
  rig.given(SetupRequested{});
  EXPECT_EQ(rig.after(PortLoggedOut{}), "Idle: stop_t3, renew_login");
  EXPECT_EQ(rig.after(SetupRequested{}), "AwaitResp1: start_t1, send_connect_rqst(false), start_t3");
}

// FC-VI 7.7.1, 8.5.4: the same while the retry is due or out: it is asked under the new login, still the one retry, and
// failing that ends the set-up.
TEST(ConnectOriginator, retry_port_logged_out_renewable) {
  for (const bool sent : {false, true}) {
    Rig rig;
    rig.set(Recorded::LoginRenewableKnob);
    rig.given(SetupRequested{}, SetupErrorDetected{});
    if (sent) rig.given(AbortFinished{});
    EXPECT_EQ(rig.after(PortLoggedOut{}),
              sent ? "AwaitRetryLogin: stop_t3, renew_login" : "AwaitRetryLogin: renew_login");
    EXPECT_EQ(rig.after(SetupRequested{}), "AwaitResp1Retry: send_connect_rqst(true), start_t3");
    EXPECT_EQ(rig.after(SetupErrorDetected{}),
              "Aborting: stop_t1, stop_t3, abort_exchange, quarantine_connection_id, endpoint_failed, "
              "complete_request(NotReachable)");
  }
}

// Set-ups that went as far as the state that their name says.
template <class... Events>
Rig after_request(const Events&... events) {
  Rig rig;
  rig.given(SetupRequested{}, events...);
  return rig;
}
Rig await_retry_abort() { return after_request(SetupErrorDetected{}); }
Rig await_resp1_retry() { return after_request(SetupErrorDetected{}, AbortFinished{}); }
Rig await_resp3_connected() { return after_request(Resp1Received{}); }
Rig await_resp1_withdrawn() { return after_request(T1Expired{}); }
Rig await_resp3_closing() { return after_request(Resp1Received{Verdict::Reject}); }
Rig aborting() { return after_request(T1Expired{}, SetupErrorDetected{}); }

// A RESP3 before our RESP2 proves nothing; T3 runs on (FC-VI C.5.2).
TEST(ConnectOriginator, resp3_without_resp2_is_stale) {
  EXPECT_EQ(after_request().after(Resp3Received{}), "AwaitResp1: count_stale");
  EXPECT_EQ(await_resp1_retry().after(Resp3Received{}), "AwaitResp1Retry: count_stale");
  EXPECT_EQ(await_resp1_withdrawn().after(Resp3Received{}), "AwaitResp1Withdrawn: count_stale");
}

// A second RESP1 is not answered with a second RESP2, and changes nothing.
TEST(ConnectOriginator, resp1_repeated_is_stale) {
  EXPECT_EQ(await_resp3_connected().after(Resp1Received{Verdict::Reject}), "AwaitResp3Connected: count_stale");
  EXPECT_EQ(await_resp3_closing().after(Resp1Received{}), "AwaitResp3Closing: count_stale");
}

// FC-VI 8.5.3 a): what comes of an Exchange that is being aborted is discarded; one abort is enough.
TEST(ConnectOriginator, aborted_exchange_is_discarded) {
  EXPECT_EQ(await_retry_abort().after(Resp3Received{}), "AwaitRetryAbort: count_stale");
  EXPECT_EQ(await_retry_abort().after(SetupErrorDetected{}), "AwaitRetryAbort: count_stale");
  EXPECT_EQ(aborting().after(Resp1Received{}), "Aborting: count_stale");
  EXPECT_EQ(aborting().after(SetupErrorDetected{}), "Aborting: count_stale");
}

// The logout released the set-up; the end of its abort comes behind.
TEST(ConnectOriginator, Idle_abort_finished) {
  Rig rig = aborting();
  EXPECT_EQ(rig.after(PortLoggedOut{}), "Idle: release");
  EXPECT_EQ(rig.after(AbortFinished{}), "Idle: count_stale");
}

// FC-VI 8.2 c), C.5.2: T1 in Pending Connect Retry.
TEST(ConnectOriginator, AwaitResp1Retry_t1) {
  EXPECT_EQ(await_resp1_retry().after(T1Expired{}),
            "AwaitResp1Withdrawn: endpoint_timed_out, complete_request(Timeout)");
}

// FC-VI 8.2 c) and its note: a non-error Reason Code ends the retry as it ends the first try.
TEST(ConnectOriginator, AwaitResp1Retry_refused) {
  EXPECT_EQ(await_resp1_retry().after(Resp1Received{Verdict::NoMatch}),
            "AwaitResp3Closing: stop_t1, send_resp2(AcknowledgeRefusal), endpoint_refused, complete_request(NoMatch)");
}

// FC-VI 5.3.3: nobody waits there yet, as the retry learns.
TEST(ConnectOriginator, AwaitResp1Retry_no_match_peer_to_peer) {
  Rig rig = await_resp1_retry();
  rig.set(Recorded::PeerToPeerKnob);
  EXPECT_EQ(rig.after(Resp1Received{Verdict::NoMatch}),
            "AwaitResp3Closing: send_resp2(AcknowledgeRefusal), leave_waiting_for_peer");
}

// FC-VI 8.2 c), 8.5.4: there is one retry: a transport error ends it, too.
TEST(ConnectOriginator, AwaitResp1Retry_transport_error) {
  for (const Verdict verdict : {Verdict::TransportError, Verdict::OtherError}) {
    EXPECT_EQ(await_resp1_retry().after(Resp1Received{verdict}),
              "AwaitResp3Closing: stop_t1, send_resp2(AcknowledgeRefusal), quarantine_connection_id, endpoint_failed, "
              "complete_request(NotReachable)");
  }
}

// FC-VI C.1: an error Reason Code after the application has gone: the FCVI_CONNECTION_ID rests.
TEST(ConnectOriginator, AwaitResp1Withdrawn_error_reason) {
  EXPECT_EQ(await_resp1_withdrawn().after(Resp1Received{Verdict::TransportError}),
            "AwaitResp3Closing: send_resp2(AcknowledgeRefusal), quarantine_connection_id");
}

// FC-VI 8.5.3 a) b), C.3 rule 2: RESP3 of a set-up that was refused never comes.
TEST(ConnectOriginator, AwaitResp3Closing_t3) {
  Rig rig = await_resp3_closing();
  EXPECT_EQ(rig.after(SetupErrorDetected{}), "Aborting: stop_t3, abort_exchange, quarantine_connection_id");
  EXPECT_EQ(rig.after(AbortFinished{}), "Idle: release");
}

// FC-VI 5.3.4, C.4 rule 6 a): the peer's own request wins while ours is retried.
TEST(ConnectOriginator, retry_superseded_by_peer) {
  EXPECT_EQ(await_retry_abort().after(SupersededByPeer{}), "Aborting: stop_t1");
  EXPECT_EQ(await_resp1_retry().after(SupersededByPeer{}), "AwaitResp1Withdrawn: stop_t1");
}

// FC-VI 5.9.4.6: CONN_SETUP_ABORT of the responder during the retry; an abort that runs is not begun again.
TEST(ConnectOriginator, retry_disconnect_received) {
  EXPECT_EQ(await_retry_abort().after(DisconnectReceived{}),
            "Aborting: stop_t1, endpoint_failed, complete_request(NotReachable)");
  EXPECT_EQ(await_resp1_retry().after(DisconnectReceived{}),
            "Aborting: stop_t1, stop_t3, abort_exchange, quarantine_connection_id, endpoint_failed, "
            "complete_request(NotReachable)");
}

// VI-ARCH 5.2, VI-DG 3.3.5: VipDisconnect during the retry.
TEST(ConnectOriginator, retry_disconnect_requested) {
  EXPECT_EQ(await_retry_abort().after(DisconnectRequested{}), "Aborting: stop_t1, complete_request(Withdrawn)");
  EXPECT_EQ(await_resp1_retry().after(DisconnectRequested{}),
            "AwaitResp1Withdrawn: stop_t1, complete_request(Withdrawn)");
}

// The endpoint left Connected before RESP3: its Exchange still ends in order.
TEST(ConnectOriginator, AwaitResp3Connected_endpoint_gone) {
  Rig requested = await_resp3_connected();
  EXPECT_EQ(requested.after(DisconnectRequested{}), "AwaitResp3Closing:");
  EXPECT_EQ(requested.after(Resp3Received{}), "Idle: stop_t3, release");
  Rig errored = await_resp3_connected();
  EXPECT_EQ(errored.after(EndpointErrored{}), "AwaitResp3Closing:");
}

// FC-VI 7.7.1, 8.5.3 c): a logout ends the set-up wherever it is; only an endpoint that it still has hears of it.
TEST(ConnectOriginator, port_logged_out) {
  EXPECT_EQ(await_retry_abort().after(PortLoggedOut{}),
            "Idle: stop_t1, endpoint_failed, complete_request(NotReachable), release");
  EXPECT_EQ(await_resp1_retry().after(PortLoggedOut{}),
            "Idle: stop_t1, stop_t3, endpoint_failed, complete_request(NotReachable), release");
  EXPECT_EQ(await_resp3_connected().after(PortLoggedOut{}), "Idle: stop_t3, endpoint_lost, release");
  EXPECT_EQ(await_resp1_withdrawn().after(PortLoggedOut{}), "Idle: stop_t3, release");
  EXPECT_EQ(await_resp3_closing().after(PortLoggedOut{}), "Idle: stop_t3, release");
}

}  // namespace
}  // namespace machines::connect_originator
