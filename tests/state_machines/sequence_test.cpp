#include "state_machines/sequence.hpp"

#include "fsm_test.hpp"

namespace machines::sequence {
namespace {

class Recorded final : public fsm::testing::Recorder<Context> {
 public:
  enum Knob : unsigned { OutOfOrderFabricKnob };
  void deliver() override { note("deliver"); }
  void report_sequence() override { note("report_sequence"); }
  void report_sequence_error(SequenceError value) override { note("report_sequence_error", value); }
  void start_sequence_timer() override { note("start_sequence_timer"); }
  void start_missing_frame_timer() override { note("start_missing_frame_timer"); }
  void stop_timer() override { note("stop_timer"); }
  void discard_frame() override { note("discard_frame"); }
  [[nodiscard]] bool out_of_order_fabric() const override { return knob(OutOfOrderFabricKnob); }
};

struct Input {
  using Def = sequence::Def;
  using Recorded = sequence::Recorded;
  static constexpr unsigned knob_count = 1;

  template <class Event>
  static fsm::testing::Samples<Event> samples(std::type_identity<Event>) {
    return {{"", Event{}}};
  }
  static fsm::testing::Samples<FrameReceived> samples(std::type_identity<FrameReceived>) {
    fsm::testing::Samples<FrameReceived> all;
    for (const bool first : {false, true}) {
      for (const bool last : {false, true}) {
        for (const bool in_order : {false, true}) {
          for (const bool complete : {false, true}) {
            all.push_back({std::string(first ? "first " : "") + (last ? "last " : "") + (in_order ? "in order " : "") +
                               (complete ? "complete" : ""),
                           FrameReceived{first, last, in_order, complete}});
          }
        }
      }
    }
    return all;
  }
};

using Rig = fsm::testing::Rig<Def, Recorded>;

FSM_TABLE_TESTS(Sequence, Input);

constexpr FrameReceived only{true, true, true, true};
constexpr FrameReceived first{true, false, true, false};
constexpr FrameReceived middle{false, false, true, false};
constexpr FrameReceived last{false, true, true, true};
constexpr FrameReceived out_of_order{false, false, false, false};

// After the frame that makes it too long the rest is discarded, as after a lost one.
TEST(Sequence, refused_iu_is_discarded_until_the_exchange_is_aborted) {
  for (const bool out_of_order_fabric : {false, true}) {
    Rig rig;
    if (out_of_order_fabric) rig.set(Recorded::OutOfOrderFabricKnob);
    EXPECT_EQ(rig.after(first), "Receiving: deliver, start_sequence_timer");
    if (out_of_order_fabric) {
      EXPECT_EQ(rig.after(out_of_order), "Reassembling: deliver, start_missing_frame_timer");
    }
    EXPECT_EQ(rig.after(IuRefused{}), "Errored: stop_timer");
    EXPECT_EQ(rig.after(last), "Errored: discard_frame");
    EXPECT_EQ(rig.after(ExchangeAborted{}), "Idle:");
  }
  Rig rig;
  EXPECT_EQ(rig.after(only), "Complete: deliver, report_sequence");
  EXPECT_EQ(rig.after(IuRefused{}), "Errored:");
  EXPECT_EQ(rig.after(only), "Errored: discard_frame");
}

TEST(Sequence, Idle_one_frame) {
  Rig rig;
  EXPECT_EQ(rig.after(only), "Complete: deliver, report_sequence");
  EXPECT_EQ(rig.after(only), "Complete: deliver, report_sequence");
}

TEST(Sequence, Receiving_until_the_last_frame) {
  Rig rig;
  EXPECT_EQ(rig.after(first), "Receiving: deliver, start_sequence_timer");
  EXPECT_EQ(rig.after(middle), "Receiving: deliver");
  EXPECT_EQ(rig.after(last), "Complete: deliver, stop_timer, report_sequence");
  EXPECT_EQ(rig.after(first), "Receiving: deliver, start_sequence_timer");
}

// FC-VI 8.4.1 c): in-order fabric.
TEST(Sequence, Receiving_frame_lost) {
  Rig rig;
  rig.given(first);
  EXPECT_EQ(rig.after(out_of_order), "Errored: stop_timer, discard_frame, report_sequence_error(MissingFrame)");
  EXPECT_EQ(rig.after(last), "Errored: discard_frame");
  EXPECT_EQ(rig.after(ExchangeAborted{}), "Idle:");
}

TEST(Sequence, Receiving_timeout) {
  Rig rig;
  rig.given(first);
  EXPECT_EQ(rig.after(Timeout{}), "Errored: report_sequence_error(Timeout)");
}

// FC-VI B.2.5 rules 6e, 5b: the missing frame comes within R_A_TOV.
TEST(Sequence, Reassembling_hole_filled) {
  Rig rig;
  rig.set(Recorded::OutOfOrderFabricKnob);
  rig.given(first);
  EXPECT_EQ(rig.after(FrameReceived{false, true, false, false}), "Reassembling: deliver, start_missing_frame_timer");
  EXPECT_EQ(rig.after(FrameReceived{false, false, false, false}), "Reassembling: deliver");
  EXPECT_EQ(rig.after(FrameReceived{false, false, false, true}), "Complete: deliver, stop_timer, report_sequence");
}

// FC-VI B.2.5 rule 7.
TEST(Sequence, Reassembling_timeout) {
  Rig rig;
  rig.set(Recorded::OutOfOrderFabricKnob);
  rig.given(first, out_of_order);
  EXPECT_EQ(rig.after(Timeout{}), "Errored: report_sequence_error(Timeout)");
}

TEST(Sequence, Receiving_exchange_aborted) {
  Rig rig;
  rig.given(first);
  EXPECT_EQ(rig.after(ExchangeAborted{}), "Idle: stop_timer");
}

constexpr FrameReceived first_not_next{true, false, false,
                                       false};  // opens a Sequence, but frames before it are missing

// FC-VI 8.4.1 c) d): the beginning is missing: of the first Sequence, or of the next one (5.5).
TEST(Sequence, first_frame_overtaken_or_lost) {
  for (const FrameReceived& frame : {out_of_order, first_not_next}) {
    for (const bool had_one : {false, true}) {
      Rig lost;
      if (had_one) lost.given(only);
      EXPECT_EQ(lost.after(frame), "Errored: discard_frame, report_sequence_error(MissingFrame)");
      Rig overtaken;
      if (had_one) overtaken.given(only);
      overtaken.set(Recorded::OutOfOrderFabricKnob);
      EXPECT_EQ(overtaken.after(frame), "Reassembling: deliver, start_missing_frame_timer");
    }
  }
}

// FC-FS: the Exchange is aborted: whatever was open is forgotten, and a timer runs no longer.
TEST(Sequence, exchange_aborted) {
  Rig rig;
  EXPECT_EQ(rig.after(ExchangeAborted{}), "Idle:");
  rig.given(only);
  EXPECT_EQ(rig.after(ExchangeAborted{}), "Idle:");
  rig.set(Recorded::OutOfOrderFabricKnob);
  rig.given(out_of_order);
  EXPECT_EQ(rig.after(ExchangeAborted{}), "Idle: stop_timer");
}

}  // namespace
}  // namespace machines::sequence
