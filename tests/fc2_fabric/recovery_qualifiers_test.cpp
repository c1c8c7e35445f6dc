// Exchanges that were aborted before they began here (FC-FS 23.6.1.1).
#include "fc2_fabric/node/recovery_qualifiers.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>

#include "tests/support/made_frame.hpp"
#include "tests/support/port_pair.hpp"

namespace fc2 {
namespace {
constexpr TimeNs r_a_tov = 10 * second, start = 7 * second;
constexpr wire::FcId peer{0x010100}, other{0x010200};

class RecoveryQualifiersTest : public testing::Test {
 protected:
  void set(std::uint16_t ox_id, TimeNs now = start) { qualifiers.set(peer, {ox_id}, now, r_a_tov); }
  [[nodiscard]] bool covers(std::uint16_t ox_id, TimeNs now = start, wire::FcId of = peer) const {
    return qualifiers.covers(of, {ox_id}, now);
  }
  RecoveryQualifiers qualifiers;
};

// It holds for R_A_TOV, for this exchange of this port.
TEST_F(RecoveryQualifiersTest, set_lasts_r_a_tov) {
  EXPECT_FALSE(covers(5));
  set(5);
  EXPECT_TRUE(covers(5));
  EXPECT_FALSE(covers(6));
  EXPECT_FALSE(covers(5, start, other));
  EXPECT_TRUE(covers(5, start + r_a_tov - 1));
  EXPECT_FALSE(covers(5, start + r_a_tov));
}

// The ABTS comes again: R_A_TOV from then on, though the first one's time ends in between.
TEST_F(RecoveryQualifiersTest, set_again_lasts_longer) {
  set(5);
  set(5, start + 6 * second);
  set(6, start + 12 * second);
  EXPECT_TRUE(covers(5, start + 12 * second));
  EXPECT_FALSE(covers(5, start + 16 * second));
}

// FC-LS: RRQ ends it; another ABTS begins it anew, with its whole time.
TEST_F(RecoveryQualifiersTest, cleared_may_be_set_again) {
  set(5);
  qualifiers.clear(peer, {5});
  EXPECT_FALSE(covers(5));
  set(5, start + second);
  set(6, start + r_a_tov);
  EXPECT_TRUE(covers(5, start + r_a_tov));
}

// ... also one that nothing renews: its time ends with nobody to forget.
TEST_F(RecoveryQualifiersTest, cleared_time_ends_without_it) {
  set(5);
  qualifiers.clear(peer, {5});
  set(6, start + r_a_tov);
  EXPECT_EQ(qualifiers.size(), 1U);
  EXPECT_TRUE(covers(6, start + r_a_tov));
}

// A peer that has as many as it may, and said of the oldest that it is free, has no other one to give up.
TEST_F(RecoveryQualifiersTest, full_oldest_was_cleared) {
  constexpr std::uint16_t most = RecoveryQualifiers::limit / 2;
  for (std::uint16_t i = 0; i < most; ++i) set(i);
  qualifiers.clear(peer, {0});
  set(most);
  EXPECT_EQ(qualifiers.size(), most);
  EXPECT_TRUE(covers(1));
  EXPECT_TRUE(covers(most));
}

// ... and where the oldest was set again since, it stays as long as that says.
TEST_F(RecoveryQualifiersTest, full_oldest_was_set_again) {
  constexpr std::uint16_t most = RecoveryQualifiers::limit / 2;
  set(5);
  set(5, start + 6 * second);
  for (std::uint16_t i = 0; i < most - 1; ++i) set(static_cast<std::uint16_t>(100 + i), start + 6 * second);
  EXPECT_TRUE(covers(5, start + 12 * second));
  EXPECT_TRUE(covers(100, start + 12 * second));
}

// A logout ends those of its port.
TEST_F(RecoveryQualifiersTest, logged_out_ends_those_of_the_port) {
  set(5);
  set(6);
  qualifiers.set(other, {5}, start, r_a_tov);
  qualifiers.logged_out(peer);
  EXPECT_FALSE(covers(5));
  EXPECT_FALSE(covers(6));
  EXPECT_TRUE(covers(5, start, other));
  qualifiers.set(other, {6}, start + r_a_tov, r_a_tov);
  EXPECT_EQ(qualifiers.size(), 1U) << "the other's ends in its time";
}

// What is over takes no room; a flood keeps the newest.
TEST_F(RecoveryQualifiersTest, full_drops_the_oldest) {
  for (std::uint16_t ox_id = 0; ox_id <= RecoveryQualifiers::limit / 2; ++ox_id) set(ox_id);
  EXPECT_EQ(qualifiers.size(), RecoveryQualifiers::limit / 2);
  EXPECT_FALSE(covers(0));
  EXPECT_TRUE(covers(1));
  EXPECT_TRUE(covers(RecoveryQualifiers::limit / 2));
  set(0, start + r_a_tov);
  EXPECT_EQ(qualifiers.size(), 1U);
}

// A peer that floods loses its own; peers that flood together lose those of all, the oldest first.
TEST_F(RecoveryQualifiersTest, full_of_one_peer_spares_the_others) {
  qualifiers.set(other, {5}, start, r_a_tov);
  for (std::uint16_t i = 0; i < 3 * RecoveryQualifiers::limit; ++i) set(i);
  EXPECT_TRUE(covers(5, start, other));
  EXPECT_TRUE(covers(3 * RecoveryQualifiers::limit - 1));
  EXPECT_EQ(qualifiers.size(), RecoveryQualifiers::limit / 2 + 1);
  for (std::uint16_t i = 0; i < RecoveryQualifiers::limit; ++i) qualifiers.set({0x010300}, {i}, start, r_a_tov);
  EXPECT_FALSE(covers(5, start, other));
  EXPECT_EQ(qualifiers.size(), RecoveryQualifiers::limit);
}

/// Requests that are lost on their way, so that their ABTS is the first that the other port sees of their exchange.
class OvertakenTest : public testing::Test {
 protected:
  OvertakenTest() { pair.b.set_user(wire::Type::ct, responder); }
  ~OvertakenTest() override { EXPECT_EQ(pair.unexpected_events(), 0U); }
  /// At the end its ABTS is answered. What was lost is `late`.
  void request_and_abort() {
    late.reset();
    pair.to_b.on_frame = [this](const support::LoggedFrame& frame) {
      if (!frame.is(wire::RCtl::unsolicited_control) || late) return support::Interposer::Action::Pass;
      return late = frame, support::Interposer::Action::Drop;
    };
    const std::array<std::uint8_t, 8> iu{};
    pair.a.request(peer_b, wire::RCtl::unsolicited_control, wire::Type::ct, iu, originator, millisecond);
    pair.run_for(2 * millisecond);
    ASSERT_TRUE(late);
  }
  void late_request_comes() {
    pair.b.receive(support::made_frame(pair.pool, late->header, late->data, late->sof, late->eof));
  }
  [[nodiscard]] std::uint64_t discarded() const { return pair.b.counters().discarded(Discard::AbortedExchange); }
  static constexpr wire::FcId peer_a = support::PortPair::a_id, peer_b = support::PortPair::b_id;
  support::PortPair pair;
  support::RecordingUser originator, responder;
  std::optional<support::LoggedFrame> late;
};

// FC-FS 23.6.1.1: for R_A_TOV no frame opens that exchange any more. (What is older no fabric delivers: it is the next
// use of the OX_ID.)
TEST_F(OvertakenTest, aborted_request_is_discarded) {
  request_and_abort();
  pair.run_for(pair.b.r_a_tov() - 2 * millisecond);
  late_request_comes();
  EXPECT_TRUE(responder.ius.empty());
  EXPECT_EQ(discarded(), 1U);
  EXPECT_EQ(pair.b.open_exchanges(), 0U);
  pair.run_for(2 * millisecond);
  late_request_comes();
  EXPECT_EQ(responder.ius.size(), 1U);
  EXPECT_EQ(discarded(), 1U);
}

// The OX_ID is free again with a new login.
TEST_F(OvertakenTest, aborted_logout_frees_the_id) {
  request_and_abort();
  pair.b.fail_exchanges(peer_a, ExchangeFailure::PortLoggedOut);
  late_request_comes();
  EXPECT_EQ(responder.ius.size(), 1U);
  EXPECT_EQ(discarded(), 0U);
}

// FC-LS: ... and when the originator says so.
TEST_F(OvertakenTest, aborted_rrq_frees_the_id) {
  request_and_abort();
  pair.b.reinstate(peer_a, late->header.ox_id);
  late_request_comes();
  EXPECT_EQ(responder.ius.size(), 1U);
  EXPECT_EQ(discarded(), 0U);
}

}  // namespace
}  // namespace fc2
