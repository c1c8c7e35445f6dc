#include "state_machines/vitcp_passive.hpp"

#include "fsm_test.hpp"

namespace machines::vitcp_passive {
namespace {

class Recorded final : public fsm::testing::Recorder<Context> {
 public:
  enum Knob : unsigned { LevelsDifferKnob };
  void start_request_timer() override { note("start_request_timer"); }
  void stop_request_timer() override { note("stop_request_timer"); }
  void match() override { note("match"); }
  void offer() override { note("offer"); }
  void withdraw_offer() override { note("withdraw_offer"); }
  void send_connect_accept() override { note("send_connect_accept"); }
  void send_connect_reject() override { note("send_connect_reject"); }
  void send_connect_no_match() override { note("send_connect_no_match"); }
  void close_stream() override { note("close_stream"); }
  void drop_stream() override { note("drop_stream"); }
  void connected() override { note("connected"); }
  void complete_accept(AcceptOutcome value) override { note("complete_accept", value); }
  void complete_reject() override { note("complete_reject"); }
  [[nodiscard]] bool levels_match() const override { return !knob(LevelsDifferKnob); }
};

struct Input {
  using Def = vitcp_passive::Def;
  using Recorded = vitcp_passive::Recorded;
  static constexpr unsigned knob_count = 1;

  template <class Event>
  static fsm::testing::Samples<Event> samples(std::type_identity<Event>) {
    return {{"", Event{}}};
  }
};

using Rig = fsm::testing::Rig<Def, Recorded>;

FSM_TABLE_TESTS(VitcpPassive, Input);

// Set-ups that went as far as the state that their name says.
template <class... Events>
Rig after_accepting(const Events&... events) {
  Rig rig;
  rig.given(StreamAccepted{}, events...);
  return rig;
}
Rig incoming() { return after_accepting(); }
Rig matching() { return after_accepting(RequestReceived{}); }
Rig pending_accept() { return after_accepting(RequestReceived{}, DiscriminatorMatched{}); }

// VI-TCP 4.1, 4.3: the undisturbed set-up of a server, and its end.
TEST(VitcpPassive, Listening_undisturbed_setup) {
  Rig rig;
  EXPECT_EQ(rig.after(StreamAccepted{}), "Incoming: start_request_timer");
  EXPECT_EQ(rig.after(RequestReceived{}), "Matching: stop_request_timer, match");
  EXPECT_EQ(rig.after(DiscriminatorMatched{}), "PendingAccept: offer");
  EXPECT_EQ(rig.after(AcceptRequested{}), "Connected: send_connect_accept, connected, complete_accept(Success)");
  EXPECT_EQ(rig.after(ConnectionEnded{}), "Disconnected:");
}

// Too many connections wait for their ConnectRequest already.
TEST(VitcpPassive, Incoming_place_needed) {
  EXPECT_EQ(incoming().after(PlaceNeeded{}), "Disconnected: stop_request_timer, drop_stream");
}

// VI-TCP 3.3, rulings V-8, V-9, V-16, V-23: a request that cannot be is rejected.
TEST(VitcpPassive, Incoming_request_refused) {
  EXPECT_EQ(incoming().after(RequestRefused{}), "Disconnected: stop_request_timer, send_connect_reject, close_stream");
}

// VI-TCP 4.3, rulings V-16, V-29: whoever does not speak VI/TCP, or says something else first, gets no answer.
TEST(VitcpPassive, Incoming_request_invalid) {
  EXPECT_EQ(incoming().after(RequestInvalid{}), "Disconnected: stop_request_timer, drop_stream");
}

// VI-TCP 4.3 Timeout, ruling V-16.
TEST(VitcpPassive, Incoming_request_overdue) {
  EXPECT_EQ(incoming().after(RequestOverdue{}), "Disconnected: drop_stream");
}

// VI-TCP 4.3: TCP connection closes, before the answer.
TEST(VitcpPassive, stream_closed) {
  EXPECT_EQ(incoming().after(StreamClosed{}), "Disconnected: stop_request_timer, drop_stream");
  EXPECT_EQ(matching().after(StreamClosed{}), "Disconnected: drop_stream");
  EXPECT_EQ(pending_accept().after(StreamClosed{}), "Disconnected: withdraw_offer, drop_stream");
}

// The client was gone before it was known who waits: that one waits on.
TEST(VitcpPassive, Disconnected_matched) {
  for (const bool matched : {true, false}) {
    Rig rig = matching();
    rig.given(StreamClosed{});
    if (matched)
      EXPECT_EQ(rig.after(DiscriminatorMatched{}), "Disconnected: withdraw_offer");
    else
      EXPECT_EQ(rig.after(NoMatchingDiscriminator{}), "Disconnected:");
  }
}

// VI-TCP 4.3: No Matching Discriminator.
TEST(VitcpPassive, Matching_no_discriminator) {
  EXPECT_EQ(matching().after(NoMatchingDiscriminator{}), "Disconnected: send_connect_no_match, close_stream");
}

// VI-TCP 4.2, ruling V-28: the client has nothing to say before the answer: neither data nor a second ConnectRequest.
TEST(VitcpPassive, segment_before_the_answer) {
  EXPECT_EQ(matching().after(SegmentReceived{}), "Disconnected: send_connect_reject, close_stream");
  EXPECT_EQ(pending_accept().after(SegmentReceived{}),
            "Disconnected: withdraw_offer, send_connect_reject, close_stream");
}

// VI-TCP 3.3, ruling V-9: another level: VipConnectAccept says so, and another VI may still be tried.
TEST(VitcpPassive, PendingAccept_other_level) {
  Rig rig = pending_accept();
  rig.set(Recorded::LevelsDifferKnob);
  EXPECT_EQ(rig.after(AcceptRequested{}), "PendingAccept: complete_accept(InvalidReliabilityLevel)");
  rig.set(Recorded::LevelsDifferKnob, false);
  EXPECT_EQ(rig.after(AcceptRequested{}), "Connected: send_connect_accept, connected, complete_accept(Success)");
}

// VI-TCP 4.3: VipConnectReject.
TEST(VitcpPassive, PendingAccept_rejected) {
  EXPECT_EQ(pending_accept().after(RejectRequested{}),
            "Disconnected: send_connect_reject, close_stream, complete_reject");
}

// Ruling V-13: of two peers' requests the other one makes the connection.
TEST(VitcpPassive, PendingAccept_other_request_wins) {
  EXPECT_EQ(pending_accept().after(NoMatchingDiscriminator{}), "Disconnected: send_connect_no_match, close_stream");
}

}  // namespace
}  // namespace machines::vitcp_passive
