#include "state_machines/vitcp_read_requester.hpp"

#include "fsm_test.hpp"

namespace machines::vitcp_read_requester {
namespace {

class Recorded final : public fsm::testing::Recorder<Context> {
 public:
  enum Knob : unsigned { ReliableKnob, AcknowledgedKnob };
  void complete_read(Verdict value) override { note("complete_read", value); }
  void release_window() override { note("release_window"); }
  void report_error() override { note("report_error"); }
  void fail_connection(Failure value) override { note("fail_connection", value); }
  [[nodiscard]] bool reliable() const override { return knob(ReliableKnob); }
  [[nodiscard]] bool acknowledged() const override { return knob(AcknowledgedKnob); }
};

constexpr auto every_error = {Verdict::CrcWrong, Verdict::TransmitError, Verdict::Protection};

struct Input {
  using Def = vitcp_read_requester::Def;
  using Recorded = vitcp_read_requester::Recorded;
  static constexpr unsigned knob_count = 2;

  template <class Event>
  static fsm::testing::Samples<Event> samples(std::type_identity<Event>) {
    return {{"", Event{}}};
  }
  static fsm::testing::Samples<ResponseReceived> samples(std::type_identity<ResponseReceived>) {
    fsm::testing::Samples<ResponseReceived> all = {{"Good", {}}, {"GoodLast", {.last = true}}};
    for (const Verdict verdict : every_error) {
      all.emplace_back(to_string(verdict), ResponseReceived{verdict, false});
      all.emplace_back(std::string(to_string(verdict)) + "Last", ResponseReceived{verdict, true});
    }
    return all;
  }
};

using Rig = fsm::testing::Rig<Def, Recorded>;

FSM_TABLE_TESTS(VitcpReadRequester, Input);

enum class Level : std::uint8_t { Unreliable, Delivery, Reception };

constexpr ResponseReceived good{};
constexpr ResponseReceived good_last{.last = true};
std::string name(Verdict verdict) { return std::string(to_string(verdict)); }

Rig awaiting(Level level) {
  Rig rig;
  rig.set(Recorded::ReliableKnob, level != Level::Unreliable);
  rig.set(Recorded::AcknowledgedKnob, level == Level::Reception);
  return rig;
}
Rig receiving(Level level) {
  Rig rig = awaiting(level);
  rig.given(good);
  return rig;
}

// VI-TCP 2.2.2.2.3, 3.2: a response of one segment, and one of three.
TEST(VitcpReadRequester, Awaiting_responses) {
  for (const Level level : {Level::Unreliable, Level::Delivery, Level::Reception}) {
    Rig rig = awaiting(level);
    EXPECT_EQ(rig.after(good_last), "Awaiting: complete_read(Good), release_window");
    EXPECT_TRUE(between_responses(rig.machine) && places(rig.machine));
    EXPECT_EQ(rig.after(good), "Receiving:");
    EXPECT_TRUE(!between_responses(rig.machine) && places(rig.machine));
    EXPECT_EQ(rig.after(good), "Receiving:");
    EXPECT_EQ(rig.after(good_last), "Awaiting: complete_read(Good), release_window");
  }
}

// VI-TCP 3.2, 3.6, VI-ARCH 2.5.1: at Unreliable Delivery the RDMA Read fails, and the connection persists.
TEST(VitcpReadRequester, last_segment_fails_unreliable) {
  for (const Verdict verdict : every_error) {
    for (Rig rig : {awaiting(Level::Unreliable), receiving(Level::Unreliable)}) {
      EXPECT_EQ(rig.after(ResponseReceived{verdict, true}),
                "Awaiting: complete_read(" + name(verdict) + "), release_window");
    }
  }
}

// VI-TCP 3.2: the entire message is in error: its rest is dropped; the window opens with its last segment.
TEST(VitcpReadRequester, first_segments_fail_unreliable) {
  for (const Verdict verdict : every_error) {
    for (Rig rig : {awaiting(Level::Unreliable), receiving(Level::Unreliable)}) {
      EXPECT_EQ(rig.after(ResponseReceived{verdict, false}), "Discarding: complete_read(" + name(verdict) + ")");
      EXPECT_TRUE(!between_responses(rig.machine) && !places(rig.machine));
      EXPECT_EQ(rig.after(good), "Discarding:");
      EXPECT_EQ(rig.after(ResponseReceived{verdict, true}), "Awaiting: release_window");
      EXPECT_EQ(rig.after(good_last), "Awaiting: complete_read(Good), release_window");
    }
  }
}

// VI-ARCH 2.5.2, VI-TCP 3.6: at the reliable levels the connection ends.
TEST(VitcpReadRequester, segment_fails_reliable) {
  for (const bool last : {false, true}) {
    for (Rig rig : {awaiting(Level::Delivery), receiving(Level::Delivery)}) {
      EXPECT_EQ(Rig(rig).after(ResponseReceived{Verdict::CrcWrong, last}),
                "Ended: complete_read(CrcWrong), fail_connection(Transport)");
    }
    for (const Level level : {Level::Delivery, Level::Reception}) {
      for (Rig rig : {awaiting(level), receiving(level)}) {
        EXPECT_EQ(Rig(rig).after(ResponseReceived{Verdict::TransmitError, last}),
                  "Ended: complete_read(TransmitError), fail_connection(Remote)");
        EXPECT_EQ(Rig(rig).after(ResponseReceived{Verdict::Protection, last}),
                  "Ended: complete_read(Protection), fail_connection(Local)");
      }
    }
  }
}

// VI-TCP 3.6: in Reliable Reception an ACK MUST be sent that tells of a wrong CRC.
TEST(VitcpReadRequester, segment_with_wrong_crc_reception) {
  for (const bool last : {false, true}) {
    for (Rig rig : {awaiting(Level::Reception), receiving(Level::Reception)}) {
      EXPECT_EQ(rig.after(ResponseReceived{Verdict::CrcWrong, last}),
                "Ended: report_error, complete_read(CrcWrong), fail_connection(Transport)");
    }
  }
}

// Ruling V-17: nothing is received any more. What failed here hears of it, too.
TEST(VitcpReadRequester, connection_ended) {
  Rig discarding = awaiting(Level::Unreliable);
  discarding.given(ResponseReceived{Verdict::CrcWrong, false});
  for (Rig rig : {awaiting(Level::Delivery), receiving(Level::Delivery), discarding}) {
    EXPECT_EQ(rig.after(ConnectionEnded{}), "Ended:");
    EXPECT_EQ(rig.after(ConnectionEnded{}), "Ended:");
    EXPECT_FALSE(places(rig.machine) || between_responses(rig.machine));
  }
}

}  // namespace
}  // namespace machines::vitcp_read_requester
