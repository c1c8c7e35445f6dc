#include "state_machines/connect_responder.hpp"

#include "fsm_test.hpp"

namespace machines::connect_responder {
namespace {

class Recorded final : public fsm::testing::Recorder<Context> {
 public:
  enum Knob : unsigned { PeerToPeerKnob, AnsweredKnob };
  void offer_request() override { note("offer_request"); }
  void withdraw_request() override { note("withdraw_request"); }
  void send_resp1(Answer value) override { note("send_resp1", value); }
  void repeat_resp1() override { note("repeat_resp1"); }
  void send_resp3(Resp3 value) override { note("send_resp3", value); }
  void adopt_retry() override { note("adopt_retry"); }
  void start_t2() override { note("start_t2"); }
  void stop_t2() override { note("stop_t2"); }
  void abort_exchange() override { note("abort_exchange"); }
  void set_cserr() override { note("set_cserr"); }
  void complete_accept(AcceptOutcome value) override { note("complete_accept", value); }
  void endpoint_accepting() override { note("endpoint_accepting"); }
  void endpoint_connected() override { note("endpoint_connected"); }
  void endpoint_refused() override { note("endpoint_refused"); }
  void endpoint_lost() override { note("endpoint_lost"); }
  void leave_waiting_for_peer() override { note("leave_waiting_for_peer"); }
  void release() override { note("release"); }
  void count_stale() override { note("count_stale"); }
  [[nodiscard]] bool peer_to_peer() const override { return knob(PeerToPeerKnob); }
  [[nodiscard]] bool answered() const override { return knob(AnsweredKnob); }
};

struct Input {
  using Def = connect_responder::Def;
  using Recorded = connect_responder::Recorded;
  static constexpr unsigned knob_count = 2;

  template <class Event>
  static fsm::testing::Samples<Event> samples(std::type_identity<Event>) {
    return {{"", Event{}}};
  }
  static fsm::testing::Samples<RqstRefused> samples(std::type_identity<RqstRefused>) {
    return {{"NoDiscriminatorMatch", RqstRefused{Answer::NoDiscriminatorMatch}},
            {"NoWaitingConnectionpoint", RqstRefused{Answer::NoWaitingConnectionpoint}},
            {"ConcurrentPeers", RqstRefused{Answer::ConcurrentPeers}},
            {"InvalidServiceParm", RqstRefused{Answer::InvalidServiceParm}},
            {"ProtocolError", RqstRefused{Answer::ProtocolError}},
            {"TransportError", RqstRefused{Answer::TransportError}}};
  }
  static fsm::testing::Samples<RejectRequested> samples(std::type_identity<RejectRequested>) {
    return {{"ConnectReject", RejectRequested{}},
            {"NoDiscriminatorMatch", RejectRequested{Answer::NoDiscriminatorMatch}},
            {"ConcurrentPeers", RejectRequested{Answer::ConcurrentPeers}},
            {"ProtocolError", RejectRequested{Answer::ProtocolError}}};
  }
  static fsm::testing::Samples<Resp2Received> samples(std::type_identity<Resp2Received>) {
    return {{"accepts", Resp2Received{true}}, {"refuses", Resp2Received{false}}};
  }
};

using Rig = fsm::testing::Rig<Def, Recorded>;

FSM_TABLE_TESTS(ConnectResponder, Input);

// FC-VI Table 2: what the arbitration decided about a request that was held.
TEST(ConnectResponder, AwaitDecision_concurrent_peers) {
  Rig rig;
  rig.set(Recorded::PeerToPeerKnob);
  rig.given(RqstMatched{});
  EXPECT_EQ(rig.after(RejectRequested{Answer::ConcurrentPeers}),
            "AwaitResp2Refused: send_resp1(ConcurrentPeers), start_t2");
}

// FC-VI C.5.2, 5.3.3: the peer gave up before we accepted; our own request waits on.
TEST(ConnectResponder, AwaitResp2Accepted_refused_peer_to_peer) {
  Rig rig;
  rig.set(Recorded::PeerToPeerKnob);
  rig.given(RqstMatched{}, AcceptRequested{});
  EXPECT_EQ(rig.after(Resp2Received{false}), "Idle: stop_t2, send_resp3(Acknowledge), leave_waiting_for_peer, release");
}

// FC-VI 5.3.2, C.5.4: the undisturbed setup of a server.
TEST(ConnectResponder, Idle_undisturbed_setup) {
  Rig rig;
  EXPECT_EQ(rig.after(RqstMatched{}), "AwaitDecision: offer_request");
  EXPECT_EQ(rig.after(AcceptRequested{}), "AwaitResp2Accepted: endpoint_accepting, send_resp1(Accept), start_t2");
  EXPECT_EQ(rig.after(Resp2Received{true}),
            "Connected: stop_t2, send_resp3(Confirm), endpoint_connected, complete_accept(Success)");
  EXPECT_EQ(rig.after(ConnectionEnded{}), "Idle: release");
}

// FC-VI C.5.2: nobody waits; no endpoint takes part.
TEST(ConnectResponder, Idle_refused) {
  Rig rig;
  EXPECT_EQ(rig.after(RqstRefused{Answer::NoWaitingConnectionpoint}),
            "AwaitResp2Refused: send_resp1(NoWaitingConnectionpoint), start_t2");
  EXPECT_EQ(rig.after(Resp2Received{true}), "Idle: stop_t2, send_resp3(Acknowledge), release");
}

TEST(ConnectResponder, AwaitDecision_rejected) {
  Rig rig;
  rig.given(RqstMatched{});
  EXPECT_EQ(rig.after(RejectRequested{}), "AwaitResp2Refused: send_resp1(ConnectReject), start_t2");
}

// FC-VI C.5.6: the client stopped waiting.
TEST(ConnectResponder, AwaitResp2Accepted_connect_timeout) {
  Rig rig;
  rig.given(RqstMatched{}, AcceptRequested{});
  EXPECT_EQ(rig.after(Resp2Received{false}),
            "Idle: stop_t2, send_resp3(Acknowledge), endpoint_refused, complete_accept(Timeout), release");
}

// FC-VI 8.5.3 d), C.4 rule 6 b), C.5.2: RESP2 never came.
TEST(ConnectResponder, AwaitResp2Accepted_t2) {
  Rig rig;
  rig.given(RqstMatched{}, AcceptRequested{});
  EXPECT_EQ(rig.after(T2Expired{}), "Idle: set_cserr, complete_accept(Timeout), endpoint_lost, release");
}

// FC-VI C.4 rule 8: RESP1 was lost; ABTS, then the retry.
TEST(ConnectResponder, AwaitResp2Accepted_aborted_and_retried) {
  Rig rig;
  rig.given(RqstMatched{}, AcceptRequested{});
  EXPECT_EQ(rig.after(AbortedByPeer{}), "AcceptedAwaitRetry:");
  EXPECT_EQ(rig.after(RqstRetried{}), "AwaitResp2Accepted: set_cserr, adopt_retry, send_resp1(Accept), start_t2");
  EXPECT_EQ(rig.after(Resp2Received{true}),
            "Connected: stop_t2, send_resp3(Confirm), endpoint_connected, complete_accept(Success)");
}

// The server's application is slower than T3: the client retries before the decision.
TEST(ConnectResponder, AwaitDecision_aborted_and_retried) {
  Rig rig;
  rig.given(RqstMatched{});
  EXPECT_EQ(rig.after(AbortedByPeer{}), "AwaitRetry: start_t2");
  EXPECT_EQ(rig.after(RqstRetried{}), "AwaitDecision: stop_t2, set_cserr, adopt_retry");
  EXPECT_EQ(rig.after(AcceptRequested{}), "AwaitResp2Accepted: endpoint_accepting, send_resp1(Accept), start_t2");
}

TEST(ConnectResponder, AwaitRetry_t2) {
  Rig rig;
  rig.given(RqstMatched{}, AbortedByPeer{});
  EXPECT_EQ(rig.after(T2Expired{}), "Idle: withdraw_request, release");
}

// FC-VI C.4 rules 9, 10, 12: a retry after the connection stands, and another one. A RESP2 behind RESP3 is a duplicate.
TEST(ConnectResponder, Connected_retried) {
  Rig rig;
  rig.given(RqstMatched{}, AcceptRequested{}, Resp2Received{true});
  EXPECT_EQ(rig.after(RqstRetried{}), "ConnectedRetry: adopt_retry, repeat_resp1, start_t2");
  EXPECT_EQ(rig.after(RqstRetried{}), "ConnectedRetry: adopt_retry, repeat_resp1, start_t2");
  EXPECT_EQ(rig.after(Resp2Received{true}), "Connected: stop_t2, send_resp3(Confirm)");
  EXPECT_EQ(rig.after(Resp2Received{true}), "Connected: count_stale");
}

// FC-VI C.5.9.2: DISCONNECT_RQST before T2.
TEST(ConnectResponder, AwaitResp2Accepted_disconnect_received) {
  Rig rig;
  rig.given(RqstMatched{}, AcceptRequested{});
  EXPECT_EQ(rig.after(DisconnectReceived{}), "Idle: stop_t2, complete_accept(Timeout), endpoint_lost, release");
}

// VI-ARCH 5.2: VipDisconnect after VipConnectAccept, before RESP2: RESP3 refuses.
TEST(ConnectResponder, AwaitResp2Accepted_disconnect_requested) {
  Rig rig;
  rig.given(RqstMatched{}, AcceptRequested{});
  EXPECT_EQ(rig.after(DisconnectRequested{}), "AwaitResp2Withdrawn: complete_accept(Withdrawn)");
  EXPECT_EQ(rig.after(Resp2Received{true}), "Idle: stop_t2, send_resp3(ConnectReject), release");
}

TEST(ConnectResponder, AwaitResp2Accepted_port_logged_out) {
  Rig rig;
  rig.given(RqstMatched{}, AcceptRequested{});
  EXPECT_EQ(rig.after(PortLoggedOut{}), "Idle: stop_t2, complete_accept(NotReachable), endpoint_lost, release");
}

// Set-ups that went as far as the state that their name says.
template <class... Events>
Rig after_match(const Events&... events) {
  Rig rig;
  rig.given(RqstMatched{}, events...);
  return rig;
}
Rig await_retry() { return after_match(AbortedByPeer{}); }
Rig await_resp2_accepted() { return after_match(AcceptRequested{}); }
Rig accepted_await_retry() { return after_match(AcceptRequested{}, AbortedByPeer{}); }
Rig await_resp2_refused() { return after_match(RejectRequested{}); }
Rig await_resp2_withdrawn() { return after_match(AcceptRequested{}, DisconnectRequested{}); }
Rig connected() { return after_match(AcceptRequested{}, Resp2Received{true}); }
Rig connected_retry() { return after_match(AcceptRequested{}, Resp2Received{true}, RqstRetried{}); }

// FC-VI C.4 rule 8: the retry takes the place of the first try wherever RESP2 is still to come, and is answered
// as that was.
TEST(ConnectResponder, retried_before_resp2) {
  EXPECT_EQ(after_match().after(RqstRetried{}), "AwaitDecision: set_cserr, adopt_retry");
  EXPECT_EQ(await_resp2_accepted().after(RqstRetried{}),
            "AwaitResp2Accepted: set_cserr, adopt_retry, repeat_resp1, start_t2");
  EXPECT_EQ(await_resp2_refused().after(RqstRetried{}),
            "AwaitResp2Refused: set_cserr, adopt_retry, repeat_resp1, start_t2");
  EXPECT_EQ(await_resp2_withdrawn().after(RqstRetried{}),
            "AwaitResp2Refused: set_cserr, adopt_retry, send_resp1(ConnectReject), start_t2");
}

// FC-VI 8.5.3 d): no endpoint takes part yet: the retry is awaited as after an ABTS.
TEST(ConnectResponder, AwaitDecision_exchange_error) {
  EXPECT_EQ(after_match().after(ExchangeError{}), "AwaitRetry: start_t2");
}

// The application decides while the retry is awaited: an acceptance waits for it, a refusal ends the set-up.
TEST(ConnectResponder, AwaitRetry_decided) {
  Rig accepted = await_retry();
  EXPECT_EQ(accepted.after(AcceptRequested{}), "AcceptedAwaitRetry: endpoint_accepting");
  EXPECT_EQ(accepted.after(RqstRetried{}), "AwaitResp2Accepted: set_cserr, adopt_retry, send_resp1(Accept), start_t2");
  EXPECT_EQ(await_retry().after(RejectRequested{}), "Idle: stop_t2, release");
}

// RESP2 for which there was no RESP1, or of the Exchange that was aborted, connects nobody.
TEST(ConnectResponder, resp2_out_of_place_is_stale) {
  EXPECT_EQ(after_match().after(Resp2Received{true}), "AwaitDecision: count_stale");
  EXPECT_EQ(accepted_await_retry().after(Resp2Received{true}), "AcceptedAwaitRetry: count_stale");
}

// The Exchange is aborted already: more of it changes nothing, T2 runs on.
TEST(ConnectResponder, aborted_exchange_is_stale) {
  EXPECT_EQ(await_retry().after(ExchangeError{}), "AwaitRetry: count_stale");
  EXPECT_EQ(await_retry().after(AbortedByPeer{}), "AwaitRetry: count_stale");
  EXPECT_EQ(accepted_await_retry().after(ExchangeError{}), "AcceptedAwaitRetry: count_stale");
  EXPECT_EQ(accepted_await_retry().after(AbortedByPeer{}), "AcceptedAwaitRetry: count_stale");
}

// FC-VI 5.9.4.6, C.5.9.2: CONN_SETUP_ABORT; who waits for an answer gets one.
TEST(ConnectResponder, disconnect_received) {
  EXPECT_EQ(after_match().after(DisconnectReceived{}), "Idle: withdraw_request, release");
  EXPECT_EQ(await_retry().after(DisconnectReceived{}), "Idle: withdraw_request, stop_t2, release");
  EXPECT_EQ(accepted_await_retry().after(DisconnectReceived{}),
            "Idle: stop_t2, complete_accept(Timeout), endpoint_lost, release");
  EXPECT_EQ(await_resp2_refused().after(DisconnectReceived{}), "Idle: stop_t2, release");
  EXPECT_EQ(await_resp2_withdrawn().after(DisconnectReceived{}), "Idle: stop_t2, release");
}

// FC-VI 7.7.1, 8.5.3 c): a logout ends the set-up wherever it is.
TEST(ConnectResponder, port_logged_out) {
  EXPECT_EQ(after_match().after(PortLoggedOut{}), "Idle: withdraw_request, release");
  EXPECT_EQ(await_retry().after(PortLoggedOut{}), "Idle: withdraw_request, stop_t2, release");
  EXPECT_EQ(accepted_await_retry().after(PortLoggedOut{}),
            "Idle: stop_t2, complete_accept(NotReachable), endpoint_lost, release");
  EXPECT_EQ(await_resp2_refused().after(PortLoggedOut{}), "Idle: stop_t2, release");
  EXPECT_EQ(await_resp2_withdrawn().after(PortLoggedOut{}), "Idle: stop_t2, release");
  EXPECT_EQ(connected().after(PortLoggedOut{}), "Idle: release");
}

// FC-VI 8.5.3 d), C.4 rule 6 b), C.5.2: accepted, and then neither RESP2 nor a retry.
TEST(ConnectResponder, accepted_and_never_confirmed) {
  EXPECT_EQ(await_resp2_accepted().after(ExchangeError{}),
            "Idle: stop_t2, set_cserr, complete_accept(Timeout), endpoint_lost, release");
  Rig answered = accepted_await_retry();
  answered.set(Recorded::AnsweredKnob);
  EXPECT_EQ(answered.after(T2Expired{}), "Idle: set_cserr, complete_accept(Timeout), endpoint_lost, release");
}

// FC-VI 8.5.2 c), C.5.2, VI-DG 6.7: accepted when the client had given up already: no RESP1 went, no connection
// can be lost.
TEST(ConnectResponder, AwaitRetry_accepted_and_never_retried) {
  Rig rig = await_retry();
  rig.given(AcceptRequested{});
  EXPECT_EQ(rig.after(T2Expired{}), "Idle: endpoint_refused, complete_accept(Timeout), release");
}

// FC-VI C.4 rule 11: peer to peer, a request that was aborted while it was held is none; its retry is a new one.
TEST(ConnectResponder, AwaitDecision_peers_request_is_gone) {
  for (const bool aborted : {true, false}) {
    Rig rig;
    rig.set(Recorded::PeerToPeerKnob);
    rig.given(RqstMatched{});
    EXPECT_EQ(aborted ? rig.after(AbortedByPeer{}) : rig.after(ExchangeError{}),
              "Idle: set_cserr, withdraw_request, release");
  }
}

// VI-ARCH 5.2, VI-DG 3.3.5: VipDisconnect while the retry is awaited.
TEST(ConnectResponder, AcceptedAwaitRetry_disconnect_requested) {
  EXPECT_EQ(accepted_await_retry().after(DisconnectRequested{}), "Idle: stop_t2, complete_accept(Withdrawn), release");
}

// FC-VI C.4 rule 6 b) 2), 8.5.3 d): no endpoint takes part: nobody is told; only T2 quarantines the id.
TEST(ConnectResponder, no_endpoint_set_up_dies) {
  for (Rig (*rig)() : {await_resp2_refused, await_resp2_withdrawn}) {
    EXPECT_EQ(rig().after(T2Expired{}), "Idle: set_cserr, release");
    EXPECT_EQ(rig().after(ExchangeError{}), "Idle: stop_t2, release");
    EXPECT_EQ(rig().after(AbortedByPeer{}), "Idle: stop_t2, release");
  }
}

// FC-VI C.5.6: the client's time was over, and so was ours.
TEST(ConnectResponder, AwaitResp2Withdrawn_both_gave_up) {
  EXPECT_EQ(await_resp2_withdrawn().after(Resp2Received{false}), "Idle: stop_t2, send_resp3(Acknowledge), release");
}

// FC-VI C.5.10.1: the loss of RESP3 is the originator's to tell, by its Disconnect: we stay Connected.
TEST(ConnectResponder, Connected_exchange_lost) {
  Rig rig = connected();
  EXPECT_EQ(rig.after(AbortedByPeer{}), "Connected: count_stale");
  EXPECT_EQ(rig.after(ExchangeError{}), "Connected: count_stale");
}

// FC-VI 8.5.2 c), 8.5.3 d), C.4 rule 6: no RESP2 of the retry comes. What the client believes nobody knows: Error; peer
// to peer the connection stands.
TEST(ConnectResponder, ConnectedRetry_never_confirmed) {
  EXPECT_EQ(connected_retry().after(T2Expired{}), "Idle: set_cserr, endpoint_lost, release");
  EXPECT_EQ(connected_retry().after(ExchangeError{}), "Idle: stop_t2, set_cserr, endpoint_lost, release");
  Rig aborted = connected_retry();
  EXPECT_EQ(aborted.after(AbortedByPeer{}), "ConnectedRetry: count_stale");
  EXPECT_EQ(aborted.after(T2Expired{}), "Idle: set_cserr, endpoint_lost, release");
  Rig peer = connected_retry();
  peer.set(Recorded::PeerToPeerKnob);
  EXPECT_EQ(peer.after(T2Expired{}), "Connected: abort_exchange");
  peer.given(RqstRetried{});
  EXPECT_EQ(peer.after(ExchangeError{}), "Connected: stop_t2");
}

// FC-VI 8.2 d), C.5.2: the originator's time ended during its retry: it has no connection, so there is none.
TEST(ConnectResponder, ConnectedRetry_refused) {
  EXPECT_EQ(connected_retry().after(Resp2Received{false}),
            "Idle: stop_t2, send_resp3(Acknowledge), endpoint_lost, release");
}

// FC-VI 8.2 d): the connection ends while its retried set-up is open.
TEST(ConnectResponder, ConnectedRetry_connection_ends) {
  Rig errored = connected_retry();
  EXPECT_EQ(errored.after(EndpointErrored{}), "AwaitResp2Withdrawn:");
  EXPECT_EQ(errored.after(Resp2Received{true}), "Idle: stop_t2, send_resp3(ConnectReject), release");
  EXPECT_EQ(connected_retry().after(ConnectionEnded{}), "Idle: stop_t2, release");
  EXPECT_EQ(connected_retry().after(PortLoggedOut{}), "Idle: stop_t2, release");
}

// FC-VI 8.4.2 e): a message was faster than RESP2, and lost.
TEST(ConnectResponder, AwaitResp2Accepted_endpoint_errored) {
  Rig rig;
  rig.given(RqstMatched{}, AcceptRequested{});
  EXPECT_EQ(rig.after(EndpointErrored{}), "AwaitResp2Withdrawn: complete_accept(Timeout)");
  EXPECT_EQ(rig.after(Resp2Received{true}), "Idle: stop_t2, send_resp3(ConnectReject), release");
}

// FC-VI 8.4.2 e), C.5.2: the same while the retry is awaited: no RESP1 is out that a RESP2 could follow.
TEST(ConnectResponder, AcceptedAwaitRetry_endpoint_errored) {
  EXPECT_EQ(accepted_await_retry().after(EndpointErrored{}), "Idle: stop_t2, complete_accept(Timeout), release");
}

}  // namespace
}  // namespace machines::connect_responder
