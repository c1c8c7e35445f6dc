#include "state_machines/disconnect_responder.hpp"

#include "fsm_test.hpp"

namespace machines::disconnect_responder {
namespace {

class Recorded final : public fsm::testing::Recorder<Context> {
 public:
  void send_disconnect_resp(ResponseReason value) override { note("send_disconnect_resp", value); }
  void abort_setup() override { note("abort_setup"); }
  void endpoint_lost() override { note("endpoint_lost"); }
  void ignore_request() override { note("ignore_request"); }
};

struct Input {
  using Def = disconnect_responder::Def;
  using Recorded = disconnect_responder::Recorded;
  static constexpr unsigned knob_count = 0;

  template <class Event>
  static fsm::testing::Samples<Event> samples(std::type_identity<Event>) {
    return {{"", Event{}}};
  }
  static fsm::testing::Samples<RqstReceived> samples(std::type_identity<RqstReceived>) {
    return {{"of a connection", RqstReceived{false, false}},
            {"of a connection, id known", RqstReceived{false, true}},
            {"of a setup, id unknown", RqstReceived{true, false}},
            {"of a setup, id known", RqstReceived{true, true}}};
  }
};

using Rig = fsm::testing::Rig<Def, Recorded>;

FSM_TABLE_TESTS(DisconnectResponder, Input);

//TESTS

}  // namespace
}  // namespace machines::disconnect_responder
