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
  static fsm::testing::Samples<SetupErrorDetected> samples(std::type_identity<SetupErrorDetected>) {
    return {{"Timeout", SetupErrorDetected{SetupError::Timeout}},
            {"Exchange", SetupErrorDetected{SetupError::Exchange}}};
  }
};

using Rig = fsm::testing::Rig<Def, Recorded>;

FSM_TABLE_TESTS(ConnectOriginator, Input);

// FC-VI 5.3.2, C.5.1, C.5.3: the undisturbed setup of a client.
TEST(ConnectOriginator, Idle_undisturbed_setup) {
  Rig rig;
  EXPECT_EQ(rig.after(SetupRequested{}), "AwaitResp1: start_t1, send_connect_rqst(false), start_t3");
  EXPECT_EQ(
      rig.after(Resp1Received{Verdict::Accept}),
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
  EXPECT_EQ(rig.after(SetupErrorDetected{SetupError::Timeout}), "Aborting: stop_t3, abort_exchange, quarantine_connection_id");
  EXPECT_EQ(rig.after(AbortFinished{}), "Idle: release");
}

// FC-VI 8.5.3 a) 2), 8.5.4, C.3 rule 3: T3 < T1: one retry, which succeeds.
TEST(ConnectOriginator, AwaitResp1_t3_retry_succeeds) {
  Rig rig;
  rig.given(SetupRequested{});
  EXPECT_EQ(rig.after(SetupErrorDetected{SetupError::Timeout}),
            "AwaitRetryAbort: stop_t3, abort_exchange, quarantine_connection_id, endpoint_retrying");
  EXPECT_EQ(rig.after(Resp1Received{Verdict::Accept}), "AwaitRetryAbort: count_stale");
  EXPECT_EQ(rig.after(AbortFinished{}), "AwaitResp1Retry: send_connect_rqst(true), start_t3");
  EXPECT_EQ(
      rig.after(Resp1Received{Verdict::Accept}),
      "AwaitResp3Connected: stop_t1, endpoint_connected, send_resp2(Accept), complete_request(Success)");
}

// FC-VI 8.5.3 a) 1), C.3 rule 4, C.5.7.2: the retry fails too.
TEST(ConnectOriginator, AwaitResp1Retry_t3) {
  Rig rig;
  rig.given(SetupRequested{}, SetupErrorDetected{}, AbortFinished{});
  EXPECT_EQ(rig.after(SetupErrorDetected{SetupError::Timeout}),
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
  EXPECT_EQ(rig.after(SetupErrorDetected{SetupError::Timeout}),
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
  EXPECT_EQ(rig.after(Resp1Received{Verdict::ConcurrentPeers}),
            "AwaitResp3Closing: send_resp2(AcknowledgeRefusal)");
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

}  // namespace
}  // namespace machines::connect_originator
