#include "state_machines/connect_responder.hpp"

#include "fsm_test.hpp"

namespace machines::connect_responder {
namespace {

class Recorded final : public fsm::testing::Recorder<Context> {
 public:
  enum Knob : unsigned { PeerIsConnectedKnob };
  void offer_request() override { note("offer_request"); }
  void withdraw_request() override { note("withdraw_request"); }
  void send_resp1(Answer value) override { note("send_resp1", value); }
  void repeat_resp1() override { note("repeat_resp1"); }
  void send_resp3(Answer value) override { note("send_resp3", value); }
  void adopt_retry() override { note("adopt_retry"); }
  void clear_retry_flag() override { note("clear_retry_flag"); }
  void start_t2() override { note("start_t2"); }
  void stop_t2() override { note("stop_t2"); }
  void set_cserr() override { note("set_cserr"); }
  void complete_accept(AcceptOutcome value) override { note("complete_accept", value); }
  void endpoint_accepting() override { note("endpoint_accepting"); }
  void endpoint_connected() override { note("endpoint_connected"); }
  void endpoint_refused() override { note("endpoint_refused"); }
  void endpoint_lost() override { note("endpoint_lost"); }
  void log_timeout() override { note("log_timeout"); }
  void release() override { note("release"); }
  void count_stale() override { note("count_stale"); }
  [[nodiscard]] bool peer_is_connected() const override { return knob(PeerIsConnectedKnob); }
};

struct Input {
  using Def = connect_responder::Def;
  using Recorded = connect_responder::Recorded;
  static constexpr unsigned knob_count = 1;

  template <class Event>
  static fsm::testing::Samples<Event> samples(std::type_identity<Event>) {
    return {{"", Event{}}};
  }
  static fsm::testing::Samples<RqstRefused> samples(std::type_identity<RqstRefused>) {
    return {{"NoDiscriminatorMatch", RqstRefused{Answer::NoDiscriminatorMatch}},
            {"NoWaitingConnectionpoint", RqstRefused{Answer::NoWaitingConnectionpoint}},
            {"ConcurrentPeers", RqstRefused{Answer::ConcurrentPeers}},
            {"InvalidServiceParm", RqstRefused{Answer::InvalidServiceParm}},
            {"ProtocolError", RqstRefused{Answer::ProtocolError}},
            {"TransportError", RqstRefused{Answer::TransportError}}};
  }
  static fsm::testing::Samples<Resp2Received> samples(std::type_identity<Resp2Received>) {
    return {{"accepts", Resp2Received{true, false}},
            {"accepts, retry", Resp2Received{true, true}},
            {"refuses", Resp2Received{false, false}},
            {"refuses, retry", Resp2Received{false, true}}};
  }
};

using Rig = fsm::testing::Rig<Def, Recorded>;

FSM_TABLE_TESTS(ConnectResponder, Input);

//TESTS

}  // namespace
}  // namespace machines::connect_responder
