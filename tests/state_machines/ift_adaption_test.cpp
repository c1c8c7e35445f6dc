#include "state_machines/ift_adaption.hpp"

#include "fsm_test.hpp"

namespace machines::ift_adaption {
namespace {

class Recorded final : public fsm::testing::Recorder<Context> {
 public:
  enum Knob : unsigned { HasRoomKnob };
  void start_timer() override { note("start_timer"); }
  void stop_timer() override { note("stop_timer"); }
  void open_stream() override { note("open_stream"); }
  void send_phase_0() override { note("send_phase_0"); }
  void send_phase_1() override { note("send_phase_1"); }
  void offer() override { note("offer"); }
  void withdraw_offer() override { note("withdraw_offer"); }
  void drop_stream() override { note("drop_stream"); }
  void enter_rddp_mode() override { note("enter_rddp_mode"); }
  void connected() override { note("connected"); }
  void fail_adaption(Failure value) override { note("fail_adaption", value); }
  [[nodiscard]] bool has_room() const override { return knob(HasRoomKnob); }
};

struct Input {
  using Def = ift_adaption::Def;
  using Recorded = ift_adaption::Recorded;
  static constexpr unsigned knob_count = 1;

  template <class Event>
  static fsm::testing::Samples<Event> samples(std::type_identity<Event>) {
    return {{"", Event{}}};
  }
  static fsm::testing::Samples<Phase0Received> samples(std::type_identity<Phase0Received>) {
    return {{"ModesDisagree", {Verdict::ModesDisagree}},
            {"CrcUnacceptable", {Verdict::CrcUnacceptable}},
            {"Agreed", {Verdict::Agreed}}};
  }
  static fsm::testing::Samples<Phase1Received> samples(std::type_identity<Phase1Received>) {
    return {{"ModesDisagree", {Verdict::ModesDisagree}},
            {"CrcUnacceptable", {Verdict::CrcUnacceptable}},
            {"Agreed", {Verdict::Agreed}}};
  }
};

using Rig = fsm::testing::Rig<Def, Recorded>;

FSM_TABLE_TESTS(IftAdaption, Input);

// Start-ups that went as far as the state that their name says.
template <class... Events>
Rig after_events(const Events&... events) {
  Rig rig;
  rig.set(Recorded::HasRoomKnob);
  rig.given(events...);
  return rig;
}
Rig connecting() { return after_events(ConnectRequested{}); }
Rig await_phase_1() { return after_events(AdaptionRequested{}); }
Rig await_phase_0() { return after_events(AdaptionAwaited{}); }
Rig await_decision() { return after_events(AdaptionAwaited{}, Phase0Received{}); }

// IFT 4, 4.2 PH, ruling I-13: node A, on a new TCP connection, and its end.
TEST(IftAdaption, Idle_node_a) {
  Rig rig;
  EXPECT_EQ(rig.after(ConnectRequested{}), "Connecting: start_timer, open_stream");
  EXPECT_EQ(rig.after(StreamEstablished{}), "AwaitPhase1: send_phase_0");
  EXPECT_EQ(rig.after(Phase1Received{}), "RddpMode: stop_timer, enter_rddp_mode, connected");
  EXPECT_EQ(rig.after(ConnectionEnded{}), "Closed:");
}

// IFT 4: node A, an upgrade that the ULP negotiated.
TEST(IftAdaption, Idle_node_a_upgrade) {
  EXPECT_EQ(after_events().after(AdaptionRequested{}), "AwaitPhase1: start_timer, send_phase_0");
}

// IFT 4, 4.2 PH, ruling I-13: node B answers phase 0 by phase 1, behind which it may send first.
TEST(IftAdaption, Idle_node_b) {
  Rig rig;
  rig.set(Recorded::HasRoomKnob);
  EXPECT_EQ(rig.after(AdaptionAwaited{}), "AwaitPhase0: start_timer");
  EXPECT_EQ(rig.after(Phase0Received{}), "AwaitDecision: stop_timer, offer");
  EXPECT_EQ(rig.after(AcceptRequested{}), "RddpMode: send_phase_1, enter_rddp_mode, connected");
}

// IFT 4, ruling I-14: node B's ULP does not agree: there is no frame to say so.
TEST(IftAdaption, AwaitDecision_reject) { EXPECT_EQ(await_decision().after(RejectRequested{}), "Closed: drop_stream"); }

// IFT 4.2 R, ruling I-15: the ends disagree on RDMA mode: closed in error.
TEST(IftAdaption, modes_disagree) {
  EXPECT_EQ(await_phase_1().after(Phase1Received{Verdict::ModesDisagree}),
            "Closed: stop_timer, drop_stream, fail_adaption(NotAgreed)");
  EXPECT_EQ(await_phase_0().after(Phase0Received{Verdict::ModesDisagree}),
            "Closed: stop_timer, drop_stream, fail_adaption(NotAgreed)");
}

// IFT 4.2 HC, PC, IH, IP, ruling I-15: what the other end does about CRCs is unacceptable.
TEST(IftAdaption, crc_unacceptable) {
  EXPECT_EQ(await_phase_1().after(Phase1Received{Verdict::CrcUnacceptable}),
            "Closed: stop_timer, drop_stream, fail_adaption(NotAgreed)");
  EXPECT_EQ(await_phase_0().after(Phase0Received{Verdict::CrcUnacceptable}),
            "Closed: stop_timer, drop_stream, fail_adaption(NotAgreed)");
}

// IFT 4.2 PH, ruling I-3: two nodes A: both close with an error.
TEST(IftAdaption, AwaitPhase1_phase_0_crosses) {
  for (const Verdict verdict : {Verdict::Agreed, Verdict::ModesDisagree, Verdict::CrcUnacceptable}) {
    EXPECT_EQ(await_phase_1().after(Phase0Received{verdict}),
              "Closed: stop_timer, drop_stream, fail_adaption(Crossing)");
  }
}

// IFT 4.2 PH, ruling I-15: phase 1 out of turn.
TEST(IftAdaption, AwaitPhase0_phase_1) {
  for (const Verdict verdict : {Verdict::Agreed, Verdict::ModesDisagree, Verdict::CrcUnacceptable}) {
    EXPECT_EQ(await_phase_0().after(Phase1Received{verdict}),
              "Closed: stop_timer, drop_stream, fail_adaption(Invalid)");
  }
}

// IFT 4.2 BcVersion, CRC, ruling I-15: what is no indication.
TEST(IftAdaption, indication_invalid) {
  EXPECT_EQ(await_phase_1().after(IndicationInvalid{}), "Closed: stop_timer, drop_stream, fail_adaption(Invalid)");
  EXPECT_EQ(await_phase_0().after(IndicationInvalid{}), "Closed: stop_timer, drop_stream, fail_adaption(Invalid)");
}

// IFT 4.2 Sender's VTag, ruling I-13: node A cannot send a PDU before phase 1.
TEST(IftAdaption, AwaitDecision_octets) {
  EXPECT_EQ(await_decision().after(OctetsReceived{}), "Closed: withdraw_offer, drop_stream, fail_adaption(Invalid)");
}

// Ruling I-15: the other end is not there, or gone.
TEST(IftAdaption, stream_lost) {
  EXPECT_EQ(connecting().after(StreamFailed{}), "Closed: stop_timer, drop_stream, fail_adaption(NotReachable)");
  EXPECT_EQ(await_phase_1().after(StreamClosed{}), "Closed: stop_timer, drop_stream, fail_adaption(PeerClosed)");
  EXPECT_EQ(await_phase_0().after(StreamClosed{}), "Closed: stop_timer, drop_stream, fail_adaption(PeerClosed)");
  EXPECT_EQ(await_decision().after(StreamClosed{}), "Closed: withdraw_offer, drop_stream, fail_adaption(PeerClosed)");
}

// Ruling I-15: an end that says nothing.
TEST(IftAdaption, time_expired) {
  for (Rig rig : {connecting(), await_phase_1(), await_phase_0()}) {
    EXPECT_EQ(rig.after(TimeExpired{}), "Closed: drop_stream, fail_adaption(TimedOut)");
  }
}

// Half-open start-ups, and requests that wait for the ULP, are limited.
TEST(IftAdaption, AwaitPhase0_no_room) {
  EXPECT_EQ(await_phase_0().after(PlaceNeeded{}), "Closed: stop_timer, drop_stream, fail_adaption(NotAdmitted)");
  Rig rig = await_phase_0();
  rig.set(Recorded::HasRoomKnob, false);
  EXPECT_EQ(rig.after(Phase0Received{}), "Closed: stop_timer, drop_stream, fail_adaption(NotAdmitted)");
}

// IFT 4.2 R comes before the limit: what cannot be met is told as that.
TEST(IftAdaption, AwaitPhase0_no_room_and_not_agreed) {
  Rig rig = await_phase_0();
  rig.set(Recorded::HasRoomKnob, false);
  EXPECT_EQ(rig.after(Phase0Received{Verdict::ModesDisagree}),
            "Closed: stop_timer, drop_stream, fail_adaption(NotAgreed)");
}

// The ULP of node A gives it up.
TEST(IftAdaption, withdrawn) {
  for (Rig rig : {connecting(), await_phase_1()}) {
    EXPECT_EQ(rig.after(Withdrawn{}), "Closed: stop_timer, drop_stream, fail_adaption(Withdrawn)");
  }
}

}  // namespace
}  // namespace machines::ift_adaption
