// The login with the fabric, whose F_Port the test plays by hand: which accept serves, when it is asked for again, and
// what else ends that (FC-LS FLOGI, FDISC, LOGO; FC-VI 7.7.2, 7.7.5).
#include "tests/support/fc4.hpp"
#include "tests/support/peers_by_hand.hpp"
#include "wire/els/logo.hpp"
#include "wire/els/ls_acc.hpp"

namespace fc2 {
namespace {
using support::bytes_of;
using support::LoggedFrame;
using wire::els::Command;
using wire::els::RejectReason;
using Bytes = std::vector<std::uint8_t>;

struct FabricLoginByHand : support::PeersByHand {
  explicit FabricLoginByHand(const Adjust& adjust = {}) : PeersByHand(adjust) {}
  static constexpr wire::FcId granted{0x010100}, other_id{0x010200};
  static constexpr wire::Wwn fabric_name{0x1000'0000'0000'00F1};

  [[nodiscard]] wire::els::Login accept(bool f_port = true) {
    auto login = port.login_parameters(Command::flogi);
    login.command = Command::ls_acc;
    login.features = f_port ? wire::els::feature::f_port : 0;
    login.set_r_a_tov_ms(10'000);
    login.e_d_tov = 2000;
    login.port_name = login.node_name = fabric_name;
    return login;
  }
  void flogi() {
    mark();
    port.link_up(to_fabric);
    run_for(microsecond);
    ASSERT_EQ(last().header.d_id, wire::well_known::f_port);
  }
  /// The F_Port's answer, to the address that it grants.
  void reply(const wire::els::Login& login, wire::FcId id = granted) {
    receive(support::els_reply_header(id, wire::well_known::f_port, last().header.ox_id), bytes_of(login));
  }
  void online() {
    flogi();
    reply(accept());
    ASSERT_TRUE(port.online());
    mark();
  }
  void reject_flogi(RejectReason reason = RejectReason::logical_error) { reject(last(), reason); }
  Channel& to_fabric = wire();
};
struct FabricLoginByFdisc : FabricLoginByHand {
  FabricLoginByFdisc() : FabricLoginByHand([](NPortConfig& config) { config.virtual_n_port = true; }) {}
};

// FC-FS, FC-LS: a fabric without class 3, or for smaller frames than are allowed, is of no use. The size stands in the
// common parameters, for FLOGI as for FDISC: a class has none of its own there.
template <class Test>
void expect_sizes_count(Test& test) {
  struct Case {
    std::uint16_t options, common_size, class_3_size;
    bool serves;
  };
  constexpr std::uint16_t valid = wire::els::class_option::valid;
  for (const Case& offer : {Case{valid, 256, 0, true}, Case{valid, 255, 2112, false}, Case{valid, 252, 2112, false},
                            Case{0, 2112, 2112, false}}) {
    test.flogi();
    auto login = test.accept();
    login.class_3.service_options = offer.options;
    login.receive_data_field_size = offer.common_size;
    login.class_3.receive_data_field_size = offer.class_3_size;
    test.reply(login);
    EXPECT_EQ(test.port.online(), offer.serves) << offer.common_size;
    EXPECT_EQ(test.listener.events, offer.serves ? "F" : "f") << offer.common_size;
    test.port.link_down();
    test.run_for(100 * second);
  }
}
TEST_F(FabricLoginByHand, login_pending_accept_serves_or_not) { expect_sizes_count(*this); }
TEST_F(FabricLoginByFdisc, login_pending_accept_serves_or_not) { expect_sizes_count(*this); }

// PortListener: a login that fails is heard once, until it succeeds; the next time that it fails it is heard again.
TEST_F(FabricLoginByHand, login_that_failed_is_heard_again_after_one_that_succeeded) {
  flogi();
  reject_flogi();
  run_until(11 * second);
  reject_flogi();
  EXPECT_EQ(listener.events, "f");
  run_until(21 * second);
  EXPECT_EQ(times(Command::flogi), (Times{0, 10 * second + microsecond, 21 * second}));
  reply(accept());
  EXPECT_EQ(listener.events, "fF");
  request(wire::well_known::f_port, bytes_of(wire::els::Logo{.n_port_id = wire::well_known::f_port}), granted);
  run_for(microsecond);
  ASSERT_TRUE(last().is_els(Command::flogi));
  reject_flogi();
  EXPECT_EQ(listener.events, "fFf");
}

// ... and after the link came up anew.
TEST_F(FabricLoginByHand, login_that_failed_is_heard_for_each_link) {
  for (int i = 0; i < 3; ++i) {
    flogi();
    reject_flogi();
    EXPECT_EQ(listener.events, "f");
    port.link_down();
  }
}

// Without a link there is nothing to ask, nor to hear of: the time for the next FLOGI goes with it.
TEST_F(FabricLoginByHand, offline_after_a_failure_nothing_is_asked) {
  flogi();
  reject_flogi();
  port.link_down();
  mark();
  run_for(100 * second);
  EXPECT_EQ(listener.events, "");
  EXPECT_EQ(sent.size(), 0U);
}

// NPort::log_out_of_fabric: who logged out asks no more.
TEST_F(FabricLoginByHand, logged_out_after_a_failure_nothing_is_asked) {
  flogi();
  reject_flogi();
  port.log_out_of_fabric();
  run_for(100 * second);
  EXPECT_EQ(times(Command::flogi).size(), 1U);
}

// FC-VI 7.7.5: the link came back and the fabric refuses the login: what waited for it ends now, not R_A_TOV after
// the link went.
TEST_F(FabricLoginByHand, interrupted_login_refused_ends_the_interruption) {
  online();
  log_in({0x010300});
  port.link_interrupted();
  EXPECT_TRUE(port.interrupted());
  flogi();
  reject_flogi();
  EXPECT_FALSE(port.interrupted());
  EXPECT_FALSE(remote({0x010300}).logged_in());
  EXPECT_EQ(listener.events, "Of");
}
// ... but while the link is away again it may come back.
TEST_F(FabricLoginByHand, interrupted_again_goes_on) {
  online();
  log_in({0x010300});
  port.link_interrupted();
  flogi();
  port.link_interrupted();
  EXPECT_TRUE(port.interrupted());
  EXPECT_EQ(listener.events.find('O'), std::string::npos);
  flogi();
  reply(accept());
  EXPECT_TRUE(remote({0x010300}).logged_in());
}

// FC-LS: LOGO to the F_Port names the address that is given back: the one of now.
TEST_F(FabricLoginByHand, online_at_another_address_logo_names_it) {
  online();
  port.link_interrupted();
  flogi();
  reply(accept(), other_id);
  mark();
  port.log_out_of_fabric();
  run_for(microsecond);
  ASSERT_TRUE(last().is_els(Command::logo));
  EXPECT_EQ(last().data, bytes_of(wire::els::Logo{.n_port_id = other_id, .port_name = own_name}));
  EXPECT_EQ(last().header.d_id, wire::well_known::f_port);
  answer(last(), bytes_of(wire::els::LsAcc{}));
}

// The fabric login is none for FC-4 frames: one of the F_Port waits for nothing, and is refused as any stranger's.
TEST_F(FabricLoginByHand, online_out_of_order_f_port_is_no_peer) {
  struct Fc4 final : DataFrameUser {
    void data_frame_received(const ReceivedFrame&) override {}
    bool abort_received(wire::FcId, wire::OxId) override { return false; }
    void sequence_received(Exchange&, const wire::FcHeader&, std::span<const std::uint8_t>) override {}
    void exchange_failed(Exchange&, ExchangeFailure) override {}
  } fc4;
  port.set_data_user(support::fc4, fc4);
  flogi();
  auto login = accept();
  login.class_3.service_options = wire::els::class_option::valid;
  reply(login);
  ASSERT_FALSE(port.in_order());
  remote(wire::well_known::f_port);
  receive(support::request_header(wire::RCtl::unsolicited_control, wire::Type::fc_vi, granted, wire::well_known::f_port,
                                  {9}),
          Bytes(32));
  expect_discarded(Discard::NotLoggedIn, 1);
}

// --- another N_Port at the other end: FC-VI 7.7.2 ----------------------------------------------------------------

struct OtherNPort : FabricLoginByHand {
  static constexpr wire::FcId assigned{0x010101}, assigner{0x010102};
  wire::els::Login login_of_other(Command command) {
    auto login = login_of(assigner, command);
    login.port_name = high_name(assigner);
    return login;
  }
  void plogi_of_other(Bytes payload) { request(assigner, payload, assigned); }
};

// FC-LS: its FLOGI is answered, though ours is not: then its PLOGI assigns the address. No login failed, and no
// fabric is asked for any more.
TEST_F(OtherNPort, login_pending_flogi_then_plogi_assign_the_address) {
  flogi();
  plogi_of_other(bytes_of(login_of_other(Command::plogi)));
  EXPECT_FALSE(port.online());
  expect_discarded(Discard::WrongAddress, 1);
  ask(wire::well_known::unidentified, bytes_of(login_of_other(Command::flogi)), wire::well_known::f_port);
  plogi_of_other(bytes_of(login_of_other(Command::plogi)));
  EXPECT_TRUE(port.online());
  EXPECT_EQ(port.n_port_id(), assigned);
  EXPECT_EQ(listener.events, "FI");
  run_for(100 * second);
  EXPECT_EQ(times(Command::flogi).size(), 1U);
  EXPECT_EQ(listener.events, "FI");
}

// ... also after our FLOGI failed; R_A_TOV later nothing is asked, and no failure heard of.
TEST_F(OtherNPort, login_failed_flogi_then_plogi_assign_the_address) {
  flogi();
  reject_flogi();
  ask(wire::well_known::unidentified, bytes_of(login_of_other(Command::flogi)), wire::well_known::f_port);
  plogi_of_other(bytes_of(login_of_other(Command::plogi)));
  run_for(100 * second);
  EXPECT_EQ(listener.events, "fFI");
  EXPECT_EQ(times(Command::flogi).size(), 1U);
}

// Its FLOGI cut short is counted, rejected, and says nothing of what is at the other end.
TEST_F(OtherNPort, login_pending_bad_flogi_assigns_nothing) {
  flogi();
  EXPECT_EQ(ask(wire::well_known::unidentified, {0x04, 0, 0, 0}, wire::well_known::f_port),
            support::ls_rjt(RejectReason::logical_error, wire::els::RejectExplanation::invalid_payload_length));
  expect_discarded(Discard::BadPayload, 1);
  plogi_of_other(bytes_of(login_of_other(Command::plogi)));
  EXPECT_FALSE(port.online());
}

// The address is a PLOGI's to assign: not one that is cut short, nor another command's.
TEST_F(OtherNPort, unassigned_other_requests_assign_nothing) {
  flogi();
  auto higher = accept(false);
  higher.port_name = high_name(assigner);
  reply(higher, {});
  ASSERT_TRUE(port.is_point_to_point());
  plogi_of_other({0x03, 0, 0, 0});
  EXPECT_FALSE(port.online());
  plogi_of_other(bytes_of(login_of_other(Command::fdisc)));
  EXPECT_FALSE(port.online());
  expect_discarded(Discard::NotLoggedIn, 2);
  plogi_of_other(bytes_of(login_of_other(Command::plogi)));
  EXPECT_EQ(port.n_port_id(), assigned);
}

// There is no fabric: nothing to log out of.
TEST_F(OtherNPort, point_to_point_log_out_of_fabric_sends_nothing) {
  flogi();
  auto lower = accept(false);
  lower.port_name = low_name(assigned);
  reply(lower, {});
  ASSERT_TRUE(port.is_point_to_point());
  run_for(microsecond);
  mark();
  port.log_out_of_fabric();
  run_for(microsecond);
  EXPECT_EQ(sent.size(), 0U);
}

}  // namespace
}  // namespace fc2
