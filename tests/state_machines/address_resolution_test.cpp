#include "state_machines/address_resolution.hpp"

#include "fsm_test.hpp"

namespace machines::address_resolution {
namespace {

class Recorded final : public fsm::testing::Recorder<Context> {
 public:
  enum Knob : unsigned { NameServerAvailableKnob, RetriesLeftKnob };
  void query_name_server() override { note("query_name_server"); }
  void broadcast_farp() override { note("broadcast_farp"); }
  void start_query_timer() override { note("start_query_timer"); }
  void start_farp_timer() override { note("start_farp_timer"); }
  void stop_timer() override { note("stop_timer"); }
  void reset_retries() override { note("reset_retries"); }
  void store_addresses() override { note("store_addresses"); }
  void add_address() override { note("add_address"); }
  void forget_addresses() override { note("forget_addresses"); }
  void forget_query() override { note("forget_query"); }
  void report_resolved() override { note("report_resolved"); }
  void report_failed() override { note("report_failed"); }
  void count_stale() override { note("count_stale"); }
  [[nodiscard]] bool name_server_available() const override { return knob(NameServerAvailableKnob); }
  [[nodiscard]] bool retries_left() const override { return knob(RetriesLeftKnob); }
};

struct Input {
  using Def = address_resolution::Def;
  using Recorded = address_resolution::Recorded;
  static constexpr unsigned knob_count = 2;

  template <class Event>
  static fsm::testing::Samples<Event> samples(std::type_identity<Event>) {
    return {{"", Event{}}};
  }
  static fsm::testing::Samples<NameServerAccepted> samples(std::type_identity<NameServerAccepted>) {
    return {{"none", NameServerAccepted{0}},
            {"one", NameServerAccepted{1}},
            {"three", NameServerAccepted{3}}};
  }
};

using Rig = fsm::testing::Rig<Def, Recorded>;

FSM_TABLE_TESTS(AddressResolution, Input);

//TESTS

}  // namespace
}  // namespace machines::address_resolution
