#include "state_machines/vitcp_closing.hpp"

#include "fsm_test.hpp"

namespace machines::vitcp_closing {
namespace {

class Recorded final : public fsm::testing::Recorder<Context> {
 public:
  void leave_connected() override { note("leave_connected"); }
  void finish_output() override { note("finish_output"); }
  void discard_input() override { note("discard_input"); }
  void start_linger_timer() override { note("start_linger_timer"); }
  void stop_linger_timer() override { note("stop_linger_timer"); }
  void shut_down() override { note("shut_down"); }
  void drop_stream() override { note("drop_stream"); }
  void reset_stream() override { note("reset_stream"); }
  void report_lost() override { note("report_lost"); }
  void closed() override { note("closed"); }
  void count_stale() override { note("count_stale"); }
};

struct Input {
  using Def = vitcp_closing::Def;
  using Recorded = vitcp_closing::Recorded;
  static constexpr unsigned knob_count = 0;

  template <class Event>
  static fsm::testing::Samples<Event> samples(std::type_identity<Event>) {
    return {{"", Event{}}};
  }
};

using Rig = fsm::testing::Rig<Def, Recorded>;

FSM_TABLE_TESTS(VitcpClosing, Input);

// Connections that went as far as the state that their name says.
template <class... Events>
Rig after_events(const Events&... events) {
  Rig rig;
  rig.given(events...);
  return rig;
}
Rig finishing() { return after_events(DisconnectRequested{}); }
Rig draining() { return after_events(DisconnectRequested{}, OutputFinished{}); }
Rig answering() { return after_events(EndReceived{}); }
Rig closed() { return after_events(StreamBroken{}); }

// VI-TCP 2.2.2.2.2, ruling V-17: stops sending, sends what was completed, shuts its side down, reads to the end,
// closes.
TEST(VitcpClosing, Open_disconnect) {
  Rig rig;
  EXPECT_EQ(rig.after(DisconnectRequested{}),
            "Finishing: leave_connected, start_linger_timer, discard_input, finish_output");
  EXPECT_EQ(rig.after(OutputFinished{}), "Draining: shut_down");
  EXPECT_EQ(rig.after(EndReceived{}), "Closed: stop_linger_timer, drop_stream, closed");
}

// VI-TCP 2.2.2.2.2, ruling V-17: the other side: what it reported sent still arrives, then it closes.
TEST(VitcpClosing, Open_end_received) {
  Rig rig;
  EXPECT_EQ(rig.after(EndReceived{}), "Answering: leave_connected, start_linger_timer, finish_output, report_lost");
  EXPECT_EQ(rig.after(OutputFinished{}), "Closed: stop_linger_timer, drop_stream, closed");
}

// VI-TCP 3.6, ruling V-19: an error of this end: an ACK that tells of it must arrive.
TEST(VitcpClosing, Open_failed) {
  Rig rig;
  EXPECT_EQ(rig.after(ConnectionFailed{}),
            "Finishing: leave_connected, start_linger_timer, discard_input, finish_output");
}

// VI-TCP 2.2.2.2.2, VI-DG 3.8: the stream broke: the VI connection must be closed.
TEST(VitcpClosing, Open_stream_broken) {
  Rig rig;
  EXPECT_EQ(rig.after(StreamBroken{}), "Closed: leave_connected, drop_stream, report_lost, closed");
}

// Both sides disconnect at about the same time: the other side has ended; ours still owes something.
TEST(VitcpClosing, Finishing_end_received) {
  Rig rig = finishing();
  EXPECT_EQ(rig.after(EndReceived{}), "Answering:");
  EXPECT_EQ(rig.after(OutputFinished{}), "Closed: stop_linger_timer, drop_stream, closed");
}

// The stream broke while it was being closed: there is nothing more to wait for.
TEST(VitcpClosing, stream_broken) {
  for (Rig rig : {finishing(), draining(), answering()}) {
    EXPECT_EQ(rig.after(StreamBroken{}), "Closed: stop_linger_timer, drop_stream, closed");
  }
}

// Ruling V-17, bounded: a side that reads nothing gets a reset; it has lost what it did not read.
TEST(VitcpClosing, linger_expired_with_octets_left) {
  EXPECT_EQ(finishing().after(LingerExpired{}), "Closed: reset_stream, closed");
  EXPECT_EQ(answering().after(LingerExpired{}), "Closed: reset_stream, closed");
}

// Ruling V-17, bounded: a side that never ends is let go without a reset of ours: all was written.
TEST(VitcpClosing, Draining_linger_expired) {
  EXPECT_EQ(draining().after(LingerExpired{}), "Closed: drop_stream, closed");
}

// VI-DG 3.3.5: VipDisconnect after an error or a loss returns when the stream is gone.
TEST(VitcpClosing, disconnect_while_closing) {
  for (Rig rig : {finishing(), draining(), answering()}) {
    const std::string state(rig.machine.state_name());
    EXPECT_EQ(rig.after(DisconnectRequested{}), state + ":");
  }
  EXPECT_EQ(closed().after(DisconnectRequested{}), "Closed: closed");
}

// VI-ARCH 5.4: several errors, one transition.
TEST(VitcpClosing, failed_while_closing) {
  for (Rig rig : {finishing(), draining(), answering(), closed()}) {
    const std::string state(rig.machine.state_name());
    EXPECT_EQ(rig.after(ConnectionFailed{}), state + ": count_stale");
  }
}

// The output was finished, which was posted, and then the stream broke.
TEST(VitcpClosing, Closed_output_finished) { EXPECT_EQ(closed().after(OutputFinished{}), "Closed: count_stale"); }

}  // namespace
}  // namespace machines::vitcp_closing
