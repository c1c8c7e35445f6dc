#include "state_machines/vitcp_read_responder.hpp"

#include "fsm_test.hpp"

namespace machines::vitcp_read_responder {
namespace {

class Recorded final : public fsm::testing::Recorder<Context> {
 public:
  enum Knob : unsigned { ReliableKnob };
  void send_segment() override { note("send_segment"); }
  void send_padding() override { note("send_padding"); }
  void finish_response() override { note("finish_response"); }
  void report_refusal() override { note("report_refusal"); }
  void fail_connection(Failure value) override { note("fail_connection", value); }
  [[nodiscard]] bool reliable() const override { return knob(ReliableKnob); }
};

struct Input {
  using Def = vitcp_read_responder::Def;
  using Recorded = vitcp_read_responder::Recorded;
  static constexpr unsigned knob_count = 1;

  template <class Event>
  static fsm::testing::Samples<Event> samples(std::type_identity<Event>) {
    return {{"", Event{}}};
  }
  static fsm::testing::Samples<SegmentSent> samples(std::type_identity<SegmentSent>) {
    return {{"More", {}}, {"Last", {.last = true}}};
  }
};

using Rig = fsm::testing::Rig<Def, Recorded>;

FSM_TABLE_TESTS(VitcpReadResponder, Input);

template <class... Events>
Rig after_events(bool reliable, const Events&... events) {
  Rig rig;
  rig.set(Recorded::ReliableKnob, reliable);
  rig.given(events...);
  return rig;
}

// VI-TCP 2.2.2.2.3, 2.2.2.2.6: all segments of a response; then its memory is held no longer.
TEST(VitcpReadResponder, Idle_response_of_three_segments) {
  for (const bool reliable : {false, true}) {
    Rig rig = after_events(reliable);
    EXPECT_TRUE(may_begin(rig.machine));
    EXPECT_EQ(rig.after(ReadGranted{}), "Responding: send_segment");
    EXPECT_FALSE(may_begin(rig.machine));
    EXPECT_EQ(rig.after(SegmentSent{}), "Responding: send_segment");
    EXPECT_EQ(rig.after(SegmentSent{}), "Responding: send_segment");
    EXPECT_EQ(rig.after(SegmentSent{.last = true}), "Idle: finish_response");
  }
}

// Ruling V-18: a refused read has one segment, with Transmit Error; VI-ARCH 2.5.1: the connection persists.
TEST(VitcpReadResponder, Idle_refused_unreliable) {
  Rig rig;
  EXPECT_EQ(rig.after(ReadRefused{}), "Padding: send_padding");
  EXPECT_EQ(rig.after(SegmentSent{.last = true}), "Idle: report_refusal, finish_response");
}

// Ruling V-19: at the reliable levels the end that finds the error closes; the answer goes before.
TEST(VitcpReadResponder, Idle_refused_reliable) {
  Rig rig = after_events(true);
  EXPECT_EQ(rig.after(ReadRefused{}), "Padding: send_padding");
  EXPECT_EQ(rig.after(SegmentSent{.last = true}), "Ended: report_refusal, finish_response, fail_connection(Local)");
}

// VI-TCP 2.2.2.2.5, ruling V-18: the memory went in mid-response: the rest is zeros, with Transmit Error.
TEST(VitcpReadResponder, Responding_source_lost) {
  for (const bool reliable : {false, true}) {
    Rig rig = after_events(reliable, ReadGranted{}, SegmentSent{});
    EXPECT_EQ(rig.after(SourceLost{}), "Padding: send_padding");
    EXPECT_EQ(rig.after(SegmentSent{}), "Padding: send_padding");
    EXPECT_EQ(rig.after(SegmentSent{.last = true}),
              reliable ? "Ended: report_refusal, finish_response, fail_connection(Local)"
                       : "Idle: report_refusal, finish_response");
  }
}

// Ruling V-17: nothing is sent any more. What failed here hears of it, too.
TEST(VitcpReadResponder, connection_ended) {
  for (Rig rig : {after_events(true), after_events(true, ReadGranted{}), after_events(true, ReadRefused{})}) {
    EXPECT_EQ(rig.after(ConnectionEnded{}), "Ended:");
    EXPECT_EQ(rig.after(ConnectionEnded{}), "Ended:");
  }
}

}  // namespace
}  // namespace machines::vitcp_read_responder
