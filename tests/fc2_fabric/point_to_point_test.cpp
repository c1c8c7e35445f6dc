// Two N_Ports on one link: who assigns the addresses, and what NOS, OLS and LR do (FC-VI 7.7.2).
#include <gtest/gtest.h>

#include "fc2_fabric/node/point_to_point.hpp"
#include "tests/support/frame_log.hpp"
#include "tests/support/login_listener.hpp"
#include "tests/support/test_fabric.hpp"

namespace fc2 {
namespace {

using Listener = support::LoginListener;
using wire::els::Command;

class PointToPointTest : public testing::Test {
 protected:
  PointToPointTest() {
    a.add_listener(a_listener);
    b.add_listener(b_listener);
  }
  ~PointToPointTest() override { EXPECT_EQ(a.counters().unexpected_events + b.counters().unexpected_events, 0U); }
  void run_for(TimeNs duration) { scheduler.run_until(scheduler.now() + duration); }
  [[nodiscard]] bool both_logged_in() {
    return a.online() && b.online() && a.remote_port(b.n_port_id()).logged_in() &&
           b.remote_port(a.n_port_id()).logged_in();
  }

  Scheduler scheduler;
  FramePool pool;
  Listener a_listener, b_listener;
  NPort a{scheduler, pool, support::port_config(0)},
      b{scheduler, pool, support::port_config(1)};  // b has the higher name
};

// FC-LS: FLOGI of both, answered without the F_Port bit; the higher Port_Name assigns both addresses, by its PLOGI.
TEST_F(PointToPointTest, joined_higher_name_assigns_addresses) {
  PointToPoint pair(scheduler, {.latency_ns = microsecond, .bb_credit = 4}, a, b);
  support::FrameLog log;
  pair.link.b.output().tap_sender(&log);
  pair.link.a.output().tap_receiver(&log);
  run_for(millisecond);
  EXPECT_TRUE(both_logged_in());
  EXPECT_TRUE(a.is_point_to_point());
  EXPECT_FALSE(a.has_fabric());
  EXPECT_EQ(a_listener.events, "FI");
  EXPECT_EQ(b_listener.events, "FI");
  EXPECT_EQ(log.sent(Command::plogi), 1U);
  EXPECT_EQ(log.received(Command::plogi), 0U);
  EXPECT_EQ(log.sent(Command::flogi) + log.received(Command::flogi), 2U);
  EXPECT_EQ(pair.link.a.credit().limit(), 4U);
  EXPECT_EQ(pair.link.b.credit().limit(), 4U);
}

// FC-VI 7.7.1, 7.7.2: NOS/OLS logs out, and everything begins anew; LR does not.
TEST_F(PointToPointTest, logged_in_nos_logs_out_lr_does_not) {
  PointToPoint pair(scheduler, {.latency_ns = microsecond}, a, b);
  run_for(millisecond);
  pair.link.a.reset();
  run_for(millisecond);
  EXPECT_EQ(a_listener.events + b_listener.events, "FIFI");
  pair.link.a.fail();
  EXPECT_EQ(a_listener.events, "FIO");
  run_for(millisecond);
  EXPECT_TRUE(both_logged_in());
  EXPECT_EQ(a_listener.events, "FIOFI");
  EXPECT_EQ(b_listener.events, "FIOFI");
  pair.link.b.go_offline();
  run_for(millisecond);
  EXPECT_TRUE(both_logged_in());
  EXPECT_EQ(a_listener.events, "FIOFIOFI");
}

// Each of the first frames is lost once: time-outs repeat them, and both log in all the same.
TEST_F(PointToPointTest, joined_any_loss_logs_in) {
  struct LoseNth final : FrameFault {
    void carry(Channel& channel, FramePtr frame) override {
      if (n-- != 0) channel.deliver(std::move(frame));
    }
    int n = 0;
  };
  for (int nth = 0; nth < 3; ++nth)
    for (const bool from_a : {true, false}) {
      LoseNth fault;
      fault.n = nth;
      PointToPoint pair(scheduler, {.latency_ns = microsecond}, a, b);
      (from_a ? pair.link.a : pair.link.b).output().set_fault(&fault);
      run_for(200 * second);
      EXPECT_TRUE(both_logged_in()) << nth << from_a;
    }
}

// The PLOGI is lost so often that it would not go again for long: the port that waits for its address asks by FLOGI,
// and the other one begins the login anew.
TEST_F(PointToPointTest, joined_all_plogi_of_one_login_lost_begins_anew) {
  struct LosePlogi final : FrameFault {
    void carry(Channel& channel, FramePtr frame) override {
      support::FrameLog log;
      log.frame_passed(0, *frame, true);
      if (log.sent(Command::plogi) == 0 || left-- <= 0) channel.deliver(std::move(frame));
    }
    int left = 4;
  };
  LosePlogi fault;
  PointToPoint pair(scheduler, {.latency_ns = microsecond, .bb_credit = 8}, a, b);
  pair.link.b.output().set_fault(&fault);
  run_for(23 * second);  // lost at 0, 4 s, 12 s, and at 20 s, when FLOGI came
  EXPECT_TRUE(b.online());
  EXPECT_FALSE(a.online());
  run_for(2 * second);
  EXPECT_TRUE(both_logged_in());
  EXPECT_EQ(a_listener.events, "FI");
  EXPECT_EQ(pair.link.a.credit().limit(), 8U);
}

// Two ports of one name cannot tell who assigns: neither comes online, both say so.
TEST_F(PointToPointTest, joined_equal_names_fail) {
  NPort twin(scheduler, pool, support::port_config(0));
  Listener twin_listener;
  twin.add_listener(twin_listener);
  PointToPoint pair(scheduler, {.latency_ns = microsecond}, a, twin);
  run_for(second);
  EXPECT_EQ(a_listener.events + twin_listener.events, "ff");
  EXPECT_FALSE(a.online());
}

}  // namespace
}  // namespace fc2
