#include "state_machines/exchange.hpp"

#include "fsm_test.hpp"

namespace machines::exchange {
namespace {

class Recorded final : public fsm::testing::Recorder<Context> {
 public:
  enum Knob : unsigned { LogsOutSilentPortKnob };
  void send_abts() override { note("send_abts"); }
  void send_ba_acc() override { note("send_ba_acc"); }
  void send_rrq() override { note("send_rrq"); }
  void start_abort_timer() override { note("start_abort_timer"); }
  void stop_abort_timer() override { note("stop_abort_timer"); }
  void start_quarantine_timer() override { note("start_quarantine_timer"); }
  void stop_quarantine_timer() override { note("stop_quarantine_timer"); }
  void report_aborted(AbortCause value) override { note("report_aborted", value); }
  void request_port_logout() override { note("request_port_logout"); }
  void release() override { note("release"); }
  void discard_frame() override { note("discard_frame"); }
  void count_stale() override { note("count_stale"); }
  [[nodiscard]] bool logs_out_silent_port() const override { return knob(LogsOutSilentPortKnob); }
};

struct Input {
  using Def = exchange::Def;
  using Recorded = exchange::Recorded;
  static constexpr unsigned knob_count = 1;

  template <class Event>
  static fsm::testing::Samples<Event> samples(std::type_identity<Event>) {
    return {{"", Event{}}};
  }
  static fsm::testing::Samples<SequenceReceived> samples(std::type_identity<SequenceReceived>) {
    return {{"keeps initiative", SequenceReceived{false, false}},
            {"passes initiative", SequenceReceived{true, false}},
            {"last", SequenceReceived{false, true}},
            {"passes initiative, last", SequenceReceived{true, true}}};
  }
  static fsm::testing::Samples<SequenceSent> samples(std::type_identity<SequenceSent>) {
    return {{"keeps initiative", SequenceSent{false, false}},
            {"passes initiative", SequenceSent{true, false}},
            {"last", SequenceSent{false, true}},
            {"passes initiative, last", SequenceSent{true, true}}};
  }
};

using Rig = fsm::testing::Rig<Def, Recorded>;

FSM_TABLE_TESTS(Exchange, Input);

// FC-VI 5.2.1: a Send without response is one Exchange of one Sequence; its id is free at once (5.4).
TEST(Exchange, OpenInitiative_last_sequence_sent) {
  Rig rig;
  EXPECT_EQ(rig.after(Originated{}), "OpenInitiative:");
  EXPECT_EQ(rig.after(SequenceSent{false, false}), "OpenInitiative:");
  EXPECT_EQ(rig.after(SequenceSent{false, true}), "Closed: release");
}

// FC-VI 5.2.1: request, initiative passed, response ends the Exchange.
TEST(Exchange, OpenWaiting_last_sequence_received) {
  Rig rig;
  rig.given(Originated{});
  EXPECT_EQ(rig.after(SequenceSent{true, false}), "OpenWaiting:");
  EXPECT_EQ(rig.after(FirstFrameReceived{}), "OpenWaiting:");
  EXPECT_EQ(rig.after(SequenceReceived{false, true}), "Closed: release");
}

// FC-VI 5.3.1: four Sequences of a Connection Setup, seen by the responder.
TEST(Exchange, Closed_connection_setup_at_the_responder) {
  Rig rig;
  EXPECT_EQ(rig.after(SequenceReceived{true, false}), "OpenInitiative:");
  EXPECT_EQ(rig.after(SequenceSent{true, false}), "OpenWaiting:");
  EXPECT_EQ(rig.after(SequenceReceived{true, false}), "OpenInitiative:");
  EXPECT_EQ(rig.after(SequenceSent{false, true}), "Closed: release");
}

// FC-VI 5.2.2: a one-frame Send of the peer is a whole Exchange.
TEST(Exchange, Closed_one_frame_exchange_received) {
  Rig rig;
  EXPECT_EQ(rig.after(SequenceReceived{false, true}), "Closed: release");
}

// FC-VI 8.4.2 a): ABTS, BA_ACC, R_A_TOV, RRQ, and only then the id is free.
TEST(Exchange, Aborting_ba_acc) {
  Rig rig;
  rig.given(Originated{}, SequenceSent{true, false});
  EXPECT_EQ(rig.after(AbortRequested{}), "Aborting: send_abts, start_abort_timer");
  EXPECT_EQ(rig.after(SequenceReceived{false, true}), "Aborting: discard_frame");
  EXPECT_EQ(rig.after(BaAccReceived{}),
            "Quarantined: stop_abort_timer, start_quarantine_timer, report_aborted(Acknowledged)");
  EXPECT_EQ(rig.after(QuarantineExpired{}), "Closed: send_rrq, release");
}

// FC-VI C.3 rule 2 b): two ABTS without an answer, then the port is logged out.
TEST(Exchange, Recovering_abort_timeout_logs_out) {
  Rig rig;
  rig.set(Recorded::LogsOutSilentPortKnob);
  rig.given(Originated{}, AbortRequested{});
  EXPECT_EQ(rig.after(AbortTimeout{}), "Recovering: send_abts, start_abort_timer");
  EXPECT_EQ(rig.after(AbortTimeout{}), "Closed: request_port_logout, report_aborted(Unanswered), release");
}

// FC-VI C.3 rule 2 b) says "may": without the logout the id rests.
TEST(Exchange, Recovering_abort_timeout_rests) {
  Rig rig;
  rig.given(Originated{}, AbortRequested{}, AbortTimeout{});
  EXPECT_EQ(rig.after(AbortTimeout{}), "Quarantined: start_quarantine_timer, report_aborted(Unanswered)");
}

// FC-FS: the peer's ABTS is answered, frames that follow are dropped, its RRQ frees the id.
TEST(Exchange, OpenWaiting_abts_received) {
  Rig rig;
  rig.given(FirstFrameReceived{});
  EXPECT_EQ(rig.after(AbtsReceived{}),
            "QuarantinedByPeer: send_ba_acc, start_quarantine_timer, report_aborted(AbortedByPeer)");
  EXPECT_EQ(rig.after(SequenceReceived{true, false}), "QuarantinedByPeer: discard_frame");
  EXPECT_EQ(rig.after(AbtsReceived{}), "QuarantinedByPeer: send_ba_acc");
  EXPECT_EQ(rig.after(RrqReceived{}), "Closed: stop_quarantine_timer, release");
}

// FC-VI C.5.7.1: ABTS for an Exchange that we never saw.
TEST(Exchange, Closed_abts_received) {
  Rig rig;
  EXPECT_EQ(rig.after(AbtsReceived{}), "Closed: send_ba_acc");
}

// FC-VI 7.7.1: a logout ends the Exchange without any frame.
TEST(Exchange, Aborting_port_logged_out) {
  Rig rig;
  rig.given(Originated{}, AbortRequested{});
  EXPECT_EQ(rig.after(PortLoggedOut{}), "Closed: stop_abort_timer, report_aborted(PortLoggedOut), release");
}

// The caller must not send without the initiative.
TEST(Exchange, OpenWaiting_sequence_sent_is_unexpected) {
  Rig rig;
  rig.given(Originated{}, SequenceSent{true, false});
  EXPECT_EQ(rig.after(SequenceSent{false, true}), "OpenWaiting: UNEXPECTED");
}

// Exchanges of ours that went as far as the state that their name says.
Rig open_initiative() {
  Rig rig;
  rig.given(Originated{});
  return rig;
}
Rig open_waiting() {
  Rig rig;
  rig.given(Originated{}, SequenceSent{true, false});
  return rig;
}
Rig aborting() {
  Rig rig;
  rig.given(Originated{}, SequenceSent{true, false}, AbortRequested{});
  return rig;
}
Rig recovering() {
  Rig rig = aborting();
  rig.given(AbortTimeout{});
  return rig;
}
Rig quarantined() {
  Rig rig = aborting();
  rig.given(BaAccReceived{});
  return rig;
}
Rig quarantined_by_peer() {
  Rig rig = open_waiting();
  rig.given(AbtsReceived{});
  return rig;
}

// FC-VI 5.2.1: the peer keeps the initiative from Sequence to Sequence, until it passes it.
TEST(Exchange, Closed_request_of_several_sequences) {
  Rig rig;
  EXPECT_EQ(rig.after(SequenceReceived{false, false}), "OpenWaiting:");
  EXPECT_EQ(rig.after(SequenceReceived{false, false}), "OpenWaiting:");
  EXPECT_EQ(rig.after(SequenceReceived{true, false}), "OpenInitiative:");
}

// Nothing of ours is being aborted: the answer to an ABTS is late, and so is an RRQ after the quarantine.
TEST(Exchange, answers_to_no_abts_are_stale) {
  EXPECT_EQ(Rig{}.after(BaAccReceived{}), "Closed: count_stale");
  EXPECT_EQ(Rig{}.after(BaRjtReceived{}), "Closed: count_stale");
  EXPECT_EQ(Rig{}.after(RrqReceived{}), "Closed: count_stale");
  EXPECT_EQ(open_initiative().after(BaAccReceived{}), "OpenInitiative: count_stale");
  EXPECT_EQ(open_initiative().after(BaRjtReceived{}), "OpenInitiative: count_stale");
  EXPECT_EQ(open_waiting().after(BaAccReceived{}), "OpenWaiting: count_stale");
  EXPECT_EQ(open_waiting().after(BaRjtReceived{}), "OpenWaiting: count_stale");
}

// The initiative is ours: what the peer sends is no new Sequence.
TEST(Exchange, OpenInitiative_frames_received) {
  Rig rig = open_initiative();
  EXPECT_EQ(rig.after(FirstFrameReceived{}), "OpenInitiative: discard_frame");
  EXPECT_EQ(rig.after(SequenceReceived{false, true}), "OpenInitiative: discard_frame");
  EXPECT_EQ(rig.after(SequenceSent{false, true}), "Closed: release");
}

// FC-VI 8.4.2 a) b): aborted while the initiative is ours.
TEST(Exchange, OpenInitiative_aborted) {
  EXPECT_EQ(open_initiative().after(AbortRequested{}), "Aborting: send_abts, start_abort_timer");
}

// FC-FS: the peer may abort whoever holds the initiative.
TEST(Exchange, OpenInitiative_abts_received) {
  EXPECT_EQ(open_initiative().after(AbtsReceived{}),
            "QuarantinedByPeer: send_ba_acc, start_quarantine_timer, report_aborted(AbortedByPeer)");
}

// FC-FS: BA_RJT ends the abort as BA_ACC does, also after the ABTS was repeated.
TEST(Exchange, abts_answered) {
  EXPECT_EQ(aborting().after(BaRjtReceived{}),
            "Quarantined: stop_abort_timer, start_quarantine_timer, report_aborted(Rejected)");
  EXPECT_EQ(recovering().after(BaAccReceived{}),
            "Quarantined: stop_abort_timer, start_quarantine_timer, report_aborted(Acknowledged)");
  EXPECT_EQ(recovering().after(BaRjtReceived{}),
            "Quarantined: stop_abort_timer, start_quarantine_timer, report_aborted(Rejected)");
}

// FC-FS: both abort at once: each answers the other, and goes on.
TEST(Exchange, abts_of_both_cross) {
  EXPECT_EQ(aborting().after(AbtsReceived{}), "Aborting: send_ba_acc");
  EXPECT_EQ(recovering().after(AbtsReceived{}), "Recovering: send_ba_acc");
  EXPECT_EQ(quarantined().after(AbtsReceived{}), "Quarantined: send_ba_acc");
}

// FC-VI 8.4.2 f), 8.5.3 a): frames of an Exchange that was aborted are discarded until its id is free again.
TEST(Exchange, frames_of_an_aborted_exchange) {
  EXPECT_EQ(aborting().after(FirstFrameReceived{}), "Aborting: discard_frame");
  EXPECT_EQ(recovering().after(FirstFrameReceived{}), "Recovering: discard_frame");
  EXPECT_EQ(recovering().after(SequenceReceived{false, true}), "Recovering: discard_frame");
  EXPECT_EQ(quarantined().after(FirstFrameReceived{}), "Quarantined: discard_frame");
  EXPECT_EQ(quarantined().after(SequenceReceived{false, true}), "Quarantined: discard_frame");
  EXPECT_EQ(quarantined_by_peer().after(FirstFrameReceived{}), "QuarantinedByPeer: discard_frame");
}

// One ABTS, however many reasons there are; what was queued before it is not sent after it.
TEST(Exchange, aborted_once) {
  EXPECT_EQ(aborting().after(AbortRequested{}), "Aborting: count_stale");
  EXPECT_EQ(aborting().after(SequenceSent{false, true}), "Aborting: count_stale");
  EXPECT_EQ(recovering().after(AbortRequested{}), "Recovering: count_stale");
  EXPECT_EQ(quarantined_by_peer().after(AbortRequested{}), "QuarantinedByPeer: count_stale");
}

// Two ABTS were sent: the second answer comes behind the first.
TEST(Exchange, Quarantined_second_answer) {
  EXPECT_EQ(quarantined().after(BaAccReceived{}), "Quarantined: count_stale");
  EXPECT_EQ(quarantined().after(BaRjtReceived{}), "Quarantined: count_stale");
}

// The peer aborted, and its RRQ never comes: R_A_TOV frees the id all the same.
TEST(Exchange, QuarantinedByPeer_expired) {
  EXPECT_EQ(quarantined_by_peer().after(QuarantineExpired{}), "Closed: release");
}

// FC-VI 7.7.1, 8.4.2 g): a logout ends the Exchange and its quarantine; who heard of the abort hears nothing more.
TEST(Exchange, port_logged_out) {
  EXPECT_EQ(open_initiative().after(PortLoggedOut{}), "Closed: report_aborted(PortLoggedOut), release");
  EXPECT_EQ(open_waiting().after(PortLoggedOut{}), "Closed: report_aborted(PortLoggedOut), release");
  EXPECT_EQ(recovering().after(PortLoggedOut{}), "Closed: stop_abort_timer, report_aborted(PortLoggedOut), release");
  EXPECT_EQ(quarantined().after(PortLoggedOut{}), "Closed: stop_quarantine_timer, release");
  EXPECT_EQ(quarantined_by_peer().after(PortLoggedOut{}), "Closed: stop_quarantine_timer, release");
}

}  // namespace
}  // namespace machines::exchange
