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

// FC-VI 5.3.5, D.1 rule 1.
TEST(DisconnectOriginator, Idle_undisturbed) {
  Rig rig;
  rig.set(Recorded::PortLoggedInKnob);
  EXPECT_EQ(rig.after(DisconnectRequested{}), "AwaitResponse: send_disconnect_rqst, start_response_timer");
  EXPECT_EQ(rig.after(ResponseReceived{}), "Idle: stop_response_timer, complete_disconnect(Success)");
}

// FC-VI D.1 rule 1 b), C.5.7.2: one retry in a new Exchange, which is answered.
TEST(DisconnectOriginator, AwaitResponse_timeout_retry_answered) {
  Rig rig;
  rig.set(Recorded::PortLoggedInKnob);
  rig.given(DisconnectRequested{});
  EXPECT_EQ(rig.after(ResponseTimeout{}),
            "AwaitResponseRetry: stop_response_timer, abort_exchange, send_disconnect_rqst, start_response_timer");
  EXPECT_EQ(rig.after(ResponseReceived{}), "Idle: stop_response_timer, complete_disconnect(Success)");
}

// FC-VI 8.6.3 a), D.1 rule 1 c), ruling 20: never answered. The application may call again.
TEST(DisconnectOriginator, AwaitResponseRetry_timeout) {
  Rig rig;
  rig.set(Recorded::PortLoggedInKnob);
  rig.given(DisconnectRequested{}, ResponseTimeout{});
  EXPECT_EQ(rig.after(ResponseTimeout{}),
            "Unanswered: stop_response_timer, abort_exchange, complete_disconnect(NotReachable)");
  EXPECT_EQ(rig.after(ResponseReceived{}), "Unanswered: count_stale");
  EXPECT_EQ(rig.after(DisconnectRequested{}), "AwaitResponse: send_disconnect_rqst, start_response_timer");
}

// FC-VI 8.4.2 g): after a logout there is nothing to disconnect.
TEST(DisconnectOriginator, Idle_port_not_logged_in) {
  Rig rig;
  EXPECT_EQ(rig.after(DisconnectRequested{}), "Idle: complete_disconnect(Success)");
}

TEST(DisconnectOriginator, AwaitResponse_port_logged_out) {
  Rig rig;
  rig.set(Recorded::PortLoggedInKnob);
  rig.given(DisconnectRequested{});
  EXPECT_EQ(rig.after(PortLoggedOut{}), "Idle: stop_response_timer, complete_disconnect(Success)");
}

Rig requested() {
  Rig rig;
  rig.set(Recorded::PortLoggedInKnob);
  rig.given(DisconnectRequested{});
  return rig;
}

// FC-VI 8.6.2 a), D.1 rule 1 b): a Sequence error is retried like a time-out, and is as final the second
// time (8.6.3 a).
TEST(DisconnectOriginator, AwaitResponse_exchange_error_twice) {
  Rig rig = requested();
  EXPECT_EQ(rig.after(ExchangeError{}),
            "AwaitResponseRetry: stop_response_timer, abort_exchange, send_disconnect_rqst, start_response_timer");
  EXPECT_EQ(rig.after(ExchangeError{}),
            "Unanswered: stop_response_timer, abort_exchange, complete_disconnect(NotReachable)");
  EXPECT_EQ(rig.after(ExchangeError{}), "Unanswered: count_stale");
}

// FC-VI 7.7.1, 8.4.2 g): the logout answers for the peer, also during the retry.
TEST(DisconnectOriginator, AwaitResponseRetry_port_logged_out) {
  Rig rig = requested();
  rig.given(ResponseTimeout{});
  EXPECT_EQ(rig.after(PortLoggedOut{}), "Idle: stop_response_timer, complete_disconnect(Success)");
}

// One DISCONNECT_RQST is out: another call sends no second one.
TEST(DisconnectOriginator, requested_while_under_way) {
  Rig rig = requested();
  EXPECT_EQ(rig.after(DisconnectRequested{}), "AwaitResponse: count_stale");
  rig.given(ResponseTimeout{});
  EXPECT_EQ(rig.after(DisconnectRequested{}), "AwaitResponseRetry: count_stale");
}

// FC-VI 8.4.2 g), 7.7.1: never answered, then the port logs out: the next VipDisconnect has nobody to ask.
TEST(DisconnectOriginator, Unanswered_then_logged_out) {
  Rig told = requested();
  told.given(ResponseTimeout{}, ResponseTimeout{});
  EXPECT_EQ(told.after(PortLoggedOut{}), "Idle:");
  Rig asks = requested();
  asks.given(ResponseTimeout{}, ResponseTimeout{});
  asks.set(Recorded::PortLoggedInKnob, false);
  EXPECT_EQ(asks.after(DisconnectRequested{}), "Idle: complete_disconnect(Success)");
}

// Nothing is under way: a logout has nothing to end, an answer nobody to tell.
TEST(DisconnectOriginator, Idle_nothing_under_way) {
  Rig rig;
  EXPECT_EQ(rig.after(PortLoggedOut{}), "Idle:");
  EXPECT_EQ(rig.after(ResponseReceived{}), "Idle: count_stale");
}

}  // namespace
}  // namespace machines::disconnect_originator
