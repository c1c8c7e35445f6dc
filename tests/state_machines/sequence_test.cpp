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

//TESTS

}  // namespace
}  // namespace machines::sequence
