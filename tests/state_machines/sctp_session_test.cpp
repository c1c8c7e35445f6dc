#include "state_machines/sctp_session.hpp"

#include "fsm_test.hpp"

namespace machines::sctp_session {
namespace {

class Recorded final : public fsm::testing::Recorder<Context> {
 public:
  enum Knob : unsigned { HasRoomKnob };
  void start_timer() override { note("start_timer"); }
  void stop_timer() override { note("stop_timer"); }
  void send_initiate() override { note("send_initiate"); }
  void send_accept() override { note("send_accept"); }
  void send_reject() override { note("send_reject"); }
  void send_terminate() override { note("send_terminate"); }
  void await_acknowledgement() override { note("await_acknowledgement"); }
  void offer() override { note("offer"); }
  void withdraw_offer() override { note("withdraw_offer"); }
  void enter_session() override { note("enter_session"); }
  void terminate(StartupError value) override { note("terminate", value); }
  void connected() override { note("connected"); }
  void fail_connect(Failure value) override { note("fail_connect", value); }
  void end_received() override { note("end_received"); }
  void lost() override { note("lost"); }
  void drop_chunk() override { note("drop_chunk"); }
  void release_identifier() override { note("release_identifier"); }
  void retire_identifier() override { note("retire_identifier"); }
  [[nodiscard]] bool has_room() const override { return knob(HasRoomKnob); }
};

struct Input {
  using Def = sctp_session::Def;
  using Recorded = sctp_session::Recorded;
  static constexpr unsigned knob_count = 1;

  template <class Event>
  static fsm::testing::Samples<Event> samples(std::type_identity<Event>) {
    return {{"", Event{}}};
  }
  static fsm::testing::Samples<AcceptReceived> samples(std::type_identity<AcceptReceived>) {
    return {{"LocalCatastrophic", {Agreement::LocalCatastrophic}},
            {"InsufficientIrd", {Agreement::InsufficientIrd}},
            {"Agreed", {Agreement::Agreed}}};
  }
};

using Rig = fsm::testing::Rig<Def, Recorded>;

FSM_TABLE_TESTS(SctpSession, Input);

// Sessions that went as far as the state that their name says.
template <class... Events>
Rig after_events(const Events&... events) {
  Rig rig;
  rig.set(Recorded::HasRoomKnob);
  rig.given(events...);
  return rig;
}
Rig await_answer() { return after_events(ConnectRequested{}); }
Rig await_decision() { return after_events(InitiateReceived{}); }
Rig established() { return after_events(ConnectRequested{}, AcceptReceived{}); }
Rig peer_ended() { return after_events(ConnectRequested{}, AcceptReceived{}, TerminateReceived{}); }
Rig ending() { return after_events(ConnectRequested{}, AcceptReceived{}, CloseRequested{}); }
Rig terminating() { return after_events(ConnectRequested{}, AcceptReceived{}, CloseRequested{}, OutputAcknowledged{}); }
Rig lingering() {
  return after_events(ConnectRequested{}, AcceptReceived{}, CloseRequested{}, OutputAcknowledged{},
                      OutputAcknowledged{});
}
Rig concluding() { return after_events(ConnectRequested{}, AcceptReceived{}, TerminateReceived{}, CloseRequested{}); }
Rig acknowledging() { return after_events(InitiateReceived{}, RejectRequested{}); }
Rig closed() { return after_events(AssociationLost{}); }

// RFC 5043 6.2, 6.6: accepted, and ended by the active side: Terminate goes when all before it is acknowledged, the
// identifier is free when both Terminates have come.
TEST(SctpSession, Idle_active_side) {
  Rig rig;
  EXPECT_EQ(rig.after(ConnectRequested{}), "AwaitAnswer: start_timer, send_initiate");
  EXPECT_TRUE(awaits_answer(rig.machine));
  EXPECT_FALSE(takes_segments(rig.machine));
  EXPECT_EQ(rig.after(AcceptReceived{}), "Established: stop_timer, enter_session, connected");
  EXPECT_FALSE(awaits_answer(rig.machine));
  EXPECT_TRUE(takes_segments(rig.machine));
  EXPECT_EQ(rig.after(CloseRequested{}), "Ending: start_timer, await_acknowledgement");
  EXPECT_FALSE(takes_segments(rig.machine));
  EXPECT_EQ(rig.after(OutputAcknowledged{}), "Terminating: send_terminate, start_timer, await_acknowledgement");
  EXPECT_EQ(rig.after(OutputAcknowledged{}), "Lingering: end_received");
  EXPECT_EQ(rig.after(TerminateReceived{}), "Closed: stop_timer, release_identifier");
}

// RFC 5043 6.2, 5.2.3: accepted, the passive side; the active side ends it.
TEST(SctpSession, Idle_passive_side) {
  Rig rig;
  rig.set(Recorded::HasRoomKnob);
  EXPECT_EQ(rig.after(InitiateReceived{}), "AwaitDecision: offer");
  EXPECT_EQ(rig.after(AcceptRequested{}), "Established: send_accept, enter_session, connected");
  EXPECT_EQ(rig.after(TerminateReceived{}), "PeerEnded: end_received");
  EXPECT_FALSE(takes_segments(rig.machine));
  EXPECT_EQ(rig.after(DropRequested{}), "Concluding: start_timer, await_acknowledgement");
  EXPECT_EQ(rig.after(OutputAcknowledged{}), "Acknowledging: send_terminate, start_timer, await_acknowledgement");
  EXPECT_EQ(rig.after(OutputAcknowledged{}), "Closed: stop_timer, release_identifier");
}

// RFC 6581 9.1, 9.3, 8: what cannot be met is answered by an RDMAP Terminate Message with code 5 or 6.
TEST(SctpSession, AwaitAnswer_accept_not_agreed) {
  EXPECT_EQ(await_answer().after(AcceptReceived{Agreement::InsufficientIrd}),
            "Established: stop_timer, enter_session, terminate(InsufficientIrd), fail_connect(NotAgreed)");
  EXPECT_EQ(await_answer().after(AcceptReceived{Agreement::LocalCatastrophic}),
            "Established: stop_timer, enter_session, terminate(LocalCatastrophic), fail_connect(NotAgreed)");
}

// RFC 5043 6.3, RFC 6581 7: rejected by the ULP.
TEST(SctpSession, rejected) {
  EXPECT_EQ(await_answer().after(RejectReceived{}), "Closed: stop_timer, release_identifier, fail_connect(Rejected)");
  Rig rig = await_decision();
  EXPECT_EQ(rig.after(RejectRequested{}), "Acknowledging: send_reject, start_timer, await_acknowledgement");
  EXPECT_EQ(rig.after(OutputAcknowledged{}), "Closed: stop_timer, release_identifier");
}

// RFC 5043 6.4, 5.2.3: rejected without the ULP: requests that wait for it are limited.
TEST(SctpSession, not_admitted) {
  Rig rig;
  EXPECT_EQ(rig.after(InitiateReceived{}),
            "Acknowledging: send_terminate, start_timer, await_acknowledgement, fail_connect(NotAdmitted)");
  EXPECT_EQ(await_answer().after(TerminateReceived{}),
            "Closed: stop_timer, release_identifier, fail_connect(NotAdmitted)");
}

// RFC 5043 6.1: none of the legal patterns: the session is terminated.
TEST(SctpSession, chunk_illegal) {
  EXPECT_EQ(after_events().after(ChunkIllegal{}),
            "Terminating: send_terminate, start_timer, await_acknowledgement, fail_connect(Invalid)");
  EXPECT_EQ(await_answer().after(ChunkIllegal{}), "Ending: start_timer, await_acknowledgement, fail_connect(Invalid)");
  EXPECT_EQ(await_decision().after(ChunkIllegal{}),
            "Terminating: withdraw_offer, send_terminate, start_timer, await_acknowledgement, fail_connect(Invalid)");
  EXPECT_EQ(established().after(ChunkIllegal{}), "Ending: lost, start_timer, await_acknowledgement");
  EXPECT_EQ(peer_ended().after(ChunkIllegal{}), "Concluding: lost, start_timer, await_acknowledgement");
}

// RFC 5043 6.1, 6.6: two active sides on one pair of streams.
TEST(SctpSession, AwaitAnswer_initiate_crosses) {
  EXPECT_EQ(await_answer().after(InitiateReceived{}),
            "Ending: start_timer, await_acknowledgement, fail_connect(Crossing)");
}

// RFC 5043 6.1, 6.2: the active side gave up: before this end heard of it, or before its ULP decided: then it is
// answered, so that the identifier can serve again.
TEST(SctpSession, terminate_before_the_decision) {
  EXPECT_EQ(after_events().after(TerminateReceived{}), "Closed: drop_chunk, release_identifier");
  EXPECT_EQ(await_decision().after(TerminateReceived{}),
            "Acknowledging: withdraw_offer, send_terminate, start_timer, await_acknowledgement, "
            "fail_connect(PeerClosed)");
}

// RFC 5043 6.6: no answer, or the ULP gives it up: Terminate does not overtake Initiate.
TEST(SctpSession, AwaitAnswer_given_up) {
  EXPECT_EQ(await_answer().after(TimeExpired{}), "Ending: start_timer, await_acknowledgement, fail_connect(TimedOut)");
  EXPECT_EQ(await_answer().after(Withdrawn{}), "Ending: start_timer, await_acknowledgement, fail_connect(Withdrawn)");
}

// RFC 5041 6.2, RFC 5043 6.2, 6.6: ddp_stream lets the session go, or has closed behind the other end's Terminate.
TEST(SctpSession, drop_or_close_requested) {
  EXPECT_EQ(established().after(DropRequested{}), "Ending: start_timer, await_acknowledgement");
  EXPECT_EQ(peer_ended().after(CloseRequested{}), "Concluding: start_timer, await_acknowledgement");
}

// RFC 5043 6.2: both ends terminate: whichever Terminate comes first.
TEST(SctpSession, terminates_cross) {
  Rig rig = ending();
  EXPECT_EQ(rig.after(TerminateReceived{}), "Concluding: end_received");
  EXPECT_EQ(rig.after(OutputAcknowledged{}), "Acknowledging: send_terminate, start_timer, await_acknowledgement");
  EXPECT_EQ(terminating().after(TerminateReceived{}), "Acknowledging: end_received");
}

// RFC 5043 6.1, 6.4: a Terminate behind our Reject, which it crossed.
TEST(SctpSession, Acknowledging_terminate) {
  EXPECT_EQ(acknowledging().after(TerminateReceived{}), "Acknowledging: drop_chunk");
}

// RFC 5043 6, 6.1: what still comes is dropped.
TEST(SctpSession, chunk_while_ending) {
  for (Rig rig : {ending(), terminating(), lingering(), concluding(), acknowledging()}) {
    const std::string state(rig.machine.state_name());
    EXPECT_EQ(rig.after(ChunkIllegal{}), state + ": drop_chunk");
  }
}

// RFC 5043 6.6: chunks are not acknowledged, or the other end sends no Terminate: the identifier is not used again.
TEST(SctpSession, time_expired_while_ending) {
  EXPECT_EQ(ending().after(TimeExpired{}), "Closed: lost, retire_identifier");
  EXPECT_EQ(terminating().after(TimeExpired{}), "Closed: lost, retire_identifier");
  EXPECT_EQ(lingering().after(TimeExpired{}), "Closed: retire_identifier");
  EXPECT_EQ(concluding().after(TimeExpired{}), "Closed: retire_identifier");
  EXPECT_EQ(acknowledging().after(TimeExpired{}), "Closed: retire_identifier");
}

// RFC 5043 11.3: the association is gone: all consumers are told.
TEST(SctpSession, association_lost) {
  EXPECT_EQ(after_events().after(AssociationLost{}), "Closed: release_identifier");
  EXPECT_EQ(await_answer().after(AssociationLost{}),
            "Closed: stop_timer, release_identifier, fail_connect(PeerClosed)");
  EXPECT_EQ(await_decision().after(AssociationLost{}),
            "Closed: withdraw_offer, fail_connect(PeerClosed), release_identifier");
  EXPECT_EQ(established().after(AssociationLost{}), "Closed: lost, release_identifier");
  EXPECT_EQ(peer_ended().after(AssociationLost{}), "Closed: lost, release_identifier");
  EXPECT_EQ(ending().after(AssociationLost{}), "Closed: lost, stop_timer, release_identifier");
  EXPECT_EQ(terminating().after(AssociationLost{}), "Closed: lost, stop_timer, release_identifier");
  for (Rig rig : {lingering(), concluding(), acknowledging()}) {
    EXPECT_EQ(rig.after(AssociationLost{}), "Closed: stop_timer, release_identifier");
  }
}

// ddp_stream, which has closed or heard of the loss, lets go of a session that is ending or has ended.
TEST(SctpSession, drop_while_ending) {
  for (Rig rig : {ending(), terminating(), lingering(), concluding(), acknowledging(), closed()}) {
    const std::string state(rig.machine.state_name());
    EXPECT_EQ(rig.after(DropRequested{}), state + ":");
  }
}

// What was sent was acknowledged, which was posted, and then the association was lost.
TEST(SctpSession, Closed_output_acknowledged) { EXPECT_EQ(closed().after(OutputAcknowledged{}), "Closed:"); }

}  // namespace
}  // namespace machines::sctp_session
