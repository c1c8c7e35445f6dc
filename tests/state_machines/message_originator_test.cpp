#include "state_machines/message_originator.hpp"

#include "fsm_test.hpp"

namespace machines::message_originator {
namespace {

class Recorded final : public fsm::testing::Recorder<Context> {
 public:
  enum Knob : unsigned { ReliableKnob, ClearToSendKnob };
  void start_response_timer() override { note("start_response_timer"); }
  void stop_response_timer() override { note("stop_response_timer"); }
  void place_read_data() override { note("place_read_data"); }
  void complete(Completion value) override { note("complete", value); }
  void abort_exchange() override { note("abort_exchange"); }
  void fail_connection() override { note("fail_connection"); }
  void set_merr() override { note("set_merr"); }
  void count_stale() override { note("count_stale"); }
  [[nodiscard]] bool reliable() const override { return knob(ReliableKnob); }
  [[nodiscard]] bool clear_to_send() const override { return knob(ClearToSendKnob); }
};

struct Input {
  using Def = message_originator::Def;
  using Recorded = message_originator::Recorded;
  static constexpr unsigned knob_count = 2;

  template <class Event>
  static fsm::testing::Samples<Event> samples(std::type_identity<Event>) {
    return {{"", Event{}}};
  }
  static fsm::testing::Samples<LastFrameSent> samples(std::type_identity<LastFrameSent>) {
    return {{"Send, Write", LastFrameSent{false, false}},
            {"Send, Write, response", LastFrameSent{false, true}},
            {"Read", LastFrameSent{true, false}},
            {"Read, response", LastFrameSent{true, true}}};
  }
  static fsm::testing::Samples<ResponseReceived> samples(std::type_identity<ResponseReceived>) {
    return {{"Success", ResponseReceived{Completion::Success}},
            {"TransportError", ResponseReceived{Completion::TransportError}},
            {"RdmaProtectionError", ResponseReceived{Completion::RdmaProtectionError}},
            {"RemoteDescriptorError", ResponseReceived{Completion::RemoteDescriptorError}}};
  }
  static fsm::testing::Samples<ReadDataReceived> samples(std::type_identity<ReadDataReceived>) {
    return {{"Success", ReadDataReceived{false, Completion::Success}},
            {"TransportError", ReadDataReceived{false, Completion::TransportError}},
            {"RdmaProtectionError", ReadDataReceived{false, Completion::RdmaProtectionError}},
            {"Success, last", ReadDataReceived{true, Completion::Success}},
            {"TransportError, last", ReadDataReceived{true, Completion::TransportError}},
            {"RdmaProtectionError, last", ReadDataReceived{true, Completion::RdmaProtectionError}}};
  }
};

using Rig = fsm::testing::Rig<Def, Recorded>;

FSM_TABLE_TESTS(MessageOriginator, Input);

//TESTS

}  // namespace
}  // namespace machines::message_originator
