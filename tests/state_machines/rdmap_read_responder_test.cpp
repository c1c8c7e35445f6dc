#include "state_machines/rdmap_read_responder.hpp"

#include "fsm_test.hpp"

namespace machines::rdmap_read_responder {
namespace {

class Recorded final : public fsm::testing::Recorder<Context> {
 public:
  enum Knob : unsigned { HasPlaceKnob, AnotherWaitsKnob };
  void enqueue() override { note("enqueue"); }
  void begin_response() override { note("begin_response"); }
  void send_segment() override { note("send_segment"); }
  void finish_response() override { note("finish_response"); }
  void capture_no_buffer() override { note("capture_no_buffer"); }
  void fail_stream() override { note("fail_stream"); }
  void clear_queue() override { note("clear_queue"); }
  void count_stale() override { note("count_stale"); }
  [[nodiscard]] bool has_place() const override { return knob(HasPlaceKnob); }
  [[nodiscard]] bool another_waits() const override { return knob(AnotherWaitsKnob); }
};

struct Input {
  using Def = rdmap_read_responder::Def;
  using Recorded = rdmap_read_responder::Recorded;
  static constexpr unsigned knob_count = 2;

  template <class Event>
  static fsm::testing::Samples<Event> samples(std::type_identity<Event>) {
    return {{"", Event{}}};
  }
  static fsm::testing::Samples<SegmentSent> samples(std::type_identity<SegmentSent>) {
    return {{"More", {}}, {"Last", {.last = true}}};
  }
};

using Rig = fsm::testing::Rig<Def, Recorded>;

FSM_TABLE_TESTS(RdmapReadResponder, Input);

template <class... Events>
Rig after_events(const Events&... events) {
  Rig rig;
  rig.set(Recorded::HasPlaceKnob);
  rig.given(events...);
  return rig;
}
Rig responding() { return after_events(RequestDelivered{}); }
Rig failed() { return after_events(RequestInvalid{}); }
Rig ended() { return after_events(StreamEnded{}); }

// RFC 5040 5.2.1, 5.2.2, RFC 5041 5.3: one request, three segments; then its memory is held no longer.
TEST(RdmapReadResponder, Idle_response_of_three_segments) {
  Rig rig = after_events();
  EXPECT_EQ(rig.after(RequestDelivered{}), "Responding: enqueue, begin_response");
  EXPECT_EQ(rig.after(SegmentSent{}), "Responding: send_segment");
  EXPECT_EQ(rig.after(SegmentSent{}), "Responding: send_segment");
  EXPECT_EQ(rig.after(SegmentSent{.last = true}), "Idle: finish_response");
}

// RFC 5040 5.2.1, 5.5 rules 12, 20: requests that come meanwhile are answered behind it, in their order.
TEST(RdmapReadResponder, Responding_requests_in_order) {
  Rig rig = responding();
  EXPECT_EQ(rig.after(RequestDelivered{}), "Responding: enqueue");
  rig.set(Recorded::AnotherWaitsKnob);
  EXPECT_EQ(rig.after(SegmentSent{}), "Responding: send_segment");
  EXPECT_EQ(rig.after(SegmentSent{.last = true}), "Responding: finish_response, begin_response");
  rig.set(Recorded::AnotherWaitsKnob, false);
  EXPECT_EQ(rig.after(SegmentSent{.last = true}), "Idle: finish_response");
}

// RFC 5040 6.1, RFC 5041 7.1 item 2, ruling M-8: more than IRD; also with an IRD of 0.
TEST(RdmapReadResponder, request_beyond_ird) {
  for (Rig rig : {after_events(), responding()}) {
    rig.set(Recorded::HasPlaceKnob, false);
    EXPECT_EQ(rig.after(RequestDelivered{}), "Failed: capture_no_buffer, fail_stream");
  }
}

// RFC 5040 7.2, 7.1 rule 3, ruling M-16: a request that fails its checks ends the stream at the earliest possible
// opportunity, not behind the responses before it.
TEST(RdmapReadResponder, request_invalid) {
  for (Rig rig : {after_events(), responding()}) {
    EXPECT_EQ(rig.after(RequestInvalid{}), "Failed: fail_stream");
  }
}

// RFC 5040 4.8, 7.1: the memory went in mid-response.
TEST(RdmapReadResponder, Responding_source_lost) {
  Rig rig = responding();
  rig.given(SegmentSent{});
  EXPECT_EQ(rig.after(SourceLost{}), "Failed: fail_stream");
}

// RFC 5040 7.1 rule 4, RFC 5041 7.1: behind the first error nothing is looked at; no segment goes out but the one that
// DDP has.
TEST(RdmapReadResponder, Failed_late) {
  EXPECT_EQ(failed().after(RequestDelivered{}), "Failed: count_stale");
  EXPECT_EQ(failed().after(RequestInvalid{}), "Failed: count_stale");
  EXPECT_EQ(failed().after(SegmentSent{}), "Failed:");
  EXPECT_EQ(failed().after(SegmentSent{.last = true}), "Failed:");
}

// RFC 5040 6.2.1: the stream ends: what was not answered never is. It hears so twice, of a graceful termination and of
// the end.
TEST(RdmapReadResponder, stream_ended) {
  EXPECT_EQ(after_events().after(StreamEnded{}), "Ended:");
  for (Rig rig : {responding(), failed()}) {
    EXPECT_EQ(rig.after(StreamEnded{}), "Ended: clear_queue");
    EXPECT_EQ(rig.after(StreamEnded{}), "Ended:");
  }
}

// DDP took the segment, or its memory was found gone, which was posted, and then the stream ended.
TEST(RdmapReadResponder, Ended_late) {
  EXPECT_EQ(ended().after(SegmentSent{.last = true}), "Ended: count_stale");
  EXPECT_EQ(ended().after(SourceLost{}), "Ended: count_stale");
}

}  // namespace
}  // namespace machines::rdmap_read_responder
