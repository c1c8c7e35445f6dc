#include "state_machines/disconnect_originator.hpp"

#include "fsm_test.hpp"

namespace machines::disconnect_originator {
namespace {

class Recorded final : public fsm::testing::Recorder<Context> {
 public:
  enum Knob : unsigned { PortLoggedInKnob };
  void send_disconnect_rqst() override { note("send_disconnect_rqst"); }
  void start_response_timer() override { note("start_response_timer"); }
  void stop_response_timer() override { note("stop_response_timer"); }
  void abort_exchange() override { note("abort_exchange"); }
  void complete_disconnect(DisconnectOutcome value) override { note("complete_disconnect", value); }
  void count_stale() override { note("count_stale"); }
  [[nodiscard]] bool port_logged_in() const override { return knob(PortLoggedInKnob); }
};

struct Input {
  using Def = disconnect_originator::Def;
  using Recorded = disconnect_originator::Recorded;
  static constexpr unsigned knob_count = 1;

  template <class Event>
  static fsm::testing::Samples<Event> samples(std::type_identity<Event>) {
    return {{"", Event{}}};
  }
};

using Rig = fsm::testing::Rig<Def, Recorded>;

FSM_TABLE_TESTS(DisconnectOriginator, Input);

//TESTS

}  // namespace
}  // namespace machines::disconnect_originator
