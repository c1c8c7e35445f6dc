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
    return {{"no response", MemoryLost{false}},
            {"response", MemoryLost{true}}};
  }
  static fsm::testing::Samples<MessageGap> samples(std::type_identity<MessageGap>) {
    return {{"later frame", MessageGap{false}},
            {"first frame", MessageGap{true}}};
  }
  static fsm::testing::Samples<StaleMessage> samples(std::type_identity<StaleMessage>) {
    return {{"not errored", StaleMessage{false}},
            {"errored", StaleMessage{true}}};
  }
  static fsm::testing::Samples<FrameLost> samples(std::type_identity<FrameLost>) {
    return {{"FrameGap", FrameLost{Loss::FrameGap}},
            {"SequenceError", FrameLost{Loss::SequenceError}},
            {"Timeout", FrameLost{Loss::Timeout}}};
  }
};

using Rig = fsm::testing::Rig<Def, Recorded>;

FSM_TABLE_TESTS(MessageResponder, Input);

//TESTS

}  // namespace
}  // namespace machines::message_responder
