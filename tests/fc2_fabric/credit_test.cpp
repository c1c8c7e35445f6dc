// Buffer-to-buffer credit (FC-FS): senders wait for buffers, nothing is dropped for want of one, and credit that was
// lost comes back by a Link Reset.
#include <gtest/gtest.h>

#include <map>

#include "fc2_fabric/link/link.hpp"
#include "tests/support/made_frame.hpp"

namespace fc2 {
namespace {

// --- one link, by hand -------------------------------------------------------------------------------------------

/// A port that sends as many frames as it is told, and counts what comes.
class Station final : public FrameReceiver, public LinkUser, private OutputListener {
 public:
  Station(FramePool& pool) : pool_(pool) {}
  void stand_at(LinkEnd& end) {
    end_ = &end;
    end.output().set_listener(this);
  }
  void post(std::size_t frames) {
    to_send_ += frames;
    output_resumed();
  }
  void receive(FramePtr frame) override {
    received.push_back(frame->bytes[frame_header_bytes]);
    if (keep) kept.push_back(std::move(frame));
  }
  void link_active() override { events += 'A'; }
  void link_offline() override { events += 'O'; }
  std::vector<std::uint8_t> received;
  std::string events;
  bool keep = false;
  std::vector<FramePtr> kept;

 private:
  void output_resumed() override {
    for (; to_send_ > 0 && !end_->output().paused(); --to_send_) {
      const std::uint8_t data[] = {next_++, 0, 0, 0};
      end_->output().send(support::made_frame(pool_, {}, data));
    }
  }
  FramePool& pool_;
  LinkEnd* end_ = nullptr;
  std::size_t to_send_ = 0;
  std::uint8_t next_ = 0;
};

/// Loses the next so many primitives of some kinds.
struct Losses final : PrimitiveFault {
  bool loses(Primitive primitive, TimeNs) override { return left[primitive] > 0 && left[primitive]-- > 0; }
  std::map<Primitive, int> left;
};
struct FrameLoss final : FrameFault {
  void carry(Channel& channel, FramePtr frame) override {
    if (left == 0 || left-- == 0) channel.deliver(std::move(frame));
  }
  int left = 0;
};

class LinkCreditTest : public testing::Test {
 protected:
  static constexpr std::uint16_t credit = 4;
  explicit LinkCreditTest(BufferUse b_use = BufferUse::UntilProcessed, TimeNs processing_ns = 0)
      : link(scheduler, {.latency_ns = microsecond, .bb_credit = credit, .processing_ns = processing_ns}, a,
             BufferUse::UntilProcessed, b, b_use) {
    a.stand_at(link.a);
    b.stand_at(link.b);
    link.join(a, b);
  }
  ~LinkCreditTest() override { EXPECT_EQ(link.a.unexpected_events() + link.b.unexpected_events(), 0U); }
  void log_in() {
    link.a.output().set_bb_credit(credit);
    link.b.output().set_bb_credit(credit);
  }
  void run_for(TimeNs duration) { scheduler.run_until(scheduler.now() + duration); }
  void expect_in_order(const std::vector<std::uint8_t>& marks, std::size_t count) {
    ASSERT_EQ(marks.size(), count);
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(marks[i], static_cast<std::uint8_t>(i));
  }

  Scheduler scheduler;
  FramePool pool;
  Losses losses;
  FrameLoss frame_loss;
  Station a{pool}, b{pool};
  Link link;
};

// FC-LS: before the login one frame may be under way; after it as many as the far end has buffers.
TEST_F(LinkCreditTest, active_login_tells_credit) {
  a.post(10);
  EXPECT_EQ(link.a.output().in_flight(), 1U);
  link.a.output().set_bb_credit(credit);
  EXPECT_EQ(link.a.output().in_flight(), credit);
  run_for(millisecond);
  expect_in_order(b.received, 10);
  EXPECT_EQ(link.b.primitives().sent(Primitive::RRdy), 10U);
  EXPECT_EQ(link.a.credit().outstanding(), 0U);
  EXPECT_EQ(link.a.output().own_bb_credit(), credit);
}

// A login that tells no credit at all would end everything: it changes nothing.
TEST_F(LinkCreditTest, active_login_without_credit_keeps_one) {
  link.a.output().set_bb_credit(0);
  a.post(3);
  run_for(millisecond);
  expect_in_order(b.received, 3);
}

// The receiver takes nothing: no more than its buffers is under way, ever; it goes on, so does the sender.
TEST_F(LinkCreditTest, active_paused_receiver_holds_sender) {
  log_in();
  link.b.pause_receiver();
  a.post(100);
  run_for(second);
  EXPECT_EQ(b.received.size(), 0U);
  EXPECT_EQ(link.b.buffers_taken(), credit);
  EXPECT_TRUE(link.a.output().paused());
  link.b.resume_receiver();
  run_for(second);
  expect_in_order(b.received, 100);
  EXPECT_EQ(link.b.buffers_taken(), 0U);
  EXPECT_EQ(link.a.primitives().sent(Primitive::Lr), 0U);
}

// The other direction has a credit of its own.
TEST_F(LinkCreditTest, active_paused_receiver_may_send) {
  log_in();
  link.b.pause_receiver();
  a.post(100);
  b.post(50);
  run_for(second);
  expect_in_order(a.received, 50);
}

// A port that keeps frames for itself has them out of the link's buffers.
TEST_F(LinkCreditTest, active_kept_frames_hold_no_buffer) {
  log_in();
  b.keep = true;
  a.post(100);
  run_for(second);
  expect_in_order(b.received, 100);
  EXPECT_EQ(link.b.buffers_taken(), 0U);
}

// FC-FS link time-out: R_RDYs lost one by one use the credit up; after E_D_TOV LR and LRR restore it, nothing is lost.
TEST_F(LinkCreditTest, active_r_rdy_lost_link_reset_restores) {
  log_in();
  link.b.set_primitive_fault(&losses);
  losses.left[Primitive::RRdy] = credit;
  a.post(100);
  run_for(second);
  EXPECT_EQ(b.received.size(), credit);
  EXPECT_EQ(link.a.primitives().sent(Primitive::Lr), 0U);
  run_for(2 * second);
  expect_in_order(b.received, 100);
  EXPECT_EQ(link.a.primitives().sent(Primitive::Lr), 1U);
  EXPECT_EQ(link.b.primitives().sent(Primitive::Lrr), 1U);
  EXPECT_TRUE(link.a.active());
  EXPECT_TRUE(link.b.active());
  EXPECT_EQ(a.events + b.events, "AA");  // FC-VI 7.7.1: nobody went offline
  a.post(100);
  EXPECT_EQ(link.a.output().in_flight(), credit);  // all of it is back
}

// Some of the credit is lost: the rest has to do, as long as it lasts.
TEST_F(LinkCreditTest, active_some_r_rdy_lost_goes_on) {
  log_in();
  link.b.set_primitive_fault(&losses);
  losses.left[Primitive::RRdy] = credit - 1;
  a.post(100);
  run_for(100 * second);
  expect_in_order(b.received, 100);
  EXPECT_EQ(link.a.primitives().sent(Primitive::Lr), 0U);
  EXPECT_EQ(link.a.credit().outstanding(), credit - 1U);
}

// A frame that is lost takes its credit with it.
TEST_F(LinkCreditTest, active_frames_lost_link_reset_restores) {
  log_in();
  link.a.output().set_fault(&frame_loss);
  frame_loss.left = credit;
  a.post(50);
  run_for(3 * second);
  EXPECT_EQ(b.received.size(), 50U - credit);
  EXPECT_EQ(link.a.primitives().sent(Primitive::Lr), 1U);
}

// FC-FS: the LRR is lost: after R_T_TOV the reset is a link failure: NOS, OLS, and the link comes back,
// without its login.
TEST_F(LinkCreditTest, link_reset_lrr_lost_fails_and_recovers) {
  log_in();
  link.b.set_primitive_fault(&losses);
  losses.left[Primitive::Lrr] = 1;
  link.a.reset();
  run_for(second);
  EXPECT_TRUE(link.a.active());
  EXPECT_TRUE(link.b.active());
  EXPECT_EQ(a.events, "AOA");
  EXPECT_EQ(b.events, "AOA");
  EXPECT_EQ(link.a.credit().limit(), 1U);
}

// Both ends reset the link at once.
TEST_F(LinkCreditTest, active_both_reset) {
  log_in();
  a.post(100);
  b.post(100);
  run_for(microsecond);
  link.a.reset();
  link.b.reset();
  run_for(second);
  expect_in_order(b.received, 100);
  expect_in_order(a.received, 100);
  EXPECT_EQ(a.events + b.events, "AA");
}

// A reset in the middle of everything, at any time: frames come once and in order, and no credit is made
// out of nothing.
TEST_F(LinkCreditTest, active_reset_under_load_keeps_count) {
  log_in();
  for (int round = 0; round < 40; ++round) {
    a.received.clear();
    b.received.clear();
    a.post(20);
    b.post(20);
    run_for(100 + 150 * round);
    (round % 2 == 0 ? link.a : link.b).reset();
    run_for(millisecond);
    ASSERT_EQ(a.received.size(), 20U);
    ASSERT_EQ(b.received.size(), 20U);
    ASSERT_EQ(link.a.credit().outstanding() + link.b.credit().outstanding(), 0U);
    ASSERT_EQ(link.a.credit().surplus() + link.b.credit().surplus(), 0U);
  }
  EXPECT_EQ(a.events + b.events, "AA");
}

// FC-FS: buffers must be free after a Link Reset: a port that takes nothing for longer than that loses what waits.
TEST_F(LinkCreditTest, active_receiver_hangs_link_reset_frees_buffers) {
  log_in();
  link.b.pause_receiver();
  a.post(3 * credit);
  run_for(7 * second);
  EXPECT_EQ(link.a.primitives().sent(Primitive::Lr), 3U);
  EXPECT_EQ(link.b.receive_queue().lost(), 3U * credit);
  EXPECT_EQ(link.b.buffers_taken(), 0U);
}

// --- NOS, OLS ----------------------------------------------------------------------------------------------------

// FC-FS link failure, online to offline: both ends go offline and come back, with one frame's credit until they log in.
TEST_F(LinkCreditTest, active_nos_and_ols_end_the_login) {
  log_in();
  link.a.fail();
  run_for(millisecond);
  EXPECT_EQ(a.events, "AOA");
  EXPECT_EQ(b.events, "AOA");
  EXPECT_EQ(link.a.credit().limit(), 1U);
  EXPECT_EQ(link.b.credit().limit(), 1U);
  link.b.go_offline();
  run_for(millisecond);
  EXPECT_EQ(a.events, "AOAOA");
  EXPECT_EQ(b.events, "AOAOA");
  a.post(5);
  run_for(millisecond);
  expect_in_order(b.received, 5);
}

// A cable that is cut loses what is under way; both ends wait, for as long as it takes, and come back when
// it is mended.
TEST_F(LinkCreditTest, active_cut_and_mended) {
  log_in();
  a.post(20);
  link.cut();
  EXPECT_EQ(link.a.output().in_flight(), 0U);
  run_for(100 * second);
  EXPECT_EQ(a.events + b.events, "AOAO");
  EXPECT_TRUE(link.is_cut());
  link.mend();
  run_for(second);
  EXPECT_EQ(a.events + b.events, "AOAAOA");
  EXPECT_EQ(b.received.size(), 20U - credit);
}

// Each primitive of the link failure protocol is lost once: the link comes back all the same.
TEST_F(LinkCreditTest, link_failure_survives_any_loss) {
  for (const Primitive lost : {Primitive::Nos, Primitive::Ols, Primitive::Lr, Primitive::Lrr, Primitive::Idle}) {
    for (LinkEnd* loser : {&link.a, &link.b}) {
      losses.left = {{lost, 1}};
      loser->set_primitive_fault(&losses);
      link.a.fail();
      run_for(10 * second);
      EXPECT_TRUE(link.a.active()) << to_string(lost) << ' ' << link.a.state_name();
      EXPECT_TRUE(link.b.active()) << to_string(lost) << ' ' << link.b.state_name();
      loser->set_primitive_fault(nullptr);
    }
  }
}

// FC-FS link initialization: OLS, LR, LRR, Idle; frames wait for it.
TEST(LinkInitialization, both_begin) {
  Scheduler scheduler;
  FramePool pool;
  Station a(pool), b(pool);
  Link link(scheduler, {.latency_ns = microsecond}, a, BufferUse::UntilProcessed, b, BufferUse::UntilProcessed);
  a.stand_at(link.a);
  b.stand_at(link.b);
  link.initialize(a, b);
  a.post(1);
  EXPECT_EQ(link.a.output().in_flight(), 0U);
  scheduler.run_until(scheduler.now() + millisecond);
  EXPECT_EQ(a.events + b.events, "AA");
  EXPECT_EQ(b.received.size(), 1U);
  for (const Primitive primitive : {Primitive::Ols, Primitive::Lr, Primitive::Lrr})
    EXPECT_EQ(link.a.primitives().sent(primitive), 1U) << to_string(primitive);
}

// --- slow receiver -----------------------------------------------------------------------------------------------

class SlowReceiverTest : public LinkCreditTest {
 protected:
  SlowReceiverTest() : LinkCreditTest(BufferUse::UntilProcessed, 100 * microsecond) {}
};

// A port that needs 100 us for a frame gets one each 100 us, in order; the sender waits.
TEST_F(SlowReceiverTest, active_processing_time_paces_sender) {
  log_in();
  a.post(50);
  run_for(10 * 100 * microsecond + 50 * microsecond);
  EXPECT_EQ(b.received.size(), 10U);
  EXPECT_LE(link.b.buffers_taken(), credit);
  run_for(second);
  expect_in_order(b.received, 50);
}

// A Link Reset meanwhile: what waits is processed at once, nothing is lost.
TEST_F(SlowReceiverTest, active_link_reset_processes_what_waits) {
  log_in();
  a.post(50);
  run_for(250 * microsecond);
  link.a.reset();
  run_for(second);
  expect_in_order(b.received, 50);
  EXPECT_EQ(link.a.credit().outstanding(), 0U);
}

// --- frames that a switch holds ----------------------------------------------------------------------------------

class ForwardedTest : public LinkCreditTest {
 protected:
  ForwardedTest() : LinkCreditTest(BufferUse::UntilForwarded) {}
};

// The buffer is the frame's until it goes out on another link, or ends.
TEST_F(ForwardedTest, held_frame_holds_its_buffer) {
  log_in();
  b.keep = true;
  a.post(2 * credit);
  run_for(millisecond);
  EXPECT_EQ(b.received.size(), credit);
  b.kept.pop_back();
  run_for(millisecond);
  EXPECT_EQ(b.received.size(), credit + 1U);
  Station c(pool);
  Channel onward(scheduler, {}, c);
  onward.send(std::move(b.kept.front()));
  run_for(millisecond);
  EXPECT_EQ(b.received.size(), credit + 2U);
  EXPECT_EQ(c.received.size(), 1U);
  b.kept.clear();
}

// Frames may outlive the link that they came by.
TEST(ReceiveBuffers, frames_outlive_the_link) {
  Scheduler scheduler;
  FramePool pool;
  Station a(pool), b(pool);
  b.keep = true;
  {
    Link link(scheduler, {.bb_credit = 2}, a, BufferUse::UntilForwarded, b, BufferUse::UntilForwarded);
    a.stand_at(link.a);
    link.join(a, b);
    link.a.output().set_bb_credit(2);
    a.post(2);
    scheduler.run_until(scheduler.now() + millisecond);
    ASSERT_EQ(b.kept.size(), 2U);
    link.a.output().set_listener(nullptr);
  }
  b.kept.clear();
  EXPECT_EQ(pool.outstanding(), 0U);
}

}  // namespace
}  // namespace fc2
