#include "state_machines/exchange.hpp"

#include "fsm_test.hpp"

namespace machines::exchange {
namespace {

class Recorded final : public fsm::testing::Recorder<Context> {
 public:
  enum Knob : unsigned { LogsOutSilentPortKnob };
  void send_abts() override { note("send_abts"); }
  void send_ba_acc() override { note("send_ba_acc"); }
  void send_rrq() override { note("send_rrq"); }
  void start_abort_timer() override { note("start_abort_timer"); }
  void stop_abort_timer() override { note("stop_abort_timer"); }
  void start_quarantine_timer() override { note("start_quarantine_timer"); }
  void stop_quarantine_timer() override { note("stop_quarantine_timer"); }
  void report_aborted(AbortCause value) override { note("report_aborted", value); }
  void request_port_logout() override { note("request_port_logout"); }
  void release() override { note("release"); }
  void discard_frame() override { note("discard_frame"); }
  void count_stale() override { note("count_stale"); }
  [[nodiscard]] bool logs_out_silent_port() const override { return knob(LogsOutSilentPortKnob); }
};

struct Input {
  using Def = exchange::Def;
  using Recorded = exchange::Recorded;
  static constexpr unsigned knob_count = 1;

  template <class Event>
  static fsm::testing::Samples<Event> samples(std::type_identity<Event>) {
    return {{"", Event{}}};
  }
  static fsm::testing::Samples<SequenceReceived> samples(std::type_identity<SequenceReceived>) {
    return {{"keeps initiative", SequenceReceived{false, false}},
            {"passes initiative", SequenceReceived{true, false}},
            {"last", SequenceReceived{false, true}},
            {"passes initiative, last", SequenceReceived{true, true}}};
  }
  static fsm::testing::Samples<SequenceSent> samples(std::type_identity<SequenceSent>) {
    return {{"keeps initiative", SequenceSent{false, false}},
            {"passes initiative", SequenceSent{true, false}},
            {"last", SequenceSent{false, true}},
            {"passes initiative, last", SequenceSent{true, true}}};
  }
};

using Rig = fsm::testing::Rig<Def, Recorded>;

FSM_TABLE_TESTS(Exchange, Input);

//TESTS

}  // namespace
}  // namespace machines::exchange
