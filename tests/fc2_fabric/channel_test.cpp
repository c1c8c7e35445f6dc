#include "fc2_fabric/link/channel.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "fc2_fabric/node/transmitter.hpp"
#include "tests/support/frame_log.hpp"
#include "tests/support/made_frame.hpp"
#include "wire/line_rate.hpp"

namespace fc2 {
namespace {

FramePtr make_frame(FramePool& pool, std::size_t size, std::uint8_t mark = 0) {
  FramePtr frame = support::raw_frame(pool, support::zeros(size));
  frame->bytes[3] = mark;  // D_ID
  return frame;
}

// --- frame pool and queue ---

// The pool grows by slabs, and uses frames again.
TEST(FramePool, taken_and_returned_is_used_again) {
  FramePool pool;
  EXPECT_EQ(pool.capacity(), 0U);
  const Frame* first = nullptr;
  {
    const FramePtr frame = pool.take();
    first = frame.get();
    EXPECT_EQ(pool.outstanding(), 1U);
  }
  EXPECT_EQ(pool.outstanding(), 0U);
  const std::size_t capacity = pool.capacity();
  EXPECT_EQ(pool.take().get(), first);
  EXPECT_EQ(pool.capacity(), capacity);
}

// Past one slab the pool makes another; all frames are different.
TEST(FramePool, empty_grows) {
  FramePool pool;
  std::vector<FramePtr> frames;
  for (int i = 0; i < 200; ++i) frames.push_back(pool.take());
  EXPECT_EQ(pool.outstanding(), 200U);
  EXPECT_GE(pool.capacity(), 200U);
  std::sort(frames.begin(), frames.end());
  EXPECT_EQ(std::unique(frames.begin(), frames.end()), frames.end());
}

// A copy has the bytes and the delimiters, and is a frame of its own.
TEST(FramePool, copied_is_equal_and_separate) {
  FramePool pool;
  FramePtr frame = make_frame(pool, 60, 7);
  frame->eof = wire::Eof::n;
  const FramePtr copy = pool.copy(*frame);
  frame->bytes[3] = 9;
  EXPECT_EQ(copy->bytes[3], 7);
  EXPECT_EQ(copy->size_bytes, 60);
  EXPECT_EQ(copy->eof, wire::Eof::n);
}

// First in, first out; what is left goes back to the pool.
TEST(FrameQueue, pushed_come_out_in_order) {
  FramePool pool;
  {
    FrameQueue queue;
    for (std::uint8_t i = 0; i < 5; ++i) queue.push(make_frame(pool, 24, i));
    EXPECT_EQ(queue.size(), 5U);
    EXPECT_EQ(queue.front()->bytes[3], 0);
    for (std::uint8_t i = 0; i < 3; ++i) EXPECT_EQ(queue.pop()->bytes[3], i);
    queue.push(make_frame(pool, 24, 9));
    EXPECT_EQ(queue.size(), 3U);
  }
  EXPECT_EQ(pool.outstanding(), 0U);
}

// --- channel ---

class ChannelTest : public testing::Test {
 protected:
  Scheduler scheduler;
  FramePool pool;
  support::FrameLog log;
};

// Without a rate, a frame arrives after the latency.
TEST_F(ChannelTest, unlimited_delivers_after_latency) {
  Channel channel(scheduler, {.latency_ns = 500}, log);
  const TimeNs start = scheduler.now();
  channel.send(make_frame(pool, 60));
  EXPECT_EQ(channel.free_at(), start);
  scheduler.run_until(start + 499);
  EXPECT_EQ(log.size(), 0U);
  scheduler.run_until(start + 500);
  ASSERT_EQ(log.size(), 1U);
  EXPECT_EQ(log.frames()[0].at, start + 500);
}

// In bursts, one event hands over the frames of one time, as many as a burst has, and counts as their number.
TEST_F(ChannelTest, bursts_hand_over_what_arrived) {
  Channel channel(scheduler, {.latency_ns = 10, .burst_frames = 4}, log);
  for (std::uint8_t i = 0; i < 6; ++i) channel.send(make_frame(pool, 60, i));
  EXPECT_EQ(log.size(), 0U);
  ASSERT_TRUE(scheduler.run_next(never));
  EXPECT_EQ(log.size(), 4U);
  EXPECT_EQ(scheduler.fired_count(), 4U);
  ASSERT_TRUE(scheduler.run_next(scheduler.now()));
  EXPECT_EQ(scheduler.fired_count(), 6U);
  EXPECT_FALSE(scheduler.run_next(never));
  ASSERT_EQ(log.size(), 6U);
  for (std::uint8_t i = 0; i < 6; ++i) EXPECT_EQ(log.frames()[i].header.d_id.value, i);
}

// A burst ends with the frames of its time.
TEST_F(ChannelTest, bursts_leave_later_frames) {
  Channel channel(scheduler, {.bytes_per_second = 100'000'000, .burst_frames = 4}, log);
  const TimeNs start = scheduler.now();
  for (std::uint8_t i = 0; i < 3; ++i) channel.send(make_frame(pool, 64, i));
  scheduler.run_until(start + 10'000);
  ASSERT_EQ(log.size(), 3U);
  for (std::uint8_t i = 0; i < 3; ++i) EXPECT_EQ(log.frames()[i].at, start + 1000 * (i + 1));
}

// Sends from within what it is told, as often as it is told to.
struct SendingReceiver final : FrameReceiver {
  void receive(FramePtr frame) override {
    EXPECT_FALSE(std::exchange(receiving, true)) << "a frame within another";
    ++received;
    if (sends != 0) --sends, channel->send(std::move(frame));
    if (received == clears_at) channel->clear();
    receiving = false;
  }
  Channel* channel = nullptr;
  int received = 0, sends = 0, clears_at = 0;
  bool receiving = false;
};

// Where links have bursts and nothing takes time, a frame is handed over from within send(): it counts as an event, and
// leaves none behind.
TEST_F(ChannelTest, bursts_pass_at_once_what_takes_no_time) {
  Channel channel(scheduler, {.burst_frames = 4}, log);
  for (std::uint8_t i = 0; i < 6; ++i) {
    channel.send(make_frame(pool, 60, i));
    ASSERT_EQ(log.size(), i + 1U);
    EXPECT_EQ(log.frames()[i].header.d_id.value, i);
  }
  EXPECT_EQ(scheduler.fired_count(), 6U);
  EXPECT_TRUE(scheduler.idle());
  EXPECT_EQ(pool.outstanding(), 0U);
}

// What is sent while a frame is received comes after it, in a burst; and so does what is sent next.
TEST_F(ChannelTest, bursts_never_pass_a_frame_within_another) {
  SendingReceiver receiver;
  Channel channel(scheduler, {.burst_frames = 8}, receiver);
  receiver.channel = &channel;
  receiver.sends = 3;
  channel.send(make_frame(pool, 60));
  EXPECT_EQ(receiver.received, 1);
  channel.send(make_frame(pool, 60));
  EXPECT_EQ(receiver.received, 1) << "the one before it is still on its way";
  scheduler.run_until(scheduler.now());
  EXPECT_EQ(receiver.received, 5);
  EXPECT_EQ(scheduler.fired_count(), 5U);
  EXPECT_TRUE(scheduler.idle());
  EXPECT_EQ(pool.outstanding(), 0U);
}

// A link that breaks while a burst is handed over loses the rest, and goes on.
TEST_F(ChannelTest, bursts_of_a_link_that_breaks_are_lost) {
  SendingReceiver receiver;
  Channel channel(scheduler, {.latency_ns = 10, .burst_frames = 8}, receiver);
  receiver.channel = &channel;
  receiver.clears_at = 3;
  for (std::uint8_t i = 0; i < 5; ++i) channel.send(make_frame(pool, 60, i));
  ASSERT_TRUE(scheduler.run_next(never));
  EXPECT_EQ(receiver.received, 3);
  EXPECT_TRUE(scheduler.idle());
  for (std::uint8_t i = 0; i < 5; ++i) channel.send(make_frame(pool, 60, i));
  scheduler.run_until(scheduler.now() + 10);
  EXPECT_EQ(receiver.received, 8);
  EXPECT_EQ(scheduler.fired_count(), 8U);
  EXPECT_TRUE(scheduler.idle());
  EXPECT_EQ(pool.outstanding(), 0U);
}

// With a rate, frames follow each other at the time that their bytes take: 64 bytes and 36 of overhead at 100 MB/s.
TEST_F(ChannelTest, limited_spaces_frames_by_rate) {
  Channel channel(scheduler, {.latency_ns = 500, .bytes_per_second = 100'000'000}, log);
  const TimeNs start = scheduler.now();
  for (std::uint8_t i = 0; i < 3; ++i) channel.send(make_frame(pool, 64, i));
  EXPECT_EQ(channel.free_at(), start + 3000);
  EXPECT_EQ(channel.in_flight(), 3U);
  scheduler.run_until(start + 10'000);
  ASSERT_EQ(log.size(), 3U);
  for (std::uint8_t i = 0; i < 3; ++i) {
    EXPECT_EQ(log.frames()[i].header.d_id.value, i);
    EXPECT_EQ(log.frames()[i].at, start + 1000 * (i + 1) + 500);
  }
}

// Many frames in flight arrive in order, whatever their sizes.
TEST_F(ChannelTest, busy_delivers_in_order) {
  Channel channel(scheduler, {.latency_ns = 5000, .bytes_per_second = wire::line_rate_bytes_per_second("1GFC")}, log);
  for (std::uint8_t i = 0; i < 100; ++i) channel.send(make_frame(pool, 24 + 2112u * (i % 2u), i));
  scheduler.run_until(scheduler.now() + second);
  ASSERT_EQ(log.size(), 100U);
  for (std::uint8_t i = 0; i < 100; ++i) EXPECT_EQ(log.frames()[i].header.d_id.value, i);
  EXPECT_EQ(pool.outstanding(), 0U);
}

// A fault loses, delays, duplicates; what it delivers arrives in order of time, the sent before the copied.
TEST_F(ChannelTest, fault_decides_what_arrives) {
  struct Fault final : FrameFault {
    void carry(Channel& channel, FramePtr frame) override {
      const std::uint8_t mark = frame->bytes[3];
      if (mark == 0) return;
      if (mark == 1) frame->arrival += 1000;
      FramePtr copy = mark == 2 ? frame->pool->copy(*frame) : nullptr;
      if (copy) copy->arrival = frame->arrival + 2000;
      channel.deliver(std::move(frame));
      if (copy) channel.deliver(std::move(copy));
    }
  } fault;
  Channel channel(scheduler, {.latency_ns = 500}, log);
  channel.set_fault(&fault);
  const TimeNs start = scheduler.now();
  for (std::uint8_t i = 0; i < 4; ++i) channel.send(make_frame(pool, 24, i));
  channel.set_fault(nullptr);
  channel.send(make_frame(pool, 24, 4));
  scheduler.run_until(start + second);
  std::vector<std::pair<TimeNs, std::uint32_t>> seen;
  for (const auto& frame : log.frames()) seen.emplace_back(frame.at - start, frame.header.d_id.value);
  EXPECT_EQ(seen, (std::vector<std::pair<TimeNs, std::uint32_t>>{{500, 2}, {500, 3}, {500, 4}, {1500, 1}, {2500, 2}}));
  EXPECT_EQ(pool.outstanding(), 0U);
}

// Taps see each frame at their own end, at its time there.
TEST_F(ChannelTest, tapped_shows_both_ends) {
  Channel channel(scheduler, {.latency_ns = 500}, log);
  support::FrameLog sender, receiver;
  channel.tap_sender(&sender);
  channel.tap_receiver(&receiver);
  const TimeNs start = scheduler.now();
  channel.send(make_frame(pool, 24));
  scheduler.run_until(start + 1000);
  ASSERT_EQ(sender.size(), 1U);
  ASSERT_EQ(receiver.size(), 1U);
  EXPECT_EQ(sender.frames()[0].at, start);
  EXPECT_TRUE(sender.frames()[0].outbound);
  EXPECT_EQ(receiver.frames()[0].at, start + 500);
  EXPECT_FALSE(receiver.frames()[0].outbound);
}

// A link that breaks loses what is under way, and can be used again at once.
TEST_F(ChannelTest, busy_cleared_loses_frames) {
  Channel channel(scheduler, {.latency_ns = 500, .bytes_per_second = 1'000'000}, log);
  channel.send(make_frame(pool, 64));
  channel.clear();
  EXPECT_EQ(pool.outstanding(), 0U);
  EXPECT_LE(channel.free_at(), scheduler.now());
  scheduler.run_until(scheduler.now() + second);
  EXPECT_EQ(log.size(), 0U);
}

// FC-PI: the names of line rates.
TEST(LineRate, named_has_a_rate) {
  EXPECT_EQ(wire::line_rate_bytes_per_second("1GFC"), 106'250'000U);
  EXPECT_GT(wire::line_rate_bytes_per_second("128GFC"), wire::line_rate_bytes_per_second("64GFC"));
  EXPECT_EQ(wire::line_rate_bytes_per_second("3GFC"), 0U);
}

// --- transmitter ---

class Source final : public FrameSource {
 public:
  explicit Source(std::uint8_t mark) : mark_(mark) {}
  Next next_frame(Frame& frame) override {
    ++asked;
    if (blocked) return Next::Blocked;
    if (left == 0) return Next::Exhausted;
    --left;
    frame.size_bytes = 24;
    std::fill(frame.bytes.begin(), frame.bytes.end(), std::uint8_t{0});
    frame.bytes[3] = mark_;
    frame.sof = wire::Sof::i3;
    frame.eof = wire::Eof::t;
    return Next::Made;
  }
  int left = 0, asked = 0;
  bool blocked = false;

 private:
  std::uint8_t mark_;
};

class TransmitterTest : public ChannelTest {
 protected:
  [[nodiscard]] std::vector<std::uint32_t> marks() const {
    std::vector<std::uint32_t> result;
    for (const auto& frame : log.frames()) result.push_back(frame.header.d_id.value);
    return result;
  }
  void run() { scheduler.run_until(scheduler.now() + second); }
  Channel channel{scheduler, {.latency_ns = 10, .bytes_per_second = 100'000'000}, log};
  Transmitter transmitter{scheduler, pool};
};
using Marks = std::vector<std::uint32_t>;

// VI-ARCH 2.5.1: sources are served in turn, a frame each.
TEST_F(TransmitterTest, several_sources_take_turns) {
  Source a(1), b(2), c(3);
  a.left = 3, b.left = 1, c.left = 2;
  transmitter.attach(&channel);
  for (Source* source : {&a, &b, &c}) transmitter.submit(*source);
  run();
  EXPECT_EQ(marks(), (Marks{1, 2, 3, 1, 3, 1}));
  EXPECT_TRUE(transmitter.idle());
  EXPECT_EQ(transmitter.frames_sent(), 6U);
}

// Whole frames overtake sources: link services and responses do not wait for message data.
TEST_F(TransmitterTest, sources_waiting_frames_go_first) {
  Source a(1);
  a.left = 3;
  transmitter.attach(&channel);
  transmitter.submit(a);
  transmitter.send(make_frame(pool, 24, 8));
  transmitter.send(make_frame(pool, 24, 9));
  run();
  EXPECT_EQ(marks(), (Marks{8, 9, 1, 1, 1}));
}

// A blocked source stays in the round and does not stop the others.
TEST_F(TransmitterTest, blocked_source_lets_others_pass) {
  Source a(1), b(2);
  a.left = 1, a.blocked = true;
  b.left = 2;
  transmitter.attach(&channel);
  transmitter.submit(a);
  transmitter.submit(b);
  run();
  EXPECT_EQ(marks(), (Marks{2, 2}));
  EXPECT_FALSE(transmitter.idle());
  a.blocked = false;
  transmitter.resume();
  run();
  EXPECT_EQ(marks(), (Marks{2, 2, 1}));
}

// All blocked: the round ends without asking for ever.
TEST_F(TransmitterTest, all_blocked_rests) {
  Source a(1), b(2);
  a.blocked = b.blocked = true;
  transmitter.attach(&channel);
  transmitter.submit(a);
  transmitter.submit(b);
  run();
  EXPECT_EQ(log.size(), 0U);
  EXPECT_LE(a.asked + b.asked, 4);
  EXPECT_EQ(pool.outstanding(), 0U);
}

// A first source that runs dry while a later one is blocked leaves the round; the round still ends.
TEST_F(TransmitterTest, blocked_then_exhausted_rests) {
  Source a(1), b(2), c(3);
  a.blocked = true;
  transmitter.attach(&channel);
  for (Source* source : {&a, &b, &c}) transmitter.submit(*source);
  run();
  EXPECT_EQ(log.size(), 0U);
  EXPECT_FALSE(transmitter.idle());
  transmitter.withdraw(a);
  EXPECT_TRUE(transmitter.idle());
}

// An exhausted source comes back when it is submitted again; submitting twice counts once.
TEST_F(TransmitterTest, exhausted_submitted_again_sends) {
  Source a(1);
  a.left = 1;
  transmitter.attach(&channel);
  transmitter.submit(a);
  transmitter.submit(a);
  run();
  a.left = 1;
  transmitter.submit(a);
  run();
  EXPECT_EQ(marks(), (Marks{1, 1}));
}

// A source that is destroyed leaves the round.
TEST_F(TransmitterTest, source_destroyed_leaves_the_round) {
  Source b(2);
  {
    Source a(1);
    a.left = b.left = 2;
    transmitter.submit(a);
    transmitter.submit(b);
  }
  transmitter.attach(&channel);
  run();
  EXPECT_EQ(marks(), (Marks{2, 2}));
}

// Without a link, frames are lost; sources wait for the next link.
TEST_F(TransmitterTest, detached_drops_frames_keeps_sources) {
  Source a(1);
  a.left = 1;
  transmitter.send(make_frame(pool, 24, 9));
  transmitter.submit(a);
  run();
  EXPECT_EQ(log.size(), 0U);
  transmitter.attach(&channel);
  run();
  EXPECT_EQ(marks(), (Marks{1}));
}

// A link that goes takes the waiting frames along.
TEST_F(TransmitterTest, attached_detached_drops_waiting_frames) {
  transmitter.attach(&channel);
  for (std::uint8_t i = 0; i < 5; ++i) transmitter.send(make_frame(pool, 24, i));
  transmitter.attach(nullptr);
  run();
  EXPECT_EQ(log.size(), 0U);
  EXPECT_EQ(pool.outstanding(), 0U);
}

// A link without a rate still lets frames reach the far end before a long message was made whole.
TEST_F(TransmitterTest, unlimited_link_sends_in_portions) {
  Channel unlimited(scheduler, {.latency_ns = 0}, log);
  Source a(1);
  a.left = 100;
  transmitter.attach(&unlimited);
  transmitter.submit(a);
  scheduler.run_next(scheduler.now());
  EXPECT_LT(transmitter.frames_sent(), 100U);
  run();
  EXPECT_EQ(log.size(), 100U);
}

}  // namespace
}  // namespace fc2
