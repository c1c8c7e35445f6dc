#include "state_machines/vi_endpoint.hpp"

#include "fsm_test.hpp"

namespace machines::vi_endpoint {
namespace {

class Recorded final : public fsm::testing::Recorder<Context> {
 public:
  enum Knob : unsigned { ReliableKnob, DisconnectOutstandingKnob };
  void enable_reception() override { note("enable_reception"); }
  void enable_transmission() override { note("enable_transmission"); }
  void withdraw_reception() override { note("withdraw_reception"); }
  void disable_traffic() override { note("disable_traffic"); }
  void flush_descriptors() override { note("flush_descriptors"); }
  void report_connection_lost() override { note("report_connection_lost"); }
  void request_disconnect() override { note("request_disconnect"); }
  void complete_disconnect(DisconnectOutcome value) override { note("complete_disconnect", value); }
  void refuse_request() override { note("refuse_request"); }
  void count_stale() override { note("count_stale"); }
  [[nodiscard]] bool reliable() const override { return knob(ReliableKnob); }
  [[nodiscard]] bool disconnect_outstanding() const override { return knob(DisconnectOutstandingKnob); }
};

struct Input {
  using Def = vi_endpoint::Def;
  using Recorded = vi_endpoint::Recorded;
  static constexpr unsigned knob_count = 2;

  template <class Event>
  static fsm::testing::Samples<Event> samples(std::type_identity<Event>) {
    return {{"", Event{}}};
  }
};

using Rig = fsm::testing::Rig<Def, Recorded>;

FSM_TABLE_TESTS(ViEndpoint, Input);

//TESTS

}  // namespace
}  // namespace machines::vi_endpoint
