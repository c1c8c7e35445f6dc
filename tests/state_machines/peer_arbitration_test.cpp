#include "state_machines/peer_arbitration.hpp"

#include "fsm_test.hpp"

namespace machines::peer_arbitration {
namespace {

class Recorded final : public fsm::testing::Recorder<Context> {
 public:
  enum Knob : unsigned { AttributesMatchKnob };
  void withdraw_setup() override { note("withdraw_setup"); }
  void accept_request() override { note("accept_request"); }
  void answer_request(Answer value) override { note("answer_request", value); }
  void withdraw_acceptance() override { note("withdraw_acceptance"); }
  void search() override { note("search"); }
  void schedule_search() override { note("schedule_search"); }
  void endpoint_timed_out() override { note("endpoint_timed_out"); }
  void endpoint_refused() override { note("endpoint_refused"); }
  void endpoint_failed() override { note("endpoint_failed"); }
  void endpoint_erred() override { note("endpoint_erred"); }
  void complete_request(PeerOutcome value) override { note("complete_request", value); }
  [[nodiscard]] bool attributes_match() const override { return knob(AttributesMatchKnob); }
};

struct Input {
  using Def = peer_arbitration::Def;
  using Recorded = peer_arbitration::Recorded;
  static constexpr unsigned knob_count = 1;

  template <class Event>
  static fsm::testing::Samples<Event> samples(std::type_identity<Event>) {
    return {{"", Event{}}};
  }
  static fsm::testing::Samples<RqstMatched> samples(std::type_identity<RqstMatched>) {
    return {{"OursHigher", RqstMatched{PortNames::OursHigher}},
            {"OursLower", RqstMatched{PortNames::OursLower}},
            {"Equal", RqstMatched{PortNames::Equal}}};
  }
  static fsm::testing::Samples<Resp1Received> samples(std::type_identity<Resp1Received>) {
    fsm::testing::Samples<Resp1Received> result;
    for (const Resp1 resp1 : {Resp1::Accept, Resp1::NoDiscriminatorMatch, Resp1::NoWaitingConnectionpoint,
                              Resp1::ConcurrentPeers, Resp1::TransportError, Resp1::ProtocolError, Resp1::Other})
      for (const bool same_port : {true, false})
        result.push_back({std::string(to_string(resp1)) + (same_port ? "" : ", other port"), {resp1, same_port}});
    return result;
  }
  static fsm::testing::Samples<NobodyWaits> samples(std::type_identity<NobodyWaits>) {
    return {{"same port", NobodyWaits{true}}, {"other port", NobodyWaits{false}}};
  }
  static fsm::testing::Samples<SetupFailed> samples(std::type_identity<SetupFailed>) {
    return {{"NotReachable", SetupFailed{PeerOutcome::NotReachable}},
            {"AttributesConflict", SetupFailed{PeerOutcome::AttributesConflict}},
            {"Refused", SetupFailed{PeerOutcome::Refused}}};
  }
};

using Rig = fsm::testing::Rig<Def, Recorded>;

FSM_TABLE_TESTS(PeerArbitration, Input);

struct PeerArbitrationMatching : ::testing::Test {
  PeerArbitrationMatching() { rig.set(Recorded::AttributesMatchKnob); }
  // The lower Port_Name holds the peer's request, and hears this answer to its own.
  std::string table_2(Resp1 resp1) {
    rig.given(SearchDue{}, RqstSent{}, RqstMatched{PortNames::OursLower});
    return rig.after(Resp1Received{resp1, true});
  }
  Rig rig;
};

// FC-VI 5.3.3, figure 9, Peer 1: nobody waits yet; then the peer's own request comes.
TEST_F(PeerArbitrationMatching, Waiting_first_peer) {
  EXPECT_EQ(rig.after(SearchDue{}), "Waiting: search");
  EXPECT_EQ(rig.after(RqstSent{}), "Requesting:");
  EXPECT_EQ(rig.after(Resp1Received{Resp1::NoWaitingConnectionpoint, false}), "Requesting:");
  EXPECT_EQ(rig.after(NobodyWaits{}), "Waiting:");
  EXPECT_EQ(rig.after(SearchEnded{}), "Waiting: schedule_search");
  EXPECT_EQ(rig.after(RqstMatched{PortNames::OursLower}), "Accepting: withdraw_setup, accept_request");
  EXPECT_EQ(rig.after(AcceptSucceeded{}), "Over: complete_request(Success)");
}

// FC-VI 5.3.3, figure 9, Peer 2: the peer waits already.
TEST_F(PeerArbitrationMatching, Waiting_second_peer) {
  rig.given(SearchDue{}, RqstSent{}, Resp1Received{Resp1::Accept});
  EXPECT_EQ(rig.after(SetupSucceeded{}), "Over: complete_request(Success)");
}

// FC-VI 5.3.4 a): the higher Port_Name accepts at once.
TEST_F(PeerArbitrationMatching, Requesting_ours_higher) {
  rig.given(SearchDue{}, RqstSent{});
  EXPECT_EQ(rig.after(RqstMatched{PortNames::OursHigher}), "Accepting: withdraw_setup, accept_request");
}

// FC-VI 5.3.4 c).
TEST_F(PeerArbitrationMatching, Requesting_equal_names) {
  rig.given(SearchDue{}, RqstSent{});
  EXPECT_EQ(rig.after(RqstMatched{PortNames::Equal}), "Requesting: answer_request(ProtocolError)");
}

// FC-VI Table 2, rows 1 to 7; Annex A cases 1 to 6, and ruling 8.
TEST_F(PeerArbitrationMatching, Holding_table_2_row_1) {
  EXPECT_EQ(table_2(Resp1::Accept), "Requesting: answer_request(ConcurrentPeers)");
  EXPECT_EQ(rig.after(SetupSucceeded{}), "Over: complete_request(Success)");
}
TEST_F(PeerArbitrationMatching, Holding_table_2_row_2) {
  EXPECT_EQ(table_2(Resp1::NoDiscriminatorMatch), "Accepting: withdraw_setup, accept_request");
}
TEST_F(PeerArbitrationMatching, Holding_table_2_row_3) {
  EXPECT_EQ(table_2(Resp1::NoWaitingConnectionpoint), "Accepting: withdraw_setup, accept_request");
}
TEST_F(PeerArbitrationMatching, Holding_table_2_row_4) {
  EXPECT_EQ(table_2(Resp1::ConcurrentPeers), "Requesting: answer_request(ProtocolError)");
}
TEST_F(PeerArbitrationMatching, Holding_table_2_row_5) {
  EXPECT_EQ(table_2(Resp1::TransportError), "Requesting: answer_request(ConnectReject)");
}
TEST_F(PeerArbitrationMatching, Holding_table_2_row_6) {
  EXPECT_EQ(table_2(Resp1::ProtocolError), "Requesting: answer_request(ConnectReject)");
}
TEST_F(PeerArbitrationMatching, Holding_table_2_row_7) {
  EXPECT_EQ(table_2(Resp1::Other), "Requesting: answer_request(ConnectReject)");
}

// Several N_Ports behind one address: ours is out at one, the request of another is held.
TEST_F(PeerArbitrationMatching, Holding_other_port) {
  rig.given(SearchDue{}, RqstSent{}, RqstMatched{PortNames::OursLower});
  EXPECT_EQ(rig.after(Resp1Received{Resp1::Accept, false}), "Requesting: answer_request(NoDiscriminatorMatch)");
  rig.given(RqstMatched{PortNames::OursLower});
  EXPECT_EQ(rig.after(Resp1Received{Resp1::Other, false}), "Accepting: withdraw_setup, accept_request");
}

// FC-VI A.5, 8.2 b): the peer calls our acceptance a protocol error: no connection comes of either request. What
// another port says, or any other answer, changes nothing: the peer's own set-up goes on.
TEST_F(PeerArbitrationMatching, Accepting_superseded_request_answered) {
  rig.given(RqstSent{}, RqstMatched{PortNames::OursHigher});
  EXPECT_EQ(rig.after(Resp1Received{Resp1::ConcurrentPeers, true}), "Accepting:");
  EXPECT_EQ(rig.after(Resp1Received{Resp1::ProtocolError, false}), "Accepting:");
  EXPECT_EQ(rig.after(Resp1Received{Resp1::ProtocolError, true}),
            "Over: withdraw_acceptance, endpoint_erred, complete_request(NotReachable)");
}

// FC-VI C.5.2: the peer's time was over before RESP2: we look for another.
TEST_F(PeerArbitrationMatching, Accepting_refused) {
  rig.given(RqstMatched{});
  EXPECT_EQ(rig.after(AcceptRefused{}), "Waiting: search");
}

// VI-DG 3.3.6: the Timeout, wherever the request is.
TEST_F(PeerArbitrationMatching, time_expired) {
  EXPECT_EQ(rig.after(TimeExpired{}), "Over: withdraw_setup, endpoint_timed_out, complete_request(Timeout)");
}
TEST_F(PeerArbitrationMatching, Holding_time_expired) {
  rig.given(RqstSent{}, RqstMatched{PortNames::OursLower});
  EXPECT_EQ(
      rig.after(TimeExpired{}),
      "Over: answer_request(NoDiscriminatorMatch), withdraw_setup, endpoint_timed_out, complete_request(Timeout)");
}
TEST_F(PeerArbitrationMatching, Accepting_time_expired) {
  rig.given(RqstMatched{});
  EXPECT_EQ(rig.after(TimeExpired{}), "Over: withdraw_acceptance, endpoint_timed_out, complete_request(Timeout)");
}

// VI-DG 6.7: the addresses match, the attributes do not: both requests leave the pool.
TEST(PeerArbitration, Waiting_attributes_conflict) {
  Rig rig;
  EXPECT_EQ(
      rig.after(RqstMatched{PortNames::OursLower}),
      "Over: withdraw_setup, answer_request(ConnectReject), endpoint_refused, complete_request(AttributesConflict)");
}
TEST(PeerArbitration, Requesting_attributes_conflict) {
  Rig rig;
  rig.given(RqstSent{});
  EXPECT_EQ(rig.after(SetupFailed{PeerOutcome::AttributesConflict}), "Over: complete_request(AttributesConflict)");
}

constexpr std::string_view conflict =
    "withdraw_setup, answer_request(ConnectReject), endpoint_refused, complete_request(AttributesConflict)";

// Requests that went as far as the state that their name says; the attributes match.
Rig waiting() {
  Rig rig;
  rig.set(Recorded::AttributesMatchKnob);
  return rig;
}
Rig requesting() {
  Rig rig = waiting();
  rig.given(RqstSent{});
  return rig;
}
Rig holding() {
  Rig rig = requesting();
  rig.given(RqstMatched{PortNames::OursLower});
  return rig;
}
Rig accepting() {
  Rig rig = waiting();
  rig.given(RqstMatched{});
  return rig;
}
Rig conflicting(Rig rig) {
  rig.set(Recorded::AttributesMatchKnob, false);
  return rig;
}

// FC-VI 8.5.4: our CONNECT_RQST goes out once more: the arbitration stands where it stood.
TEST(PeerArbitration, rqst_sent_again) {
  EXPECT_EQ(requesting().after(RqstSent{}), "Requesting:");
  EXPECT_EQ(holding().after(RqstSent{}), "Holding:");
}

// VI-DG 6.7: the addresses match, the attributes do not, and both requests are out: both leave the pool.
TEST(PeerArbitration, concurrent_attributes_conflict) {
  EXPECT_EQ(conflicting(requesting()).after(RqstMatched{PortNames::OursHigher}), "Over: " + std::string(conflict));
  for (const Resp1 resp1 : {Resp1::NoDiscriminatorMatch, Resp1::NoWaitingConnectionpoint}) {
    EXPECT_EQ(conflicting(holding()).after(Resp1Received{resp1, true}), "Over: " + std::string(conflict));
  }
}

// The same behind several N_Ports: the one that we asked refuses or logs out, the other one's request is held.
TEST(PeerArbitration, Holding_other_port_attributes_conflict) {
  EXPECT_EQ(conflicting(holding()).after(Resp1Received{Resp1::Other, false}), "Over: " + std::string(conflict));
  EXPECT_EQ(conflicting(holding()).after(NobodyWaits{false}), "Over: " + std::string(conflict));
}

// FC-VI 7.7.1: the port of the held request logs out; another port does.
TEST(PeerArbitration, Holding_nobody_waits) {
  EXPECT_EQ(holding().after(NobodyWaits{true}), "Waiting: answer_request(NoDiscriminatorMatch)");
  EXPECT_EQ(holding().after(NobodyWaits{false}), "Accepting: withdraw_setup, accept_request");
}

// FC-VI C.4 rule 6: the peer gave its request up: ours goes on, and may hold the next one.
TEST(PeerArbitration, Holding_rqst_withdrawn) {
  Rig rig = holding();
  EXPECT_EQ(rig.after(RqstWithdrawn{}), "Requesting:");
  EXPECT_EQ(rig.after(RqstMatched{PortNames::OursLower}), "Holding:");
}

// FC-VI C.3 rule 4: our set-up failed; the peer whose request is held waits on for another.
TEST(PeerArbitration, Holding_setup_failed) {
  EXPECT_EQ(holding().after(SetupFailed{PeerOutcome::NotReachable}),
            "Over: answer_request(NoDiscriminatorMatch), complete_request(NotReachable)");
}

// FC-VI 8.5.3 d), C.4 rule 6 b): neither RESP2 nor a retry of the peer.
TEST(PeerArbitration, Accepting_failed) {
  EXPECT_EQ(accepting().after(AcceptFailed{}), "Over: complete_request(NotReachable)");
}

// VI-DG 3.3.6.
TEST(PeerArbitration, Requesting_time_expired) {
  EXPECT_EQ(requesting().after(TimeExpired{}), "Over: withdraw_setup, endpoint_timed_out, complete_request(Timeout)");
}

// VI-ARCH 5.2, VI-DG 3.3.5: VipDisconnect, wherever the request is; a peer that is held hears that nobody matches.
TEST(PeerArbitration, disconnect_requested) {
  EXPECT_EQ(waiting().after(DisconnectRequested{}), "Over: withdraw_setup, complete_request(Withdrawn)");
  EXPECT_EQ(requesting().after(DisconnectRequested{}), "Over: withdraw_setup, complete_request(Withdrawn)");
  EXPECT_EQ(holding().after(DisconnectRequested{}),
            "Over: answer_request(NoDiscriminatorMatch), withdraw_setup, complete_request(Withdrawn)");
  EXPECT_EQ(accepting().after(DisconnectRequested{}), "Over: withdraw_acceptance, complete_request(Withdrawn)");
}

// VI-DG 3.3.7: our link is down, wherever the request is.
TEST(PeerArbitration, link_lost) {
  EXPECT_EQ(waiting().after(LinkLost{}), "Over: withdraw_setup, endpoint_failed, complete_request(NotReachable)");
  EXPECT_EQ(requesting().after(LinkLost{}), "Over: withdraw_setup, endpoint_failed, complete_request(NotReachable)");
  EXPECT_EQ(
      holding().after(LinkLost{}),
      "Over: answer_request(NoDiscriminatorMatch), withdraw_setup, endpoint_failed, complete_request(NotReachable)");
  EXPECT_EQ(accepting().after(LinkLost{}),
            "Over: withdraw_acceptance, endpoint_failed, complete_request(NotReachable)");
}

}  // namespace
}  // namespace machines::peer_arbitration
