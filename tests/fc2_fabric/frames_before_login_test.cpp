// Frames that overtook the accept of our PLOGI: which are kept, and when they come (frames_before_login.hpp; FC-VI
// 5.6, 7.7.2, 8.1).
#include "fc2_fabric/node/frames_before_login.hpp"

#include <gtest/gtest.h>

#include "tests/support/fc4.hpp"
#include "tests/support/lone_port.hpp"

namespace fc2 {
namespace {
using wire::els::Command;
constexpr wire::FcId a{0x0E02}, b{0x0E03};

class FramesBeforeLoginTest : public support::LonePort {
 protected:
  FramesBeforeLoginTest() : LonePort([](NPortConfig& config) { config.in_order_without_fabric = false; }) {
    port.set_data_user(support::fc4, user);
  }
  void ask(wire::FcId peer) {
    port.remote_port(peer).log_in();
    run_for(0);
  }
  /// The first frame of a set-up.
  void set_up(wire::FcId from, std::uint16_t number) {
    receive(support::request_header(wire::RCtl::unsolicited_control, wire::Type::fc_vi, own, from, {number}),
            support::zeros(32));
  }
  [[nodiscard]] std::uint64_t not_kept() const { return port.counters().discarded(Discard::NotLoggedIn); }
  using Numbers = std::vector<std::uint16_t>;

  struct User final : DataFrameUser {
    void data_frame_received(const ReceivedFrame&) override {}
    bool abort_received(wire::FcId, wire::OxId) override { return false; }
    void sequence_received(Exchange& exchange, const wire::FcHeader& first, std::span<const std::uint8_t>) override {
      came.push_back(first.ox_id.value);
      exchange.port().release(exchange);
    }
    void exchange_failed(Exchange&, ExchangeFailure) override {}
    Numbers came;
  } user;
};

// It waits for the accept, and comes with it: behind what is under way then, in the same instant.
TEST_F(FramesBeforeLoginTest, asked_frame_comes_first_waits_for_the_accept) {
  ask(a);
  set_up(a, 1);
  EXPECT_TRUE(user.came.empty());
  accept_plogi(a);
  EXPECT_TRUE(user.came.empty());
  run_for(0);
  EXPECT_EQ(user.came, Numbers{1});
  EXPECT_EQ(not_kept(), 0U);
}

// 64 wait at most, in their order.
TEST_F(FramesBeforeLoginTest, asked_more_frames_than_may_wait_are_discarded) {
  ask(a);
  Numbers expected;
  for (std::uint16_t i = 0; i < 70; ++i) set_up(a, i);
  EXPECT_EQ(not_kept(), 6U);
  for (std::uint16_t i = 0; i < 64; ++i) expected.push_back(i);
  accept_plogi(a);
  run_for(0);
  EXPECT_EQ(user.came, expected);
}

// PLOGI went out twice: the frame may be of a login that the second one ended.
TEST_F(FramesBeforeLoginTest, asked_twice_frame_is_discarded) {
  ask(a);
  run_for(2 * port.e_d_tov());
  ASSERT_EQ(answered(Command::plogi, a), 2U);
  set_up(a, 1);
  EXPECT_EQ(not_kept(), 1U);
  accept_plogi(a);
  run_for(millisecond);
  EXPECT_TRUE(user.came.empty());
}

// Two accepts in one instant: what waited for either comes.
TEST_F(FramesBeforeLoginTest, asked_both_accept_both_come) {
  ask(a), ask(b);
  set_up(a, 1), set_up(b, 2);
  accept_plogi(a), accept_plogi(b);
  run_for(0);
  EXPECT_EQ(user.came, (Numbers{1, 2}));
}

// Only the frames of who accepted come.
TEST_F(FramesBeforeLoginTest, asked_both_accept_of_one_leaves_the_other_waiting) {
  ask(a), ask(b);
  set_up(a, 1), set_up(b, 2);
  accept_plogi(b);
  run_for(0);
  EXPECT_EQ(user.came, Numbers{2});
  accept_plogi(a);
  run_for(0);
  EXPECT_EQ(user.came, (Numbers{2, 1}));
}

// A login came and went: the PLOGI for the next is the first of that one.
TEST_F(FramesBeforeLoginTest, logged_out_asked_again_frame_waits) {
  ask(a);
  accept_plogi(a);
  run_for(0);
  logo(a);
  ask(a);
  set_up(a, 1);
  accept_plogi(a);
  run_for(0);
  EXPECT_EQ(user.came, Numbers{1});
}

// ... and the same after one that was rejected.
TEST_F(FramesBeforeLoginTest, rejected_asked_again_frame_waits) {
  ask(a);
  reject_plogi(a, wire::els::RejectReason::not_supported);
  ask(a);
  set_up(a, 1);
  accept_plogi(a);
  run_for(0);
  EXPECT_EQ(user.came, Numbers{1});
}

// FC-LS: our PLOGI is rejected, then the peer's is accepted: what it sent before that is of no login.
TEST_F(FramesBeforeLoginTest, rejected_peer_logs_in_frame_is_dropped) {
  ask(a);
  set_up(a, 1);
  reject_plogi(a, wire::els::RejectReason::not_supported);
  plogi(a);
  ASSERT_TRUE(logged_in(a));
  run_for(millisecond);
  EXPECT_TRUE(user.came.empty());
}

// A listener that hears of the login ends it and asks anew: a frame may be of either, and does not wait.
TEST_F(FramesBeforeLoginTest, logged_in_listener_asks_anew_frame_is_discarded) {
  struct Restless final : PortListener {
    void fabric_logged_in() override {}
    void fabric_login_failed() override {}
    void remote_port_logged_in(RemotePort& remote) override {
      if (std::exchange(rests, true)) return;
      remote.log_out();
      remote.log_in();
    }
    void remote_port_login_failed(RemotePort&) override {}
    void remote_port_logged_out(RemotePort&) override {}
    bool rests = false;
  } restless;
  port.add_listener(restless);
  ask(a);
  accept_plogi(a);
  run_for(0);
  ASSERT_TRUE(port.remote_port(a).logging_in());
  set_up(a, 1);
  EXPECT_EQ(not_kept(), 1U);
  accept_plogi(a);
  run_for(millisecond);
  EXPECT_TRUE(logged_in(a));
  EXPECT_TRUE(user.came.empty());
  port.remove_listener(restless);
}

}  // namespace
}  // namespace fc2
