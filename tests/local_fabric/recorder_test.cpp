// What a live capture says of a frame that it had written before it was known what becomes of it, of frames that it
// missed, and which frames are of a host on Ethernet.
#include "tools/fabricd/recorder.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/made_frame.hpp"
#include "tools/fabricd/history_writer.hpp"
#include "wire/fcoe.hpp"

namespace fabricd {
namespace {

/// Writes each frame as it comes.
class LiveCapture final : public RecorderListener, private fc2::ByteSink {
 public:
  explicit LiveCapture(Recorder& recorder, CaptureChoice choice = {})
      : recorder_(recorder), next_(recorder.history().end()), writer_(*this, std::move(choice), next_, "") {
    recorder_.add(*this);
  }
  LiveCapture(const LiveCapture&) = delete;
  LiveCapture& operator=(const LiveCapture&) = delete;
  ~LiveCapture() { recorder_.remove(*this); }
  void frames_came() override {
    for (; !holds && next_ != recorder_.history().end(); ++next_)
      if (misses)
        writer_.miss(recorder_.history(), next_, recorder_.names());
      else
        writer_.write(recorder_.history(), next_, recorder_.names());
  }
  void history_is_short() override {}
  [[nodiscard]] fc2::FrameHistory::Number next_frame() const override { return next_; }
  [[nodiscard]] bool says(std::string_view words) const { return text_.find(words) != std::string::npos; }
  [[nodiscard]] std::size_t count(std::string_view block) const {
    std::size_t found = 0;
    for (std::size_t at = text_.find(block); at != std::string::npos; at = text_.find(block, at + 1)) ++found;
    return found;
  }
  void finish(fc2::TimeNs at) { writer_.finish(at); }
  [[nodiscard]] const HistoryWriter& writer() const { return writer_; }
  bool misses = false, holds = false;

 private:
  void write(std::span<const std::uint8_t> block) override { text_.append(block.begin(), block.end()); }
  Recorder& recorder_;
  fc2::FrameHistory::Number next_;
  std::string text_;
  HistoryWriter writer_;
};

/// Interface statistics at 1234567890h ns, that its capture ended then: type, length, interface, time, option, length.
std::string end_block(std::uint8_t interface) {
  const std::uint8_t time[] = {0x12, 0, 0, 0, 0x90, 0x78, 0x56, 0x34};
  std::string block{5, 0, 0, 0, 40, 0, 0, 0, static_cast<char>(interface), 0, 0, 0};
  block.append(std::begin(time), std::end(time));
  block += std::string{3, 0, 8, 0};
  block.append(std::begin(time), std::end(time));
  return block + std::string{0, 0, 0, 0, 40, 0, 0, 0};
}

class RecorderTest : public testing::Test {
 protected:
  [[nodiscard]] fc2::FramePtr frame() {
    return support::made_frame(
        pool, {.r_ctl = wire::RCtl::els_request, .d_id = bob_id, .s_id = anne_id, .type = wire::Type::els});
  }
  const wire::FcId anne_id{0x010100}, bob_id{0x010200};
  fc2::FramePool pool;
  Recorder recorder;
  const PortNames::Number anne = recorder.add_port({.text = "anne", .name = "anne", .address = anne_id});
  const PortNames::Number bob = recorder.add_port({.text = "bob", .name = "bob", .address = bob_id});
};

// A frame is written while it waits, and is lost then: both are told.
TEST_F(RecorderTest, waiting_frame_is_lost) {
  LiveCapture capture(recorder);
  capture.holds = true;
  const fc2::FramePtr one = frame();
  recorder.frame_passed(anne, 1, *one, true);
  recorder.frame_waits(2, *one);
  capture.holds = false;
  recorder.frame_passed(anne, 3, *frame(), true);
  EXPECT_TRUE(capture.says("waits: bob takes no frames now"));
  EXPECT_EQ(capture.writer().comment_count(), 1U);
  recorder.frame_lost(4, *one);
  EXPECT_TRUE(capture.says("lost: the link of bob went down, after it had been shown"));
  EXPECT_EQ(capture.writer().frame_count(), 3U);
}

// A fault changes a frame between its two ends: each is shown as it was there.
TEST_F(RecorderTest, changed_frame_is_shown_as_received) {
  LiveCapture capture(recorder, {.both_ends = true, .ports = {}});
  const fc2::FramePtr one = frame();
  one->bytes[16] = 0xBE, one->bytes[17] = 0xEF;
  recorder.frame_passed(anne, 1, *one, true);
  one->bytes[16] = 0xCA, one->bytes[17] = 0xFE;
  one->fault = 1;
  recorder.frame_passed(bob, 2, *one, false);
  EXPECT_EQ(capture.writer().frame_count(), 2U);
  EXPECT_TRUE(capture.says("\xBE\xEF"));
  EXPECT_TRUE(capture.says("\xCA\xFE"));
}

// A fault of a rule is told in the words of the simulator's captures.
TEST_F(RecorderTest, fault_is_told_of) {
  LiveCapture capture(recorder);
  capture.holds = true;
  const fc2::FramePtr one = frame();
  recorder.frame_passed(anne, 1, *one, true);
  recorder.fault_befell(3, "lost", 1, *one);
  capture.holds = false;
  recorder.frame_passed(anne, 2, *frame(), true);
  EXPECT_TRUE(capture.says("fault: lost (fault rule 3)"));
  EXPECT_FALSE(capture.says("shown"));
  EXPECT_EQ(capture.writer().frame_count(), 2U);
  EXPECT_EQ(capture.writer().comment_count(), 1U);
}

// A frame was written before the fault befell it: it is there once more. Who writes it only now has it once.
TEST_F(RecorderTest, fault_is_told_of_later) {
  LiveCapture capture(recorder);
  const fc2::FramePtr one = frame();
  recorder.frame_passed(anne, 1, *one, true);
  LiveCapture late(recorder);
  late.holds = true;
  recorder.fault_befell(1, "delayed by 5.000 ms", 2, *one);
  late.holds = false;
  recorder.frame_passed(anne, 3, *frame(), true);
  EXPECT_TRUE(capture.says("fault: delayed by 5.000 ms (fault rule 1), after it had been shown"));
  EXPECT_EQ(capture.writer().frame_count(), 3U);
}

// The fabric discards what a fault has damaged. That it did not arrive comes first: readers look for it there.
TEST_F(RecorderTest, damaged_frame_is_discarded) {
  LiveCapture capture(recorder);
  capture.holds = true;
  const fc2::FramePtr one = frame();
  recorder.frame_passed(anne, 1, *one, true);
  recorder.fault_befell(2, "corrupted, bit 300", 1, *one);
  recorder.frame_discarded(1, *one, fc2::Discard::BadCrc);
  capture.holds = false;
  recorder.frame_passed(anne, 2, *frame(), true);
  EXPECT_TRUE(
      capture.says("discarded by the fabric, bad CRC: it was damaged on its way (bob); "
                   "fault: corrupted, bit 300 (fault rule 2)"));
  EXPECT_EQ(capture.writer().frame_count(), 2U);
}

// On the link to its receiver, where the service discards it for the N_Port.
TEST_F(RecorderTest, frame_is_damaged_on_the_last_link) {
  LiveCapture capture(recorder);
  capture.holds = true;
  const fc2::FramePtr one = frame();
  recorder.frame_passed(anne, 1, *one, true);
  recorder.fault_befell(2, "corrupted, bit 300", 1, *one);
  one->fault = 1;
  one->crc_error = true;
  recorder.frame_passed(bob, 1, *one, false);
  capture.holds = false;
  recorder.frame_passed(anne, 2, *frame(), true);
  EXPECT_TRUE(
      capture.says("discarded by the fabric, bad CRC: it was damaged on its way (bob); "
                   "fault: corrupted, bit 300 (fault rule 2)"));
  EXPECT_EQ(capture.writer().frame_count(), 2U);
}

// It was written before the fabric discarded it, though it did not wait: both are told.
TEST_F(RecorderTest, damaged_frame_is_discarded_later) {
  LiveCapture capture(recorder);
  const fc2::FramePtr one = frame();
  recorder.frame_passed(anne, 1, *one, true);
  recorder.frame_discarded(2, *one, fc2::Discard::BadCrc);
  EXPECT_TRUE(
      capture.says("discarded by the fabric, bad CRC: it was damaged on its way (bob), after it had been shown"));
  EXPECT_EQ(capture.writer().frame_count(), 2U);
}

// It comes late, or changed: both ends have the comment, and only the first where each frame is there once.
TEST_F(RecorderTest, fault_is_told_of_at_both_ends) {
  LiveCapture both(recorder, {.both_ends = true, .ports = {}}), once(recorder);
  both.holds = once.holds = true;
  const fc2::FramePtr one = frame();
  recorder.frame_passed(anne, 1, *one, true);
  recorder.fault_befell(1, "delayed by 5.000 ms", 1, *one);
  one->fault = 1;
  recorder.frame_passed(bob, 2, *one, false);
  both.holds = once.holds = false;
  recorder.frame_passed(anne, 3, *frame(), true);
  EXPECT_EQ(both.writer().comment_count(), 2U);
  EXPECT_EQ(both.writer().frame_count(), 3U);
  EXPECT_EQ(once.writer().comment_count(), 1U);
  EXPECT_EQ(once.writer().frame_count(), 2U);
}

// A frame may have been the last of a killed port, and have suffered a fault.
TEST_F(RecorderTest, fault_and_end_are_told_of) {
  LiveCapture capture(recorder);
  capture.holds = true;
  const fc2::FramePtr one = frame();
  recorder.frame_passed(anne, 1, *one, true);
  recorder.fault_befell(1, "lost", 1, *one);
  recorder.port_gone(anne, 2, "it was killed", false, 9);
  capture.holds = false;
  recorder.frame_passed(bob, 3, *frame(), true);
  EXPECT_TRUE(capture.says("fault: lost (fault rule 1); the last frame of anne: it was killed"));
}

// Rules are numbered for as long as the service runs; what those of long ago did is not kept.
TEST_F(RecorderTest, rules_beyond_the_last_number) {
  LiveCapture capture(recorder);
  for (const auto& [rule, words] : {std::pair{65'534U, "fault: lost (fault rule 65534)"},
                                    {65'535U, "fault: by a rule (fcvi-ctl fault list)"},
                                    {70'000U, "fault: by a rule (fcvi-ctl fault list)"}}) {
    capture.holds = true;
    const fc2::FramePtr one = frame();
    recorder.frame_passed(anne, 1, *one, true);
    recorder.fault_befell(rule, "lost", 1, *one);
    capture.holds = false;
    recorder.frame_passed(anne, 2, *frame(), true);
    EXPECT_TRUE(capture.says(words)) << rule;
  }
}

// The end of a capture stands in the statistics of each interface (isb_endtime).
TEST_F(RecorderTest, end_is_told_of) {
  LiveCapture capture(recorder);
  recorder.frame_passed(anne, 1, *frame(), true);
  recorder.frame_passed(bob, 2, *frame(), true);
  EXPECT_EQ(capture.count(end_block(0)), 0U);
  capture.finish(0x1234567890);
  EXPECT_EQ(capture.count(end_block(0)), 1U);
  EXPECT_EQ(capture.count(end_block(1)), 1U);
}

// A port whose link was away comes back on the interface that it had; another that is there beside it has its own.
TEST_F(RecorderTest, port_comes_back) {
  LiveCapture capture(recorder);
  recorder.frame_passed(anne, 1, *frame(), true);
  recorder.port_gone(anne, 2, "its link was taken down", true, 0);
  const auto again = recorder.add_port({.text = "anne", .name = "anne", .address = anne_id});
  recorder.frame_passed(again, 3, *frame(), true);
  const auto beside = recorder.add_port({.text = "anne", .name = "anne", .address = bob_id});
  recorder.frame_passed(beside, 4, *frame(), true);
  capture.finish(0x1234567890);
  EXPECT_EQ(capture.count(end_block(0)), 1U);
  EXPECT_EQ(capture.count(end_block(1)), 1U);
  EXPECT_EQ(capture.count(end_block(2)), 0U);
}

// It is lost before it is written: it is there once.
TEST_F(RecorderTest, frame_is_lost_before_it_is_written) {
  LiveCapture capture(recorder);
  capture.holds = true;
  const fc2::FramePtr one = frame();
  recorder.frame_passed(anne, 1, *one, true);
  recorder.frame_waits(2, *one);
  capture.holds = false;
  recorder.frame_lost(4'000'000, *one);
  EXPECT_TRUE(capture.says("lost: the link of bob went down, after 4.000 ms"));
  EXPECT_EQ(capture.writer().frame_count(), 1U);
}

// The last frame of a port that is killed is there once more; who writes it only now has it once.
TEST_F(RecorderTest, last_frame_of_a_killed_port_is_told_of) {
  LiveCapture capture(recorder);
  recorder.frame_passed(anne, 1, *frame(), true);
  recorder.frame_passed(bob, 2, *frame(), true);
  recorder.port_gone(anne, 3, "it was killed", false, 9);
  EXPECT_TRUE(capture.says("the last frame of anne, shown before: it was killed"));
  EXPECT_EQ(capture.writer().frame_count(), 3U);
}

// Nobody captures: the mark is at the frame itself alone.
TEST_F(RecorderTest, last_frame_is_marked_without_a_capture) {
  recorder.frame_passed(anne, 1, *frame(), true);
  recorder.port_gone(anne, 3, "it was killed", false, 9);
  EXPECT_EQ(recorder.history().end(), 2U);
  EXPECT_EQ(recorder.history().at(1).remark, 9);
}

// Frames are missed: the next one says how many, counted as they would have been written.
TEST_F(RecorderTest, missing_frames_are_told_of) {
  LiveCapture capture(recorder, {.ports = {"anne"}});
  recorder.frame_passed(anne, 1, *frame(), true);
  capture.misses = true;
  for (int i = 0; i < 3; ++i) {
    const fc2::FramePtr one = frame();
    recorder.frame_passed(anne, 2, *one, true);
    recorder.frame_passed(bob, 2, *one, false);  // its other end
  }
  capture.misses = false;
  EXPECT_EQ(capture.writer().missing_count(), 3U);
  recorder.frame_passed(anne, 3, *frame(), true);
  EXPECT_TRUE(capture.says("3 frames are missing before this one"));
  EXPECT_EQ(capture.writer().frame_count(), 2U);
}

// The N_Port_ID of a host on Ethernet: its frames are chosen by S_ID and D_ID, others are not.
TEST_F(RecorderTest, frames_of_a_host_are_chosen_by_address) {
  const auto ethernet = recorder.add_port({.text = "eth1", .name = "eth1"});
  LiveCapture capture(recorder, {.ports = {"0x010200"}}), other(recorder, {.ports = {"010300"}});
  const fc2::FramePtr one = frame();
  std::vector<std::uint8_t> bytes(wire::fcoe::frame_size(one->size_bytes));
  wire::fcoe::encapsulate({{2}}, {{4}}, wire::Sof::i3, one->content(), wire::Eof::t, bytes);
  recorder.ethernet_passed(ethernet, 1, fc2::fcoe::EthernetFrame::of(pool, bytes), false);
  EXPECT_EQ(capture.writer().frame_count(), 1U);
  EXPECT_EQ(other.writer().frame_count(), 0U);
  fc2::fcoe::EthernetFrame tagged = fc2::fcoe::EthernetFrame::of(pool, bytes);
  tagged.vlan = 7;
  recorder.ethernet_passed(ethernet, 2, tagged, false);
  EXPECT_EQ(capture.writer().frame_count(), 2U);
  EXPECT_TRUE(unknown_ports({.ports = {"01.02.00", "bob", "010300", "eve"}}, recorder.history(), recorder.names()) ==
              (std::vector<std::string>{"010300", "eve"}));
}

}  // namespace
}  // namespace fabricd
