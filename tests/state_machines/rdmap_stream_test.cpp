#include "state_machines/rdmap_stream.hpp"

#include "fsm_test.hpp"

namespace machines::rdmap_stream {
namespace {

class Recorded final : public fsm::testing::Recorder<Context> {
 public:
  enum Knob : unsigned { TerminatePossibleKnob };
  void begin() override { note("begin"); }
  void send_terminate() override { note("send_terminate"); }
  void flush() override { note("flush"); }
  void refuse_operations() override { note("refuse_operations"); }
  void stop_receiving() override { note("stop_receiving"); }
  void close_stream() override { note("close_stream"); }
  void abort_stream() override { note("abort_stream"); }
  void report_error() override { note("report_error"); }
  void report_terminate() override { note("report_terminate"); }
  void count_malformed() override { note("count_malformed"); }
  void report_disconnected() override { note("report_disconnected"); }
  void report_lost() override { note("report_lost"); }
  void closed() override { note("closed"); }
  void answer_close() override { note("answer_close"); }
  void count_stale() override { note("count_stale"); }
  [[nodiscard]] bool terminate_possible() const override { return knob(TerminatePossibleKnob); }
};

struct Input {
  using Def = rdmap_stream::Def;
  using Recorded = rdmap_stream::Recorded;
  static constexpr unsigned knob_count = 1;

  template <class Event>
  static fsm::testing::Samples<Event> samples(std::type_identity<Event>) {
    return {{"", Event{}}};
  }
  static fsm::testing::Samples<TerminateReceived> samples(std::type_identity<TerminateReceived>) {
    return {{"WellFormed", {}}, {"BadlyFormed", {.well_formed = false}}};
  }
};

using Rig = fsm::testing::Rig<Def, Recorded>;

FSM_TABLE_TESTS(RdmapStream, Input);

// Streams that went as far as the state that their name says.
template <class... Events>
Rig after_events(const Events&... events) {
  Rig rig;
  rig.set(Recorded::TerminatePossibleKnob);
  rig.given(events...);
  return rig;
}
Rig operational() { return after_events(StreamEnabled{}); }
Rig half_closed() { return after_events(StreamEnabled{}, PeerClosed{}); }
Rig closing() { return after_events(StreamEnabled{}, CloseRequested{}); }
Rig terminating() { return after_events(StreamEnabled{}, ErrorFound{}); }
Rig terminated() { return after_events(StreamEnabled{}, TerminateReceived{}); }
Rig closed() { return after_events(StreamEnabled{}, LlpLost{}); }

// RFC 5040 6.1, 6.2, RFC 5041 6.2.1: start, run, ULP Graceful Termination.
TEST(RdmapStream, Idle_graceful_termination) {
  Rig rig;
  EXPECT_EQ(rig.after(StreamEnabled{}), "Operational: begin");
  EXPECT_TRUE(may_submit(rig.machine));
  EXPECT_TRUE(delivers(rig.machine));
  EXPECT_EQ(rig.after(CloseRequested{}), "Closing: refuse_operations, close_stream");
  EXPECT_FALSE(may_submit(rig.machine));
  EXPECT_FALSE(delivers(rig.machine));
  EXPECT_EQ(rig.after(StreamGone{}), "Closed: flush, closed");
}

// The ULP lets its object go before there was a stream.
TEST(RdmapStream, Idle_close) { EXPECT_EQ(after_events().after(CloseRequested{}), "Closed: answer_close"); }

// RFC 5040 6.2, RFC 5041 6.2.1: the other end's ULP terminates gracefully; this end may send on, then does the same.
TEST(RdmapStream, Operational_peer_closed) {
  Rig rig = operational();
  EXPECT_EQ(rig.after(PeerClosed{}), "HalfClosed: report_disconnected");
  EXPECT_TRUE(may_submit(rig.machine));
  EXPECT_FALSE(delivers(rig.machine));
  EXPECT_EQ(rig.after(CloseRequested{}), "Closing: refuse_operations, close_stream");
}

// RFC 5040 5.4, 6.2.1, 7.1: an error at this end: one Terminate Message, then a graceful LLP teardown; nothing behind
// the error is placed, all operations complete in error, the ULP is told.
TEST(RdmapStream, error_found) {
  for (Rig rig : {operational(), half_closed()}) {
    EXPECT_EQ(rig.after(ErrorFound{}),
              "Terminating: stop_receiving, send_terminate, flush, report_error, close_stream");
    EXPECT_FALSE(may_submit(rig.machine));
    EXPECT_FALSE(delivers(rig.machine));
    EXPECT_EQ(rig.after(StreamGone{}), "Closed: closed");
  }
}

// RFC 5040 6.2.1, ruling M-15: it is not always possible to send it (RFC 5044 7.1.2 rule 4, above all).
TEST(RdmapStream, error_found_no_terminate_possible) {
  for (Rig rig : {operational(), half_closed()}) {
    rig.set(Recorded::TerminatePossibleKnob, false);
    EXPECT_EQ(rig.after(ErrorFound{}), "Closing: stop_receiving, flush, report_error, abort_stream");
  }
}

// RFC 5040 7.1 rule 4: of several errors the first one is captured and sent; one behind the end is not.
TEST(RdmapStream, another_error_found) {
  EXPECT_EQ(terminating().after(ErrorFound{}), "Terminating: count_stale");
  EXPECT_EQ(closing().after(ErrorFound{}), "Closing: count_stale");
  EXPECT_EQ(terminated().after(ErrorFound{}), "Terminated: count_stale");
  EXPECT_EQ(closed().after(ErrorFound{}), "Closed: count_stale");
}

// RFC 5040 5.4, 6.2.1: a Terminate Message arrives: none is sent back; graceful LLP teardown.
TEST(RdmapStream, Operational_terminate_received) {
  Rig rig = operational();
  EXPECT_EQ(rig.after(TerminateReceived{}), "Terminated: report_terminate, flush, close_stream");
  EXPECT_FALSE(may_submit(rig.machine));
  EXPECT_EQ(rig.after(StreamGone{}), "Closed: closed");
}

// RFC 5040 5.4, ruling M-6: it makes no sense, and ends the stream all the same.
TEST(RdmapStream, terminate_received_badly_formed) {
  EXPECT_EQ(operational().after(TerminateReceived{.well_formed = false}),
            "Terminated: count_malformed, report_terminate, flush, close_stream");
  EXPECT_EQ(closing().after(TerminateReceived{.well_formed = false}),
            "Terminated: count_malformed, report_terminate, flush");
  EXPECT_EQ(terminating().after(TerminateReceived{.well_formed = false}),
            "Terminated: count_malformed, report_terminate");
}

// RFC 5040 5.4, 6.2.1, ruling M-17: Terminate Messages cross: both are told; nothing more is sent.
TEST(RdmapStream, Terminating_terminate_received) {
  Rig rig = terminating();
  EXPECT_EQ(rig.after(TerminateReceived{}), "Terminated: report_terminate");
  EXPECT_EQ(rig.after(StreamGone{}), "Closed: closed");
}

// RFC 5040 5.4, ruling M-17: one crosses a graceful termination: what it says of our last messages is told.
TEST(RdmapStream, Closing_terminate_received) {
  Rig rig = closing();
  EXPECT_EQ(rig.after(TerminateReceived{}), "Terminated: report_terminate, flush");
  EXPECT_EQ(rig.after(StreamGone{}), "Closed: closed");
}

// RFC 5040 5.4, ruling M-17: a second one counts for nothing.
TEST(RdmapStream, Terminated_terminate_received) {
  EXPECT_EQ(terminated().after(TerminateReceived{}), "Terminated: count_stale");
  EXPECT_EQ(terminated().after(TerminateReceived{.well_formed = false}), "Terminated: count_stale");
}

// RFC 5040 6.2: LLP Abortive Termination, by the LLP or by this end's start-up.
TEST(RdmapStream, llp_abortive_termination) {
  for (Rig rig : {operational(), half_closed()}) {
    EXPECT_EQ(rig.after(LlpLost{}), "Closed: flush, report_lost, closed");
  }
  for (Rig rig : {operational(), half_closed()}) {
    EXPECT_EQ(rig.after(AbortRequested{}), "Closing: flush, abort_stream");
  }
}

// RFC 5040 6.2.1: the LLP was lost before DDP heard that it should close; the Terminate Message may not have gone out.
TEST(RdmapStream, llp_lost_while_closing) {
  EXPECT_EQ(closing().after(LlpLost{}), "Closed: flush, report_lost, closed");
  EXPECT_EQ(terminating().after(LlpLost{}), "Closed: closed");
  EXPECT_EQ(terminated().after(LlpLost{}), "Closed: closed");
}

// The other end closed its half at about the same time, which was posted.
TEST(RdmapStream, peer_closed_while_closing) {
  EXPECT_EQ(closing().after(PeerClosed{}), "Closing: count_stale");
  EXPECT_EQ(terminating().after(PeerClosed{}), "Terminating: count_stale");
  EXPECT_EQ(terminated().after(PeerClosed{}), "Terminated: count_stale");
}

// The ULP disconnects a stream that is ending, or has ended: it is answered once.
TEST(RdmapStream, close_while_closing) {
  for (Rig rig : {closing(), terminating(), terminated()}) {
    const std::string state(rig.machine.state_name());
    EXPECT_EQ(rig.after(CloseRequested{}), state + ":");
  }
  EXPECT_EQ(closed().after(CloseRequested{}), "Closed: answer_close");
}

// RFC 5040 6.2.1: the time of the start-up is over while the stream is being closed.
TEST(RdmapStream, abort_while_closing) {
  EXPECT_EQ(closing().after(AbortRequested{}), "Closing: abort_stream");
  EXPECT_EQ(terminating().after(AbortRequested{}), "Terminating: abort_stream");
  EXPECT_EQ(terminated().after(AbortRequested{}), "Terminated: abort_stream");
}

// The start-up gave it up, which was posted, and the stream was lost before.
TEST(RdmapStream, Closed_abort) { EXPECT_EQ(closed().after(AbortRequested{}), "Closed: count_stale"); }

}  // namespace
}  // namespace machines::rdmap_stream
