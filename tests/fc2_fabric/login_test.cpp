// Logins between N_Ports, and what a port answers by itself (FC-LS; FC-VI 5.6, 7.7, 8.4.2 g).
#include <gtest/gtest.h>

#include "fc2_fabric/switch/f_port.hpp"
#include "tests/support/fc4.hpp"
#include "tests/support/login_listener.hpp"
#include "tests/support/made_frame.hpp"
#include "tests/support/port_pair.hpp"
#include "tests/support/test_fabric.hpp"
#include "wire/els/adisc.hpp"
#include "wire/els/echo.hpp"
#include "wire/els/login.hpp"
#include "wire/els/logo.hpp"
#include "wire/els/ls_acc.hpp"
#include "wire/els/ls_rjt.hpp"
#include "wire/els/prli.hpp"
#include "wire/els/rls.hpp"
#include "wire/els/rnid.hpp"
#include "wire/els/rtv.hpp"

namespace fc2 {
namespace {

using support::bytes_of;
using support::Interposer;
using support::LoggedFrame;
using support::LoginListener;
using support::PortPair;
using wire::els::Command;
constexpr wire::FcId a_id = PortPair::a_id, b_id = PortPair::b_id;

// --- N_Port login ------------------------------------------------------------------------------------------------

class LoginTest : public testing::Test {
 protected:
  LoginTest() {
    pair.a.add_listener(a_listener);
    pair.b.add_listener(b_listener);
  }
  ~LoginTest() override { EXPECT_EQ(pair.unexpected_events(), 0U); }
  static auto drop(Command command) {
    return [command](const LoggedFrame& f) {
      return f.is_els(command) ? Interposer::Action::Drop : Interposer::Action::Pass;
    };
  }
  std::vector<std::uint8_t> els(std::span<const std::uint8_t> payload) {
    pair.a.request(b_id, wire::RCtl::els_request, wire::Type::els, payload, user, second);
    pair.run_for(millisecond);
    return user.ius.empty() ? std::vector<std::uint8_t>{} : user.ius.back().bytes;
  }
  PortPair pair;
  LoginListener a_listener, b_listener;
  support::RecordingUser user;
};

// FC-LS: PLOGI and LS_ACC: both sides are logged in, with each other's parameters (FC-VI 5.6).
TEST_F(LoginTest, logged_out_plogi_logs_both_in) {
  ASSERT_TRUE(pair.log_in());
  EXPECT_EQ(a_listener.events, "I");
  EXPECT_EQ(b_listener.events, "I");
  EXPECT_TRUE(pair.a.remote_port(b_id).supports(support::fc4));
  EXPECT_TRUE(pair.b.remote_port(a_id).supports(support::fc4));
  EXPECT_EQ(pair.b.remote_port(a_id).peer_parameters().port_name, pair.a.config().port_name);
  EXPECT_EQ(pair.to_b.log.size(), 1U);
  EXPECT_EQ(pair.to_a.log.size(), 1U);
}

// FC-VI 5.6, ruling 12: PLOGI and its accept say SEQ_CNT (bit 17) and continuously increasing relative offset (bit 31).
TEST_F(LoginTest, logged_out_plogi_advertises_fc_vi) {
  ASSERT_TRUE(pair.log_in());
  for (const auto* log : {&pair.to_a.log, &pair.to_b.log}) {
    const auto login = wire::els::Login::parse(log->frames().at(0).data);
    ASSERT_TRUE(login);
    EXPECT_EQ(login->features, 0x8002);
    EXPECT_TRUE(login->class_3.valid());
  }
}

// FC-VI 5.6: a port that lacks one of the bits is logged in, but not for FC-VI.
TEST_F(LoginTest, logged_in_without_bits_does_not_support_fc_vi) {
  PortPair plain([](NPortConfig& config) { config.continuously_increasing_seq_cnt = config.fixed_id != b_id; });
  ASSERT_TRUE(plain.log_in());
  EXPECT_FALSE(plain.a.remote_port(b_id).supports(support::fc4));
  EXPECT_TRUE(plain.b.remote_port(a_id).supports(support::fc4));
  PortPair other([](NPortConfig& config) { config.continuously_increasing_relative_offset = config.fixed_id != a_id; });
  ASSERT_TRUE(other.log_in());
  EXPECT_FALSE(other.b.remote_port(a_id).supports(support::fc4));
  constexpr Fc4 plain_fc4{.type = wire::Type::fcp}, counting{.type = wire::Type::fcp, .continuous_seq_cnt = true};
  EXPECT_TRUE(other.b.remote_port(a_id).supports(plain_fc4)) << "one that asks for nothing";
  EXPECT_TRUE(other.b.remote_port(a_id).supports(counting));
  EXPECT_FALSE(plain.a.remote_port(b_id).supports(counting));
  EXPECT_TRUE(plain.a.remote_port(b_id).supports(plain_fc4));
}

// The smaller receive data field of the two ports counts.
TEST_F(LoginTest, logged_in_data_field_is_the_smaller) {
  PortPair unequal(
      [](NPortConfig& config) { config.receive_data_field_bytes = config.fixed_id == a_id ? 1024 : 2048; });
  EXPECT_EQ(unequal.a.remote_port(b_id).send_data_field_bytes(), 1024U);
  ASSERT_TRUE(unequal.log_in());
  EXPECT_EQ(unequal.a.remote_port(b_id).send_data_field_bytes(), 1024U);
  EXPECT_EQ(unequal.b.remote_port(a_id).send_data_field_bytes(), 1024U);
}

// FC-LS: PLOGI of both cross: the one of the higher Port_Name (b) wins, the other is rejected, and nothing more is said
// of it; each side hears of one login.
TEST_F(LoginTest, login_pending_plogi_crosses) {
  pair.a.remote_port(b_id).log_in();
  pair.b.remote_port(a_id).log_in();
  pair.run_for(millisecond);
  EXPECT_TRUE(pair.a.remote_port(b_id).logged_in());
  EXPECT_TRUE(pair.b.remote_port(a_id).logged_in());
  pair.run_for(100 * second);
  EXPECT_EQ(pair.to_b.log.size(), 2U);  // PLOGI, LS_ACC
  EXPECT_EQ(pair.to_a.log.size(), 2U);  // PLOGI, LS_RJT
  EXPECT_EQ(pair.to_a.log.count([](const LoggedFrame& f) { return f.is_els(Command::ls_rjt); }), 1U);
  EXPECT_EQ(pair.a.counters().discarded() + pair.b.counters().discarded(), 0U);
  EXPECT_EQ(a_listener.events, "I");
  EXPECT_EQ(b_listener.events, "I");
  EXPECT_EQ(pair.a.open_exchanges() + pair.b.open_exchanges(), 0U);
}

// ... and where that rejection is lost the exchange ends by itself, without a word about the login.
TEST_F(LoginTest, login_pending_plogi_crosses_reject_lost) {
  pair.to_a.on_frame = drop(Command::ls_rjt);
  pair.a.remote_port(b_id).log_in();
  pair.b.remote_port(a_id).log_in();
  pair.run_for(100 * second);
  EXPECT_TRUE(pair.a.remote_port(b_id).logged_in());
  EXPECT_EQ(a_listener.events, "I");
  EXPECT_EQ(b_listener.events, "I");
  EXPECT_EQ(pair.a.open_exchanges() + pair.b.open_exchanges(), 0U);
}

// FC-LS: PLOGI lost: repeated after the ELS time-out, as often as configured; then the login failed.
TEST_F(LoginTest, login_pending_silence_retries_then_fails) {
  pair.to_b.on_frame = drop(Command::plogi);
  pair.a.remote_port(b_id).log_in();
  pair.run_for(200 * second);
  EXPECT_EQ(pair.to_b.log.count([](const LoggedFrame& f) { return f.is_els(Command::plogi); }), 4U);
  EXPECT_EQ(a_listener.events, "x");
  EXPECT_EQ(b_listener.events, "");
}

// The accept is lost: the second PLOGI logs in anew on both sides.
TEST_F(LoginTest, login_pending_accept_lost_retries) {
  bool lost = false;
  pair.to_a.on_frame = [&](const LoggedFrame& f) {
    return f.is_els(Command::ls_acc) && !std::exchange(lost, true) ? Interposer::Action::Drop
                                                                   : Interposer::Action::Pass;
  };
  pair.a.remote_port(b_id).log_in();
  pair.run_for(100 * second);
  EXPECT_TRUE(pair.a.remote_port(b_id).logged_in());
  EXPECT_TRUE(pair.b.remote_port(a_id).logged_in());
  EXPECT_EQ(a_listener.events, "I");
  EXPECT_EQ(b_listener.events, "IOI");
}

// FC-VI 7.7.1: LOGO ends every exchange with the port, on both sides, before the listeners hear of it.
TEST_F(LoginTest, logged_in_logo_ends_exchanges_of_both) {
  support::RecordingUser a_user, b_user;
  pair.b.set_user(wire::Type::ct, b_user);
  ASSERT_TRUE(pair.log_in());
  pair.a.request(b_id, wire::RCtl::unsolicited_control, wire::Type::ct, std::vector<std::uint8_t>(8), a_user, 0);
  pair.run_for(millisecond);
  pair.a.remote_port(b_id).log_out();
  pair.run_for(millisecond);
  EXPECT_EQ(a_listener.events, "IO");
  EXPECT_EQ(b_listener.events, "IO");
  EXPECT_EQ(a_user.failures, std::vector{ExchangeFailure::PortLoggedOut});
  EXPECT_EQ(b_user.failures, std::vector{ExchangeFailure::PortLoggedOut});
  EXPECT_EQ(pair.a.open_exchanges() + pair.b.open_exchanges(), 0U);
  EXPECT_EQ(pair.to_a.log.count(wire::RCtl::abts) + pair.to_b.log.count(wire::RCtl::abts), 0U);
}

// FC-LS: LOGO of both cross: both are logged out, nothing is left over.
TEST_F(LoginTest, logout_pending_logo_crosses) {
  ASSERT_TRUE(pair.log_in());
  pair.a.remote_port(b_id).log_out();
  pair.b.remote_port(a_id).log_out();
  pair.run_for(second);
  EXPECT_EQ(a_listener.events, "IO");
  EXPECT_EQ(b_listener.events, "IO");
  EXPECT_EQ(pair.a.remote_port(b_id).state_name(), "LoggedOut");
  EXPECT_EQ(pair.a.open_exchanges() + pair.b.open_exchanges(), 0U);
}

// FC-LS: a LOGO without a login is accepted.
TEST_F(LoginTest, logged_out_logo_is_accepted) {
  const auto answer = els(bytes_of(wire::els::Logo{.n_port_id = a_id, .port_name = pair.a.config().port_name}));
  EXPECT_EQ(answer, bytes_of(wire::els::LsAcc{}));
  EXPECT_EQ(b_listener.events, "");
}

// FC-LS, FC-VI 8.4.2 g): a PLOGI of a port that is logged in ends the old login first.
TEST_F(LoginTest, logged_in_plogi_is_implicit_logout) {
  ASSERT_TRUE(pair.log_in());
  els(bytes_of(pair.a.login_parameters(Command::plogi)));
  EXPECT_EQ(b_listener.events, "IOI");
}

// FC-VI 7.7.2: the link goes: every login is over; a later login works.
TEST_F(LoginTest, logged_in_link_down_logs_out) {
  ASSERT_TRUE(pair.log_in());
  pair.a.link_down();
  EXPECT_EQ(a_listener.events, "IO");
  EXPECT_FALSE(pair.a.online());
  pair.a.link_down();
  EXPECT_EQ(a_listener.events, "IO");
}

// A login asked for while the link is down fails at once.
TEST_F(LoginTest, offline_login_fails) {
  pair.a.link_down();
  pair.a.remote_port(b_id).log_in();
  EXPECT_EQ(a_listener.events, "x");
}

// FC-LS: a PLOGI without class 3, one with a receive data field below 256 bytes, and one cut short are rejected.
TEST_F(LoginTest, logged_out_bad_plogi_is_rejected) {
  auto login = pair.a.login_parameters(Command::plogi);
  login.class_3.service_options = 0;
  auto reject = wire::els::LsRjt::parse(els(bytes_of(login)));
  ASSERT_TRUE(reject);
  EXPECT_EQ(reject->explanation, wire::els::RejectExplanation::service_parameter_options);
  login = pair.a.login_parameters(Command::plogi);
  login.class_3.receive_data_field_size = 128;
  reject = wire::els::LsRjt::parse(els(bytes_of(login)));
  ASSERT_TRUE(reject);
  EXPECT_EQ(reject->explanation, wire::els::RejectExplanation::service_parameter_receive_data_field_size);
  auto short_login = bytes_of(login);
  short_login.resize(100);
  reject = wire::els::LsRjt::parse(els(short_login));
  ASSERT_TRUE(reject);
  EXPECT_EQ(reject->explanation, wire::els::RejectExplanation::invalid_payload_length);
  EXPECT_EQ(b_listener.events, "");
}

// FC-LS: no port is called 0: a PLOGI without Port_Name is rejected, and the login that stands goes on.
TEST_F(LoginTest, logged_in_plogi_without_a_name_is_rejected) {
  ASSERT_TRUE(pair.log_in());
  auto login = pair.a.login_parameters(Command::plogi);
  login.port_name = {};
  const auto reject = wire::els::LsRjt::parse(els(bytes_of(login)));
  ASSERT_TRUE(reject);
  EXPECT_EQ(reject->explanation, wire::els::RejectExplanation::invalid_port_or_fabric_name);
  EXPECT_EQ(b_listener.events, "I");
}

// The table of known ports is full: one more PLOGI is rejected.
TEST_F(LoginTest, ports_table_full_plogi_is_rejected) {
  PortPair small([](NPortConfig& config) { config.max_remote_ports = config.fixed_id == b_id ? 0 : 16; });
  small.a.remote_port(b_id).log_in();
  small.run_for(100 * second);
  EXPECT_FALSE(small.a.remote_port(b_id).logged_in());
  EXPECT_EQ(small.b.find_remote_port(a_id), nullptr);
}

// --- what a port answers by itself -------------------------------------------------------------------------------

// FC-LS: ECHO returns its data, a frame or more.
TEST_F(LoginTest, any_echo_returns_the_data) {
  for (const std::size_t size : {0, 4, 2000, 5000}) {
    wire::els::Echo echo{.command = Command::echo, .data = std::vector<std::uint8_t>(size, 0x5A)};
    auto answer = els(bytes_of(echo));
    echo.command = Command::ls_acc;
    EXPECT_EQ(answer, bytes_of(echo)) << size;
  }
}

// FC-LS: RTV tells R_A_TOV and E_D_TOV.
TEST_F(LoginTest, any_rtv_tells_timeouts) {
  const auto answer = wire::els::RtvAcc::parse(els(bytes_of(wire::els::Rtv{})));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->r_a_tov_ms, 10'000U);
  EXPECT_EQ(answer->e_d_tov, 2000U);
}

// FC-LS: RNID is answered without a login: the names, and for the topology what the port belongs to. A port with a
// fixed address is a fabric's own; of a host: FabricLoginTest.online_f_port_tells_link_errors_and_who_it_is.
TEST_F(LoginTest, logged_out_rnid_tells_names_and_kind) {
  const NPortConfig& b = pair.b.config();
  const auto common = els(bytes_of(wire::els::Rnid{.format = wire::els::RnidFormat::common}));
  EXPECT_EQ(common, bytes_of(wire::els::RnidAcc{.port_name = b.port_name, .node_name = b.node_name}));
  const auto topology = els(bytes_of(wire::els::Rnid{.format = wire::els::RnidFormat::topology}));
  EXPECT_EQ(topology, bytes_of(wire::els::RnidTopologyAcc{.port_name = b.port_name,
                                                          .node_name = b.node_name,
                                                          .type = wire::els::RnidType::switch_,
                                                          .attached_nodes = 1}));
  EXPECT_EQ(els(bytes_of(wire::els::Rnid{.format = static_cast<wire::els::RnidFormat>(5)})), common);
  const auto reject = wire::els::LsRjt::parse(els(std::vector<std::uint8_t>{0x78, 0, 0, 0}));
  ASSERT_TRUE(reject);
  EXPECT_EQ(reject->explanation, wire::els::RejectExplanation::invalid_payload_length);
}

// FC-LS: RLS is answered with the Link Error Status Block of the port itself, and for no other.
TEST_F(LoginTest, any_rls_tells_link_errors) {
  const auto errors = [&](wire::FcId id) { return els(bytes_of(wire::els::Rls{.n_port_id = id})); };
  EXPECT_EQ(errors({}), bytes_of(wire::els::RlsAcc{}));
  pair.b.receive(support::damaged_frame(pair.pool));
  EXPECT_EQ(errors(b_id), bytes_of(wire::els::RlsAcc{.invalid_crcs = 1}));
  const auto reject = wire::els::LsRjt::parse(errors(a_id));
  ASSERT_TRUE(reject);
  EXPECT_EQ(reject->explanation, wire::els::RejectExplanation::invalid_n_port_id);
  const auto short_one = wire::els::LsRjt::parse(els(std::vector<std::uint8_t>{0x0F, 0, 0, 0}));
  ASSERT_TRUE(short_one);
  EXPECT_EQ(short_one->explanation, wire::els::RejectExplanation::invalid_payload_length);
}

// FC-VI 7.7.3: ADISC is answered with our three addresses to a port that is logged in, and refused to others.
TEST_F(LoginTest, logged_in_adisc_tells_addresses) {
  const auto request = bytes_of(wire::els::Adisc{.port_name = pair.a.config().port_name, .n_port_id = a_id});
  const auto reject = wire::els::LsRjt::parse(els(request));
  ASSERT_TRUE(reject);
  EXPECT_EQ(reject->explanation, wire::els::RejectExplanation::n_port_login_required);
  ASSERT_TRUE(pair.log_in());
  const auto answer = wire::els::Adisc::parse(els(request));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->port_name, pair.b.config().port_name);
  EXPECT_EQ(answer->node_name, pair.b.config().node_name);
  EXPECT_EQ(answer->n_port_id, b_id);
}

// A peer that speaks FCP hears "executed, no image pair, no roles": a reject would make it ask for ever.
TEST_F(LoginTest, logged_in_prli_is_accepted_without_image_pair) {
  wire::els::Prli prli;
  prli.pages.push_back({.type = 8, .flags = 0x2000, .service_parameters = 0x22});
  EXPECT_EQ(els(bytes_of(prli)).at(0), 0x01);
  ASSERT_TRUE(pair.log_in());
  const std::vector<std::uint8_t> expected{0x02, 0x10, 0x00, 0x14, 0x08, 0x00, 0x01, 0x00, 0, 0,
                                           0,    0,    0,    0,    0,    0,    0,    0,    0, 0};
  EXPECT_EQ(els(bytes_of(prli)), expected);
}

// FC-LS: requests that a port does not know, or that only a fabric answers, are rejected.
TEST_F(LoginTest, any_unsupported_els_is_rejected) {
  for (const int command : {0x04, 0x51, 0x13, 0x62, 0x99}) {
    const auto reject =
        wire::els::LsRjt::parse(els(std::vector<std::uint8_t>{static_cast<std::uint8_t>(command), 0, 0, 0}));
    ASSERT_TRUE(reject);
    EXPECT_EQ(reject->reason, wire::els::RejectReason::not_supported);
  }
}

// A PLOGI of a port to itself: one login, one report, and a logout.
TEST_F(LoginTest, logged_out_own_port_logs_in) {
  LoginListener listener;  // told until the fabric is gone
  support::TestFabric fabric(1);
  fabric.port(0).add_listener(listener);
  fabric.bring_up();
  ASSERT_TRUE(fabric.log_in(0, 0));
  EXPECT_EQ(listener.events, "FI");
  RemotePort& self = fabric.port(0).remote_port(fabric.port(0).n_port_id());
  EXPECT_TRUE(self.supports(support::fc4));
  self.log_out();
  fabric.run_for(second);
  EXPECT_FALSE(self.logged_in());
  EXPECT_EQ(listener.events, "FIO");
  EXPECT_EQ(fabric.port(0).counters().unexpected_events, 0U);
  EXPECT_EQ(fabric.port(0).open_exchanges(), 0U);
}

}  // namespace
}  // namespace fc2
