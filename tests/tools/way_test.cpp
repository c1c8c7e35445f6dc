// What a comment tells of a frame's way is what the fault did to it: each action, in the simulator's own words and in
// those of the live fabric.
#include "tools/fcvi_sim/capture/way.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "fc2_fabric/link/channel.hpp"
#include "settings/units.hpp"
#include "tests/support/made_frame.hpp"
#include "tests/tools/two_port_scenario.hpp"

namespace sim::capture {
namespace {
using runtime::millisecond;
using Bytes = std::vector<std::uint8_t>;

faults::Rule rule_of(const std::string& action) {
  const auto scenario = test::read(std::string(test::two_ports) + "faults: [{" + action + "}]\n");
  EXPECT_TRUE(scenario) << action;
  return scenario ? scenario->faults.at(0).rule : faults::Rule{};
}

struct Arrived {
  runtime::TimeNs at = 0;
  Bytes bytes;
  bool crc_error = false;
};

/// A link on which the first frame suffers a fault, and what comes out of it.
class Link final : private fc2::FaultPolicy, private fc2::FrameReceiver {
 public:
  explicit Link(const fc2::FaultAction& action) : action_(action) { channel_.set_fault(&fault_); }
  void send(const Bytes& bytes) { channel_.send(support::raw_frame(pool_, bytes)); }
  std::vector<Arrived> arrived() {
    while (scheduler_.run_next(runtime::never)) {}
    return arrived_;
  }

 private:
  Verdict judge(std::size_t, fc2::LinkDirection, const fc2::Frame&, runtime::TimeNs) override {
    return judged_++ == 0 ? Verdict{&action_, 1} : Verdict{};
  }
  void befell(std::size_t, fc2::LinkDirection, const fc2::Frame&, const Verdict&, runtime::TimeNs) override {}
  void receive(fc2::FramePtr frame) override {
    const auto content = frame->content();
    arrived_.push_back({scheduler_.now() - start_, {content.begin(), content.end()}, frame->crc_error});
  }

  const fc2::FaultAction& action_;
  runtime::Scheduler scheduler_;
  const runtime::TimeNs start_ = scheduler_.now();
  fc2::FramePool pool_;
  fc2::FaultyDirection fault_{scheduler_, *this, 0, fc2::LinkDirection::Sent};
  fc2::Channel channel_{scheduler_, {}, *this};
  std::size_t judged_ = 0;
  std::vector<Arrived> arrived_;
};

Bytes sent_frame() {
  Bytes data(60);
  std::iota(data.begin(), data.end(), std::uint8_t{1});
  return support::bytes_of_frame(
      {.r_ctl = wire::RCtl::solicited_data, .d_id = {0x010200}, .s_id = {0x010100}, .type = wire::Type::fc_vi}, data);
}

/// All that a rule may say of a frame that goes on.
const std::string actions[] = {"action: delay, by: 5ms",
                               "action: delay, by: 20us",
                               "action: delay, by: 3s",
                               "action: duplicate",
                               "action: duplicate, copies: 3",
                               "action: duplicate, copies: 2, by: 4ms",
                               "action: duplicate, by: 1us",
                               "action: reorder",
                               "action: reorder, frames: 2",
                               "action: corrupt, bit: 0",
                               "action: corrupt, bit: 300",
                               "action: corrupt, bit: 671",
                               "action: corrupt, bit: 673",
                               "action: corrupt, bit: 35, crc: good",
                               "action: truncate, bytes: 40",
                               "action: truncate, bytes: 3, crc: good",
                               "action: truncate, bytes: 1KiB",
                               "action: rewrite, set: {ox_id: 0x1A2B}",
                               "action: rewrite, set: {seq_cnt: 7, d_id: 0x010203, fcvi_flags: 0xFF}"};

/// The words that captures have of it: the simulator's, and the live fabric's.
std::vector<std::string> comments_of(const std::string& note) {
  return {"fault: " + note, "fault: " + note + " (fault rule 3)",
          "7 frames are missing before this one: they came faster than they were written; fault: " + note +
              " (fault rule 12); delayed: waited 3.200 ms until bob took it"};
}

TEST(Way, comment_tells_what_the_fault_did) {
  for (const std::string& action : actions) {
    const faults::Rule rule = rule_of(action);
    ASSERT_TRUE(rule.action) << action;
    Link link(*rule.action);
    link.send(sent_frame());
    const std::vector<Arrived> arrived = link.arrived();
    ASSERT_FALSE(arrived.empty()) << action;
    for (const std::string& comment : comments_of(rule.note)) {
      const auto way = way_told_by(comment);
      ASSERT_TRUE(way) << comment;
      Bytes bytes = sent_frame();
      way->change(bytes);
      EXPECT_EQ(arrived.size(), 1U + way->copies) << comment;
      EXPECT_EQ(bytes, arrived.back().bytes) << comment;
      EXPECT_EQ(way->crc_error, arrived.back().crc_error) << comment;
      // Without others behind it, one that is to be overtaken goes after a time of its own.
      if (way->overtaken_by != 0) continue;
      EXPECT_EQ(way->delay * std::max(way->copies, 1U), arrived.back().at) << comment;
    }
  }
}

TEST(Way, comment_tells_how_many_overtake) {
  for (const auto& [action, count] : {std::pair{"action: reorder", 1U}, {"action: reorder, frames: 3", 3U}}) {
    const faults::Rule rule = rule_of(action);
    ASSERT_TRUE(rule.action) << action;
    Link link(*rule.action);
    link.send(sent_frame());
    for (unsigned i = 0; i < 5; ++i) link.send(Bytes(30));
    const std::vector<Arrived> arrived = link.arrived();
    ASSERT_EQ(arrived.size(), 6U);
    EXPECT_EQ(arrived[count].bytes, sent_frame()) << action;
    EXPECT_EQ(way_told_by("fault: " + rule.note)->overtaken_by, count) << action;
  }
}

/// Each size that a frame may be cut to is told to the byte.
TEST(Way, every_size_is_read) {
  for (std::size_t size = 0; size <= 2148; ++size) {
    const auto way = way_told_by("fault: cut to " + settings::format_bytes(size));
    ASSERT_TRUE(way && way->size_bytes);
    ASSERT_EQ(*way->size_bytes, size);
  }
}

TEST(Way, frame_that_waited_came_late) {
  const auto way = way_told_by("delayed: waited 3.200 ms until bob took it");
  ASSERT_TRUE(way);
  EXPECT_EQ(way->delay, 3 * millisecond + 200 * runtime::microsecond);
  EXPECT_FALSE(way->crc_error);
}

/// Lost, or nothing of the kind; and words that only look like those of a fault.
TEST(Way, other_comments_tell_of_no_way) {
  for (const char* comment : {"", "fault: lost", "fault: lost (fault rule 1)", "fault: lost: partition", "fault: ",
                              "delayed by 1.000 ms", "Fault: delayed by 1.000 ms", "fault: Delayed by 1.000 ms",
                              "fault: cut", "waits: bob takes no frames now", "somebody's own words; fault: duplicated",
                              "discarded by the fabric, bad CRC: it was damaged on its way; fault: corrupted, bit 3"})
    EXPECT_FALSE(way_told_by(comment)) << comment;
}

/// A number that nobody wrote so is none: the frame goes on as it was.
TEST(Way, damaged_words_change_nothing) {
  for (const char* comment :
       {"fault: delayed by", "fault: delayed by x", "fault: delayed by -1 ms", "fault: cut to ", "fault: cut to -3 B",
        "fault: duplicated x times", "fault: overtaken by ", "fault: rewritten: ox_id", "fault: rewritten: ox_id 1A2B",
        "fault: rewritten: nothing 12h", "fault: rewritten: ox_id zh", "fault: rewritten: , , ,"}) {
    const auto way = way_told_by(comment);
    if (!way) continue;
    Bytes bytes = sent_frame();
    way->change(bytes);
    EXPECT_EQ(bytes, sent_frame()) << comment;
    EXPECT_EQ(way->delay, 0) << comment;
    EXPECT_EQ(way->overtaken_by, 0U) << comment;
    EXPECT_FALSE(way->crc_error) << comment;
  }
}

TEST(Way, counts_have_a_limit) {
  EXPECT_EQ(way_told_by("fault: duplicated 4,000,000,000 times")->copies, 1'000'000U);
  EXPECT_EQ(way_told_by("fault: duplicated 1,000 times, 2.000 ms apart")->copies, 1000U);
  EXPECT_EQ(way_told_by("fault: duplicated 1,000 times, 2.000 ms apart")->delay, 2 * millisecond);
  EXPECT_EQ(way_told_by("fault: overtaken by 18,446,744,073,709,551,615 frames")->overtaken_by, 1'000'000U);
}

/// A field that lies behind the frame's end is not written; an empty frame has no bit.
TEST(Way, frames_that_are_too_short) {
  Bytes bytes(12, 0xAA);
  way_told_by("fault: rewritten: ox_id 1A2Bh, d_id 010203h")->change(bytes);
  EXPECT_EQ(bytes, (Bytes{0xAA, 1, 2, 3, 0xAA, 0xAA, 0xAA, 0xAA, 0xAA, 0xAA, 0xAA, 0xAA}));
  Bytes none;
  way_told_by("fault: corrupted, bit 3")->change(none);
  way_told_by("fault: cut to 3 B")->change(none);
  EXPECT_TRUE(none.empty());
}

}  // namespace
}  // namespace sim::capture
