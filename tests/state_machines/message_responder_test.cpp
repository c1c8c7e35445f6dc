#include "state_machines/message_responder.hpp"

#include "fsm_test.hpp"

namespace machines::message_responder {
namespace {

class Recorded final : public fsm::testing::Recorder<Context> {
 public:
  enum Knob : unsigned { ReliableKnob };
  void place_data() override { note("place_data"); }
  void complete_receive() override { note("complete_receive"); }
  void fail_receive(ReceiveError value) override { note("fail_receive", value); }
  void send_response() override { note("send_response"); }
  void refuse_message(ReceiveError value) override { note("refuse_message", value); }
  void note_refusal(ReceiveError value) override { note("note_refusal", value); }
  void fail_refused() override { note("fail_refused"); }
  void conclude_refusal() override { note("conclude_refusal"); }
  void start_read_response() override { note("start_read_response"); }
  void expect_next_message() override { note("expect_next_message"); }
  void mark_message_errored() override { note("mark_message_errored"); }
  void mark_messages_missing(bool value) override { note("mark_messages_missing", value); }
  void discard_frame() override { note("discard_frame"); }
  void fail_connection(ReceiveError value) override { note("fail_connection", value); }
  void start_discard_timer() override { note("start_discard_timer"); }
  void stop_discard_timer() override { note("stop_discard_timer"); }
  void release_handle() override { note("release_handle"); }
  [[nodiscard]] bool reliable() const override { return knob(ReliableKnob); }
};

struct Input {
  using Def = message_responder::Def;
  using Recorded = message_responder::Recorded;
  static constexpr unsigned knob_count = 1;

  template <class Event>
  static fsm::testing::Samples<Event> samples(std::type_identity<Event>) {
    return {{"", Event{}}};
  }
  static fsm::testing::Samples<WholeMessageReceived> samples(std::type_identity<WholeMessageReceived>) {
    return {{"Write", WholeMessageReceived{false, false}},
            {"Write, response", WholeMessageReceived{false, true}},
            {"Send", WholeMessageReceived{true, false}},
            {"Send, response", WholeMessageReceived{true, true}}};
  }
  static fsm::testing::Samples<FrameReceived> samples(std::type_identity<FrameReceived>) {
    return {{"middle of Write", FrameReceived{false, false, false}},
            {"middle of Write, response", FrameReceived{false, false, true}},
            {"middle of Send", FrameReceived{false, true, false}},
            {"middle of Send, response", FrameReceived{false, true, true}},
            {"last of Write", FrameReceived{true, false, false}},
            {"last of Write, response", FrameReceived{true, false, true}},
            {"last of Send", FrameReceived{true, true, false}},
            {"last of Send, response", FrameReceived{true, true, true}}};
  }
  static fsm::testing::Samples<ClaimRefused> samples(std::type_identity<ClaimRefused>) {
    return {{"QueueEmpty", ClaimRefused{ReceiveError::QueueEmpty, false, false}},
            {"QueueEmpty, response", ClaimRefused{ReceiveError::QueueEmpty, false, true}},
            {"QueueEmpty, last", ClaimRefused{ReceiveError::QueueEmpty, true, false}},
            {"QueueEmpty, last, response", ClaimRefused{ReceiveError::QueueEmpty, true, true}},
            {"TooSmall", ClaimRefused{ReceiveError::TooSmall, false, false}},
            {"TooSmall, response", ClaimRefused{ReceiveError::TooSmall, false, true}},
            {"TooSmall, last", ClaimRefused{ReceiveError::TooSmall, true, false}},
            {"TooSmall, last, response", ClaimRefused{ReceiveError::TooSmall, true, true}},
            {"Protection", ClaimRefused{ReceiveError::Protection, false, false}},
            {"Protection, response", ClaimRefused{ReceiveError::Protection, false, true}},
            {"Protection, last", ClaimRefused{ReceiveError::Protection, true, false}},
            {"Protection, last, response", ClaimRefused{ReceiveError::Protection, true, true}}};
  }
  static fsm::testing::Samples<MemoryLost> samples(std::type_identity<MemoryLost>) {
    return {{"middle", MemoryLost{false, false}},
            {"middle, response", MemoryLost{false, true}},
            {"last", MemoryLost{true, false}},
            {"last, response", MemoryLost{true, true}}};
  }
  static fsm::testing::Samples<MessageGap> samples(std::type_identity<MessageGap>) {
    return {{"later frame", MessageGap{false}}, {"first frame", MessageGap{true}}};
  }
  static fsm::testing::Samples<StaleMessage> samples(std::type_identity<StaleMessage>) {
    return {{"not errored", StaleMessage{false}}, {"errored", StaleMessage{true}}};
  }
  static fsm::testing::Samples<FrameLost> samples(std::type_identity<FrameLost>) {
    return {{"FrameGap", FrameLost{Loss::FrameGap}},
            {"SequenceError", FrameLost{Loss::SequenceError}},
            {"Timeout", FrameLost{Loss::Timeout}},
            {"Timeout, begun", FrameLost{Loss::Timeout, true}}};
  }
};

using Rig = fsm::testing::Rig<Def, Recorded>;

FSM_TABLE_TESTS(MessageResponder, Input);

constexpr WholeMessageReceived send{true, false};
constexpr WholeMessageReceived send_responds{true, true};
constexpr FrameReceived middle{false, true, false};
constexpr FrameReceived last{true, true, false};

Rig reliable_rig() {
  Rig rig;
  rig.set(Recorded::ReliableKnob);
  rig.given(ReceptionEnabled{});
  return rig;
}
Rig unreliable_rig() {
  Rig rig;
  rig.given(ReceptionEnabled{});
  return rig;
}

// FC-VI 5.2.2, 5.2.3: one frame, all kinds.
TEST(MessageResponder, Expecting_one_frame) {
  Rig rig = reliable_rig();
  EXPECT_EQ(rig.after(send), "Expecting: place_data, complete_receive, expect_next_message");
  EXPECT_EQ(rig.after(send_responds), "Expecting: place_data, complete_receive, send_response, expect_next_message");
  EXPECT_EQ(rig.after(WholeMessageReceived{false, false}), "Expecting: place_data, expect_next_message");
  EXPECT_EQ(rig.after(WholeMessageReceived{false, true}), "Expecting: place_data, send_response, expect_next_message");
}

// fcvi::MessageReceiver counts on it where it runs no machine (receive_short): whatever else holds, this is all that
// the table does, and it stays where it is.
TEST(MessageResponder, Expecting_whole_send_is_delivered_and_nothing_else) {
  for (Rig rig : {reliable_rig(), unreliable_rig()})
    for (int times = 0; times != 2; ++times)
      EXPECT_EQ(rig.after(send), "Expecting: place_data, complete_receive, expect_next_message");
}

TEST(MessageResponder, Receiving_many_frames) {
  Rig rig = reliable_rig();
  EXPECT_EQ(rig.after(MessageStarted{}), "Receiving: place_data");
  EXPECT_EQ(rig.after(middle), "Receiving: place_data");
  EXPECT_EQ(rig.after(last), "Expecting: place_data, complete_receive, expect_next_message");
}

// fcvi::MessageReceiver counts on it where it runs no machine (next_frame): whatever else holds, this is all that the
// table does.
TEST(MessageResponder, Receiving_frame_that_is_not_last_places_data_and_nothing_else) {
  for (const bool reliable : {false, true})
    for (const bool consumes : {false, true})
      for (const bool responds : {false, true}) {
        Rig rig = reliable ? reliable_rig() : unreliable_rig();
        rig.given(MessageStarted{});
        EXPECT_EQ(rig.after(FrameReceived{false, consumes, responds}), "Receiving: place_data");
      }
}

// FC-VI 5.2.4.
TEST(MessageResponder, Expecting_read_requested) {
  Rig rig = reliable_rig();
  EXPECT_EQ(rig.after(ReadRequested{}), "Expecting: start_read_response, expect_next_message");
}

// VI-ARCH 2.5.1: no receive Descriptor, the Message is dropped, the connection persists.
TEST(MessageResponder, Expecting_claim_refused_unreliable) {
  Rig rig = unreliable_rig();
  EXPECT_EQ(rig.after(ClaimRefused{ReceiveError::QueueEmpty, true, false}),
            "Expecting: fail_receive(QueueEmpty), mark_message_errored, discard_frame");
}

// VI-ARCH 2.5.2: Reliable Delivery breaks.
TEST(MessageResponder, Expecting_claim_refused_reliable_delivery) {
  Rig rig = reliable_rig();
  EXPECT_EQ(rig.after(ClaimRefused{ReceiveError::TooSmall, false, false}),
            "Herr: fail_receive(TooSmall), discard_frame, start_discard_timer, fail_connection(TooSmall)");
}

// VI-ARCH 2.5.3: Reliable Reception tells the originator first, once the initiative is here.
TEST(MessageResponder, Refusing_until_the_last_frame) {
  Rig rig = reliable_rig();
  EXPECT_EQ(rig.after(ClaimRefused{ReceiveError::QueueEmpty, false, true}),
            "Refusing: note_refusal(QueueEmpty), discard_frame");
  EXPECT_EQ(rig.after(FrameReceived{false, true, true}), "Refusing: discard_frame");
  EXPECT_EQ(rig.after(FrameReceived{true, true, true}),
            "Herr: fail_refused, conclude_refusal, discard_frame, start_discard_timer");
}

// FC-VI B.2.5 rules 4b, 6b, 6d.
TEST(MessageResponder, Receiving_loss_reliable) {
  Rig frame = reliable_rig();
  frame.given(MessageStarted{});
  EXPECT_EQ(frame.after(FrameLost{Loss::FrameGap}),
            "Herr: fail_receive(Transport), discard_frame, start_discard_timer, fail_connection(Transport)");
  Rig message = reliable_rig();
  message.given(MessageStarted{});
  EXPECT_EQ(message.after(MessageGap{true}),
            "Herr: fail_receive(Transport), discard_frame, start_discard_timer, fail_connection(Transport)");
}

// FC-VI B.2.5 rules 4a a) b) c), 6c and B.2.4 rule 3a.
TEST(MessageResponder, Receiving_loss_unreliable) {
  Rig rig = unreliable_rig();
  rig.given(MessageStarted{});
  EXPECT_EQ(rig.after(FrameLost{Loss::FrameGap}),
            "Expecting: fail_receive(Transport), mark_message_errored, discard_frame");
  rig.given(MessageStarted{});
  EXPECT_EQ(rig.after(MessageGap{true}), "Expecting: fail_receive(Transport), mark_messages_missing(false)");
  EXPECT_EQ(rig.after(send), "Expecting: place_data, complete_receive, expect_next_message");
  EXPECT_EQ(rig.after(MessageGap{false}), "Expecting: mark_messages_missing(true), discard_frame");
}

// FC-VI B.2.4 rule 2, B.2.5 rule 5a: a Message of the past, errored or not. VI-ARCH 2.5.1: no Error
// at Unreliable Delivery.
TEST(MessageResponder, Expecting_stale_message) {
  Rig rig = unreliable_rig();
  EXPECT_EQ(rig.after(StaleMessage{true}), "Expecting: discard_frame");
  EXPECT_EQ(rig.after(StaleMessage{false}), "Expecting: discard_frame");
  EXPECT_EQ(reliable_rig().after(StaleMessage{false}),
            "Herr: discard_frame, start_discard_timer, fail_connection(Transport)");
}

// FC-VI 8.4.2 f), B.2.4 rule 1 a) b): both R_A_TOV and the Disconnect, in either order.
TEST(MessageResponder, Herr_until_disconnected_and_elapsed) {
  Rig rig = reliable_rig();
  EXPECT_EQ(rig.after(ConnectionFailed{}), "Herr: start_discard_timer");
  EXPECT_EQ(rig.after(FrameRefused{}), "Herr: discard_frame");
  EXPECT_EQ(rig.after(Disconnected{}), "HerrDisconnected:");
  EXPECT_EQ(rig.after(DiscardExpired{}), "Closed: release_handle");
  Rig other = reliable_rig();
  other.given(ConnectionFailed{});
  EXPECT_EQ(other.after(DiscardExpired{}), "HerrElapsed:");
  EXPECT_EQ(other.after(Disconnected{}), "Closed: release_handle");
}

// FC-VI 8.4.2 g), B.2.4 rule 1 c).
TEST(MessageResponder, Herr_port_logged_out) {
  Rig rig = reliable_rig();
  rig.given(ConnectionFailed{});
  EXPECT_EQ(rig.after(PortLoggedOut{}), "Closed: stop_discard_timer, release_handle");
}

// FC-VI B.2.4 rule 1 a).
TEST(MessageResponder, expects_frames_only_while_rule_1_is_not_in_effect) {
  Rig rig;
  EXPECT_FALSE(expects_frames(rig.machine));
  rig.given(ReceptionEnabled{});
  EXPECT_TRUE(expects_frames(rig.machine));
  rig.given(MessageStarted{});
  EXPECT_TRUE(expects_frames(rig.machine));
  rig.given(ConnectionFailed{});
  EXPECT_FALSE(expects_frames(rig.machine));
}

constexpr std::string_view lost_connection = "discard_frame, start_discard_timer, fail_connection(Transport)";

// A Reliable Reception Message that is refused, and whose last frame is still to come.
Rig refusing() {
  Rig rig = reliable_rig();
  rig.given(ClaimRefused{ReceiveError::QueueEmpty, false, true});
  return rig;
}
Rig receiving(Rig rig) {
  rig.given(MessageStarted{});
  return rig;
}
Rig herr(std::initializer_list<bool> steps = {}) {
  Rig rig = reliable_rig();
  rig.given(ConnectionFailed{});
  for (const bool elapsed : steps) elapsed ? rig.given(DiscardExpired{}) : rig.given(Disconnected{});
  return rig;
}

// FC-VI C.5.5, VI-ARCH 5.2: nothing was enabled: frames are dropped, and there is nothing to end.
TEST(MessageResponder, Closed_never_enabled) {
  Rig rig;
  EXPECT_EQ(rig.after(FrameRefused{}), "Closed: discard_frame");
  EXPECT_EQ(rig.after(ReceptionDisabled{}), "Closed:");
  EXPECT_EQ(rig.after(PortLoggedOut{}), "Closed:");
}

// FC-VI 8.4.2 f): a set-up that failed: its handle rests as that of a connection.
TEST(MessageResponder, Closed_setup_failed) {
  Rig rig;
  EXPECT_EQ(rig.after(ConnectionFailed{}), "Herr: start_discard_timer");
}

// FC-VI 8.2 b): reception was on before RESP1, and no connection came.
TEST(MessageResponder, Expecting_reception_disabled) {
  Rig rig = reliable_rig();
  EXPECT_EQ(rig.after(ReceptionDisabled{}), "Closed:");
  EXPECT_FALSE(expects_frames(rig.machine));
}

// FC-VI 8.2 b), VI-ARCH 5.2: the set-up was given up while an early Message (C.5.5) was open, or refused.
TEST(MessageResponder, Receiving_reception_disabled) {
  EXPECT_EQ(receiving(reliable_rig()).after(ReceptionDisabled{}), "Closed:");
}
TEST(MessageResponder, Refusing_reception_disabled) { EXPECT_EQ(refusing().after(ReceptionDisabled{}), "Closed:"); }

// VI-ARCH 2.5.3, FC-VI 5.9.4.3, 8.4.2 e): the whole Message is here: it is refused at once.
TEST(MessageResponder, Expecting_claim_refused_reliable_reception) {
  EXPECT_EQ(reliable_rig().after(ClaimRefused{ReceiveError::Protection, true, true}),
            "Herr: fail_receive(Protection), refuse_message(Protection), discard_frame, start_discard_timer, "
            "fail_connection(Protection)");
}

// FC-VI B.2.5 rules 4a c), 4b: Messages are missing; the first frame of a later one is looked at again.
TEST(MessageResponder, Expecting_message_gap) {
  Rig unreliable = unreliable_rig();
  EXPECT_EQ(unreliable.after(MessageGap{true}), "Expecting: mark_messages_missing(false)");
  EXPECT_EQ(reliable_rig().after(MessageGap{true}), "Herr: " + std::string(lost_connection));
  EXPECT_EQ(reliable_rig().after(MessageGap{false}), "Herr: " + std::string(lost_connection));
}

// FC-VI B.2.5 rules 6a to 6d, 7a, 7b: frames of the expected Message are missing before any came.
TEST(MessageResponder, Expecting_frame_lost) {
  for (const Loss loss : {Loss::FrameGap, Loss::SequenceError, Loss::Timeout}) {
    EXPECT_EQ(unreliable_rig().after(FrameLost{loss}), "Expecting: mark_message_errored, discard_frame");
    EXPECT_EQ(reliable_rig().after(FrameLost{loss}), "Herr: " + std::string(lost_connection));
  }
}

// FC-VI B.2.4 rule 3a, B.2.5 rules 7a, 7b: on an out-of-order fabric the expected Message may be open already, in
// its owner's books.
TEST(MessageResponder, Expecting_frame_lost_of_an_open_message) {
  EXPECT_EQ(unreliable_rig().after(FrameLost{Loss::Timeout, true}),
            "Expecting: fail_receive(Transport), mark_message_errored, discard_frame");
  EXPECT_EQ(reliable_rig().after(FrameLost{Loss::Timeout, true}),
            "Herr: fail_receive(Transport), " + std::string(lost_connection));
}

// FC-VI B.2.5 rules 4c, 6e: with the first frame that overtakes another, the open Message goes into its owner's books.
TEST(MessageResponder, Receiving_frames_overtaken) {
  EXPECT_EQ(receiving(reliable_rig()).after(FramesOvertaken{}), "Expecting:");
  EXPECT_EQ(refusing().after(FramesOvertaken{}), "Expecting:");
}

// VI-ARCH 2.5.1, 2.5.2, FC-VI B.2.4 rule 3, 8.4.2 e): the memory of an open Message goes away.
TEST(MessageResponder, Receiving_memory_lost) {
  EXPECT_EQ(receiving(unreliable_rig()).after(MemoryLost{false, false}),
            "Expecting: fail_receive(Protection), mark_message_errored, discard_frame");
  EXPECT_EQ(receiving(reliable_rig()).after(MemoryLost{true, false}),
            "Herr: fail_receive(Protection), discard_frame, start_discard_timer, fail_connection(Protection)");
  Rig reception = receiving(reliable_rig());
  EXPECT_EQ(reception.after(MemoryLost{false, true}), "Refusing: note_refusal(Protection), discard_frame");
  EXPECT_EQ(receiving(reliable_rig()).after(MemoryLost{true, true}),
            "Herr: fail_receive(Protection), refuse_message(Protection), discard_frame, start_discard_timer, "
            "fail_connection(Protection)");
}

// FC-VI B.2.4 rule 3a, B.2.5 rule 4a b): a later frame of a later Message: that one is lost, too.
TEST(MessageResponder, Receiving_message_gap_unreliable) {
  EXPECT_EQ(receiving(unreliable_rig()).after(MessageGap{false}),
            "Expecting: fail_receive(Transport), mark_messages_missing(true), discard_frame");
}

// FC-VI B.2.4 rule 2 a), B.2.5 rule 5a: a Message of the past while another one is open.
TEST(MessageResponder, Receiving_stale_message) {
  Rig rig = receiving(unreliable_rig());
  EXPECT_EQ(rig.after(StaleMessage{true}), "Receiving: discard_frame");
  EXPECT_EQ(rig.after(StaleMessage{false}), "Receiving: discard_frame");
  EXPECT_EQ(receiving(reliable_rig()).after(StaleMessage{false}),
            "Herr: fail_receive(Transport), " + std::string(lost_connection));
}

// FC-VI 5.2.2, 5.2.3: the last of several frames, for each kind of Message.
TEST(MessageResponder, Receiving_last_frame_of_each_kind) {
  const auto after_last = [](bool consumes_descriptor, bool needs_response) {
    return receiving(reliable_rig()).after(FrameReceived{true, consumes_descriptor, needs_response});
  };
  EXPECT_EQ(after_last(true, true), "Expecting: place_data, complete_receive, send_response, expect_next_message");
  EXPECT_EQ(after_last(false, false), "Expecting: place_data, expect_next_message");
  EXPECT_EQ(after_last(false, true), "Expecting: place_data, send_response, expect_next_message");
}

// FC-VI B.2.5 rules 4b, 5a, 6b, 6d, 7b: the refused Message loses frames, too: the connection breaks without an answer.
TEST(MessageResponder, Refusing_loss) {
  EXPECT_EQ(refusing().after(MessageGap{true}), "Herr: fail_refused, " + std::string(lost_connection));
  EXPECT_EQ(refusing().after(StaleMessage{true}), "Herr: fail_refused, " + std::string(lost_connection));
  EXPECT_EQ(refusing().after(FrameLost{Loss::Timeout}), "Herr: fail_refused, " + std::string(lost_connection));
}

// FC-VI 8.4.2 f), B.2.4 rule 1: Herr from wherever; R_A_TOV counts from there, once.
TEST(MessageResponder, connection_failed) {
  EXPECT_EQ(receiving(reliable_rig()).after(ConnectionFailed{}), "Herr: start_discard_timer");
  Rig rig = refusing();
  EXPECT_EQ(rig.after(ConnectionFailed{}), "Herr: start_discard_timer");
  EXPECT_EQ(rig.after(ConnectionFailed{}), "Herr:");
}

// FC-VI B.2.4 rule 1 a): frames are discarded until both R_A_TOV and the Disconnect are over.
TEST(MessageResponder, Herr_half_over_discards) {
  EXPECT_EQ(herr({true}).after(FrameRefused{}), "HerrElapsed: discard_frame");
  EXPECT_EQ(herr({false}).after(FrameRefused{}), "HerrDisconnected: discard_frame");
}

// FC-VI 8.4.2 g), B.2.4 rule 1 c): a logout frees the handle at once, wherever it is.
TEST(MessageResponder, port_logged_out) {
  EXPECT_EQ(reliable_rig().after(PortLoggedOut{}), "Closed: release_handle");
  EXPECT_EQ(receiving(reliable_rig()).after(PortLoggedOut{}), "Closed: fail_receive(Transport), release_handle");
  EXPECT_EQ(refusing().after(PortLoggedOut{}), "Closed: fail_refused, release_handle");
  EXPECT_EQ(herr({true}).after(PortLoggedOut{}), "Closed: release_handle");
  EXPECT_EQ(herr({false}).after(PortLoggedOut{}), "Closed: stop_discard_timer, release_handle");
}

}  // namespace
}  // namespace machines::message_responder
