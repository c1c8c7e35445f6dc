#include <gtest/gtest.h>

#include "fc2_fabric/f_port.hpp"
#include "tests/support/login_listener.hpp"
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
    return [command](const LoggedFrame& f) { return f.is_els(command) ? Interposer::Action::Drop : Interposer::Action::Pass; };
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
  EXPECT_TRUE(pair.a.remote_port(b_id).supports_fc_vi());
  EXPECT_TRUE(pair.b.remote_port(a_id).supports_fc_vi());
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
  EXPECT_FALSE(plain.a.remote_port(b_id).supports_fc_vi());
  EXPECT_TRUE(plain.b.remote_port(a_id).supports_fc_vi());
  PortPair other([](NPortConfig& config) { config.continuously_increasing_relative_offset = config.fixed_id != a_id; });
  ASSERT_TRUE(other.log_in());
  EXPECT_FALSE(other.b.remote_port(a_id).supports_fc_vi());
}

// The smaller receive data field of the two ports counts.
TEST_F(LoginTest, logged_in_data_field_is_the_smaller) {
  PortPair unequal([](NPortConfig& config) { config.receive_data_field_bytes = config.fixed_id == a_id ? 1024 : 2048; });
  EXPECT_EQ(unequal.a.remote_port(b_id).send_data_field_bytes(), 1024U);
  ASSERT_TRUE(unequal.log_in());
  EXPECT_EQ(unequal.a.remote_port(b_id).send_data_field_bytes(), 1024U);
  EXPECT_EQ(unequal.b.remote_port(a_id).send_data_field_bytes(), 1024U);
}

// FC-LS: PLOGI of both cross: the one of the higher Port_Name (b) wins, the other is rejected, and nothing more is said of it;
// each side hears of one login.
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
    return f.is_els(Command::ls_acc) && !std::exchange(lost, true) ? Interposer::Action::Drop : Interposer::Action::Pass;
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

// FC-LS: RNID is answered without a login: the names, and for the topology what the port belongs to. A port with a fixed address
// is a fabric's own; of a host: FabricLoginTest.online_f_port_tells_link_errors_and_who_it_is.
TEST_F(LoginTest, logged_out_rnid_tells_names_and_kind) {
  const NPortConfig& b = pair.b.config();
  const auto common = els(bytes_of(wire::els::Rnid{.format = wire::els::RnidFormat::common}));
  EXPECT_EQ(common, bytes_of(wire::els::RnidAcc{.port_name = b.port_name, .node_name = b.node_name}));
  const auto topology = els(bytes_of(wire::els::Rnid{.format = wire::els::RnidFormat::topology}));
  EXPECT_EQ(topology, bytes_of(wire::els::RnidTopologyAcc{.port_name = b.port_name, .node_name = b.node_name,
                                                          .type = wire::els::RnidType::switch_, .attached_nodes = 1}));
  EXPECT_EQ(els(bytes_of(wire::els::Rnid{.format = static_cast<wire::els::RnidFormat>(5)})), common);
  const auto reject = wire::els::LsRjt::parse(els(std::vector<std::uint8_t>{0x78, 0, 0, 0}));
  ASSERT_TRUE(reject);
  EXPECT_EQ(reject->explanation, wire::els::RejectExplanation::invalid_payload_length);
}

// FC-LS: RLS is answered with the Link Error Status Block of the port itself, and for no other.
TEST_F(LoginTest, any_rls_tells_link_errors) {
  const auto errors = [&](wire::FcId id) { return els(bytes_of(wire::els::Rls{.n_port_id = id})); };
  EXPECT_EQ(errors({}), bytes_of(wire::els::RlsAcc{}));
  FramePtr damaged = pair.pool.take();
  damaged->size_bytes = frame_header_bytes;
  damaged->crc_error = true;
  pair.b.receive(std::move(damaged));
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
  const std::vector<std::uint8_t> expected{0x02, 0x10, 0x00, 0x14, 0x08, 0x00, 0x01, 0x00, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(els(bytes_of(prli)), expected);
}

// FC-LS: requests that a port does not know, or that only a fabric answers, are rejected.
TEST_F(LoginTest, any_unsupported_els_is_rejected) {
  for (const int command : {0x04, 0x51, 0x13, 0x62, 0x99}) {
    const auto reject = wire::els::LsRjt::parse(els(std::vector<std::uint8_t>{static_cast<std::uint8_t>(command), 0, 0, 0}));
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
  EXPECT_TRUE(self.supports_fc_vi());
  self.log_out();
  fabric.run_for(second);
  EXPECT_FALSE(self.logged_in());
  EXPECT_EQ(listener.events, "FIO");
  EXPECT_EQ(fabric.port(0).counters().unexpected_events, 0U);
  EXPECT_EQ(fabric.port(0).open_exchanges(), 0U);
}

// --- fabric login ------------------------------------------------------------------------------------------------

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
  FramePtr damaged = port.pool().take();
  damaged->size_bytes = frame_header_bytes;
  damaged->crc_error = true;
  f_port->receive(std::move(damaged));
  EXPECT_EQ(ask(wire::els::Rls{.n_port_id = port.n_port_id()}), bytes_of(wire::els::RlsAcc{.invalid_crcs = 1}));
  EXPECT_EQ(ask(wire::els::Rls{}), bytes_of(wire::els::RlsAcc{.invalid_crcs = 1}));
  EXPECT_EQ(ask(wire::els::Rls{.n_port_id = fabric.port(1).n_port_id()}).at(0), 0x01);
  const auto answer = wire::els::RnidTopologyAcc::parse(ask(wire::els::Rnid{.format = wire::els::RnidFormat::topology}));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->port_name, f_port->name());
  EXPECT_EQ(answer->node_name, fabric.fabric.config().fabric_name);
  EXPECT_EQ(answer->type, wire::els::RnidType::switch_);
  const auto of_host =
      wire::els::RnidTopologyAcc::parse(ask(wire::els::Rnid{.format = wire::els::RnidFormat::topology}, fabric.port(1).n_port_id()));
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
  support::TestFabric twins(2, {}, [](NPortConfig& config, std::size_t) { config.port_name = {0x2000'0000'0000'0042}; });
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

// FC-LS: a fabric that does not answer: FLOGI is repeated, then the login failed, which listeners hear once. R_A_TOV later the
// port asks again, and on and on.
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
  FramePtr frame = fabric.pool.take();
  const wire::FcHeader header{.r_ctl = wire::RCtl::els_request, .d_id = port.n_port_id(), .s_id = wire::well_known::f_port,
                              .type = wire::Type::els, .f_ctl = wire::f_ctl::single_frame_request, .ox_id = {0x77}};
  header.write(frame->bytes);
  wire::els::Logo{.n_port_id = wire::well_known::f_port}.write(frame->data_field());
  frame->size_bytes = 24 + wire::els::Logo::size();
  frame->sof = wire::Sof::i3;
  frame->eof = wire::Eof::t;
  port.receive(std::move(frame));
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
  FramePtr frame = fabric.pool.take();
  const wire::FcHeader header{.r_ctl = wire::RCtl::els_request, .d_id = {0x010100}, .s_id = wire::well_known::f_port,
                              .type = wire::Type::els, .f_ctl = wire::f_ctl::single_frame_request, .ox_id = {0x77}};
  header.write(frame->bytes);
  port.login_parameters(Command::plogi).write(frame->data_field());
  frame->size_bytes = 24 + wire::els::Login::size();
  frame->sof = wire::Sof::i3;
  frame->eof = wire::Eof::t;
  port.receive(std::move(frame));
  EXPECT_EQ(port.counters().discarded(Discard::NotLoggedIn), 1U);
  EXPECT_EQ(listener.events, "");
  port.link_down();
}

// FC-LS: FDISC comes without an address; from the one that is logged in it is rejected.
TEST_F(FabricLoginTest, online_fdisc_with_an_address_is_rejected) {
  fabric.bring_up();
  support::RecordingUser user;
  NPort& port = fabric.port(0);
  port.request(wire::well_known::f_port, wire::RCtl::els_request, wire::Type::els, bytes_of(port.login_parameters(Command::fdisc)),
               user, second);
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
