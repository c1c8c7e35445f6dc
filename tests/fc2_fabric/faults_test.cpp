// Every fault that a link can have, alone: what arrives, when, in which order, with which bytes.
#include "fc2_fabric/link/faults.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "fc2_fabric/frame/capture.hpp"
#include "tests/support/frame_log.hpp"
#include "tests/support/made_frame.hpp"
#include "tests/support/test_fabric.hpp"

namespace fc2 {
namespace {

/// The fault of a frame is chosen by its mark; remembers what was asked and done.
class Marks final : public FaultPolicy {
 public:
  Verdict judge(std::size_t, LinkDirection, const Frame& frame, TimeNs) override {
    const auto found = actions.find(frame.bytes[3]);
    return found == actions.end() ? Verdict{} : Verdict{&found->second, found->first};
  }
  void befell(std::size_t link, LinkDirection direction, const Frame& frame, const Verdict& verdict, TimeNs) override {
    done.push_back({link, direction, frame.bytes[3], verdict.rule});
  }
  struct Done {
    std::size_t link;
    LinkDirection direction;
    std::uint32_t mark;
    std::uint16_t rule;
    friend bool operator==(const Done&, const Done&) = default;
  };
  std::map<std::uint8_t, FaultAction> actions;
  std::vector<Done> done;
};

using Arrivals = std::vector<std::pair<TimeNs, std::uint32_t>>;  // when, mark

class FaultsTest : public testing::Test {
 protected:
  FaultsTest() { channel.set_fault(&direction); }
  void send(std::uint8_t mark, std::size_t size = 60) {
    std::vector<std::uint8_t> bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(i);
    bytes[1] = bytes[2] = 0;
    bytes[3] = mark;  // D_ID
    channel.send(support::raw_frame(pool, bytes));
  }
  void send_all(std::initializer_list<int> marks) {
    for (const int mark : marks) send(static_cast<std::uint8_t>(mark));
  }
  Arrivals run(TimeNs duration = 10 * second) {
    scheduler.run_until(start + duration);
    Arrivals seen;
    for (const auto& frame : log.frames()) seen.emplace_back(frame.at - start, frame.header.d_id.value);
    return seen;
  }

  Scheduler scheduler;
  TimeNs start = scheduler.now();
  FramePool pool;
  support::FrameLog log;
  Marks policy;
  FaultyDirection direction{scheduler, policy, 7, LinkDirection::Sent};
  Channel channel{scheduler, {.latency_ns = 500}, log};
};

// No verdict, no change; the policy is not told of anything.
TEST_F(FaultsTest, none_passes) {
  send_all({1, 2});
  EXPECT_EQ(run(), (Arrivals{{500, 1}, {500, 2}}));
  EXPECT_TRUE(policy.done.empty());
}

// Dropped means not delivered, and its buffer comes back; the sender's tap has seen it, with the rule's number.
TEST_F(FaultsTest, drop_is_not_delivered) {
  struct Tap final : FrameTap {
    void frame_passed(TimeNs, const Frame& frame, bool) override { faults.push_back(frame.fault); }
    std::vector<int> faults;
  } tap;
  channel.tap_sender(&tap);
  policy.actions[2] = {.apply = fault::drop};
  send_all({1, 2, 3});
  EXPECT_EQ(run(), (Arrivals{{500, 1}, {500, 3}}));
  EXPECT_EQ(tap.faults, (std::vector<int>{0, 2, 0}));
  EXPECT_EQ(policy.done, (std::vector<Marks::Done>{{7, LinkDirection::Sent, 2, 2}}));
  EXPECT_EQ(pool.outstanding(), 0U);
}

// A duplicate follows at once, or later; both have the same bytes.
TEST_F(FaultsTest, duplicate_arrives_again) {
  policy.actions[1] = {.apply = fault::duplicate};
  policy.actions[2] = {.apply = fault::duplicate, .delay = 1000, .frames = 2};
  send_all({1, 2, 3});
  EXPECT_EQ(run(), (Arrivals{{500, 1}, {500, 1}, {500, 2}, {500, 3}, {1500, 2}, {2500, 2}}));
  EXPECT_EQ(log.frames()[0].data, log.frames()[1].data);
  EXPECT_EQ(log.frames()[2].data, log.frames()[5].data);
  EXPECT_EQ(pool.outstanding(), 0U);
}

// A delayed frame is overtaken by those that come meanwhile, and by no other.
TEST_F(FaultsTest, delay_lets_others_overtake) {
  policy.actions[1] = {.apply = fault::delay, .delay = 1000};
  send_all({1, 2});
  scheduler.run_until(start + 2000);
  send(3);
  EXPECT_EQ(run(), (Arrivals{{500, 2}, {1500, 1}, {2500, 3}}));
}

// Reordered means after the next k frames, at the moment of the last of them.
TEST_F(FaultsTest, reorder_waits_for_frames) {
  policy.actions[1] = {.apply = fault::reorder, .frames = 2};
  send_all({1, 2});
  scheduler.run_until(start + 1000);
  EXPECT_EQ(direction.held(), 1U);
  send_all({3, 4});
  EXPECT_EQ(run(), (Arrivals{{500, 2}, {1500, 3}, {1500, 1}, {1500, 4}}));
  EXPECT_EQ(direction.held(), 0U);
}

// A frame that is lost does not count as one that followed; two that wait keep their own count.
TEST_F(FaultsTest, reorder_counts_frames_that_arrive) {
  policy.actions[1] = {.apply = fault::reorder, .frames = 2};
  policy.actions[2] = {.apply = fault::reorder, .frames = 1};
  policy.actions[3] = {.apply = fault::drop};
  send_all({1, 2, 3, 4, 5});
  EXPECT_EQ(run(), (Arrivals{{500, 4}, {500, 2}, {500, 5}, {500, 1}}));
}

// Nobody follows: the frame goes on by itself after its longest time, not for ever, and not before.
TEST_F(FaultsTest, reorder_without_followers_ends_by_time) {
  policy.actions[1] = {.apply = fault::reorder, .frames = 1, .longest_hold = millisecond};
  send(1);
  EXPECT_EQ(run(millisecond + 499), Arrivals{});
  EXPECT_EQ(run(), (Arrivals{{millisecond + 500, 1}}));
}

// The link breaks: what waited is lost, and its timer with it.
TEST_F(FaultsTest, reorder_link_broken_loses_it) {
  policy.actions[1] = {.apply = fault::reorder};
  send(1);
  channel.clear();
  EXPECT_EQ(pool.outstanding(), 0U);
  EXPECT_EQ(run(), Arrivals{});
}

// Corrupted means different bytes: one bit, which the receiver can see by the CRC.
TEST_F(FaultsTest, corrupt_turns_one_bit_over) {
  struct Receiver final : FrameReceiver {
    void receive(FramePtr frame) override { frames.push_back(std::move(frame)); }
    std::vector<FramePtr> frames;
  } receiver;
  Channel to(scheduler, {}, receiver);
  to.set_fault(&direction);
  const auto pass = [&](FaultAction action) -> const Frame& {
    policy.actions[1] = action;
    FramePtr frame = support::raw_frame(pool, support::zeros(26));
    frame->bytes[3] = 1;
    to.send(std::move(frame));
    scheduler.run_until(scheduler.now() + 1);
    return *receiver.frames.back();
  };
  const Frame& seen = pass({.apply = fault::corrupt, .bit = 24 * 8 + 3});
  EXPECT_EQ(seen.bytes[24], 0x10);
  EXPECT_TRUE(seen.crc_error);
  const Frame& unseen = pass({.apply = fault::corrupt, .bit = 25 * 8 + 7, .crc_error = false});
  EXPECT_EQ(unseen.bytes[24], 0x00);
  EXPECT_EQ(unseen.bytes[25], 0x01);
  EXPECT_FALSE(unseen.crc_error);
  const Frame& beyond = pass({.apply = fault::corrupt, .bit = 26 * 8 + 1});  // counted round the end
  EXPECT_EQ(beyond.bytes[0], 0x40);
}

// Truncated means shorter, never longer.
TEST_F(FaultsTest, truncate_shortens) {
  policy.actions[1] = {.apply = fault::truncate, .size_bytes = 30};
  policy.actions[2] = {.apply = fault::truncate, .size_bytes = 100};
  send_all({1, 2});
  run();
  EXPECT_EQ(log.frames()[0].data.size(), 6U);
  EXPECT_EQ(log.frames()[1].data.size(), 36U);
}

// Rewritten: the bits of the mask, and no others; nothing behind the frame's end.
TEST_F(FaultsTest, rewrite_replaces_fields) {
  policy.actions[1] = {.apply = fault::rewrite,
                       .patches = {{.offset = 24, .size = 2, .value = 0xABCD},
                                   {.offset = 26, .size = 1, .value = 0xFF, .mask = 0x80},
                                   {.offset = 58, .size = 4, .value = 0x01020304}}};
  send(1);
  run();
  const auto& data = log.frames()[0].data;
  ASSERT_EQ(data.size(), 36U);
  EXPECT_EQ(data[0], 0xAB);
  EXPECT_EQ(data[1], 0xCD);
  EXPECT_EQ(data[2], 26 | 0x80);
  EXPECT_EQ(data[3], 27);
  EXPECT_EQ(data[34], 0x01);
  EXPECT_EQ(data[35], 0x02);
}

// --- on a fabric ---

/// Corrupts what goes in one direction of one port's link.
class OnFabric final : public FaultPolicy {
 public:
  Verdict judge(std::size_t, LinkDirection direction, const Frame&, TimeNs) override {
    return direction == which && armed ? Verdict{&action, 1} : Verdict{};
  }
  void befell(std::size_t, LinkDirection, const Frame&, const Verdict&, TimeNs) override { ++count; }
  LinkDirection which = LinkDirection::Sent;
  FaultAction action;
  bool armed = false;
  int count = 0;
};

class FaultyFabricTest : public testing::Test {
 protected:
  FaultyFabricTest() {
    fabric.bring_up();
    fabric.fabric.set_faults(fabric.port(0), &link.sent, &link.received);
  }
  ~FaultyFabricTest() override {
    if (fabric.fabric.is_attached(fabric.port(0))) fabric.fabric.set_faults(fabric.port(0), nullptr, nullptr);
  }
  std::uint64_t discarded(Discard reason) { return fabric.port(0).counters().discarded(reason); }
  support::TestFabric fabric{2};
  OnFabric policy;
  FaultyLink link{fabric.scheduler, policy, 0};
};

// FC-FS: a frame with a CRC error is discarded where it arrives, and counted: here at the switch.
TEST_F(FaultyFabricTest, corrupted_is_discarded_by_the_switch) {
  policy.armed = true;
  policy.action = {.apply = fault::corrupt, .bit = 200};
  EXPECT_FALSE(fabric.log_in(0, 1));
  EXPECT_GT(policy.count, 0);
  EXPECT_EQ(fabric.fabric.counters().discarded(Discard::BadCrc), static_cast<std::uint64_t>(policy.count));
}

// The same at the port.
TEST_F(FaultyFabricTest, corrupted_is_discarded_by_the_port) {
  policy.armed = true;
  policy.action = {.apply = fault::corrupt, .bit = 200};
  policy.which = LinkDirection::Received;
  EXPECT_FALSE(fabric.log_in(0, 1));
  EXPECT_GT(policy.count, 0);
  EXPECT_EQ(discarded(Discard::BadCrc), static_cast<std::uint64_t>(policy.count));
}

// A frame cut short where no CRC tells is discarded for its length.
TEST_F(FaultyFabricTest, truncated_is_discarded) {
  policy.armed = true;
  policy.action = {.apply = fault::truncate, .size_bytes = 10, .crc_error = false};
  EXPECT_FALSE(fabric.log_in(0, 1));
  EXPECT_EQ(fabric.fabric.counters().discarded(Discard::Truncated), static_cast<std::uint64_t>(policy.count));
}

// The fault goes, the port works again. A link that comes back has none.
TEST_F(FaultyFabricTest, healed_works_again) {
  policy.armed = true;
  EXPECT_FALSE(fabric.log_in(0, 1));
  fabric.detach(0);
  fabric.attach(0);
  fabric.run_for(second);
  EXPECT_TRUE(fabric.log_in(0, 1));
}

// A capture says in a packet comment what befell a frame, and has the wrong CRC of one that arrived with it.
TEST_F(FaultsTest, captured_with_a_comment) {
  struct MemorySink final : ByteSink {
    void write(std::span<const std::uint8_t> data) override { text.append(data.begin(), data.end()); }
    std::string text;
  } sink;
  Capture capture(sink);
  capture.set_fault_notes({"first rule", "second rule"});
  channel.tap_sender(&capture.add_interface("a"));
  policy.actions[2] = {.apply = fault::drop};
  send_all({1, 2});
  EXPECT_EQ(sink.text.find("first rule"), std::string::npos);
  EXPECT_NE(sink.text.find("second rule"), std::string::npos);
  const auto crc_of_last = [&] {  // before EOF, the comment-less options and the block's length
    constexpr std::size_t options = 12, length = 4, padding = 2, eof = 4;
    return sink.text.substr(sink.text.size() - length - options - padding - eof - 4, 4);
  };
  const FramePtr frame = support::raw_frame(pool, support::zeros(60));
  FrameTap& tap = capture.add_interface("b");
  tap.frame_passed(start, *frame, false);
  const std::string right = crc_of_last();
  frame->crc_error = true;
  tap.frame_passed(start, *frame, false);
  EXPECT_NE(crc_of_last(), right);
}

TEST(LinkDirection, each_has_a_name) {
  EXPECT_EQ(to_string(LinkDirection::Sent), "sent");
  EXPECT_EQ(to_string(LinkDirection::Received), "received");
}

}  // namespace
}  // namespace fc2
