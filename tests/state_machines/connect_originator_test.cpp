#include "state_machines/connect_originator.hpp"

#include "fsm_test.hpp"

namespace machines::connect_originator {
namespace {

class Recorded final : public fsm::testing::Recorder<Context> {
 public:
  enum Knob : unsigned { PeerToPeerKnob };
  void send_connect_rqst(bool value) override { note("send_connect_rqst", value); }
  void send_resp2(Resp2 value) override { note("send_resp2", value); }
  void start_t1() override { note("start_t1"); }
  void stop_t1() override { note("stop_t1"); }
  void start_t3() override { note("start_t3"); }
  void stop_t3() override { note("stop_t3"); }
  void abort_exchange() override { note("abort_exchange"); }
  void quarantine_connection_id() override { note("quarantine_connection_id"); }
  void allow_send_completions() override { note("allow_send_completions"); }
  void complete_request(ConnectOutcome value) override { note("complete_request", value); }
  void leave_waiting_for_peer() override { note("leave_waiting_for_peer"); }
  void endpoint_connected() override { note("endpoint_connected"); }
  void endpoint_refused() override { note("endpoint_refused"); }
  void endpoint_timed_out() override { note("endpoint_timed_out"); }
  void endpoint_retrying() override { note("endpoint_retrying"); }
  void endpoint_failed() override { note("endpoint_failed"); }
  void endpoint_lost() override { note("endpoint_lost"); }
  void release() override { note("release"); }
  void count_stale() override { note("count_stale"); }
  [[nodiscard]] bool peer_to_peer() const override { return knob(PeerToPeerKnob); }
};

struct Input {
  using Def = connect_originator::Def;
  using Recorded = connect_originator::Recorded;
  static constexpr unsigned knob_count = 1;

  template <class Event>
  static fsm::testing::Samples<Event> samples(std::type_identity<Event>) {
    return {{"", Event{}}};
  }
  static fsm::testing::Samples<Resp1Received> samples(std::type_identity<Resp1Received>) {
    return {{"Accept", Resp1Received{Verdict::Accept}},
            {"NoMatch", Resp1Received{Verdict::NoMatch}},
            {"Reject", Resp1Received{Verdict::Reject}},
            {"ConcurrentPeers", Resp1Received{Verdict::ConcurrentPeers}},
            {"TransportError", Resp1Received{Verdict::TransportError}},
            {"OtherError", Resp1Received{Verdict::OtherError}}};
  }
  static fsm::testing::Samples<Resp3Received> samples(std::type_identity<Resp3Received>) {
    return {{"Accept", Resp3Received{Verdict::Accept}},
            {"NoMatch", Resp3Received{Verdict::NoMatch}},
            {"Reject", Resp3Received{Verdict::Reject}},
            {"ConcurrentPeers", Resp3Received{Verdict::ConcurrentPeers}},
            {"TransportError", Resp3Received{Verdict::TransportError}},
            {"OtherError", Resp3Received{Verdict::OtherError}}};
  }
  static fsm::testing::Samples<SetupErrorDetected> samples(std::type_identity<SetupErrorDetected>) {
    return {{"Timeout", SetupErrorDetected{SetupError::Timeout}},
            {"Exchange", SetupErrorDetected{SetupError::Exchange}}};
  }
};

using Rig = fsm::testing::Rig<Def, Recorded>;

FSM_TABLE_TESTS(ConnectOriginator, Input);

//TESTS

}  // namespace
}  // namespace machines::connect_originator
