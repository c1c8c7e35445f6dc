#include "state_machines/message_originator.hpp"

#include "fsm_test.hpp"

namespace machines::message_originator {
namespace {

class Recorded final : public fsm::testing::Recorder<Context> {
 public:
  enum Knob : unsigned { ReliableKnob, ClearToSendKnob, ReportsTransportErrorsKnob };
  void start_response_timer() override { note("start_response_timer"); }
  void stop_response_timer() override { note("stop_response_timer"); }
  void place_read_data() override { note("place_read_data"); }
  void complete(Completion value) override { note("complete", value); }
  void abort_exchange() override { note("abort_exchange"); }
  void fail_connection() override { note("fail_connection"); }
  void set_merr() override { note("set_merr"); }
  void count_stale() override { note("count_stale"); }
  [[nodiscard]] bool reliable() const override { return knob(ReliableKnob); }
  [[nodiscard]] bool may_complete() const override { return knob(ClearToSendKnob); }
  [[nodiscard]] bool reports_transport_errors() const override { return knob(ReportsTransportErrorsKnob); }
};

struct Input {
  using Def = message_originator::Def;
  using Recorded = message_originator::Recorded;
  static constexpr unsigned knob_count = 3;

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

// FC-VI 5.2.2: Unreliable or Reliable Delivery; complete when the last frame left (VI-ARCH 2.5.2).
TEST(MessageOriginator, Queued_one_frame_send) {
  Rig rig;
  rig.set(Recorded::ClearToSendKnob);
  EXPECT_EQ(rig.after(LastFrameSent{false, false}), "Completed: complete(Success)");
}

// fcvi::MessageSender counts on it where it runs no machine (send_whole): whatever else holds, this is all that the
// table does.
TEST(MessageOriginator, Queued_whole_message_completes_and_nothing_else) {
  for (const bool reliable : {false, true})
    for (const bool reports : {false, true}) {
      Rig rig;
      rig.set(Recorded::ClearToSendKnob);
      if (reliable) rig.set(Recorded::ReliableKnob);
      if (reports) rig.set(Recorded::ReportsTransportErrorsKnob);
      EXPECT_EQ(rig.after(LastFrameSent{.read = false, .needs_response = false}), "Completed: complete(Success)");
    }
}

TEST(MessageOriginator, Sending_many_frames) {
  Rig rig;
  rig.set(Recorded::ClearToSendKnob);
  EXPECT_EQ(rig.after(SendStarted{}), "Sending:");
  EXPECT_EQ(rig.after(LastFrameSent{false, false}), "Completed: complete(Success)");
}

// FC-VI 5.2.2, VI-ARCH 2.5.3: Reliable Reception.
TEST(MessageOriginator, AwaitResponse_success) {
  Rig rig;
  rig.set(Recorded::ClearToSendKnob);
  EXPECT_EQ(rig.after(LastFrameSent{false, true}), "AwaitResponse: start_response_timer");
  EXPECT_EQ(rig.after(ResponseReceived{Completion::Success}), "Completed: stop_response_timer, complete(Success)");
  EXPECT_EQ(rig.after(ResponseReceived{Completion::Success}), "Completed: count_stale");
}

// FC-VI 5.9.4.3, 8.4.2 e).
TEST(MessageOriginator, AwaitResponse_error) {
  Rig rig;
  rig.given(LastFrameSent{false, true});
  EXPECT_EQ(rig.after(ResponseReceived{Completion::RemoteDescriptorError}),
            "Completed: stop_response_timer, complete(RemoteDescriptorError), fail_connection");
}

// FC-VI 8.4.2 a), B.2.6.2 rule 9.
TEST(MessageOriginator, AwaitResponse_timeout) {
  Rig rig;
  rig.given(LastFrameSent{false, true});
  EXPECT_EQ(rig.after(ResponseTimeout{}), "Completed: abort_exchange, complete(TransportError), fail_connection");
}

// FC-VI 5.2.4.
TEST(MessageOriginator, AwaitReadData_success) {
  Rig rig;
  rig.set(Recorded::ClearToSendKnob);
  EXPECT_EQ(rig.after(LastFrameSent{true, false}), "AwaitReadData: start_response_timer");
  EXPECT_EQ(rig.after(ReadDataReceived{false, Completion::Success}), "AwaitReadData: place_read_data");
  EXPECT_EQ(rig.after(ReadDataReceived{true, Completion::Success}),
            "Completed: place_read_data, stop_response_timer, complete(Success)");
}

// Ruling 18: an error comes as one frame without payload.
TEST(MessageOriginator, AwaitReadData_error) {
  Rig rig;
  rig.given(LastFrameSent{true, false});
  EXPECT_EQ(rig.after(ReadDataReceived{true, Completion::RdmaProtectionError}),
            "Completed: stop_response_timer, complete(RdmaProtectionError), fail_connection");
}

TEST(MessageOriginator, AwaitReadData_timeout) {
  Rig rig;
  rig.given(LastFrameSent{true, false});
  EXPECT_EQ(rig.after(ResponseTimeout{}), "Completed: abort_exchange, complete(TransportError), fail_connection");
}

// FC-VI C.5.1, C.5.5: the completion waits for RESP3.
TEST(MessageOriginator, AwaitClearToSend_clear_to_send) {
  Rig rig;
  EXPECT_EQ(rig.after(LastFrameSent{false, false}), "AwaitClearToSend:");
  EXPECT_EQ(rig.after(ClearToSend{}), "Completed: complete(Success)");
}

// FC-VI C.5.10.1: the response overtakes RESP3, which never comes.
TEST(MessageOriginator, AwaitClearToSend_connection_ended) {
  Rig rig;
  rig.given(LastFrameSent{false, true});
  EXPECT_EQ(rig.after(ResponseReceived{Completion::Success}), "AwaitClearToSend: stop_response_timer");
  EXPECT_EQ(rig.after(ConnectionEnded{}), "Completed: complete(Flushed)");
}

// FC-VI B.2.6.1 rules 8c a) c): Transport Error only on Descriptors that may have it (VI-DG 5.2 bit 6); the others are
// flushed with the rest.
TEST(MessageOriginator, Sending_exchange_error) {
  Rig reported;
  reported.set(Recorded::ReliableKnob), reported.set(Recorded::ReportsTransportErrorsKnob);
  reported.given(SendStarted{});
  EXPECT_EQ(reported.after(ExchangeError{}), "Completed: abort_exchange, complete(TransportError), fail_connection");
  Rig flushed;
  flushed.set(Recorded::ReliableKnob);
  flushed.given(SendStarted{});
  EXPECT_EQ(flushed.after(ExchangeError{}), "Completed: abort_exchange, fail_connection");
}

// FC-VI B.2.6.1 rules 8c a) b), VI-ARCH 2.5.1: at Unreliable Delivery the Message is lost, and no Descriptor says so;
// C.5.5: not before RESP3.
TEST(MessageOriginator, Sending_exchange_error_unreliable) {
  Rig rig;
  rig.set(Recorded::ClearToSendKnob);
  rig.given(SendStarted{});
  EXPECT_EQ(rig.after(ExchangeError{}), "Completed: abort_exchange, set_merr, complete(Success)");
  Rig early;
  early.given(SendStarted{});
  EXPECT_EQ(early.after(ExchangeError{}), "AwaitClearToSend: abort_exchange, set_merr");
  EXPECT_EQ(early.after(ClearToSend{}), "Completed: complete(Success)");
}

TEST(MessageOriginator, Queued_connection_ended) {
  Rig rig;
  EXPECT_EQ(rig.after(ConnectionEnded{}), "Completed: complete(Flushed)");
}

template <class... Events>
Rig with(std::initializer_list<unsigned> knobs, const Events&... events) {
  Rig rig;
  for (const unsigned knob : knobs) rig.set(knob);
  rig.given(events...);
  return rig;
}
constexpr LastFrameSent one_way{false, false};
constexpr LastFrameSent asks_response{false, true};
constexpr LastFrameSent read{true, false};

// FC-VI 5.2.2, 5.2.3, 5.2.4: after several frames as after one: who asked for something waits for it.
TEST(MessageOriginator, Sending_last_frame_of_each_kind) {
  EXPECT_EQ(with({}, SendStarted{}).after(read), "AwaitReadData: start_response_timer");
  EXPECT_EQ(with({}, SendStarted{}).after(asks_response), "AwaitResponse: start_response_timer");
}

// FC-VI C.5.1, C.5.5: RESP3 is still to come when the last of several frames leaves.
TEST(MessageOriginator, Sending_before_resp3) {
  Rig rig = with({}, SendStarted{});
  EXPECT_EQ(rig.after(one_way), "AwaitClearToSend:");
  EXPECT_EQ(rig.after(ClearToSend{}), "Completed: complete(Success)");
}

// VI-ARCH 2.5.1, 2.5.2: the memory of the Descriptor went away: only a reliable connection breaks.
TEST(MessageOriginator, local_protection_error) {
  EXPECT_EQ(with({}).after(LocalProtectionError{}), "Completed: complete(LocalProtectionError)");
  EXPECT_EQ(with({Recorded::ReliableKnob}).after(LocalProtectionError{}),
            "Completed: complete(LocalProtectionError), fail_connection");
  EXPECT_EQ(with({}, SendStarted{}).after(LocalProtectionError{}),
            "Completed: abort_exchange, complete(LocalProtectionError)");
  EXPECT_EQ(with({Recorded::ReliableKnob}, SendStarted{}).after(LocalProtectionError{}),
            "Completed: abort_exchange, complete(LocalProtectionError), fail_connection");
  EXPECT_EQ(with({Recorded::ReliableKnob}, read).after(LocalProtectionError{}),
            "Completed: stop_response_timer, abort_exchange, complete(LocalProtectionError), fail_connection");
}

// FC-VI C.5.5: RESP3 completes what waits for it, and nothing else.
TEST(MessageOriginator, clear_to_send_completes_nothing_early) {
  EXPECT_EQ(with({}).after(ClearToSend{}), "Queued:");
  EXPECT_EQ(with({}, SendStarted{}).after(ClearToSend{}), "Sending:");
  EXPECT_EQ(with({}, asks_response).after(ClearToSend{}), "AwaitResponse:");
  EXPECT_EQ(with({}, read).after(ClearToSend{}), "AwaitReadData:");
  EXPECT_EQ(with({Recorded::ClearToSendKnob}, one_way).after(ClearToSend{}), "Completed:");
}

// VI-ARCH 5.4, VI-DG 3.3.5: the connection ends: what is open is aborted and flushed, what is complete stays as it is.
TEST(MessageOriginator, connection_ended) {
  EXPECT_EQ(with({}, SendStarted{}).after(ConnectionEnded{}), "Completed: abort_exchange, complete(Flushed)");
  EXPECT_EQ(with({}, asks_response).after(ConnectionEnded{}),
            "Completed: stop_response_timer, abort_exchange, complete(Flushed)");
  EXPECT_EQ(with({}, read).after(ConnectionEnded{}),
            "Completed: stop_response_timer, abort_exchange, complete(Flushed)");
  EXPECT_EQ(with({Recorded::ClearToSendKnob}, one_way).after(ConnectionEnded{}), "Completed:");
}

// FC-VI B.2.6.1 rules 8a, 8c, 8d, 8e, c), 8.4.1 c), 8.4.2 e): the Exchange of a Message that awaits something is lost.
TEST(MessageOriginator, awaiting_exchange_error) {
  for (const LastFrameSent& sent : {asks_response, read}) {
    EXPECT_EQ(with({Recorded::ReliableKnob}, sent).after(ExchangeError{}),
              "Completed: stop_response_timer, abort_exchange, complete(TransportError), fail_connection");
  }
}

// FC-VI 5.2.4, C.5.10.1: the data is here before RESP3.
TEST(MessageOriginator, AwaitReadData_whole_before_resp3) {
  Rig rig = with({}, read);
  EXPECT_EQ(rig.after(ReadDataReceived{true, Completion::Success}),
            "AwaitClearToSend: place_read_data, stop_response_timer");
  EXPECT_EQ(rig.after(ClearToSend{}), "Completed: complete(Success)");
}

// A response while the initiative is still ours answers nothing.
TEST(MessageOriginator, Sending_response_received) {
  EXPECT_EQ(with({}, SendStarted{}).after(ResponseReceived{}), "Sending: count_stale");
}

// What comes twice, or after the end, changes no Descriptor again (VI-ARCH 2.5.2: an error behind a
// success is asynchronous).
TEST(MessageOriginator, late_events_are_stale) {
  Rig waiting = with({}, one_way);
  EXPECT_EQ(waiting.after(ResponseReceived{}), "AwaitClearToSend: count_stale");
  EXPECT_EQ(waiting.after(ReadDataReceived{}), "AwaitClearToSend: count_stale");
  EXPECT_EQ(waiting.after(ExchangeError{}), "AwaitClearToSend: count_stale");
  Rig completed = with({Recorded::ClearToSendKnob}, one_way);
  EXPECT_EQ(completed.after(ReadDataReceived{}), "Completed: count_stale");
  EXPECT_EQ(completed.after(ExchangeError{}), "Completed: count_stale");
  EXPECT_EQ(completed.after(LastFrameSent{}), "Completed: count_stale");
}

}  // namespace
}  // namespace machines::message_originator
