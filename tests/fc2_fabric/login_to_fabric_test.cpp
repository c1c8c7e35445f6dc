// The login with a fabric: FLOGI, its answers, its end (FC-LS; FC-VI 7.7.5).
#include <gtest/gtest.h>

#include "fc2_fabric/switch/f_port.hpp"
#include "tests/support/login_listener.hpp"
#include "tests/support/made_frame.hpp"
#include "tests/support/port_pair.hpp"
#include "tests/support/test_fabric.hpp"
#include "wire/els/login.hpp"
#include "wire/els/logo.hpp"
#include "wire/els/ls_rjt.hpp"
#include "wire/els/rls.hpp"
#include "wire/els/rnid.hpp"

namespace fc2 {
namespace {

using support::bytes_of;
using support::LoginListener;
using wire::els::Command;

class FabricLoginTest : public testing::Test {
 protected:
  explicit FabricLoginTest() { fabric.port(0).add_listener(listener); }
  ~FabricLoginTest() override {
    for (std::size_t i = 0; i < fabric.size(); ++i) EXPECT_EQ(fabric.port(i).counters().unexpected_events, 0U);
  }
  support::TestFabric fabric{2, {.e_d_tov = 500 * millisecond, .r_a_tov = 3 * second}};
  LoginListener listener;
  support::FrameLog log;
};

// FC-LS: FLOGI is sent from address 0 and granted an address; the fabric's time-outs are taken over.
TEST_F(FabricLoginTest, offline_link_up_logs_in) {
  fabric.attach(0);
  fabric.fabric.tap(fabric.port(0), &log);
  fabric.run_for(millisecond);
  NPort& port = fabric.port(0);
  EXPECT_TRUE(port.online());
  EXPECT_EQ(listener.events, "F");
  EXPECT_EQ(port.n_port_id(), wire::FcId{0x010100});
  EXPECT_EQ(port.r_a_tov(), 3 * second);
  EXPECT_EQ(port.e_d_tov(), 500 * millisecond);
  ASSERT_EQ(log.size(), 2U);
  EXPECT_EQ(log.frames()[0].header.s_id, wire::well_known::unidentified);
  EXPECT_EQ(log.frames()[0].header.d_id, wire::well_known::f_port);
  EXPECT_EQ(log.frames()[1].header.d_id, port.n_port_id());
  const auto accept = wire::els::Login::parse(log.frames()[1].data);
  ASSERT_TRUE(accept);
  EXPECT_EQ(accept->command, Command::ls_acc);
  EXPECT_TRUE(accept->has(wire::els::feature::f_port));
  EXPECT_EQ(accept->r_a_tov_ms(), 3000U);
  EXPECT_EQ(accept->e_d_tov_ms(), 500U);
  EXPECT_EQ(accept->class_3.service_options & 0x8800, 0x8800);
  EXPECT_EQ(accept->node_name, fabric.fabric.config().fabric_name);
}

// FC-LS: RLS and RNID to the F_Port Controller tell of the fabric's end of the link, named by the N_Port there or by 0.
TEST_F(FabricLoginTest, online_f_port_tells_link_errors_and_who_it_is) {
  fabric.bring_up();
  NPort& port = fabric.port(0);
  auto* f_port = dynamic_cast<FPort*>(fabric.fabric.ingress_of(port));
  ASSERT_NE(f_port, nullptr);
  support::RecordingUser user;
  const auto ask = [&](const auto& request, wire::FcId whom = wire::well_known::f_port) {
    port.request(whom, wire::RCtl::els_request, wire::Type::els, bytes_of(request), user, second);
    fabric.run_for(millisecond);
    return user.ius.empty() ? std::vector<std::uint8_t>{} : user.ius.back().bytes;
  };
  EXPECT_EQ(ask(wire::els::Rls{.n_port_id = port.n_port_id()}), bytes_of(wire::els::RlsAcc{}));
  f_port->receive(support::damaged_frame(port.pool()));
  EXPECT_EQ(ask(wire::els::Rls{.n_port_id = port.n_port_id()}), bytes_of(wire::els::RlsAcc{.invalid_crcs = 1}));
  EXPECT_EQ(ask(wire::els::Rls{}), bytes_of(wire::els::RlsAcc{.invalid_crcs = 1}));
  EXPECT_EQ(ask(wire::els::Rls{.n_port_id = fabric.port(1).n_port_id()}).at(0), 0x01);
  const auto answer =
      wire::els::RnidTopologyAcc::parse(ask(wire::els::Rnid{.format = wire::els::RnidFormat::topology}));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->port_name, f_port->name());
  EXPECT_EQ(answer->node_name, fabric.fabric.config().fabric_name);
  EXPECT_EQ(answer->type, wire::els::RnidType::switch_);
  const auto of_host = wire::els::RnidTopologyAcc::parse(
      ask(wire::els::Rnid{.format = wire::els::RnidFormat::topology}, fabric.port(1).n_port_id()));
  ASSERT_TRUE(of_host);
  EXPECT_EQ(of_host->port_name, fabric.port(1).config().port_name);
  EXPECT_EQ(of_host->type, wire::els::RnidType::host);
}

// FC-FS: a link that goes is a link failure, at both ends.
TEST_F(FabricLoginTest, online_link_bounces_counts_a_link_failure) {
  fabric.bring_up();
  EXPECT_EQ(fabric.port(0).counters().link_failures, 0U);
  fabric.detach(0);
  EXPECT_EQ(fabric.port(0).counters().link_failures, 1U);
}

// E_D_TOV that is no whole number of milliseconds is told in nanoseconds.
TEST_F(FabricLoginTest, offline_link_up_takes_e_d_tov_in_ns) {
  support::TestFabric fine(1, {.e_d_tov = 1'500'001});
  fine.bring_up();
  EXPECT_EQ(fine.port(0).e_d_tov(), 1'500'001);
}

// FC-VI 7.7.5: the link goes and comes: FLOGI again from address 0, the same address again.
TEST_F(FabricLoginTest, online_link_bounces_logs_in_again) {
  fabric.attach(0);
  fabric.run_for(second);
  fabric.detach(0);
  EXPECT_FALSE(fabric.port(0).online());
  EXPECT_EQ(fabric.port(0).n_port_id(), wire::FcId{});
  fabric.attach(0);
  fabric.run_for(second);
  EXPECT_EQ(fabric.port(0).n_port_id(), wire::FcId{0x010100});
  EXPECT_EQ(listener.events, "FF");
}

// A Port_Name that is logged in elsewhere is refused for good; the first stays.
TEST_F(FabricLoginTest, offline_duplicate_port_name_is_refused) {
  support::TestFabric twins(2, {},
                            [](NPortConfig& config, std::size_t) { config.port_name = {0x2000'0000'0000'0042}; });
  LoginListener second_port;
  twins.port(1).add_listener(second_port);
  twins.bring_up();
  EXPECT_TRUE(twins.port(0).online());
  EXPECT_FALSE(twins.port(1).online());
  EXPECT_EQ(second_port.events, "f");
  twins.detach(0);
  twins.detach(1);
  twins.attach(1);
  twins.run_for(second);
  EXPECT_TRUE(twins.port(1).online());
}

// A port without a name is refused.
TEST_F(FabricLoginTest, offline_zero_port_name_is_refused) {
  support::TestFabric nameless(1, {}, [](NPortConfig& config, std::size_t) { config.port_name = {}; });
  nameless.bring_up();
  EXPECT_FALSE(nameless.port(0).online());
}

// FC-LS: a fabric that does not answer: FLOGI is repeated, then the login failed, which listeners hear once. R_A_TOV
// later the port asks again, and on and on.
TEST_F(FabricLoginTest, login_pending_silence_retries_then_fails) {
  Channel dark(fabric.scheduler, {}, log);
  fabric.port(0).link_up(dark);
  constexpr TimeNs tries = (4 + 8 + 16 + 20) * second;  // ruling 221
  fabric.run_for(tries + 10 * second - millisecond);
  EXPECT_EQ(listener.events, "f");
  EXPECT_EQ(log.received(Command::flogi), 4U);
  fabric.run_for(2 * millisecond);
  EXPECT_EQ(log.received(Command::flogi), 5U);
  fabric.run_for(9 * (tries + 10 * second));
  EXPECT_EQ(log.received(Command::flogi), 41U);
  EXPECT_EQ(listener.events, "f");
  for (const auto& frame : log.frames()) EXPECT_EQ(frame.header.s_id, wire::FcId{});
  fabric.port(0).link_down();
}

// LOGO to the fabric: the address is given back, every remote login is over.
TEST_F(FabricLoginTest, online_logout_goes_offline) {
  fabric.bring_up();
  ASSERT_TRUE(fabric.log_in(0, 1));
  fabric.port(0).log_out_of_fabric();
  fabric.run_for(second);
  EXPECT_FALSE(fabric.port(0).online());
  EXPECT_EQ(listener.events, "FIO");
  EXPECT_EQ(fabric.fabric.logged_in_ports(), 1U);
}

// LOGO from the fabric: the port logs in again.
TEST_F(FabricLoginTest, online_fabric_logs_out_logs_in_again) {
  fabric.bring_up();
  NPort& port = fabric.port(0);
  const auto header = support::els_request_header(port.n_port_id(), wire::well_known::f_port, {0x77});
  port.receive(support::made_frame(fabric.pool, header,
                                   support::bytes_of(wire::els::Logo{.n_port_id = wire::well_known::f_port})));
  EXPECT_FALSE(port.online());
  fabric.run_for(second);
  EXPECT_TRUE(port.online());
  EXPECT_EQ(listener.events, "FF");
}

// Before its login is accepted a port answers no request, not even the F_Port's.
TEST_F(FabricLoginTest, offline_request_is_discarded) {
  Channel dark(fabric.scheduler, {}, log);
  NPort& port = fabric.port(0);
  port.link_up(dark);
  fabric.run_for(millisecond);
  const auto header = support::els_request_header({0x010100}, wire::well_known::f_port, {0x77});
  port.receive(support::made_frame(fabric.pool, header, support::bytes_of(port.login_parameters(Command::plogi))));
  EXPECT_EQ(port.counters().discarded(Discard::NotLoggedIn), 1U);
  EXPECT_EQ(listener.events, "");
  port.link_down();
}

// FC-LS: FDISC comes without an address; from the one that is logged in it is rejected.
TEST_F(FabricLoginTest, online_fdisc_with_an_address_is_rejected) {
  fabric.bring_up();
  support::RecordingUser user;
  NPort& port = fabric.port(0);
  port.request(wire::well_known::f_port, wire::RCtl::els_request, wire::Type::els,
               bytes_of(port.login_parameters(Command::fdisc)), user, second);
  fabric.run_for(second);
  ASSERT_EQ(user.ius.size(), 1U);
  const auto reject = wire::els::LsRjt::parse(user.ius[0].bytes);
  ASSERT_TRUE(reject);
  EXPECT_EQ(reject->reason, wire::els::RejectReason::unable_to_perform);
  EXPECT_EQ(reject->explanation, wire::els::RejectExplanation::invalid_originator_s_id);
}

// FLOGI of a port that is logged in: the old login ends, a new one begins, on the same exchange id as before.
TEST_F(FabricLoginTest, online_flogi_again_is_granted_anew) {
  fabric.bring_up();
  NPort& port = fabric.port(0);
  support::RecordingUser user;
  for (int i = 0; i < 2; ++i) {
    port.request(wire::well_known::f_port, wire::RCtl::els_request, wire::Type::els,
                 bytes_of(port.login_parameters(Command::flogi)), user, second);
    fabric.run_for(second);
  }
  ASSERT_EQ(user.ius.size(), 2U);
  EXPECT_EQ(user.ius[1].bytes[0], 0x02);
  EXPECT_EQ(fabric.fabric.logged_in_ports(), 2U);
}

}  // namespace
}  // namespace fc2
