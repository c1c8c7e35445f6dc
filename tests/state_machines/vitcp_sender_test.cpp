#include "state_machines/vitcp_sender.hpp"

#include "fsm_test.hpp"

namespace machines::vitcp_sender {
namespace {

class Recorded final : public fsm::testing::Recorder<Context> {
 public:
  enum Knob : unsigned {
    ReliableKnob,
    AcknowledgedKnob,
    NoDescriptorKnob,
    NoReadsKnob,
    WindowFullKnob,
    UnacknowledgedKnob
  };
  void send_segment() override { note("send_segment"); }
  void send_padding() override { note("send_padding"); }
  void complete(Completion value) override { note("complete", value); }
  void note_error(Completion value) override { note("note_error", value); }
  void complete_noted() override { note("complete_noted"); }
  void await_ack() override { note("await_ack"); }
  void await_response() override { note("await_response"); }
  void complete_acknowledged() override { note("complete_acknowledged"); }
  void complete_refused() override { note("complete_refused"); }
  void fail_connection(Failure value) override { note("fail_connection", value); }
  [[nodiscard]] bool reliable() const override { return knob(ReliableKnob); }
  [[nodiscard]] bool acknowledged() const override { return knob(AcknowledgedKnob); }
  [[nodiscard]] bool unacknowledged() const override { return knob(UnacknowledgedKnob); }
  [[nodiscard]] bool descriptor_available() const override { return !knob(NoDescriptorKnob); }
  [[nodiscard]] bool reads_allowed() const override { return !knob(NoReadsKnob); }
  [[nodiscard]] bool window_open() const override { return !knob(WindowFullKnob); }
};

constexpr MessagePosted posted_send{.takes_receive = true};
constexpr MessagePosted posted_write{};
constexpr MessagePosted posted_read{.read = true};
constexpr SegmentSent segment_sent{};
constexpr SegmentSent last_sent{.last = true};
constexpr SegmentSent read_sent{.last = true, .read = true};

struct Input {
  using Def = vitcp_sender::Def;
  using Recorded = vitcp_sender::Recorded;
  static constexpr unsigned knob_count = 6;

  template <class Event>
  static fsm::testing::Samples<Event> samples(std::type_identity<Event>) {
    return {{"", Event{}}};
  }
  static fsm::testing::Samples<MessagePosted> samples(std::type_identity<MessagePosted>) {
    return {{"Send", posted_send},
            {"Write", posted_write},
            {"Read", posted_read},
            {"LongSend", {.takes_receive = true, .too_long = true}},
            {"LongWrite", {.too_long = true}},
            {"LongRead", {.read = true, .too_long = true}}};
  }
  static fsm::testing::Samples<SegmentSent> samples(std::type_identity<SegmentSent>) {
    return {{"More", segment_sent}, {"Last", last_sent}, {"ReadRequest", read_sent}};
  }
  static fsm::testing::Samples<MessagesAcknowledged> samples(std::type_identity<MessagesAcknowledged>) {
    return {{"Some", {}}, {"All", {.all = true}}};
  }
  static fsm::testing::Samples<MemoryLost> samples(std::type_identity<MemoryLost>) {
    return {{"Nothing", MemoryLost{Sent::Nothing}}, {"Some", MemoryLost{Sent::Some}}};
  }
};

using Rig = fsm::testing::Rig<Def, Recorded>;

FSM_TABLE_TESTS(VitcpSender, Input);

enum class Level : std::uint8_t { Unreliable, Delivery, Reception };

template <class... Events>
Rig connected(Level level, const Events&... events) {
  Rig rig;
  rig.set(Recorded::ReliableKnob, level != Level::Unreliable);
  rig.set(Recorded::AcknowledgedKnob, level == Level::Reception);
  rig.given(ConnectionEstablished{}, events...);
  return rig;
}
Rig await_descriptor(Level level) {
  Rig rig = connected(level);
  rig.set(Recorded::NoDescriptorKnob);
  rig.given(posted_send);
  return rig;
}
Rig await_window(Level level) {
  Rig rig = connected(level);
  rig.set(Recorded::WindowFullKnob);
  rig.given(posted_read);
  return rig;
}
Rig sending(Level level) { return connected(level, posted_send); }
Rig unacknowledged(Rig rig) {
  rig.set(Recorded::UnacknowledgedKnob);
  return rig;
}
Rig await_acks() {
  Rig rig = unacknowledged(connected(Level::Reception));
  rig.given(MessagePosted{.too_long = true});
  return rig;
}
Rig padding(Level level) { return connected(level, posted_send, MemoryLost{Sent::Some}); }
std::vector<Rig> every_state(Level level) {
  return {connected(level), await_descriptor(level), await_window(level), sending(level), padding(level), await_acks()};
}

// VI-TCP 2.2.2.2.3: all segments of a message, then the next message. VI-ARCH 2.5.1, 2.5.2: complete when sent.
TEST(VitcpSender, Idle_send_of_three_segments) {
  for (const Level level : {Level::Unreliable, Level::Delivery}) {
    Rig rig;
    rig.set(Recorded::ReliableKnob, level == Level::Delivery);
    EXPECT_EQ(rig.after(ConnectionEstablished{}), "Idle:");
    EXPECT_EQ(rig.after(posted_send), "Sending: send_segment");
    EXPECT_EQ(rig.after(segment_sent), "Sending: send_segment");
    EXPECT_EQ(rig.after(segment_sent), "Sending: send_segment");
    EXPECT_EQ(rig.after(last_sent), "Idle: complete(Success)");
  }
}

// VI-TCP 3.2 Message ACK: at Reliable Reception the ACK completes the descriptor.
TEST(VitcpSender, Idle_send_acknowledged) {
  Rig rig = connected(Level::Reception);
  EXPECT_EQ(rig.after(posted_write), "Sending: send_segment");
  EXPECT_EQ(rig.after(last_sent), "Idle: await_ack");
  EXPECT_EQ(rig.after(MessagesAcknowledged{}), "Idle: complete_acknowledged");
}

// VI-TCP 3.2: RDMA Reads are completed upon receipt of a valid response, at every level.
TEST(VitcpSender, Idle_read) {
  for (const Level level : {Level::Unreliable, Level::Delivery, Level::Reception}) {
    Rig rig = connected(level);
    EXPECT_EQ(rig.after(posted_read), "Sending: send_segment");
    EXPECT_EQ(rig.after(read_sent), "Idle: await_response");
  }
}

// VI-TCP 3.3, ruling V-6: a Send waits until the peer has a receive for it, and so does all behind it.
TEST(VitcpSender, Idle_no_descriptor) {
  Rig rig = connected(Level::Delivery);
  rig.set(Recorded::NoDescriptorKnob);
  EXPECT_EQ(rig.after(posted_send), "AwaitDescriptor:");
  EXPECT_FALSE(may_begin(rig.machine));
  EXPECT_EQ(rig.after(DescriptorsPosted{}), "Sending: send_segment");
}

// VI-TCP 3.3, ruling V-6: what takes no receive does not wait for one.
TEST(VitcpSender, Idle_no_descriptor_needed) {
  Rig rig = connected(Level::Delivery);
  rig.set(Recorded::NoDescriptorKnob);
  EXPECT_TRUE(may_begin(rig.machine));
  EXPECT_EQ(rig.after(posted_write), "Sending: send_segment");
  rig.given(last_sent);
  EXPECT_EQ(rig.after(posted_read), "Sending: send_segment");
}

// VI-TCP 2.2.2.2.6, ruling V-11: no more RDMA Reads than the peer's window holds.
TEST(VitcpSender, Idle_window_full) {
  Rig rig = connected(Level::Delivery);
  rig.set(Recorded::WindowFullKnob);
  EXPECT_EQ(rig.after(posted_read), "AwaitWindow:");
  EXPECT_FALSE(may_begin(rig.machine));
  EXPECT_EQ(rig.after(ReadCompleted{}), "Sending: send_segment");
}

// Ruling V-11: nothing but RDMA Reads waits for the window.
TEST(VitcpSender, Idle_window_full_send) {
  Rig rig = connected(Level::Delivery);
  rig.set(Recorded::WindowFullKnob);
  rig.set(Recorded::NoReadsKnob);
  EXPECT_EQ(rig.after(posted_send), "Sending: send_segment");
  rig.given(last_sent);
  EXPECT_EQ(rig.after(posted_write), "Sending: send_segment");
}

// Ruling V-11: a window of 0: an RDMA Read completes in error, whatever the window says otherwise.
TEST(VitcpSender, Idle_no_reads_allowed) {
  for (const bool full : {false, true}) {
    Rig unreliable = connected(Level::Unreliable);
    unreliable.set(Recorded::NoReadsKnob);
    unreliable.set(Recorded::WindowFullKnob, full);
    EXPECT_EQ(unreliable.after(posted_read), "Idle: complete(RdmaProtectionError)");
    Rig reliable = connected(Level::Delivery);
    reliable.set(Recorded::NoReadsKnob);
    reliable.set(Recorded::WindowFullKnob, full);
    EXPECT_EQ(reliable.after(posted_read), "Ended: complete(RdmaProtectionError), fail_connection(Local)");
  }
}

// VI-TCP 2.2.1, ruling V-9: the agreed MTU binds, whatever the message would wait for.
TEST(VitcpSender, Idle_too_long) {
  for (MessagePosted message : {posted_send, posted_write, posted_read}) {
    message.too_long = true;
    for (const bool blocked : {false, true}) {
      Rig unreliable = connected(Level::Unreliable);
      Rig reliable = connected(Level::Reception);
      for (const auto knob : {Recorded::NoDescriptorKnob, Recorded::NoReadsKnob, Recorded::WindowFullKnob}) {
        unreliable.set(knob, blocked);
        reliable.set(knob, blocked);
      }
      EXPECT_EQ(unreliable.after(message), "Idle: complete(LengthError)");
      EXPECT_EQ(reliable.after(message), "Ended: complete(LengthError), fail_connection(Local)");
    }
  }
}

// VI-ARCH 2.5.1, 2.5.2: the memory was gone before the first octet: the other end hears nothing of the message.
TEST(VitcpSender, Sending_memory_lost_before) {
  EXPECT_EQ(sending(Level::Unreliable).after(MemoryLost{Sent::Nothing}), "Idle: complete(LocalProtectionError)");
  EXPECT_EQ(sending(Level::Delivery).after(MemoryLost{Sent::Nothing}),
            "Ended: complete(LocalProtectionError), fail_connection(Local)");
}

// VI-TCP 2.2.2.2.5, ruling V-18: the rest is sent as zeros, with Transmit Error.
TEST(VitcpSender, Sending_memory_lost) {
  for (const Level level : {Level::Unreliable, Level::Delivery, Level::Reception}) {
    Rig rig = sending(level);
    EXPECT_EQ(rig.after(MemoryLost{Sent::Some}), "Padding: send_padding");
    EXPECT_EQ(rig.after(segment_sent), "Padding: send_padding");
    EXPECT_EQ(rig.after(last_sent), level == Level::Unreliable
                                        ? "Idle: complete(LocalProtectionError)"
                                        : "Ended: complete(LocalProtectionError), fail_connection(Local)");
  }
}

// VI-ARCH 6.3.1.1, 2.5.3: at Reliable Reception a message that fails here completes behind those that wait for their
// ACK.
TEST(VitcpSender, failed_behind_unacknowledged) {
  for (MessagePosted message : {posted_send, posted_write, posted_read}) {
    message.too_long = true;
    EXPECT_EQ(unacknowledged(connected(Level::Reception)).after(message), "AwaitAcks: note_error(LengthError)");
  }
  Rig reading = unacknowledged(connected(Level::Reception));
  reading.set(Recorded::NoReadsKnob);
  EXPECT_EQ(reading.after(posted_read), "AwaitAcks: note_error(RdmaProtectionError)");
  EXPECT_EQ(unacknowledged(sending(Level::Reception)).after(MemoryLost{Sent::Nothing}),
            "AwaitAcks: note_error(LocalProtectionError)");
  EXPECT_EQ(unacknowledged(padding(Level::Reception)).after(last_sent), "AwaitAcks: note_error(LocalProtectionError)");
}

// VI-ARCH 6.3.1.1: ... and the connection fails then, or before.
TEST(VitcpSender, AwaitAcks_acknowledged) {
  Rig rig = await_acks();
  EXPECT_FALSE(may_begin(rig.machine));
  EXPECT_EQ(rig.after(MessagesAcknowledged{}), "AwaitAcks: complete_acknowledged");
  EXPECT_EQ(rig.after(MessagesAcknowledged{.all = true}),
            "Ended: complete_acknowledged, complete_noted, fail_connection(Local)");
}

// VI-TCP 3.2 Message ACK: whatever is under way, earlier messages complete.
TEST(VitcpSender, acknowledged) {
  for (Rig& rig : every_state(Level::Reception)) {
    const std::string state(rig.machine.state_name());
    EXPECT_EQ(Rig(rig).after(MessagesAcknowledged{}), state + ": complete_acknowledged");
    if (state == "AwaitAcks") continue;
    EXPECT_EQ(rig.after(MessagesAcknowledged{.all = true}), state + ": complete_acknowledged");
  }
}

// VI-TCP 3.2 VI Error Type, ruling V-19: the named message completes in error, and the connection ends.
TEST(VitcpSender, error_reported) {
  for (Rig& rig : every_state(Level::Reception))
    EXPECT_EQ(rig.after(ErrorReported{}), "Ended: complete_refused, fail_connection(Remote)");
}

// VI-TCP 3.2 Message ACK, ruling V-5: a message that was never sent, or one before the last.
TEST(VitcpSender, ack_out_of_range) {
  for (Rig& rig : every_state(Level::Reception))
    EXPECT_EQ(rig.after(AckOutOfRange{}), "Ended: fail_connection(Protocol)");
}

// Ruling V-17: nothing is sent any more; what waits is flushed by its VI. What failed here hears of it, too.
TEST(VitcpSender, connection_ended) {
  for (Rig& rig : every_state(Level::Delivery)) {
    EXPECT_EQ(rig.after(ConnectionEnded{}), "Ended:");
    EXPECT_EQ(rig.after(ConnectionEnded{}), "Ended:");
  }
  Rig unconnected;
  EXPECT_EQ(unconnected.after(ConnectionEnded{}), "Ended:");
}

}  // namespace
}  // namespace machines::vitcp_sender
