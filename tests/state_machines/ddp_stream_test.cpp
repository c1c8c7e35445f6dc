#include "state_machines/ddp_stream.hpp"

#include "fsm_test.hpp"

namespace machines::ddp_stream {
namespace {

class Recorded final : public fsm::testing::Recorder<Context> {
 public:
  void enable() override { note("enable"); }
  void discard_input() override { note("discard_input"); }
  void report_error() override { note("report_error"); }
  void report_half_closed() override { note("report_half_closed"); }
  void report_lost() override { note("report_lost"); }
  void finish_output() override { note("finish_output"); }
  void start_linger_timer() override { note("start_linger_timer"); }
  void stop_linger_timer() override { note("stop_linger_timer"); }
  void shut_down_llp() override { note("shut_down_llp"); }
  void drop_llp() override { note("drop_llp"); }
  void reset_llp() override { note("reset_llp"); }
  void stream_gone() override { note("stream_gone"); }
  void count_stale() override { note("count_stale"); }
};

struct Input {
  using Def = ddp_stream::Def;
  using Recorded = ddp_stream::Recorded;
  static constexpr unsigned knob_count = 0;

  template <class Event>
  static fsm::testing::Samples<Event> samples(std::type_identity<Event>) {
    return {{"", Event{}}};
  }
};

using Rig = fsm::testing::Rig<Def, Recorded>;

FSM_TABLE_TESTS(DdpStream, Input);

// Streams that went as far as the state that their name says.
template <class... Events>
Rig after_events(const Events&... events) {
  Rig rig;
  rig.given(events...);
  return rig;
}
Rig open() { return after_events(StreamEnabled{}); }
Rig failed() { return after_events(StreamEnabled{}, SegmentInvalid{}); }
Rig peer_closed() { return after_events(StreamEnabled{}, LlpCloseReceived{}); }
Rig finishing() { return after_events(StreamEnabled{}, CloseRequested{}); }
Rig draining() { return after_events(StreamEnabled{}, CloseRequested{}, OutputFinished{}); }
Rig answering() { return after_events(StreamEnabled{}, LlpCloseReceived{}, CloseRequested{}); }
Rig closed() { return after_events(StreamEnabled{}, LlpLost{}); }

// RFC 5041 6.1, 6.2.1, RFC 5044 7.2: enabled, and torn down gracefully by this end's ULP. RFC 5040 7.
TEST(DdpStream, Disabled_graceful_teardown) {
  Rig rig;
  EXPECT_EQ(rig.after(StreamEnabled{}), "Open: enable");
  EXPECT_TRUE(receives(rig.machine));
  EXPECT_TRUE(may_submit(rig.machine));
  EXPECT_EQ(rig.after(CloseRequested{}), "Finishing: discard_input, start_linger_timer, finish_output");
  EXPECT_FALSE(receives(rig.machine));
  EXPECT_FALSE(may_submit(rig.machine));
  EXPECT_EQ(rig.after(OutputFinished{}), "Draining: shut_down_llp");
  EXPECT_EQ(rig.after(LlpCloseReceived{}), "Closed: stop_linger_timer, drop_llp, stream_gone");
}

// RFC 5041 6.2.1: the other end closes its half; this end may go on sending, then closes the other half.
TEST(DdpStream, Open_llp_close) {
  Rig rig = open();
  EXPECT_EQ(rig.after(LlpCloseReceived{}), "PeerClosed: report_half_closed");
  EXPECT_TRUE(may_submit(rig.machine));
  EXPECT_FALSE(receives(rig.machine));
  EXPECT_EQ(rig.after(CloseRequested{}), "Answering: start_linger_timer, finish_output");
  EXPECT_EQ(rig.after(OutputFinished{}), "Closed: stop_linger_timer, drop_llp, stream_gone");
}

// RFC 5041 6.2.1, RFC 5044 7.2: both ends at about the same time.
TEST(DdpStream, Finishing_llp_close) { EXPECT_EQ(finishing().after(LlpCloseReceived{}), "Answering:"); }

// RFC 5041 6.2.2, 7.1, RFC 5044 8 codes 2, 3: an error in what arrives: no more is placed; one message more may be
// sent; then the stream is torn down.
TEST(DdpStream, Open_fatal_error) {
  Rig rig = open();
  EXPECT_EQ(rig.after(SegmentInvalid{}), "Failed: discard_input, report_error");
  EXPECT_FALSE(receives(rig.machine));
  EXPECT_TRUE(may_submit(rig.machine));
  EXPECT_EQ(rig.after(CloseRequested{}), "Finishing: start_linger_timer, finish_output");
  EXPECT_EQ(open().after(LlpErrorFound{}), "Failed: discard_input, report_error");
}

// RFC 5040 6.2.1, 7.1: RDMAP found the error, and has captured it.
TEST(DdpStream, Open_reception_stopped) { EXPECT_EQ(open().after(ReceptionStopped{}), "Failed: discard_input"); }

// RFC 5041 7.1, RFC 5044 8, RFC 5040 7.1 rule 4: only the first error is reported.
TEST(DdpStream, Failed_another_error) {
  EXPECT_EQ(failed().after(SegmentInvalid{}), "Failed: count_stale");
  EXPECT_EQ(failed().after(LlpErrorFound{}), "Failed: count_stale");
  EXPECT_EQ(failed().after(ReceptionStopped{}), "Failed:");
}

// RFC 5041 6.2.1: the other end closes its half before the Terminate Message is out.
TEST(DdpStream, Failed_llp_close) {
  Rig rig = failed();
  EXPECT_EQ(rig.after(LlpCloseReceived{}), "PeerClosed:");
  EXPECT_EQ(rig.after(CloseRequested{}), "Answering: start_linger_timer, finish_output");
}

// RFC 5040 7.1 rule 1: an error of this end's own behind the other end's close.
TEST(DdpStream, PeerClosed_reception_stopped) { EXPECT_EQ(peer_closed().after(ReceptionStopped{}), "PeerClosed:"); }

// RFC 5041 6.2: abortive teardown by the ULP.
TEST(DdpStream, abort_requested) {
  for (Rig rig : {open(), failed(), peer_closed()}) {
    EXPECT_EQ(rig.after(AbortRequested{}), "Closed: reset_llp, stream_gone");
  }
  for (Rig rig : {finishing(), draining(), answering()}) {
    EXPECT_EQ(rig.after(AbortRequested{}), "Closed: stop_linger_timer, reset_llp, stream_gone");
  }
}

// RFC 5041 6.2.2, RFC 5044 8 code 1: the LLP Stream is lost before the ULP closed it.
TEST(DdpStream, llp_lost) {
  for (Rig rig : {open(), failed(), peer_closed()}) {
    EXPECT_EQ(rig.after(LlpLost{}), "Closed: drop_llp, report_lost");
  }
}

// RFC 5041 6.2.2: the LLP Stream is lost while it is torn down: there is nothing more to wait for.
TEST(DdpStream, llp_lost_while_closing) {
  for (Rig rig : {finishing(), draining(), answering()}) {
    EXPECT_EQ(rig.after(LlpLost{}), "Closed: stop_linger_timer, drop_llp, stream_gone");
  }
}

// The teardown is bounded: of an end that reads nothing the stream is reset, one that never closes is let go.
TEST(DdpStream, linger_expired) {
  EXPECT_EQ(finishing().after(LingerExpired{}), "Closed: reset_llp, stream_gone");
  EXPECT_EQ(answering().after(LingerExpired{}), "Closed: reset_llp, stream_gone");
  EXPECT_EQ(draining().after(LingerExpired{}), "Closed: drop_llp, stream_gone");
}

// RFC 5041 7.1: what arrives is dropped; where its framing breaks the rest is, too.
TEST(DdpStream, llp_error_while_closing) {
  EXPECT_EQ(finishing().after(LlpErrorFound{}), "Finishing: count_stale");
  EXPECT_EQ(draining().after(LlpErrorFound{}), "Draining: count_stale");
}

// The ULP asked before it heard of the loss; or the output was finished, which was posted.
TEST(DdpStream, Closed_late) {
  EXPECT_EQ(closed().after(OutputFinished{}), "Closed: count_stale");
  EXPECT_EQ(closed().after(ReceptionStopped{}), "Closed: count_stale");
  EXPECT_EQ(closed().after(CloseRequested{}), "Closed: count_stale");
  EXPECT_EQ(closed().after(AbortRequested{}), "Closed: count_stale");
  EXPECT_FALSE(may_submit(closed().machine));
}

}  // namespace
}  // namespace machines::ddp_stream
