// A link without a fabric: the N_Port_ID is known otherwise, nobody is asked for it.
#include <gtest/gtest.h>

#include "tests/support/fc4.hpp"
#include "tests/support/frame_log.hpp"
#include "tests/support/login_listener.hpp"
#include "tests/support/port_pair.hpp"
#include "tests/support/test_fabric.hpp"
#include "wire/els/login.hpp"
#include "wire/els/logo.hpp"
#include "wire/els/ls_acc.hpp"

namespace fc2 {
namespace {

using support::PortPair;
using wire::els::Command;
constexpr wire::FcId a_id = PortPair::a_id, b_id = PortPair::b_id;

using Listener = support::LoginListener;
using support::bytes_of;

class WithoutFabricTest : public testing::Test {
 protected:
  WithoutFabricTest() {
    a.add_listener(a_listener);
    b.add_listener(b_listener);
    from_a.tap_sender(&log);
    from_b.tap_receiver(&log);
  }
  ~WithoutFabricTest() override { EXPECT_EQ(a.counters().unexpected_events + b.counters().unexpected_events, 0U); }
  void bring_up() {
    a.link_up_without_fabric(from_a, a_id);
    b.link_up_without_fabric(from_b, b_id);
  }
  std::vector<std::uint8_t> els(std::span<const std::uint8_t> payload) {
    a.request(b_id, wire::RCtl::els_request, wire::Type::els, payload, user, second);
    run_for(millisecond);
    return user.ius.empty() ? std::vector<std::uint8_t>{} : user.ius.back().bytes;
  }
  void run_for(TimeNs duration) { scheduler.run_until(scheduler.now() + duration); }
  static NPortConfig config(std::size_t index) {
    NPortConfig config = support::port_config(index);
    config.e_d_tov = 700 * millisecond;
    config.r_a_tov = 7 * second;
    config.in_order_without_fabric = index == 0;
    return config;
  }

  Scheduler scheduler;
  FramePool pool;
  Listener a_listener, b_listener;
  support::RecordingUser user;
  support::FrameLog log;  // as a sees it
  NPort a{scheduler, pool, config(0)}, b{scheduler, pool, config(1)};
  Channel from_a{scheduler, {.latency_ns = 1000}, b}, from_b{scheduler, {.latency_ns = 1000}, a};
};

// FC-VI 4.2: no fabric, no FLOGI: online at once, with the address that the caller has and
// the configuration's time-outs.
TEST_F(WithoutFabricTest, offline_link_up_is_online_at_once) {
  bring_up();
  EXPECT_EQ(a_listener.events, "F");
  EXPECT_TRUE(a.online());
  EXPECT_FALSE(a.has_fabric());
  EXPECT_EQ(a.n_port_id(), a_id);
  EXPECT_EQ(a.e_d_tov(), 700 * millisecond);
  EXPECT_EQ(a.r_a_tov(), 7 * second);
  EXPECT_TRUE(a.in_order());
  EXPECT_FALSE(b.in_order());
  run_for(second);
  EXPECT_EQ(log.size(), 0U);
}

// FC-VI 7.7.2: N_Ports log in with each other; the loss of the link logs out.
TEST_F(WithoutFabricTest, online_plogi_logs_in_and_link_down_logs_out) {
  bring_up();
  a.remote_port(b_id).log_in();
  run_for(millisecond);
  EXPECT_EQ(a_listener.events, "FI");
  EXPECT_EQ(b_listener.events, "FI");
  EXPECT_TRUE(b.remote_port(a_id).supports(support::fc4));
  a.link_down();
  EXPECT_EQ(a_listener.events, "FIO");
  EXPECT_FALSE(a.online());
  EXPECT_EQ(a.n_port_id(), wire::FcId{});
}

// Another address the next time: nothing of the old one is left.
TEST_F(WithoutFabricTest, online_link_up_again_takes_new_address) {
  bring_up();
  a.remote_port(b_id).log_in();
  run_for(millisecond);
  a.link_up_without_fabric(from_a, {0x0000EF});
  EXPECT_EQ(a_listener.events, "FIOF");
  a.remote_port(b_id).log_in();
  run_for(millisecond);
  EXPECT_TRUE(a.remote_port(b_id).logged_in());
  EXPECT_TRUE(b.remote_port({0x0000EF}).logged_in());
}

// What a fabric told of time-outs and order does not outlive it, nor does its absence outlive the link.
TEST_F(WithoutFabricTest, fabric_then_none_then_fabric) {
  support::TestFabric fabric(0, {.e_d_tov = 500 * millisecond, .r_a_tov = 3 * second, .in_order = false});
  NPort port(fabric.scheduler, fabric.pool, config(0));
  fabric.fabric.attach(port);
  fabric.run_for(second);
  ASSERT_TRUE(port.online());
  EXPECT_EQ(port.r_a_tov(), 3 * second);
  EXPECT_FALSE(port.in_order());
  fabric.fabric.detach(port);
  Channel output(fabric.scheduler, {}, b);
  port.link_up_without_fabric(output, a_id);
  EXPECT_EQ(port.e_d_tov(), 700 * millisecond);
  EXPECT_EQ(port.r_a_tov(), 7 * second);
  EXPECT_TRUE(port.in_order());
  port.link_down();
  fabric.fabric.attach(port);
  fabric.run_for(second);
  EXPECT_TRUE(port.online());
  EXPECT_TRUE(port.has_fabric());
  EXPECT_EQ(port.r_a_tov(), 3 * second);
  fabric.fabric.detach(port);
  EXPECT_EQ(port.counters().unexpected_events, 0U);
}

// FC-LS: an N_Port that gets a FLOGI where there is no fabric answers as an N_Port: no F_Port bit (VN2VN ports ask so).
TEST_F(WithoutFabricTest, online_flogi_is_answered_as_n_port) {
  bring_up();
  const auto accept = wire::els::Login::parse(els(bytes_of(a.login_parameters(Command::flogi))));
  ASSERT_TRUE(accept);
  EXPECT_EQ(accept->command, Command::ls_acc);
  EXPECT_FALSE(accept->has(wire::els::feature::f_port));
  EXPECT_EQ(accept->port_name, b.config().port_name);
  EXPECT_EQ(b_listener.events, "F");
  auto cut = bytes_of(a.login_parameters(Command::flogi));
  cut.resize(100);
  EXPECT_EQ(els(cut).at(0), 0x01);  // LS_RJT
  EXPECT_EQ(b.counters().discarded(Discard::BadPayload), 1U);
}

// A LOGO that claims to come from an F_Port is accepted, and means nothing.
TEST_F(WithoutFabricTest, online_logo_of_f_port_changes_nothing) {
  NPortConfig fake = config(0);
  fake.fixed_id = wire::well_known::f_port;
  NPort f_port(scheduler, pool, fake);
  f_port.link_up(from_a);
  b.link_up_without_fabric(from_b, b_id);
  f_port.request(b_id, wire::RCtl::els_request, wire::Type::els, bytes_of(wire::els::Logo{}), user, second);
  run_for(second);
  EXPECT_TRUE(b.online());
  EXPECT_EQ(b_listener.events, "F");
}

// NPIV: a virtual N_Port asks the F_Port for an address by FDISC.
TEST(VirtualNPort, offline_link_up_sends_fdisc) {
  Scheduler scheduler;
  FramePool pool;
  support::FrameLog log;
  Channel output(scheduler, {}, log);
  NPortConfig config = support::port_config(0);
  config.virtual_n_port = true;
  NPort port(scheduler, pool, config);
  port.link_up(output);
  scheduler.run_until(scheduler.now() + millisecond);
  ASSERT_EQ(log.size(), 1U);
  EXPECT_TRUE(log.frames()[0].is_els(Command::fdisc));
  EXPECT_EQ(log.frames()[0].header.d_id, wire::well_known::f_port);
  EXPECT_EQ(log.frames()[0].header.s_id, wire::FcId{});
}

}  // namespace
}  // namespace fc2
