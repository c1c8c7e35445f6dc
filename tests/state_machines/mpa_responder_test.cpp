#include "state_machines/mpa_responder.hpp"

#include "fsm_test.hpp"

namespace machines::mpa_responder {
namespace {

class Recorded final : public fsm::testing::Recorder<Context> {
 public:
  enum Knob : unsigned { HasRoomKnob, PeerToPeerKnob };
  void start_timer() override { note("start_timer"); }
  void stop_timer() override { note("stop_timer"); }
  void offer() override { note("offer"); }
  void withdraw_offer() override { note("withdraw_offer"); }
  void send_accept() override { note("send_accept"); }
  void send_reject() override { note("send_reject"); }
  void drop_stream() override { note("drop_stream"); }
  void exit_mpa() override { note("exit_mpa"); }
  void enter_full_operation() override { note("enter_full_operation"); }
  void permit_sending() override { note("permit_sending"); }
  void abort_stream() override { note("abort_stream"); }
  void connected() override { note("connected"); }
  void fail_accept(Failure value) override { note("fail_accept", value); }
  [[nodiscard]] bool has_room() const override { return knob(HasRoomKnob); }
  [[nodiscard]] bool peer_to_peer() const override { return knob(PeerToPeerKnob); }
};

struct Input {
  using Def = mpa_responder::Def;
  using Recorded = mpa_responder::Recorded;
  static constexpr unsigned knob_count = 2;

  template <class Event>
  static fsm::testing::Samples<Event> samples(std::type_identity<Event>) {
    return {{"", Event{}}};
  }
};

using Rig = fsm::testing::Rig<Def, Recorded>;

FSM_TABLE_TESTS(MpaResponder, Input);

// Start-ups that went as far as the state that their name says.
template <class... Events>
Rig after_events(bool peer_to_peer, const Events&... events) {
  Rig rig;
  rig.set(Recorded::HasRoomKnob);
  rig.set(Recorded::PeerToPeerKnob, peer_to_peer);
  rig.given(events...);
  return rig;
}
Rig await_request() { return after_events(false, MpaEnabled{}); }
Rig await_decision(bool peer_to_peer = false) { return after_events(peer_to_peer, MpaEnabled{}, RequestReceived{}); }
Rig rejecting() { return after_events(false, MpaEnabled{}, RequestReceived{}, RejectRequested{}); }
Rig await_rtr() { return after_events(true, MpaEnabled{}, RequestReceived{}, AcceptRequested{}); }
Rig await_first_fpdu() { return after_events(false, MpaEnabled{}, RequestReceived{}, AcceptRequested{}); }

// RFC 5044 7.1.2 rules 2, 4, 6, 7.2: client-server, or revision 1 (RFC 6581 10): the ULP is told at once, and nothing
// is sent before the first FPDU has come.
TEST(MpaResponder, Idle_client_server) {
  Rig rig;
  rig.set(Recorded::HasRoomKnob);
  EXPECT_EQ(rig.after(MpaEnabled{}), "AwaitRequest: start_timer");
  EXPECT_EQ(rig.after(RequestReceived{}), "AwaitDecision: stop_timer, offer");
  EXPECT_EQ(rig.after(AcceptRequested{}), "AwaitFirstFpdu: send_accept, enter_full_operation, connected");
  EXPECT_FALSE(may_send(rig.machine));
  EXPECT_EQ(rig.after(FpduReceived{}), "FullOperation: permit_sending");
  EXPECT_TRUE(may_send(rig.machine));
  EXPECT_EQ(rig.after(ConnectionEnded{}), "Closed:");
}

// RFC 6581 9.2, 9.3, RFC 5044 7.1.2 rule 4, ruling M-14: peer-to-peer: the ULP is told when the RTR indication has
// come, which is timed.
TEST(MpaResponder, AwaitDecision_accept_peer_to_peer) {
  Rig rig = await_decision(true);
  EXPECT_EQ(rig.after(AcceptRequested{}), "AwaitRtr: start_timer, send_accept, enter_full_operation");
  EXPECT_FALSE(may_send(rig.machine));
  EXPECT_EQ(rig.after(FpduReceived{}), "FullOperation: stop_timer, permit_sending, connected");
  EXPECT_TRUE(may_send(rig.machine));
}

// RFC 5044 7.1.2 rules 2, 6: the ULP rejects; the reply goes out, then MPA exits.
TEST(MpaResponder, AwaitDecision_reject) {
  Rig rig = await_decision();
  EXPECT_EQ(rig.after(RejectRequested{}), "Rejecting: start_timer, send_reject");
  EXPECT_EQ(rig.after(ReplySent{}), "Closed: stop_timer, exit_mpa");
}

// RFC 5044 7.1.2 rules 2, 5, 8, 9, 8 code 4: what is no MPA Request Frame.
TEST(MpaResponder, AwaitRequest_invalid) {
  EXPECT_EQ(await_request().after(RequestInvalid{}), "Closed: stop_timer, drop_stream, fail_accept(Invalid)");
}

// RFC 5044 7.1.2 rules 8, 10: two Responders, or one that says nothing.
TEST(MpaResponder, AwaitRequest_time_expired) {
  EXPECT_EQ(await_request().after(TimeExpired{}), "Closed: drop_stream, fail_accept(TimedOut)");
}

// RFC 5044 7.1.2 rule 10: half-open start-ups, and requests that wait for the ULP, are limited.
TEST(MpaResponder, AwaitRequest_no_room) {
  EXPECT_EQ(await_request().after(PlaceNeeded{}), "Closed: stop_timer, drop_stream, fail_accept(NotAdmitted)");
  Rig rig = await_request();
  rig.set(Recorded::HasRoomKnob, false);
  EXPECT_EQ(rig.after(RequestReceived{}), "Closed: stop_timer, drop_stream, fail_accept(NotAdmitted)");
}

// RFC 5044 7.1.2 rule 2: no FPDU can come before the reply.
TEST(MpaResponder, octets_before_the_reply) {
  EXPECT_EQ(await_decision().after(OctetsReceived{}), "Closed: withdraw_offer, drop_stream, fail_accept(Invalid)");
  EXPECT_EQ(rejecting().after(OctetsReceived{}), "Closed: stop_timer, drop_stream");
}

// RFC 5044 8 code 1: the Initiator is gone.
TEST(MpaResponder, stream_lost) {
  EXPECT_EQ(await_request().after(StreamClosed{}), "Closed: stop_timer, drop_stream, fail_accept(PeerClosed)");
  EXPECT_EQ(await_decision().after(StreamClosed{}), "Closed: withdraw_offer, drop_stream, fail_accept(PeerClosed)");
  EXPECT_EQ(rejecting().after(StreamClosed{}), "Closed: stop_timer, drop_stream");
  EXPECT_EQ(await_first_fpdu().after(ConnectionEnded{}), "Closed:");
}

// RFC 6581 9.1, 9.2, RFC 5044 8 code 1: a Terminate Message comes instead of the RTR indication, or nothing any more.
TEST(MpaResponder, AwaitRtr_connection_ended) {
  EXPECT_EQ(await_rtr().after(ConnectionEnded{}), "Closed: stop_timer, fail_accept(PeerClosed)");
}

// RFC 5044 7.1.2 rule 10: the RTR indication does not come; the rejecting reply is not read.
TEST(MpaResponder, time_expired_after_the_decision) {
  Rig rig = await_rtr();
  EXPECT_EQ(rig.after(TimeExpired{}), "Ending: abort_stream, fail_accept(TimedOut)");
  EXPECT_EQ(rig.after(ConnectionEnded{}), "Closed:");
  EXPECT_EQ(rejecting().after(TimeExpired{}), "Closed: drop_stream");
}

// RFC 5044 7.1.2 rule 6: the ULP gives it up before the RTR indication.
TEST(MpaResponder, AwaitRtr_withdrawn) {
  EXPECT_EQ(await_rtr().after(Withdrawn{}), "Ending: stop_timer, abort_stream, fail_accept(Withdrawn)");
}

// The reply was taken, which was posted, and then the stream broke.
TEST(MpaResponder, Closed_reply_sent) {
  Rig rig = rejecting();
  rig.given(StreamClosed{});
  EXPECT_EQ(rig.after(ReplySent{}), "Closed:");
}

}  // namespace
}  // namespace machines::mpa_responder
