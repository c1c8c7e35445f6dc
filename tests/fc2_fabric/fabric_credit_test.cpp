// Buffer-to-buffer credit through a switch: a slow receiver holds its senders back, and nothing is dropped (FC-FS).
#include <gtest/gtest.h>

#include "fc2_fabric/switch/f_port.hpp"
#include "fc2_fabric/link/link.hpp"
#include "tests/support/frame_log.hpp"
#include "tests/support/made_frame.hpp"
#include "tests/support/test_fabric.hpp"
#include "wire/line_rate.hpp"

namespace fc2 {
namespace {

class FabricCreditTest : public testing::Test {
 protected:
  FabricCreditTest() {
    fabric.link = {
        .latency_ns = microsecond, .bytes_per_second = wire::line_rate_bytes_per_second("16GFC"), .bb_credit = 8};
    fabric.bring_up();
  }
  ~FabricCreditTest() override {
    for (std::size_t i = 0; i < fabric.size(); ++i) EXPECT_EQ(fabric.port(i).counters().unexpected_events, 0U);
  }
  LinkEnd& port_end(std::size_t i) { return fabric.fabric.link_of(fabric.port(i))->b; }
  LinkEnd& switch_end(std::size_t i) { return fabric.fabric.link_of(fabric.port(i))->a; }
  support::TestFabric fabric{3};
};

// FC-LS: FLOGI and its accept tell the buffers of both ends.
TEST_F(FabricCreditTest, logged_in_knows_credit) {
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(port_end(i).credit().limit(), 8U);
    EXPECT_EQ(switch_end(i).credit().limit(), 8U);
  }
  EXPECT_TRUE(fabric.log_in(0, 1));
  fabric.run_for(100 * second);
  EXPECT_EQ(port_end(0).credit().outstanding() + switch_end(0).credit().outstanding(), 0U);
}

/// Sends one-frame IUs for ever.
class Flood final : public FrameSource {
 public:
  Flood(NPort& port, wire::FcId to) : port_(port), to_(to) {}
  Next next_frame(Frame& frame) override {
    if (left == 0) return Next::Exhausted;
    --left;
    support::fill_frame(
        frame, {.r_ctl = wire::RCtl::solicited_data, .d_id = to_, .s_id = port_.n_port_id(), .type = wire::Type::fc_vi},
        2048);
    return Next::Made;
  }
  std::size_t left = 0;

 private:
  NPort& port_;
  wire::FcId to_;
};

// A receiver that takes nothing holds its sender back through the switch: its buffers, those of the switch, and no more
// frames are under way. Nothing is dropped, and when it goes on everything comes.
TEST_F(FabricCreditTest, paused_port_holds_sender_through_switch) {
  Flood flood(fabric.port(0), fabric.port(1).n_port_id());
  flood.left = 1000;
  port_end(1).pause_receiver();
  const std::uint64_t before = fabric.port(1).counters().frames_received;
  fabric.port(0).transmitter().submit(flood);
  fabric.run_for(second);
  EXPECT_EQ(fabric.port(1).counters().frames_received, before);
  EXPECT_EQ(port_end(1).buffers_taken(), 8U);
  EXPECT_EQ(switch_end(0).buffers_taken(), 8U);
  EXPECT_EQ(flood.left, 1000U - 16);
  port_end(1).resume_receiver();
  fabric.run_for(second);
  EXPECT_EQ(flood.left, 0U);
  EXPECT_EQ(fabric.port(1).counters().frames_received, before + 1000);
  EXPECT_EQ(fabric.fabric.counters().discarded(), 0U);
}

// A sender whose frames go elsewhere is not concerned: it has buffers of its own.
TEST_F(FabricCreditTest, paused_port_leaves_others_alone) {
  Flood stuck(fabric.port(0), fabric.port(1).n_port_id()), free(fabric.port(2), fabric.port(0).n_port_id());
  stuck.left = free.left = 500;
  port_end(1).pause_receiver();
  fabric.port(0).transmitter().submit(stuck);
  fabric.port(2).transmitter().submit(free);
  fabric.run_for(second);
  EXPECT_GT(stuck.left, 0U);
  EXPECT_EQ(free.left, 0U);
  port_end(1).resume_receiver();
  fabric.run_for(second);
  EXPECT_EQ(stuck.left, 0U);
}

// FC-VI 7.7.1: a Link Reset logs nobody out, neither from the fabric nor from each other.
TEST_F(FabricCreditTest, logged_in_link_reset_keeps_logins) {
  ASSERT_TRUE(fabric.log_in(0, 1));
  const wire::FcId id = fabric.port(0).n_port_id();
  port_end(0).reset();
  switch_end(1).reset();
  fabric.run_for(second);
  EXPECT_EQ(fabric.port(0).n_port_id(), id);
  EXPECT_TRUE(fabric.port(0).remote_port(fabric.port(1).n_port_id()).logged_in());
  EXPECT_TRUE(fabric.port(1).remote_port(id).logged_in());
  EXPECT_EQ(port_end(0).primitives().sent(Primitive::Lr), 1U);
}

// The links go and come while frames are held in the switch.
TEST_F(FabricCreditTest, paused_port_detached_while_frames_wait) {
  Flood flood(fabric.port(0), fabric.port(1).n_port_id());
  flood.left = 100;
  port_end(1).pause_receiver();
  fabric.port(0).transmitter().submit(flood);
  fabric.run_for(millisecond);
  fabric.detach(0);
  fabric.detach(1);
  fabric.attach(1);
  fabric.attach(0);
  fabric.run_for(second);
  EXPECT_TRUE(fabric.port(0).online());
  EXPECT_TRUE(fabric.port(1).online());
}

}  // namespace
}  // namespace fc2
