// A login with another port, whose every frame the test plays: when each request goes again, which answers count, what
// each kind of end leaves behind (FC-LS PLOGI, LOGO; FC-VI 7.7.1, 8.4.2 g). ADISC: discovery_test.cpp.
#include "tests/support/peers_by_hand.hpp"
#include "wire/els/logo.hpp"
#include "wire/els/ls_acc.hpp"

namespace fc2 {
namespace {
using support::bytes_of;
using support::LoggedFrame;
using support::ls_rjt;
using wire::els::Command;
using wire::els::RejectExplanation;
using wire::els::RejectReason;
using Bytes = std::vector<std::uint8_t>;

struct LoginSessionTest : support::PeersByHand {
  explicit LoginSessionTest(const Adjust& adjust = {}) : PeersByHand(adjust) {
    link_up();
    mark();
  }
  void ask_for_login() {
    remote().log_in();
    run_for(microsecond);
  }
  /// The PLOGI of the peer, of that name; what it is answered.
  Bytes plogi(wire::Wwn name = low_name(peer)) {
    auto login = login_of(peer);
    login.port_name = name;
    return ask(peer, bytes_of(login));
  }
  Bytes logo() { return ask(peer, bytes_of(wire::els::Logo{.n_port_id = peer, .port_name = low_name(peer)})); }
  [[nodiscard]] Bytes accepted(Command command = Command::plogi) const {
    auto login = port.login_parameters(command);
    login.command = Command::ls_acc;
    return bytes_of(login);
  }
  /// Nothing is open, a long time from now.
  void expect_nothing_left() {
    run_for(500 * second);
    EXPECT_EQ(port.open_exchanges(), 0U);
  }
  const Bytes in_progress = ls_rjt(RejectReason::command_in_progress, RejectExplanation::command_in_progress);
};
struct LoginOutOfOrder : LoginSessionTest {
  LoginOutOfOrder() : LoginSessionTest(out_of_order) {}
};

// --- times: ruling 221 -------------------------------------------------------------------------------------------

// PLOGI goes again after 2, 4 and 8 x E_D_TOV, each in an Exchange of its own, and is given up 2 x R_A_TOV after the
// last; ABTS ends the one before.
TEST_F(LoginSessionTest, login_pending_silence_repeats_at_these_times) {
  remote().log_in();
  run_until(48 * second - 1);
  EXPECT_EQ(times(Command::plogi), (Times{0, 4 * second, 12 * second, 28 * second}));
  EXPECT_EQ(listener.events, "");
  run_until(48 * second);
  EXPECT_EQ(listener.events, "x");
  std::vector<wire::OxId> asked;
  for (const LoggedFrame& frame : sent.frames())
    if (frame.is_els(Command::plogi)) asked.push_back(frame.header.ox_id);
  const auto ended = aborted();
  for (const wire::OxId id : asked) EXPECT_NE(std::count(ended.begin(), ended.end(), id), 0) << id.value;
  EXPECT_EQ(times(wire::RCtl::abts).front(), 4 * second);
}

// The same of LOGO; the login is over all the while, and there are as many tries as if PLOGI had needed none.
TEST_F(LoginSessionTest, logout_pending_silence_repeats_at_these_times) {
  remote().log_in();
  run_until(30 * second);
  accept_login(
      *sent.find([](const LoggedFrame& frame) { return frame.is_els(Command::plogi) && frame.at > 25 * second; }));
  ASSERT_TRUE(remote().logged_in());
  run_for(100 * second);
  mark();
  remote().log_out();
  run_until(6 * second);
  remote().log_out();  // under way: begins nothing anew
  run_until(47 * second);
  EXPECT_EQ(remote().state_name(), "LogoutPending");
  EXPECT_EQ(times(Command::logo), (Times{0, 4 * second, 12 * second, 28 * second}));
  run_until(48 * second);
  EXPECT_EQ(remote().state_name(), "LoggedOut");
  EXPECT_EQ(listener.events, "O");
  expect_nothing_left();
}

// ... and of the LOGO that ends a login that did not prove to be the one of before.
TEST_F(LoginSessionTest, validating_failed_logo_repeats_at_these_times) {
  remote().log_in();
  run_until(30 * second);
  accept_login(
      *sent.find([](const LoggedFrame& frame) { return frame.is_els(Command::plogi) && frame.at > 25 * second; }));
  ASSERT_TRUE(remote().logged_in());
  port.link_interrupted();
  mark();
  link_up(stranger);  // our own address changed
  run_until(47 * second);
  EXPECT_EQ(times(Command::logo), (Times{0, 4 * second, 12 * second, 28 * second}));
  run_until(48 * second);
  EXPECT_EQ(remote().state_name(), "LoggedOut");
}

// FC-LS, PLOGI cross: ours lost and is left alone, for the peer rejects it. If it does not its Exchange ends after
// 3 x R_A_TOV.
TEST_F(LoginSessionTest, plogi_that_lost_ends_by_abts) {
  ask_for_login();
  const auto ours = sent_first(Command::plogi).header.ox_id;
  EXPECT_EQ(plogi(high_name(peer)), accepted());
  EXPECT_EQ(listener.events, "I");
  run_until(30 * second - 1);
  EXPECT_TRUE(aborted().empty());
  run_until(30 * second);
  EXPECT_EQ(aborted(), std::vector{ours});
  expect_nothing_left();
  EXPECT_EQ(listener.events, "I");
}

// ... that end, or its rejection, is no concern of a LOGO that is out meanwhile.
TEST_F(LoginSessionTest, plogi_that_lost_ends_while_logo_is_out) {
  ask_for_login();
  plogi(high_name(peer));
  run_until(29 * second);
  remote().log_out();
  run_until(31 * second);
  answer(sent_first(Command::logo), bytes_of(wire::els::LsAcc{}));
  EXPECT_EQ(remote().state_name(), "LoggedOut");
  run_until(60 * second);
  EXPECT_EQ(times(Command::logo).size(), 1U);
}
TEST_F(LoginSessionTest, plogi_that_lost_is_rejected_while_logo_is_out) {
  ask_for_login();
  plogi(high_name(peer));
  remote().log_out();
  run_for(microsecond);
  reject(sent_first(Command::plogi), RejectReason::command_in_progress, RejectExplanation::command_in_progress);
  EXPECT_EQ(remote().state_name(), "LogoutPending");
  answer(sent_first(Command::logo), bytes_of(wire::els::LsAcc{}));
  EXPECT_EQ(remote().state_name(), "LoggedOut");
  expect_nothing_left();
  EXPECT_EQ(times(Command::logo).size(), 1U);
}

// --- PLOGI of both cross -----------------------------------------------------------------------------------------

// FC-LS: the higher name wins; with an equal one, which no second port may have, ours stands.
TEST_F(LoginSessionTest, login_pending_plogi_crosses_names_decide) {
  const std::pair<wire::Wwn, Bytes> cases[] = {
      {{own_name.value - 1}, in_progress}, {own_name, in_progress}, {{own_name.value + 1}, accepted()}};
  for (const auto& [name, expected] : cases) {
    ask_for_login();
    EXPECT_EQ(plogi(name), expected) << name.value;
    remote().log_out();
    run_for(microsecond);
    answer(last(), bytes_of(wire::els::LsAcc{}));
  }
}

// impl: a port that asks again E_D_TOV after we put it off has not got our PLOGI: then its own is the login.
TEST_F(LoginSessionTest, login_pending_plogi_again_is_accepted_after_e_d_tov) {
  ask_for_login();
  EXPECT_EQ(plogi(), in_progress);
  const TimeNs rejected_at = scheduler.now() - microsecond;
  scheduler.run_until(rejected_at + 2 * second - microsecond);
  EXPECT_EQ(plogi(), in_progress);
  EXPECT_EQ(scheduler.now(), rejected_at + 2 * second);
  EXPECT_EQ(plogi(), accepted());
  EXPECT_EQ(listener.events, "I");
  EXPECT_EQ(aborted().size(), 1U);  // ours
}

// ... counted from the PLOGI that is out now: the one before says nothing of it.
TEST_F(LoginSessionTest, login_pending_repeated_plogi_crosses_anew) {
  ask_for_login();
  EXPECT_EQ(plogi(), in_progress);
  run_until(4 * second);  // PLOGI again
  EXPECT_EQ(times(Command::plogi).size(), 2U);
  EXPECT_EQ(plogi(), in_progress);
  EXPECT_EQ(listener.events, "");
}

// FC-LS: on an out-of-order fabric the accept of ours may have overtaken a PLOGI that crossed it and lost, for R_A_TOV.
TEST_F(LoginOutOfOrder, logged_in_late_plogi_is_rejected_until_r_a_tov) {
  log_in();
  run_until(10 * second - 2 * microsecond);
  EXPECT_EQ(plogi(), in_progress);
  EXPECT_EQ(listener.events, "");
  for (const TimeNs late : {TimeNs{0}, TimeNs{1}}) {
    remote().implicit_logout();
    log_in();
    run_until(10 * second + late);
    EXPECT_EQ(plogi(), accepted());
    EXPECT_EQ(listener.events, "OI");
  }
}
// ... but a port of another name at that address is another port, which begins anew.
TEST_F(LoginOutOfOrder, logged_in_plogi_of_another_name_is_accepted) {
  log_in();
  EXPECT_EQ(plogi(low_name(stranger)), accepted());
  EXPECT_EQ(listener.events, "OI");
}
// ... nor did anything cross a login that the peer made itself.
TEST_F(LoginOutOfOrder, logged_in_by_the_peer_plogi_is_accepted) {
  log_in();
  logo();
  EXPECT_EQ(plogi(), accepted());
  EXPECT_EQ(plogi(), accepted());
  EXPECT_EQ(listener.events, "OIOI");
}

// --- answers -----------------------------------------------------------------------------------------------------

// FC-LS 4.4.4: what a LS_RJT to PLOGI says: later, or never.
TEST_F(LoginSessionTest, login_pending_ls_rjt_says_later_or_never) {
  struct Case {
    RejectReason reason;
    RejectExplanation explanation;
    bool later;
  };
  constexpr auto none = RejectExplanation::none;
  const Case cases[] = {{RejectReason::logical_busy, none, true},
                        {RejectReason::unable_to_perform, none, true},
                        {RejectReason::command_in_progress, none, true},
                        {RejectReason::logical_error, RejectExplanation::invalid_payload_length, true},
                        {RejectReason::invalid_command, none, false},
                        {RejectReason::logical_error, none, false},
                        {RejectReason::logical_error, RejectExplanation::mac_addressing_mode_not_supported, false},
                        {RejectReason::protocol_error, none, false},
                        {RejectReason::not_supported, none, false},
                        {RejectReason::fip_error, none, false},
                        {RejectReason::vendor_unique, none, false}};
  for (const Case& rejected : cases) {
    mark();
    remote().log_in();
    run_for(0);
    reject(last(), rejected.reason, rejected.explanation);
    EXPECT_EQ(remote().state_name(), rejected.later ? "RetryPending" : "LoggedOut")
        << static_cast<int>(rejected.reason);
    EXPECT_EQ(listener.events, rejected.later ? "" : "x");
    run_for(100 * second);
    EXPECT_EQ(times(Command::plogi).size(), rejected.later ? 4U : 1U);
    if (rejected.later) {
      EXPECT_EQ(times(Command::plogi)[1], 2 * second);
    }
  }
  EXPECT_EQ(port.counters().discarded(), 0U);
}

// What is neither LS_ACC nor LS_RJT was damaged: counted, and asked again.
TEST_F(LoginSessionTest, login_pending_answer_that_is_none_is_asked_again) {
  const Bytes answers[] = {Bytes{0x02, 0, 0, 0}, bytes_of(login_of(peer)), Bytes{0x7F, 0, 0, 0}, Bytes{}};
  std::uint64_t count = 0;
  for (const Bytes& bad : answers) {
    ask_for_login();
    answer(last(), bad);
    EXPECT_EQ(remote().state_name(), "RetryPending");
    expect_discarded(Discard::BadPayload, ++count);
    remote().log_out();
  }
}

// FC-FS, FC-LS: an accept without class 3, or with a smaller receive data field than is allowed, is of no
// use: never again.
TEST_F(LoginSessionTest, login_pending_accept_that_does_not_serve_fails) {
  struct Case {
    std::uint16_t options, common_size, class_3_size;
    bool serves;
  };
  constexpr std::uint16_t valid = wire::els::class_option::valid;
  for (const Case& offer : {Case{valid, 2112, 256, true}, Case{valid, 128, 256, true}, Case{valid, 2112, 255, false},
                            Case{valid, 2112, 252, false}, Case{0, 2112, 2112, false}}) {
    listener.events.clear();
    ask_for_login();
    auto accept = login_of(peer);
    accept.command = Command::ls_acc;
    accept.receive_data_field_size = offer.common_size;
    accept.class_3.service_options = offer.options;
    accept.class_3.receive_data_field_size = offer.class_3_size;
    answer(last(), bytes_of(accept));
    EXPECT_EQ(listener.events, offer.serves ? "I" : "x") << offer.common_size << ' ' << offer.class_3_size;
    EXPECT_EQ(remote().state_name(), offer.serves ? "LoggedIn" : "LoggedOut");
    remote().implicit_logout();
  }
  run_for(100 * second);
  EXPECT_EQ(times(Command::plogi).size(), 5U);
}

// An answer that does not say that it is the last of its exchange is the answer all the same.
TEST_F(LoginSessionTest, login_pending_answer_without_last_sequence_ends_the_exchange) {
  ask_for_login();
  auto login = login_of(peer);
  login.command = Command::ls_acc;
  answer(last(), bytes_of(login),
         wire::f_ctl::exchange_responder | wire::f_ctl::end_sequence | wire::f_ctl::sequence_initiative);
  EXPECT_TRUE(remote().logged_in());
  EXPECT_EQ(port.open_exchanges(), 0U);
  run_for(100 * second);
  EXPECT_EQ(sent.size(), 1U);
}

// FC-FS: the peer aborts the exchange of our PLOGI: BA_ACC, and PLOGI again at its time; nothing is left to abort.
TEST_F(LoginSessionTest, login_pending_abts_of_the_peer_ends_that_try) {
  ask_for_login();
  receive({.r_ctl = wire::RCtl::abts,
           .d_id = own,
           .s_id = peer,
           .type = wire::Type::bls,
           .f_ctl = wire::f_ctl::exchange_responder | wire::f_ctl::end_sequence | wire::f_ctl::sequence_initiative,
           .ox_id = last().header.ox_id},
          {});
  run_until(5 * second);
  EXPECT_EQ(times(wire::RCtl::ba_acc).size(), 1U);
  EXPECT_EQ(times(Command::plogi), (Times{0, 4 * second}));
  EXPECT_TRUE(aborted().empty());
  EXPECT_EQ(port.counters().discarded(), 0U);
  accept_login(last());
  EXPECT_TRUE(remote().logged_in());
}

// --- ends --------------------------------------------------------------------------------------------------------

// A LOGO that comes is accepted; the logout that is known otherwise, after it, is told to nobody.
TEST_F(LoginSessionTest, logged_in_logo_then_implicit_logout) {
  log_in();
  EXPECT_EQ(logo(), bytes_of(wire::els::LsAcc{}));
  EXPECT_FALSE(remote().suspended());
  EXPECT_FALSE(remote().in_use());
  log_in();
  remote().implicit_logout();
  run_for(100 * second);
  EXPECT_EQ(sent.size(), 0U);
  EXPECT_EQ(listener.events, "O");
}
TEST(OwnLogin, logged_in_implicit_logout_tells_nobody) {
  support::TestFabric fabric(1);
  fabric.bring_up();
  ASSERT_TRUE(fabric.log_in(0, 0));
  support::FrameLog log;
  fabric.fabric.tap(fabric.port(0), &log);
  fabric.port(0).remote_port(fabric.port(0).n_port_id()).implicit_logout();
  fabric.run_for(100 * second);
  EXPECT_EQ(log.size(), 0U);
  EXPECT_EQ(fabric.port(0).counters().unexpected_events, 0U);
  fabric.fabric.tap(fabric.port(0), nullptr);
}

// FC-LS: a LOGO for a login that was never made names the address that we have now.
TEST_F(LoginSessionTest, login_pending_log_out_names_our_address) {
  remote().log_in();
  remote().log_out();
  run_for(microsecond);
  EXPECT_EQ(sent_first(Command::logo).data, bytes_of(wire::els::Logo{.n_port_id = own, .port_name = own_name}));
  EXPECT_EQ(listener.events, "x");
}

// LoginSession::peer_is_gone: whatever there is with that address is over at once; what would only time out is aborted.
TEST_F(LoginSessionTest, logged_in_peer_is_gone_logs_out) {
  log_in();
  remote().peer_is_gone();
  EXPECT_EQ(listener.events, "O");
  EXPECT_EQ(remote().state_name(), "LoggedOut");
  run_for(100 * second);
  EXPECT_EQ(sent.size(), 0U);
}
TEST_F(LoginSessionTest, login_pending_peer_is_gone_fails) {
  ask_for_login();
  const auto ours = last().header.ox_id;
  remote().peer_is_gone();
  EXPECT_EQ(listener.events, "x");
  EXPECT_EQ(remote().state_name(), "LoggedOut");
  run_for(0);
  EXPECT_EQ(aborted(), std::vector{ours});
  run_for(100 * second);
  EXPECT_EQ(times(Command::plogi).size(), 1U);
}
TEST_F(LoginSessionTest, retry_pending_peer_is_gone_fails) {
  ask_for_login();
  reject(last(), RejectReason::logical_busy);
  remote().peer_is_gone();
  EXPECT_EQ(listener.events, "x");
  EXPECT_EQ(remote().state_name(), "LoggedOut");
  run_for(100 * second);
  EXPECT_EQ(sent.size(), 1U);
}
TEST_F(LoginSessionTest, logged_out_or_logout_pending_peer_is_gone_changes_nothing) {
  remote().peer_is_gone();
  EXPECT_EQ(listener.events, "");
  log_in();
  remote().log_out();
  run_for(microsecond);
  remote().peer_is_gone();
  EXPECT_EQ(remote().state_name(), "LogoutPending");
  EXPECT_EQ(listener.events, "O");
  EXPECT_TRUE(aborted().empty());
}

// Counters: an event that the machine has no row for is a defect of ours, and counted.
TEST_F(LoginSessionTest, link_up_twice_is_an_unexpected_event) {
  remote().link_up();
  EXPECT_EQ(port.counters().unexpected_events, 1U);
  EXPECT_EQ(port.counters().ports_evicted, 0U);
  unexpected_events = 1;
}

// FC-VI 7.7.1: the link goes while PLOGI is out: that login failed, and nothing is left of its exchange.
TEST_F(LoginSessionTest, login_pending_link_down_fails) {
  ask_for_login();
  port.link_down();
  EXPECT_EQ(listener.events, "x");
  expect_nothing_left();
}

}  // namespace
}  // namespace fc2
