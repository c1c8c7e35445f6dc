#include "state_machines/vitcp_receiver.hpp"

#include "fsm_test.hpp"

namespace machines::vitcp_receiver {
namespace {

class Recorded final : public fsm::testing::Recorder<Context> {
 public:
  enum Knob : unsigned { ReliableKnob, AcknowledgedKnob, WindowFullKnob };
  void complete_receive() override { note("complete_receive"); }
  void fail_receive(Verdict value) override { note("fail_receive", value); }
  void acknowledge() override { note("acknowledge"); }
  void report_error(Verdict value) override { note("report_error", value); }
  void accept_read() override { note("accept_read"); }
  void expect_next_message() override { note("expect_next_message"); }
  void drop_segment() override { note("drop_segment"); }
  void fail_connection(Failure value) override { note("fail_connection", value); }
  [[nodiscard]] bool reliable() const override { return knob(ReliableKnob); }
  [[nodiscard]] bool acknowledged() const override { return knob(AcknowledgedKnob); }
  [[nodiscard]] bool window_open() const override { return !knob(WindowFullKnob); }
};

constexpr auto every_error = {Verdict::CrcWrong, Verdict::TransmitError, Verdict::QueueEmpty, Verdict::TooSmall,
                              Verdict::Protection};

struct Input {
  using Def = vitcp_receiver::Def;
  using Recorded = vitcp_receiver::Recorded;
  static constexpr unsigned knob_count = 3;

  template <class Event>
  static fsm::testing::Samples<Event> samples(std::type_identity<Event>) {
    return {{"", Event{}}};
  }
  static fsm::testing::Samples<SegmentReceived> samples(std::type_identity<SegmentReceived>) {
    fsm::testing::Samples<SegmentReceived> all = {{"Good", {}}, {"GoodLast", {.last = true}}};
    for (const Verdict verdict : every_error) {
      all.emplace_back(to_string(verdict), SegmentReceived{verdict, false});
      all.emplace_back(std::string(to_string(verdict)) + "Last", SegmentReceived{verdict, true});
    }
    return all;
  }
  static fsm::testing::Samples<SegmentCorrupt> samples(std::type_identity<SegmentCorrupt>) {
    return {{"Plausible", {}}, {"Implausible", {.plausible = false}}};
  }
};

using Rig = fsm::testing::Rig<Def, Recorded>;

FSM_TABLE_TESTS(VitcpReceiver, Input);

enum class Level : std::uint8_t { Unreliable, Delivery, Reception };
constexpr auto every_level = {Level::Unreliable, Level::Delivery, Level::Reception};

constexpr SegmentReceived good{};
constexpr SegmentReceived good_last{.last = true};
std::string name(Verdict verdict) { return std::string(to_string(verdict)); }
// What the connection's end is called.
std::string failure(Verdict verdict) {
  const bool transport = verdict == Verdict::CrcWrong || verdict == Verdict::TransmitError;
  return transport ? "fail_connection(Transport)" : "fail_connection(Local)";
}

template <class... Events>
Rig connected(Level level, const Events&... events) {
  Rig rig;
  rig.set(Recorded::ReliableKnob, level != Level::Unreliable);
  rig.set(Recorded::AcknowledgedKnob, level == Level::Reception);
  rig.given(ConnectionEstablished{}, events...);
  return rig;
}
Rig expecting(Level level) { return connected(level); }
Rig receiving(Level level) { return connected(level, good); }
Rig discarding() { return connected(Level::Unreliable, SegmentReceived{Verdict::TooSmall, false}); }
Rig resuming() { return connected(Level::Unreliable, SegmentCorrupt{}); }
Rig answering() { return connected(Level::Reception, ReadRequested{}); }

// VI-TCP 2.2.2.2.3: a message of one segment, and one of three.
TEST(VitcpReceiver, Expecting_messages) {
  for (const Level level : {Level::Unreliable, Level::Delivery}) {
    Rig rig;
    rig.set(Recorded::ReliableKnob, level == Level::Delivery);
    EXPECT_EQ(rig.after(ConnectionEstablished{}), "Expecting:");
    EXPECT_EQ(rig.after(good_last), "Expecting: complete_receive, expect_next_message");
    EXPECT_TRUE(between_messages(rig.machine) && places(rig.machine));
    EXPECT_EQ(rig.after(good), "Receiving:");
    EXPECT_TRUE(!between_messages(rig.machine) && places(rig.machine));
    EXPECT_EQ(rig.after(good), "Receiving:");
    EXPECT_EQ(rig.after(good_last), "Expecting: complete_receive, expect_next_message");
  }
}

// VI-TCP 3.2 Message ACK: not before data and completion information are written; VI-ARCH 2.5.3.
TEST(VitcpReceiver, Expecting_messages_acknowledged) {
  Rig rig = expecting(Level::Reception);
  EXPECT_EQ(rig.after(good_last), "Expecting: complete_receive, acknowledge, expect_next_message");
  EXPECT_EQ(rig.after(good), "Receiving:");
  EXPECT_EQ(rig.after(good_last), "Expecting: complete_receive, acknowledge, expect_next_message");
}

constexpr auto every_drop = {Verdict::TransmitError, Verdict::QueueEmpty, Verdict::TooSmall, Verdict::Protection};

// VI-ARCH 2.5.1: at Unreliable Delivery the message is flagged or dropped, and the connection persists.
TEST(VitcpReceiver, one_segment_fails_unreliable) {
  for (const Verdict verdict : every_drop) {
    EXPECT_EQ(expecting(Level::Unreliable).after(SegmentReceived{verdict, true}),
              "Expecting: fail_receive(" + name(verdict) + "), expect_next_message");
    EXPECT_EQ(receiving(Level::Unreliable).after(SegmentReceived{verdict, true}),
              "Expecting: fail_receive(" + name(verdict) + "), expect_next_message");
  }
}

// VI-TCP 3.2 Transmit Error: the entire message is in error: what follows of it is dropped; the next message counts.
TEST(VitcpReceiver, first_segments_fail_unreliable) {
  for (const Verdict verdict : every_drop) {
    for (const bool begun : {false, true}) {
      Rig rig = begun ? receiving(Level::Unreliable) : expecting(Level::Unreliable);
      EXPECT_EQ(rig.after(SegmentReceived{verdict, false}), "Discarding: fail_receive(" + name(verdict) + ")");
      EXPECT_TRUE(!between_messages(rig.machine) && !places(rig.machine));
      EXPECT_EQ(rig.after(good), "Discarding:");
      EXPECT_EQ(rig.after(SegmentReceived{verdict, false}), "Discarding:");
      EXPECT_EQ(rig.after(good_last), "Expecting: expect_next_message");
      EXPECT_EQ(rig.after(good_last), "Expecting: complete_receive, expect_next_message");
    }
  }
}

// VI-ARCH 2.5.2, VI-TCP 3.6: at Reliable Delivery the connection is closed immediately.
TEST(VitcpReceiver, segment_fails_delivery) {
  for (const Verdict verdict : every_error) {
    for (const bool last : {false, true}) {
      for (Rig rig : {expecting(Level::Delivery), receiving(Level::Delivery)}) {
        EXPECT_EQ(rig.after(SegmentReceived{verdict, last}),
                  "Ended: fail_receive(" + name(verdict) + "), " + failure(verdict));
      }
    }
  }
}

// VI-ARCH 2.5.3, VI-TCP 3.2, 3.6, ruling V-19: at Reliable Reception the sender hears of it first.
TEST(VitcpReceiver, segment_fails_reception) {
  for (const Verdict verdict : every_error) {
    for (const bool last : {false, true}) {
      for (Rig rig : {expecting(Level::Reception), receiving(Level::Reception)}) {
        EXPECT_EQ(
            rig.after(SegmentReceived{verdict, last}),
            "Ended: report_error(" + name(verdict) + "), fail_receive(" + name(verdict) + "), " + failure(verdict));
      }
    }
  }
}

// VI-TCP 2.2.2.2.6: a request for an RDMA Read that our window holds.
TEST(VitcpReceiver, Expecting_read) {
  for (const Level level : {Level::Unreliable, Level::Delivery})
    EXPECT_EQ(expecting(level).after(ReadRequested{}), "Expecting: accept_read, expect_next_message");
}

// VI-ARCH 6.3.1.1: at Reliable Reception nothing passes an RDMA Read: what comes behind it waits until it is answered.
TEST(VitcpReceiver, Answering_reads) {
  Rig rig = expecting(Level::Reception);
  EXPECT_FALSE(holds(rig.machine));
  EXPECT_EQ(rig.after(ReadRequested{}), "Answering: accept_read, expect_next_message");
  EXPECT_TRUE(holds(rig.machine) && between_messages(rig.machine) && !places(rig.machine));
  EXPECT_EQ(rig.after(ReadRequested{}), "Answering: accept_read, expect_next_message");
  EXPECT_EQ(rig.after(ReadsAnswered{}), "Expecting:");
  EXPECT_FALSE(holds(rig.machine));
  EXPECT_EQ(rig.after(good_last), "Expecting: complete_receive, acknowledge, expect_next_message");
}

// VI-TCP 2.2.2.2.6, ruling V-11: one more than our window said.
TEST(VitcpReceiver, read_beyond_the_window) {
  for (Rig rig : {expecting(Level::Unreliable), expecting(Level::Delivery), expecting(Level::Reception), answering()}) {
    rig.set(Recorded::WindowFullKnob);
    EXPECT_EQ(rig.after(ReadRequested{}), "Ended: fail_connection(Protocol)");
  }
}

// VI-TCP 3.6, ruling V-21: a segment of a message with a wrong CRC at Unreliable Delivery flags its message at once;
// whether it was the last one is not believed.
TEST(VitcpReceiver, damaged_segment_unreliable) {
  for (const bool last : {false, true})
    for (Rig rig : {expecting(Level::Unreliable), receiving(Level::Unreliable)}) {
      EXPECT_EQ(rig.after(SegmentReceived{Verdict::CrcWrong, last}), "Resuming: fail_receive(CrcWrong)");
      EXPECT_TRUE(resumes(rig.machine) && !places(rig.machine) && !between_messages(rig.machine));
    }
}

// VI-TCP 3.6, ruling V-21: any other segment with a wrong CRC at Unreliable Delivery: the connection persists. It may
// be one of the open message's.
TEST(VitcpReceiver, corrupt_segment_unreliable) {
  for (const bool plausible : {true, false}) {
    EXPECT_EQ(expecting(Level::Unreliable).after(SegmentCorrupt{plausible}), "Resuming: drop_segment");
    EXPECT_EQ(receiving(Level::Unreliable).after(SegmentCorrupt{plausible}),
              "Resuming: fail_receive(CrcWrong), drop_segment");
    EXPECT_EQ(discarding().after(SegmentCorrupt{plausible}), "Resuming: drop_segment");
  }
}

// VI-TCP 3.6, ruling V-21: the next message goes on; of those before it that are seen to have been there the consumer
// is told.
TEST(VitcpReceiver, Resuming_messages) {
  Rig rig = resuming();
  EXPECT_EQ(rig.after(MessageLost{}), "Resuming: fail_receive(CrcWrong)");
  EXPECT_EQ(rig.after(MessageFound{}), "Expecting:");
  EXPECT_EQ(rig.after(good_last), "Expecting: complete_receive, expect_next_message");
}

// Ruling V-21: the stream goes on only while the next header is plausible: the length may have been what was hit.
TEST(VitcpReceiver, Resuming_corrupt) {
  EXPECT_EQ(resuming().after(SegmentCorrupt{}), "Resuming: drop_segment");
  EXPECT_EQ(resuming().after(SegmentCorrupt{.plausible = false}), "Ended: fail_connection(Transport)");
}

// VI-TCP 3.6: reliable connections are closed immediately, with transport error at both ends.
TEST(VitcpReceiver, corrupt_segment_reliable) {
  for (const bool plausible : {false, true}) {
    const SegmentCorrupt corrupt{plausible};
    EXPECT_EQ(expecting(Level::Delivery).after(corrupt), "Ended: fail_connection(Transport)");
    EXPECT_EQ(receiving(Level::Delivery).after(corrupt), "Ended: fail_receive(CrcWrong), fail_connection(Transport)");
    EXPECT_EQ(expecting(Level::Reception).after(corrupt), "Ended: report_error(CrcWrong), fail_connection(Transport)");
    EXPECT_EQ(answering().after(corrupt), "Ended: report_error(CrcWrong), fail_connection(Transport)");
    EXPECT_EQ(receiving(Level::Reception).after(corrupt),
              "Ended: report_error(CrcWrong), fail_receive(CrcWrong), fail_connection(Transport)");
  }
}

// VI-TCP 2.2.2.2.3, 3.2, ruling V-4: a gap, another message in the middle, what cannot be parsed.
TEST(VitcpReceiver, protocol_violated) {
  for (const Level level : every_level) {
    EXPECT_EQ(expecting(level).after(ProtocolViolated{}), "Ended: fail_connection(Protocol)");
    EXPECT_EQ(receiving(level).after(ProtocolViolated{}), "Ended: fail_connection(Protocol)");
  }
  for (Rig rig : {discarding(), resuming(), answering()})
    EXPECT_EQ(rig.after(ProtocolViolated{}), "Ended: fail_connection(Protocol)");
}

// Ruling V-17: nothing is received any more. What failed here hears of it, too.
TEST(VitcpReceiver, connection_ended) {
  for (Rig rig : {expecting(Level::Delivery), receiving(Level::Delivery), discarding(), resuming(), answering()}) {
    EXPECT_EQ(rig.after(ConnectionEnded{}), "Ended:");
    EXPECT_EQ(rig.after(ConnectionEnded{}), "Ended:");
    EXPECT_FALSE(places(rig.machine) || between_messages(rig.machine));
  }
  Rig unconnected;
  EXPECT_FALSE(places(unconnected.machine));
  EXPECT_EQ(unconnected.after(ConnectionEnded{}), "Ended:");
}

}  // namespace
}  // namespace machines::vitcp_receiver
