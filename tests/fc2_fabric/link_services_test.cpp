// What an N_Port answers to each ELS request of another port, what it does not answer, and what it counts (FC-LS,
// FC-VI 7.5, 7.7).
#include "fc2_fabric/node/link_services.hpp"

#include "tests/support/peers_by_hand.hpp"
#include "wire/els/echo.hpp"
#include "wire/els/fan.hpp"
#include "wire/els/farp.hpp"
#include "wire/els/logo.hpp"
#include "wire/els/ls_acc.hpp"
#include "wire/els/prli.hpp"
#include "wire/els/rls.hpp"
#include "wire/els/rnid.hpp"
#include "wire/els/rrq.hpp"
#include "wire/els/rtv.hpp"

namespace fc2 {
namespace {
using support::bytes_of;
using support::ls_rjt;
using wire::els::Command;
using wire::els::RejectExplanation;
using wire::els::RejectReason;
using Bytes = std::vector<std::uint8_t>;

Bytes cut_short(Command command) { return {static_cast<std::uint8_t>(command), 0, 0, 0}; }

struct LinkServicesTest : support::PeersByHand {
  explicit LinkServicesTest(const Adjust& adjust = {}) : PeersByHand(adjust) { link_up(); }
  ~LinkServicesTest() override { EXPECT_EQ(port.open_exchanges(), 0U); }
  Bytes plogi(const std::function<void(wire::els::Login&)>& adjust) {
    auto login = login_of(peer);
    adjust(login);
    return bytes_of(login);
  }
};

// FC-LS 4.4.4: a request that is cut short is a logical error, its payload length the explanation; the answers to ADISC
// and RRQ do not depend on it. Each is counted once.
TEST_F(LinkServicesTest, any_request_cut_short_is_counted) {
  const Bytes invalid_length = ls_rjt(RejectReason::logical_error, RejectExplanation::invalid_payload_length);
  const Bytes no_login = ls_rjt(RejectReason::unable_to_perform, RejectExplanation::n_port_login_required);
  const std::pair<Bytes, Bytes> cases[] = {
      {cut_short(Command::plogi), invalid_length}, {cut_short(Command::flogi), invalid_length},
      {cut_short(Command::prli), invalid_length},  {cut_short(Command::rls), invalid_length},
      {cut_short(Command::rnid), invalid_length},  {Bytes{0x10}, invalid_length},  // ECHO: not even a word
      {cut_short(Command::adisc), no_login},       {cut_short(Command::rrq), bytes_of(wire::els::LsAcc{})}};
  std::uint64_t count = 0;
  for (const auto& [request, answer] : cases) {
    EXPECT_EQ(ask(peer, request), answer) << testing::PrintToString(request);
    expect_discarded(Discard::BadPayload, ++count);
  }
}

// FC-LS: the service parameters of a PLOGI that do not serve.
TEST_F(LinkServicesTest, logged_out_bad_plogi_is_a_logical_error) {
  const auto rejected_for = [](RejectExplanation explanation) {
    return ls_rjt(RejectReason::logical_error, explanation);
  };
  EXPECT_EQ(ask(peer, plogi([](auto& login) { login.class_3.service_options = 0; })),
            rejected_for(RejectExplanation::service_parameter_options));
  EXPECT_EQ(ask(peer, plogi([](auto& login) { login.class_3.receive_data_field_size = 252; })),
            rejected_for(RejectExplanation::service_parameter_receive_data_field_size));
  EXPECT_EQ(ask(peer, plogi([](auto& login) { login.port_name = {}; })),
            rejected_for(RejectExplanation::invalid_port_or_fabric_name));
  EXPECT_EQ(port.find_remote_port(peer), nullptr);
  EXPECT_EQ(port.counters().discarded(), 0U);
}

// FC-FS: 256 bytes is the least that a port may receive.
TEST_F(LinkServicesTest, logged_out_plogi_with_smallest_data_field_logs_in) {
  ask(peer, plogi([](auto& login) { login.class_3.receive_data_field_size = 256; }));
  EXPECT_TRUE(remote().logged_in());
  EXPECT_EQ(remote().send_data_field_bytes(), 256U);
}

// FC-LS: who is known, but not logged in, has to log in first.
TEST_F(LinkServicesTest, logged_out_known_port_needs_a_login) {
  remote();
  const Bytes expected = ls_rjt(RejectReason::unable_to_perform, RejectExplanation::n_port_login_required);
  EXPECT_EQ(ask(peer, bytes_of(wire::els::Adisc{.port_name = low_name(peer), .n_port_id = peer})), expected);
  EXPECT_EQ(ask(peer, bytes_of(wire::els::Prli{})), expected);
  EXPECT_EQ(ask(stranger, bytes_of(wire::els::Prli{})), expected);
  EXPECT_EQ(port.counters().discarded(), 0U);
}

// FC-LS: RLS for another port than this one.
TEST_F(LinkServicesTest, any_rls_for_another_is_rejected) {
  EXPECT_EQ(ask(peer, bytes_of(wire::els::Rls{.n_port_id = peer})),
            ls_rjt(RejectReason::unable_to_perform, RejectExplanation::invalid_n_port_id));
}

// FC-FS, Link Error Status Block: which counter is which.
TEST(LinkErrors, counters_have_their_fields) {
  Counters counters;
  counters.link_failures = 3;
  counters.unexpected_events = 70;
  counters.discard(Discard::BadCrc);
  EXPECT_EQ(link_errors(counters), (wire::els::RlsAcc{.link_failures = 3, .invalid_crcs = 1}));
}

// FC-LS: RTV tells milliseconds, however many.
struct LongTimeouts : LinkServicesTest {
  LongTimeouts()
      : LinkServicesTest([](NPortConfig& config) {
          config.r_a_tov = 4'000'000 * second;
          config.e_d_tov = 2'000'000 * second;
        }) {}
};
TEST_F(LongTimeouts, any_rtv_tells_milliseconds) {
  EXPECT_EQ(ask(peer, bytes_of(wire::els::Rtv{})),
            bytes_of(wire::els::RtvAcc{.r_a_tov_ms = 4'000'000'000, .e_d_tov = 2'000'000'000}));
}

// FC-LS: who does not know a command says just that.
TEST_F(LinkServicesTest, any_unknown_command_is_not_supported) {
  for (const Command command :
       {Command::fdisc, Command::rec, Command::scr, Command::ls_acc, static_cast<Command>(0x99)})
    EXPECT_EQ(ask(peer, cut_short(command)), ls_rjt(RejectReason::not_supported, RejectExplanation::none))
        << to_string(command);
}

// FC-FS: an exchange of link services begins with a request, and with its command.
TEST_F(LinkServicesTest, any_els_exchange_without_a_request_is_counted) {
  request(peer, bytes_of(wire::els::Echo{}), own, wire::RCtl::els_reply);
  expect_discarded(Discard::BadPayload, 1);
  EXPECT_EQ(port.open_exchanges(), 0U);
  request(peer, {});
  expect_discarded(Discard::BadPayload, 2);
  run_for(millisecond);
  EXPECT_EQ(sent.size(), 0U);
}

// FC-LS: nobody answers a broadcast.
TEST_F(LinkServicesTest, any_broadcast_is_not_answered) {
  for (const auto& payload : {bytes_of(wire::els::Echo{}), bytes_of(wire::els::Rtv{}), cut_short(Command::rec)})
    EXPECT_EQ(ask(peer, payload, wire::well_known::broadcast), Bytes{});
  EXPECT_EQ(sent.size(), 0U);
  EXPECT_EQ(port.open_exchanges(), 0U);
}

// FC-VI 7.5: FARP is for the users of the port. Without one neither a request nor a reply is answered, whoever it was
// sent to; what cannot be one is counted as such, and a reply as one that nobody waits for.
TEST_F(LinkServicesTest, any_farp_without_a_user_is_not_answered) {
  struct Case {
    Bytes payload;
    Discard counted;
  };
  const Case cases[] = {{bytes_of(wire::els::FarpRequest{}), Discard::Count},
                        {cut_short(Command::farp_req), Discard::BadPayload},
                        {bytes_of(wire::els::FarpReply{.responding_n_port_id = peer}), Discard::UnexpectedIu},
                        {bytes_of(wire::els::FarpReply{}), Discard::BadPayload},
                        {cut_short(Command::farp_reply), Discard::BadPayload}};
  for (const wire::FcId to : {own, wire::well_known::broadcast})
    for (const Case& farp : cases) {
      const Counters before = port.counters();
      EXPECT_EQ(ask(peer, farp.payload, to), Bytes{});
      const bool counts = farp.counted != Discard::Count;
      EXPECT_EQ(port.counters().discarded(), before.discarded() + (counts ? 1 : 0));
      if (counts) {
        EXPECT_EQ(discarded(farp.counted), before.discarded(farp.counted) + 1);
      }
      EXPECT_EQ(port.open_exchanges(), 0U);
    }
  EXPECT_EQ(sent.size(), 0U);
}

// NPort::add_els_user: users are asked in order until one takes the request; the port answers what nobody took.
TEST_F(LinkServicesTest, els_user_takes_its_request) {
  struct User final : ElsUser {
    bool els_received(Exchange& exchange, const wire::FcHeader&, std::span<const std::uint8_t> payload) override {
      ++asked;
      if (payload[0] != static_cast<std::uint8_t>(Command::rec)) return false;
      exchange.port().accept_els(exchange, bytes_of(wire::els::LsAcc{}));
      return true;
    }
    int asked = 0;
  } first, second_one;
  port.add_els_user(first);
  port.add_els_user(second_one);
  EXPECT_EQ(ask(peer, cut_short(Command::rec)), bytes_of(wire::els::LsAcc{}));
  EXPECT_EQ(sent.size(), 1U);
  EXPECT_EQ(first.asked, 1);
  EXPECT_EQ(second_one.asked, 0);
  EXPECT_EQ(ask(peer, bytes_of(wire::els::Rtv{})).at(0), 0x02);
  EXPECT_EQ(second_one.asked, 1);
}

// FC-VI 7.7.3 to 7.7.5: a LOGO with a former N_Port_ID ends the login with that, where the Port_Name is the
// one of then.
TEST_F(LinkServicesTest, logged_in_logo_of_the_former_address_needs_its_name) {
  log_in();
  ask(stranger, bytes_of(wire::els::Logo{.n_port_id = peer, .port_name = low_name(stranger)}));
  EXPECT_TRUE(remote().logged_in());
  EXPECT_EQ(ask(stranger, bytes_of(wire::els::Logo{.n_port_id = peer, .port_name = low_name(peer)})),
            bytes_of(wire::els::LsAcc{}));
  EXPECT_FALSE(remote().logged_in());
  EXPECT_EQ(listener.events, "O");
  ask(stranger, bytes_of(wire::els::Logo{.n_port_id = peer, .port_name = low_name(peer)}));
  EXPECT_EQ(listener.events, "O");
}

// FC-LS: a FAN that is none is counted; nobody answers a FAN.
TEST_F(LinkServicesTest, any_bad_fan_is_counted) {
  request(wire::well_known::f_port, cut_short(Command::fan));
  run_for(millisecond);
  expect_discarded(Discard::BadPayload, 1);
  EXPECT_EQ(sent.size(), 0U);
}

// FC-VI 7.7.3: ADISC of a port that is logged in is answered, whatever it says. It matters while mappings
// are validated alone.
TEST_F(LinkServicesTest, logged_in_adisc_with_other_addresses_changes_nothing) {
  log_in();
  const Bytes expected = bytes_of(wire::els::Adisc{
      .command = Command::ls_acc, .port_name = own_name, .node_name = port.config().node_name, .n_port_id = own});
  EXPECT_EQ(ask(peer, bytes_of(wire::els::Adisc{.port_name = low_name(stranger), .n_port_id = stranger})), expected);
  EXPECT_EQ(ask(peer, cut_short(Command::adisc)), expected);
  expect_discarded(Discard::BadPayload, 1);
  EXPECT_TRUE(remote().logged_in());
  EXPECT_EQ(listener.events, "");
}

// ... there one that is cut short says nothing, one with another address ends the login by LOGO, and the right
// one validates it.
struct AdiscWhileValidating : LinkServicesTest {
  void lip() {
    log_in();
    port.link_interrupted();
    link_up();
    run_for(microsecond);
    ASSERT_TRUE(remote().validating());
  }
  ~AdiscWhileValidating() override { run_for(400 * second); }
};
TEST_F(AdiscWhileValidating, cut_short_is_answered) {
  lip();
  EXPECT_EQ(ask(peer, cut_short(Command::adisc)).at(0), 0x02);
  EXPECT_TRUE(remote().validating());
}
TEST_F(AdiscWhileValidating, as_before_validates) {
  lip();
  ask(peer, bytes_of(adisc_of(peer)));
  EXPECT_FALSE(remote().validating());
  EXPECT_TRUE(remote().logged_in());
}
TEST_F(AdiscWhileValidating, of_another_logs_out) {
  for (const int field : {0, 1, 2}) {
    lip();
    auto adisc = adisc_of(peer);
    if (field == 0) ++adisc.port_name.value;
    if (field == 1) ++adisc.node_name.value;
    if (field == 2) ++adisc.n_port_id.value;
    ask(peer, bytes_of(adisc));
    EXPECT_FALSE(remote().logged_in()) << field;
    EXPECT_EQ(times(Command::logo).size(), 1U) << field;
    answer(last(), bytes_of(wire::els::LsAcc{}));
    run_for(100 * second);
  }
}

// FC-LS: a FLOGI is another N_Port's where there is no fabric alone; a fabric's own port and a port of a
// fabric answer none.
TEST(FlogiOfAnother, fixed_port_does_not_support_it) {
  support::PortPair pair;
  support::RecordingUser user;
  pair.a.request(support::PortPair::b_id, wire::RCtl::els_request, wire::Type::els,
                 bytes_of(pair.a.login_parameters(Command::flogi)), user, second);
  pair.run_for(millisecond);
  ASSERT_EQ(user.ius.size(), 1U);
  EXPECT_EQ(user.ius[0].bytes, ls_rjt(RejectReason::not_supported, RejectExplanation::none));
}
TEST(FlogiOfAnother, port_of_a_fabric_does_not_support_it) {
  support::TestFabric fabric(2);
  fabric.bring_up();
  support::RecordingUser user;
  fabric.port(0).request(fabric.port(1).n_port_id(), wire::RCtl::els_request, wire::Type::els,
                         bytes_of(fabric.port(0).login_parameters(Command::flogi)), user, second);
  fabric.run_for(millisecond);
  ASSERT_EQ(user.ius.size(), 1U);
  EXPECT_EQ(user.ius[0].bytes, ls_rjt(RejectReason::not_supported, RejectExplanation::none));
}
// ... VN2VN: the answer has what a FLOGI of ours has, and no F_Port bit.
TEST_F(LinkServicesTest, without_fabric_flogi_is_accepted) {
  auto expected = port.login_parameters(Command::flogi);
  expected.command = Command::ls_acc;
  EXPECT_EQ(ask(wire::well_known::unidentified, bytes_of(login_of({}, Command::flogi))), bytes_of(expected));
  EXPECT_FALSE(expected.has(wire::els::feature::f_port));
}

}  // namespace
}  // namespace fc2
