#include "state_machines/mpa_initiator.hpp"

#include "fsm_test.hpp"

namespace machines::mpa_initiator {
namespace {

class Recorded final : public fsm::testing::Recorder<Context> {
 public:
  enum Knob : unsigned { MayFallBackKnob };
  void start_timer() override { note("start_timer"); }
  void stop_timer() override { note("stop_timer"); }
  void open_stream() override { note("open_stream"); }
  void send_request() override { note("send_request"); }
  void fall_back() override { note("fall_back"); }
  void drop_stream() override { note("drop_stream"); }
  void exit_mpa() override { note("exit_mpa"); }
  void enter_full_operation() override { note("enter_full_operation"); }
  void send_rtr() override { note("send_rtr"); }
  void terminate(StartupError value) override { note("terminate", value); }
  void abort_stream() override { note("abort_stream"); }
  void connected() override { note("connected"); }
  void fail_connect(Failure value) override { note("fail_connect", value); }
  [[nodiscard]] bool may_fall_back() const override { return knob(MayFallBackKnob); }
};

struct Input {
  using Def = mpa_initiator::Def;
  using Recorded = mpa_initiator::Recorded;
  static constexpr unsigned knob_count = 1;

  template <class Event>
  static fsm::testing::Samples<Event> samples(std::type_identity<Event>) {
    return {{"", Event{}}};
  }
  static fsm::testing::Samples<AcceptReceived> samples(std::type_identity<AcceptReceived>) {
    return {{"LocalCatastrophic", {Agreement::LocalCatastrophic}},
            {"InsufficientIrd", {Agreement::InsufficientIrd}},
            {"NoMatchingRtr", {Agreement::NoMatchingRtr}},
            {"PeerToPeer", {Agreement::PeerToPeer}},
            {"ClientServer", {Agreement::ClientServer}}};
  }
};

using Rig = fsm::testing::Rig<Def, Recorded>;

FSM_TABLE_TESTS(MpaInitiator, Input);

// Start-ups that went as far as the state that their name says.
template <class... Events>
Rig after_events(const Events&... events) {
  Rig rig;
  rig.given(events...);
  return rig;
}
Rig connecting() { return after_events(ConnectRequested{}); }
Rig await_reply(bool may_fall_back = false) {
  Rig rig = after_events(ConnectRequested{}, StreamEstablished{});
  rig.set(Recorded::MayFallBackKnob, may_fall_back);
  return rig;
}
Rig sending_rtr() {
  return after_events(ConnectRequested{}, StreamEstablished{}, AcceptReceived{Agreement::PeerToPeer});
}
Rig full_operation() {
  return after_events(ConnectRequested{}, StreamEstablished{}, AcceptReceived{Agreement::ClientServer});
}
Rig ending() { return after_events(ConnectRequested{}, StreamEstablished{}, AcceptReceived{Agreement::NoMatchingRtr}); }

// RFC 5044 7.1.2 rules 1, 3, 7.1.4.2: client-server, undisturbed, and its end (7.2).
TEST(MpaInitiator, Idle_immediate_startup) {
  Rig rig;
  EXPECT_EQ(rig.after(ConnectRequested{}), "Connecting: start_timer, open_stream");
  EXPECT_EQ(rig.after(StreamEstablished{}), "AwaitReply: send_request");
  EXPECT_FALSE(may_send(rig.machine));
  EXPECT_EQ(rig.after(AcceptReceived{}), "FullOperation: stop_timer, enter_full_operation, connected");
  EXPECT_TRUE(may_send(rig.machine));
  EXPECT_EQ(rig.after(ConnectionEnded{}), "Closed:");
}

// RFC 5044 7.1.2 rule 1, 7.1.3: MPA on a TCP connection that the ULP has used for streaming mode.
TEST(MpaInitiator, Idle_delayed_startup) {
  EXPECT_EQ(after_events().after(MpaEnabled{}), "AwaitReply: start_timer, send_request");
}

// RFC 6581 5, 9.2, 9.3: peer-to-peer: nothing is sent before the RTR indication, and the ULP hears after it.
TEST(MpaInitiator, AwaitReply_accept_peer_to_peer) {
  Rig rig = await_reply();
  EXPECT_EQ(rig.after(AcceptReceived{Agreement::PeerToPeer}), "SendingRtr: enter_full_operation, send_rtr");
  EXPECT_FALSE(may_send(rig.machine));
  EXPECT_EQ(rig.after(RtrSent{}), "FullOperation: stop_timer, connected");
  EXPECT_TRUE(may_send(rig.machine));
}

// RFC 6581 9.1 to 9.3, 8: what cannot be met is answered by a Terminate Message with code 5, 6 or 7.
TEST(MpaInitiator, AwaitReply_accept_not_agreed) {
  EXPECT_EQ(await_reply().after(AcceptReceived{Agreement::NoMatchingRtr}),
            "Ending: stop_timer, enter_full_operation, terminate(NoMatchingRtr), fail_connect(NotAgreed)");
  EXPECT_EQ(await_reply().after(AcceptReceived{Agreement::InsufficientIrd}),
            "Ending: stop_timer, enter_full_operation, terminate(InsufficientIrd), fail_connect(NotAgreed)");
  EXPECT_EQ(await_reply().after(AcceptReceived{Agreement::LocalCatastrophic}),
            "Ending: stop_timer, enter_full_operation, terminate(LocalCatastrophic), fail_connect(NotAgreed)");
  EXPECT_EQ(ending().after(ConnectionEnded{}), "Closed:");
  EXPECT_FALSE(may_send(ending().machine));
}

// RFC 6581 8: the codes.
TEST(MpaInitiator, startup_errors_have_the_codes_of_the_standard) {
  EXPECT_EQ(static_cast<int>(StartupError::LocalCatastrophic), 5);
  EXPECT_EQ(static_cast<int>(StartupError::InsufficientIrd), 6);
  EXPECT_EQ(static_cast<int>(StartupError::NoMatchingRtr), 7);
}

// RFC 5044 7.1.2 rule 3: the Rejected Connection bit; not a reason to fall back.
TEST(MpaInitiator, AwaitReply_reject) {
  for (Rig rig : {await_reply(false), await_reply(true)}) {
    EXPECT_EQ(rig.after(RejectReceived{}), "Closed: stop_timer, exit_mpa, fail_connect(Rejected)");
  }
}

// RFC 5044 7.1.2 rule 8: two Initiators.
TEST(MpaInitiator, AwaitReply_request) {
  for (Rig rig : {await_reply(false), await_reply(true)}) {
    EXPECT_EQ(rig.after(RequestReceived{}), "Closed: stop_timer, drop_stream, fail_connect(Crossing)");
  }
}

// RFC 5044 7.1.2 rules 3, 5, 9, 8 code 4: octets that are no reply; not a reason to fall back.
TEST(MpaInitiator, AwaitReply_invalid) {
  for (Rig rig : {await_reply(false), await_reply(true)}) {
    EXPECT_EQ(rig.after(ReplyInvalid{}), "Closed: stop_timer, drop_stream, fail_connect(Invalid)");
  }
}

// RFC 6581 10, ruling M-3: a Responder of revision 1 closes; the unenhanced protocol is tried on a new connection,
// once.
TEST(MpaInitiator, AwaitReply_closed_falls_back) {
  Rig rig = await_reply(true);
  EXPECT_EQ(rig.after(StreamClosed{}), "Connecting: drop_stream, fall_back, open_stream");
  rig.set(Recorded::MayFallBackKnob, false);
  EXPECT_EQ(rig.after(StreamEstablished{}), "AwaitReply: send_request");
  EXPECT_EQ(rig.after(StreamClosed{}), "Closed: stop_timer, drop_stream, fail_connect(PeerClosed)");
}

// RFC 6581 10, RFC 5044 7.1.1 Rev, ruling M-13: or it answers in its own revision.
TEST(MpaInitiator, AwaitReply_lower_revision) {
  EXPECT_EQ(await_reply(true).after(LowerRevisionReceived{}), "Connecting: drop_stream, fall_back, open_stream");
  EXPECT_EQ(await_reply(false).after(LowerRevisionReceived{}),
            "Closed: stop_timer, drop_stream, fail_connect(Invalid)");
}

// RFC 5044 8 code 1: there is no TCP connection, or it is gone.
TEST(MpaInitiator, stream_lost) {
  EXPECT_EQ(connecting().after(StreamFailed{}), "Closed: stop_timer, drop_stream, fail_connect(NotReachable)");
  EXPECT_EQ(await_reply().after(StreamClosed{}), "Closed: stop_timer, drop_stream, fail_connect(PeerClosed)");
  EXPECT_EQ(sending_rtr().after(ConnectionEnded{}), "Closed: stop_timer, fail_connect(PeerClosed)");
  EXPECT_EQ(full_operation().after(ConnectionEnded{}), "Closed:");
}

// RFC 5044 7.1.2 rule 10: the time for the whole of it is over, wherever it is; the fallback gets no time of its own.
TEST(MpaInitiator, time_expired) {
  EXPECT_EQ(connecting().after(TimeExpired{}), "Closed: drop_stream, fail_connect(TimedOut)");
  EXPECT_EQ(await_reply(true).after(TimeExpired{}), "Closed: drop_stream, fail_connect(TimedOut)");
  EXPECT_EQ(sending_rtr().after(TimeExpired{}), "Ending: abort_stream, fail_connect(TimedOut)");
}

// RFC 5044 7.1.2 rule 6: the ULP gives it up.
TEST(MpaInitiator, withdrawn) {
  EXPECT_EQ(connecting().after(Withdrawn{}), "Closed: stop_timer, drop_stream, fail_connect(Withdrawn)");
  EXPECT_EQ(await_reply().after(Withdrawn{}), "Closed: stop_timer, drop_stream, fail_connect(Withdrawn)");
  Rig rig = sending_rtr();
  EXPECT_EQ(rig.after(Withdrawn{}), "Ending: stop_timer, abort_stream, fail_connect(Withdrawn)");
  EXPECT_EQ(rig.after(ConnectionEnded{}), "Closed:");
}

// The stream took the RTR indication, which was posted, and then it was given up, or broke.
TEST(MpaInitiator, rtr_sent_late) {
  Rig rig = sending_rtr();
  rig.given(TimeExpired{});
  EXPECT_EQ(rig.after(RtrSent{}), "Ending:");
  rig.given(ConnectionEnded{});
  EXPECT_EQ(rig.after(RtrSent{}), "Closed:");
}

}  // namespace
}  // namespace machines::mpa_initiator
