// After a LIP a port asks by ADISC whether the login is still with the port of before, whose every answer the test
// plays (FC-VI 7.7.3).
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

struct DiscoveryTest : support::PeersByHand {
  explicit DiscoveryTest(const Adjust& adjust = {}) : PeersByHand(adjust) { link_up(); }
  void lip() {
    log_in();
    port.link_interrupted();
    mark();
    link_up();
    run_for(microsecond);
    ASSERT_TRUE(remote().validating());
  }
  static wire::els::Adisc addresses() { return adisc_of(peer, Command::ls_acc); }
  /// ... to the ADISC; what the session does then.
  std::string_view answered(const Bytes& bytes) {
    lip();
    answer(last(), bytes);
    return remote().state_name();
  }
};

// FC-VI 7.7.3: ADISC goes again after E_D_TOV, 2 and 4 times as long; what is not validated in 2 x R_A_TOV
// is logged out.
TEST_F(DiscoveryTest, validating_silence_repeats_at_these_times) {
  log_in();
  port.link_interrupted();
  link_up();
  run_until(20 * second - 1);
  EXPECT_EQ(times(Command::adisc), (Times{0, 2 * second, 6 * second, 14 * second}));
  EXPECT_TRUE(remote().validating());
  run_until(20 * second);
  EXPECT_EQ(remote().state_name(), "LogoutPending");
  EXPECT_EQ(times(Command::logo), (Times{20 * second}));
  EXPECT_EQ(listener.events, "FO");
}

// Nothing is asked of a port without a login.
TEST_F(DiscoveryTest, logged_out_link_comes_back_nothing_is_asked) {
  remote();
  port.link_interrupted();
  link_up();
  run_for(100 * second);
  EXPECT_EQ(sent.size(), 0U);
  EXPECT_EQ(remote().state_name(), "LoggedOut");
}

// FC-VI 7.7.3: the three addresses of the ACC exactly as they were; whoever cannot tell now is asked again.
TEST_F(DiscoveryTest, validating_same_addresses_resume) {
  EXPECT_EQ(answered(bytes_of(addresses())), "LoggedIn");
  EXPECT_EQ(listener.events, "F");
  run_for(100 * second);
  EXPECT_EQ(sent.size(), 1U);  // the ADISC
}
TEST_F(DiscoveryTest, validating_other_answers_log_out) {
  auto other_name = addresses(), other_node = addresses(), other_id = addresses(), request = addresses();
  ++other_name.port_name.value;
  ++other_node.node_name.value;
  ++other_id.n_port_id.value;
  request.command = Command::adisc;
  const Bytes answers[] = {bytes_of(other_name),
                           bytes_of(other_node),
                           bytes_of(other_id),
                           bytes_of(request),
                           Bytes{0x02, 0, 0, 0},
                           ls_rjt(RejectReason::unable_to_perform, RejectExplanation::n_port_login_required),
                           ls_rjt(RejectReason::logical_error, RejectExplanation::none),
                           ls_rjt(RejectReason::not_supported, RejectExplanation::none)};
  for (const Bytes& bytes : answers) {
    EXPECT_EQ(answered(bytes), "LogoutPending") << testing::PrintToString(bytes);
    EXPECT_EQ(listener.events, "FO");
    run_for(0);
    EXPECT_EQ(times(Command::logo), (Times{microsecond}));
    answer(sent_first(Command::logo), bytes_of(wire::els::LsAcc{}));
    EXPECT_EQ(remote().state_name(), "LoggedOut");
  }
}
TEST_F(DiscoveryTest, validating_peer_that_is_busy_is_asked_again) {
  for (const Bytes& busy : {ls_rjt(RejectReason::logical_busy, RejectExplanation::none),
                            ls_rjt(RejectReason::unable_to_perform, RejectExplanation::none)}) {
    EXPECT_EQ(answered(busy), "Validating");
    run_until(3 * second);
    EXPECT_EQ(times(Command::adisc), (Times{0, 2 * second}));
    answer(last(), bytes_of(addresses()));
    EXPECT_EQ(remote().state_name(), "LoggedIn");
    remote().implicit_logout();
  }
}
// ... and where the link goes meanwhile there is no request that could be aborted.
TEST_F(DiscoveryTest, validating_peer_was_busy_link_goes_again) {
  EXPECT_EQ(answered(ls_rjt(RejectReason::logical_busy, RejectExplanation::none)), "Validating");
  port.link_interrupted();
  EXPECT_EQ(port.open_exchanges(), 0U);
  link_up();
  run_for(microsecond);
  EXPECT_TRUE(aborted().empty());
  answer(last(), bytes_of(addresses()));
  EXPECT_EQ(remote().state_name(), "LoggedIn");
}
// The peer's own ADISC was faster than its answer to ours: the answer says nothing new, whatever it says, and
// nothing is left.
TEST_F(DiscoveryTest, validated_by_the_peer_late_answer_changes_nothing) {
  for (const Bytes& late : {bytes_of(addresses()), ls_rjt(RejectReason::logical_error, RejectExplanation::none)}) {
    lip();
    const LoggedFrame asked = last();
    auto adisc = addresses();
    adisc.command = Command::adisc;
    ask(peer, bytes_of(adisc));
    EXPECT_EQ(remote().state_name(), "LoggedIn");
    answer(asked, late);
    EXPECT_EQ(remote().state_name(), "LoggedIn");
    EXPECT_EQ(listener.events, "F");
    EXPECT_EQ(port.open_exchanges(), 0U);
    run_for(100 * second);
    EXPECT_EQ(sent.size(), 2U);  // ADISC, LS_ACC
    remote().implicit_logout();
  }
}

/// Two exchanges, both in use.
struct NoExchangeFree : DiscoveryTest {
  NoExchangeFree() : DiscoveryTest([](NPortConfig& config) { config.max_exchanges = 2; }) {}
};
// No exchange is free for the ADISC: mappings that cannot be proved are not used.
TEST_F(NoExchangeFree, validating_cannot_ask_logs_out) {
  log_in();
  for (int i = 0; i < 2; ++i) ASSERT_NE(port.originate(stranger, wire::Type::ct, user), nullptr);
  port.link_interrupted();
  link_up();
  EXPECT_FALSE(remote().logged_in());
  EXPECT_EQ(listener.events, "OF");
}

}  // namespace
}  // namespace fc2
